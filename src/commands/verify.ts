import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type AnalysisRequest, momentsOf } from '../analyze.js'
import { dataValue } from '../inventory/data.js'
import { answerJson, undecided } from '../reports/answer-json.js'
import { beforeFile, factsFile, type LabFile, portsFile } from '../reports/lab-files.js'
import type { Report } from '../reports/report.js'
import { jsonOf } from '../reports/value-text.js'
import {
  type Given,
  type GivenPort,
  type MarkedKey,
  markKeys,
  markPorts,
  markReady,
  markUnitsOff,
  type Right,
  type VerifyReport,
} from '../reports/verify.js'
import { renderVerifyJson } from '../reports/verify-json.js'
import { renderVerifyText } from '../reports/verify-text.js'
import { UsageError } from '../source/diagnostic.js'
import { lineOf, type SourceFile } from '../source/text.js'
import { readJson } from '../yaml/json.js'
import type { Node } from '../yaml/node.js'
import type { DefineCommand, ExitStatus } from './command.js'
import { analyzeHost, swapTotalOf } from './hosts.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { asItsRoleSees, openCodeOf, reportFor } from './subject.js'

interface VerifyOptions {
  readonly after?: boolean
}

/** `whofixes verify`: marks the lab's files, or with `--after` a host that should be ready. */
export const defineVerify: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('verify')
    .description(
      "marks a who-fixes.json, or with --evidence the lab's other files; --after: a host that should be ready",
    )
    .argument('[file]', 'who-fixes.json, before.json, ports.json or facts.json')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
    .option(
      '--after',
      'whether the host of --evidence is ready; FILE may be the ports.json of before: its units have to be off',
    )
  addOutputOptions(addAnalysisOptions(command), ['text', 'json']).action(
    (
      file: string | undefined,
      source: string | undefined,
      options: AnalysisOptions & OutputOptions & VerifyOptions,
    ) => {
      const request = requestOf(options)
      const report = options.after === true ? verifiedHost(file, request) : verifiedFile(file, source, request)
      const text =
        options.format === 'json' ? renderVerifyJson(report) : renderVerifyText(report, styleFor(options, terminal))
      writeReport(text, options, terminal)
      finish(statusOf(report.keys))
    },
  )
}

function statusOf(keys: readonly MarkedKey[]): ExitStatus {
  if (keys.some(({ mark }) => mark === 'unknown')) return 3
  return keys.some(({ mark }) => mark === 'wrong') ? 1 : 0
}

function verifiedHost(file: string | undefined, request: AnalysisRequest): VerifyReport {
  const { evidence, host = 'node1' } = request
  if (evidence === undefined) throw new UsageError('verify --after needs --evidence PATH: the host as it is now')
  const moments = momentsOf(evidence, host)
  const held = file === undefined ? [] : portsIn(readAnswers(file))
  const units = held.flatMap(({ unit }) => (typeof unit === 'string' && unit !== '' ? [unit] : []))
  const keys = [...markReady(moments.now, moments.booted), ...markUnitsOff([...new Set(units)], moments.booted)]
  return { file: null, kind: 'host', host: moments.host, keys: unique(keys) }
}

/** A unit of ports.json that takes its port again is found in both ways. */
function unique(keys: readonly MarkedKey[]): readonly MarkedKey[] {
  return keys.filter((each, index) => keys.findIndex(({ key }) => key === each.key) === index)
}

function verifiedFile(file: string | undefined, source: string | undefined, request: AnalysisRequest): VerifyReport {
  if (file === undefined)
    throw new UsageError('verify needs a FILE: who-fixes.json, before.json, ports.json or facts.json')
  const root = readAnswers(file)
  const kind = kindOf(root, file)
  if (kind === 'who-fixes') {
    const report = reportFor(source, { ...request, followsHost: false }, { kubesprayOnly: true })
    return { file, kind, host: report.host, keys: markKeys(givenIn(root), rightAnswers(report)) }
  }
  if (request.evidence === undefined)
    throw new UsageError(`${file}: a ${kind}.json is marked against --evidence PATH, the host it is about`)
  const analysis = analyzeHost(openCodeOf(source, 'verify'), request)
  const { onHost, facts, run } = analysis
  const { now } = onHost.moments
  const { host } = run
  if (kind === 'ports') {
    const { content, unknown } = portsFile(now)
    return { file, kind, host, keys: markPorts(portsIn(root), content ?? unknown.join('; ')) }
  }
  const minimum = asItsRoleSees(analysis, 'minimal_master_memory_mb')?.value
  const right = kind === 'before' ? rightOf(beforeFile(now, swapTotalOf(onHost))) : rightOf(factsFile(facts, minimum))
  return { file, kind, host, keys: markKeys(givenIn(root), right) }
}

function rightOf({ content, unknown }: LabFile<object>): ReadonlyMap<string, Right> {
  return new Map(
    Object.entries(content).map(([key, value]) => {
      const why = unknown.find(line => line.startsWith(`${key}: `))?.slice(key.length + 2)
      return [key, { value, because: why ?? `it is ${JSON.stringify(value)} on the host` }]
    }),
  )
}

/** The right answers, each with the task that decides, or what was searched in vain. */
function rightAnswers(report: Report): ReadonlyMap<string, Right> {
  const variable = report.variables.get('sysctl_file_path')
  const right = answerJson(report.problems, variable)
  const open = undecided(report)
  return new Map(
    Object.entries(right).map(([key, value]) => {
      const problem = report.problems.find(({ id }) => id === key)
      const unknown = open.find(line => line.startsWith(key))
      if (value === 'unknown') return [key, { value, because: unknown ?? 'it could not be told' }]
      if (problem === undefined) return [key, { value, because: variableText(variable?.file, variable?.line) }]
      const evidence = [...problem.now.evidence, ...problem.afterReboot.evidence].map(
        each => `${each.effect} (${each.file}:${each.line})`,
      )
      const because =
        value === 'kubespray'
          ? `kubespray: ${[...new Set(evidence)].join('; ')}`
          : `nothing the run does settles it: ${problem.searched.tasks} tasks and ${problem.searched.commands} commands were searched`
      return [key, { value, because }]
    }),
  )
}

function variableText(file: string | null | undefined, line: number | null | undefined): string {
  return file == null ? 'sysctl_file_path says so' : `sysctl_file_path says so (${file}:${line})`
}

const MARKS: readonly (readonly ['who-fixes' | 'before' | 'facts', readonly string[]])[] = [
  ['who-fixes', ['swap', 'port_10250', 'sysctl_file']],
  ['before', ['swap_total_kb', 'busy_ports']],
  [
    'facts',
    [
      'memtotal_mb',
      'processor_vcpus',
      'distribution',
      'distribution_version',
      'kernel',
      'default_ipv4',
      'minimal_master_memory_mb',
    ],
  ],
]

/** Which file it is, by the keys that only one of them has, else by its name. */
function kindOf(root: Node, file: string): 'who-fixes' | 'before' | 'ports' | 'facts' {
  if (root.kind === 'list') return 'ports'
  if (root.kind !== 'map')
    throw new UsageError(`${file}:${lineOf(root.span)}: expected an object (or for ports.json a list) of answers`)
  const keys = root.entries.map(({ key }) => String(key.data))
  const found = MARKS.find(([, names]) => names.some(name => keys.includes(name)))
  if (found !== undefined) return found[0]
  const name = basename(file).replace(/\.json$/, '')
  const named = MARKS.find(([kind]) => kind === name)
  if (named !== undefined) return named[0]
  if (keys.length > 0 && root.entries.every(({ value }) => value.kind === 'map')) return 'ports'
  throw new UsageError(`${file}: none of its keys is one of who-fixes.json, before.json, ports.json or facts.json`)
}

function readAnswers(path: string): Node {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path}: cannot be read (${error instanceof Error && 'code' in error ? error.code : error})`)
  }
  const file: SourceFile = { path, text: text.replace(/^\uFEFF/, '') }
  const root = readJson(file)
  if (root === undefined) throw new UsageError(`${path}:${brokenLine(file.text)}: expected JSON`)
  return root
}

/** The line at which a text stops being JSON, as far as the reader of the language tells it. */
function brokenLine(text: string): number {
  try {
    JSON.parse(text)
  } catch (error) {
    const at = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    if (at !== undefined) return text.slice(0, Number(at)).split('\n').length
    return text.trimEnd().split('\n').length
  }
  return 1
}

function givenIn(root: Node): ReadonlyMap<string, Given> {
  if (root.kind !== 'map') return new Map()
  return new Map(
    root.entries.map(({ key, value }) => [
      String(key.data),
      { value: jsonOf(dataValue(value)), line: lineOf(key.span) },
    ]),
  )
}

/** The rows of ports.json: a list of them, or one by one under the ports. */
function portsIn(root: Node): readonly GivenPort[] {
  if (root.kind === 'list') return root.items.map(row => portIn(row, undefined))
  return root.kind === 'map' ? root.entries.map(({ key, value }) => portIn(value, key.data)) : []
}

function portIn(row: Node, port: unknown): GivenPort {
  const given = givenIn(row)
  const value = (name: string): unknown => given.get(name)?.value ?? null
  return { port: port ?? value('port'), unit: value('unit'), pid: value('pid'), line: lineOf(row.span) }
}
