import type { OperatorStep } from '../host/moment.js'
import type { ReportedAnsible } from './ansible-rules.js'
import { jsonLine, jsonText } from './json-text.js'
import { inWordsOf } from './own-words.js'
import type { Line } from './place.js'
import type {
  HostCondition,
  PreflightReport,
  ReportedFileChange,
  ReportedHost,
  ReportedHostAnswer,
  ReportedHostProblem,
  ReportedHostStop,
} from './preflight.js'
import type { ReportedSource } from './report.js'
import { type EvidenceJson, evidenceJson } from './report-json.js'
import { outputs } from './schemas.js'

/** Role code and hosts together: what the run mends on each, and what its operator has to do. */
export interface PreflightJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.preflight.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** The hosts, in the order of the inventory. */
  readonly hosts: readonly HostJson[]
}

/** One host before the run, after it and after the next boot. */
export interface HostJson {
  /** The host, as the inventory names it. */
  readonly host: string
  /** Where its evidence was read; null where there is none. */
  readonly evidence: string | null
  /** The first host that has the very same answers, where several hosts were asked about; null for that one itself. */
  readonly sameAs: string | null
  /** Where the run would stop, in run order. */
  readonly stops: readonly HostStopJson[]
  /** Checks of which it is not known whether they stop the run. */
  readonly open: readonly HostStopJson[]
  /** The problems that can be looked for on a host. */
  readonly problems: readonly HostProblemJson[]
  /** Kernel settings that the problems ask for or that the run writes, by key. */
  readonly sysctl: Readonly<Record<string, SettingJson>>
  /** What the run does to files of the host, in the order in which it touches them first. */
  readonly changes: readonly ReportedFileChange[]
}

/** A check of the playbook that ends the run, or may. */
export interface HostStopJson {
  /** The file of the task, relative to the checkout. */
  readonly file: string
  /** The line of the task's first key, from 1. */
  readonly line: Line
  /** The name of the task. */
  readonly task: string
  /** Which values decided it, as in `ansible_facts.memtotal_mb is 1400, minimal_master_memory_mb is 1500`. */
  readonly because: string
}

/** One problem on one host. */
export interface HostProblemJson {
  /** The problem's name in the catalogue, as in `swap`. */
  readonly id: string
  /** The problem in a few words. */
  readonly title: string
  /** Before the run. */
  readonly now: HostCondition
  /** When the run is through. */
  readonly afterRun: HostCondition
  /** When the host has booted after it. */
  readonly afterReboot: HostCondition
  /** Who has to act: empty where nobody has to. */
  readonly acts: readonly ('kubespray' | 'operator')[]
  /** What the operator does, in order; empty where that is not the operator's part. */
  readonly operator: readonly OperatorStep[]
  /** What is so at each time, in words. */
  readonly says: HostSaysJson
  /** Tasks of the run that mend it, and lines of the host's files that decide. */
  readonly evidence: readonly (EvidenceJson | HostEvidenceJson)[]
}

/** What is so on a host at each time, in words. */
export interface HostSaysJson {
  /** Before the run. */
  readonly now: string
  /** When the run is through. */
  readonly afterRun: string
  /** When the host has booted after it. */
  readonly afterReboot: string
}

/** A file of the host that says how it is. */
export interface HostEvidenceJson {
  /** The file, absolute on the host. */
  readonly file: string
  /** The line, from 1; null where no single line says it. */
  readonly line: Line | null
  /** What stands there; null where the file being there says it. */
  readonly says: string | null
  /** The time it is about. */
  readonly at: 'now' | 'afterRun' | 'afterReboot'
}

/** A line of a file of the host. */
export interface DecidingLineJson {
  /** The file, absolute on the host. */
  readonly file: string
  /** The line, from 1. */
  readonly line: Line
}

/** A kernel setting over time; a value is null where the kernel has no such setting, or where it is not known. */
export interface SettingJson {
  /** Before the run. */
  readonly now: string | null
  /** When the run is through. */
  readonly afterRun: string | null
  /** When the host has booted after it. */
  readonly afterReboot: string | null
  /** The file that decides at boot, absolute on the host; null where none does, or where that is not known. */
  readonly decidedBy: DecidingLineJson | null
  /** Why a value is not known; null where all are. */
  readonly because: string | null
}

/** The report for machines: contract, "preflight". In pieces, a host each: that of a thousand hosts has some 70 MB. */
export function* renderPreflightJson({ source, playbook, ansible, hosts }: PreflightReport): Generator<string> {
  const none: readonly HostJson[] = []
  const frame = { schema: outputs.preflight.schema, source, playbook, ansible, hosts: none } satisfies PreflightJson
  const text = jsonText(frame)
  const end = text.lastIndexOf(']')
  yield text.slice(0, end)
  let separator = '\n'
  for (const group of hosts) {
    const answers = members(answersJson(group))
    const [first] = group.hosts
    for (const [index, name] of group.hosts.entries()) {
      const { host, evidence } = name
      const sameAs = index === 0 ? null : (first?.host ?? null)
      const head = members({ host, evidence, sameAs } satisfies Pick<HostJson, OfOneHost>)
      yield `${separator}    {\n${head},\n${inWordsOf(name, answers, inJson)}\n    }`
      separator = ',\n'
    }
  }
  yield `${separator === '\n' ? '' : '\n  '}${text.slice(end)}`
}

/** The members of an object as they stand in the list of hosts. */
function members(json: object): string {
  const text = jsonText(json)
  return text.slice(text.indexOf('\n') + 1, text.lastIndexOf('\n}')).replaceAll(/^/gm, '    ')
}

function inJson(text: string): string {
  return jsonLine(text).slice(1, -1)
}

/** What differs between the hosts of a group. */
type OfOneHost = 'host' | 'evidence' | 'sameAs'

function answersJson({ stops, open, problems, settings, changes }: ReportedHost): Omit<HostJson, OfOneHost> {
  return {
    stops: stops.map(stopJson),
    open: open.map(stopJson),
    problems: problems.map(problemJson),
    sysctl: Object.fromEntries(
      settings.map(({ key, now, afterRun, afterReboot, decidedBy, because }) => [
        key,
        {
          now: now ?? null,
          afterRun: afterRun ?? null,
          afterReboot: afterReboot ?? null,
          decidedBy: decidedBy?.line === undefined ? null : { file: decidedBy.file, line: decidedBy.line },
          because,
        },
      ]),
    ),
    changes,
  }
}

function stopJson({ file, line, task, because }: ReportedHostStop): HostStopJson {
  return { file, line, task, because }
}

function problemJson(problem: ReportedHostProblem): HostProblemJson {
  const { id, title, now, afterRun, afterReboot, acts, steps, evidence } = problem
  return {
    id,
    title,
    now: now.state,
    afterRun: afterRun.state,
    afterReboot: afterReboot.state,
    acts,
    operator: steps,
    says: { now: now.says, afterRun: afterRun.says, afterReboot: afterReboot.says },
    evidence: [
      ...evidence.map(evidenceJson),
      ...placesOf(now, 'now'),
      ...placesOf(afterRun, 'afterRun'),
      ...placesOf(afterReboot, 'afterReboot'),
    ],
  }
}

function placesOf({ places }: ReportedHostAnswer, at: HostEvidenceJson['at']): readonly HostEvidenceJson[] {
  return places.map(({ file, line, says }) => ({ file, line: line ?? null, says: says ?? null, at }))
}
