import { type Analysis, type AnalysisRequest, analyze, type OnHost, shownVariables } from '../analyze.js'
import { textOf } from '../effects/argument.js'
import { lookingTasks } from '../effects/looking.js'
import { textAt } from '../evidence/host-files.js'
import type { ForeseenFailure } from '../host/host-state.js'
import { sourceOf } from '../recorded/published.js'
import { type ReportedCheck, reportedChecks } from '../reports/checks.js'
import { changesOf } from '../reports/file-changes.js'
import { placeOfSpan } from '../reports/place.js'
import {
  type ReportedHost,
  type ReportedHostStop,
  reportedHostProblem,
  reportedSettings,
} from '../reports/preflight.js'
import { namingOf } from '../reports/report.js'
import type { Run } from '../run/task-run.js'
import { placeOf } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'

/** An analysis of role code and a captured host. */
export type HostAnalysis = Analysis & { readonly onHost: OnHost }

/** Analyzes role code together with a captured host. The request names evidence. */
export function analyzeHost(tree: SourceTree, request: AnalysisRequest): HostAnalysis {
  const analysis = analyze(tree, { ...request, variables: () => shownVariables })
  const { onHost } = analysis
  if (onHost === undefined) throw new Error('the request names no evidence')
  return { ...analysis, onHost }
}

/** What a report says of one host; `only` some problems, where given. */
export function reportedHost(analysis: HostAnalysis, only: readonly string[] | undefined): ReportedHost {
  const { run, origin, addresses, effects, onHost } = analysis
  const source = sourceOf(origin)
  const onlyLooks = lookingTasks(effects)
  const { checks } = reportedChecks({ run, source, addressOf: addresses.of, onlyLooks })
  const naming = namingOf(source, addresses)
  const { moments, verdicts, changedPaths, evidence } = onHost
  const asked = verdicts.filter(({ verdict }) => only?.includes(verdict.problem.id) !== false)
  return {
    hosts: [{ host: run.host, evidence: evidence.origin }],
    stops: stopsOf(analysis, checks),
    open: [
      ...checks.filter(({ outcome }) => outcome === 'unknown').map(stopOf),
      // Whether the rescue of a block takes it up is not gone into.
      ...onHost.failures.filter(each => isInRescuedBlock(each, run)).flatMap(failureOf),
    ],
    problems: asked.map(each => reportedHostProblem(each, naming)),
    settings: reportedSettings(settingsOf(analysis), moments),
    changes: changesOf(changedPaths, moments),
  }
}

function stopOf({ file, line, task, because }: ReportedCheck): ReportedHostStop {
  return { file, line, task, because }
}

/**
 * Where the run ends, in run order. A task that fails for several items is one stop, told by what the host says of it; so is one
 * cause that more tasks would fail by.
 */
function stopsOf({ run, onHost }: HostAnalysis, checks: readonly ReportedCheck[]): readonly ReportedHostStop[] {
  const orders = new Map<string, number>()
  for (const { task } of run.checks) {
    const at = placeKey(placeOfSpan(task.task.at))
    if (!orders.has(at)) orders.set(at, task.order)
  }
  const stops = [
    ...onHost.failures
      .filter(each => !isInRescuedBlock(each, run))
      .flatMap(failure => failureOf(failure).map(stop => ({ stop, order: failure.task.order }))),
    ...checks
      .filter(({ outcome }) => outcome === 'stops')
      .map(check => ({ stop: stopOf(check), order: orders.get(placeKey(check)) ?? 0 })),
  ]
  const seen = new Set<string>()
  return stops
    .sort((left, right) => left.order - right.order)
    .map(({ stop }) => stop)
    .filter(stop => {
      const keys = [placeKey(stop), stop.because]
      const isNew = !keys.some(key => seen.has(key))
      for (const key of keys) seen.add(key)
      return isNew
    })
}

function placeKey({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`
}

/** A task that fails because of what the host is ends the run, unless the role code lets that pass. */
function failureOf({ task, because }: ForeseenFailure): readonly ReportedHostStop[] {
  const { failureIgnored, name } = task
  return failureIgnored.kind === 'true' ? [] : [{ ...placeOfSpan(task.task.at), task: name, because }]
}

/** Whether a block around the task has a `rescue`. */
function isInRescuedBlock({ task }: ForeseenFailure, { tasks }: Run): boolean {
  const blocks = new Set(task.via.filter(({ kind }) => kind === 'block').map(({ at }) => placeOf(at)))
  if (blocks.size === 0 || task.part !== 'block') return false
  return tasks.some(
    ({ part, via }) => part === 'rescue' && via.some(({ kind, at }) => kind === 'block' && blocks.has(placeOf(at))),
  )
}

/** The kernel settings that problems ask for, then those that the run writes. */
function settingsOf({ effects }: Analysis): readonly string[] {
  const written = effects.occurrences.flatMap(({ effect, asWritten }) =>
    effect.kind === 'sysctl' && !asWritten ? (textOf(effect.key) ?? []) : [],
  )
  return [
    'net.ipv4.ip_forward',
    'net.bridge.bridge-nf-call-iptables',
    'net.bridge.bridge-nf-call-ip6tables',
    ...written,
  ]
}

/** All swap of a host in KiB, as its kernel counts it; undefined where that was not captured. */
export function swapTotalOf({ evidence }: OnHost): number | undefined {
  const text = textAt(evidence.files, '/proc/meminfo')
  const digits = text.kind === 'known' ? /^SwapTotal:\s*(\d+) kB$/m.exec(text.value.text)?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}
