import { type Command, Option } from 'commander'
import type { AnalysisRequest } from '../analyze.js'
import { isVersion } from '../ansible/versions.js'
import { UsageError } from '../source/diagnostic.js'
import { readOwnProblems } from './own-problems.js'

/** The options every analysing command takes, as commander hands them over. */
export type AnalysisOptions = Omit<
  AnalysisRequest,
  | 'environment'
  | 'variables'
  | 'quoteCode'
  | 'commonFacts'
  | 'beside'
  | 'hostEvidence'
  | 'hostMoment'
  | 'hostFacts'
  | 'opened'
  | 'followsHost'
  | 'hostView'
> & {
  readonly rules?: string
}

export interface OutputOptions {
  readonly format: string
  readonly output?: string
  readonly color: 'auto' | 'always' | 'never'
  readonly quiet?: boolean
}

/** A report that is written besides the one of `--format`. */
export interface ReportFile {
  readonly format: string
  readonly file: string
}

/** What commands with `addReportOption` take besides. */
export interface ReportFileOptions {
  readonly report: readonly ReportFile[]
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]
const collectTags = (value: string, before: readonly string[]): readonly string[] => [...before, ...splitTags(value)]

/** The tags of a text with commas between them. */
export function splitTags(text: string): readonly string[] {
  return text
    .split(',')
    .map(tag => tag.trim())
    .filter(tag => tag !== '')
}

/** The options every analysing command takes (contract). */
export function addAnalysisOptions(command: Command): Command {
  return command
    .option('--playbook <file>', 'the playbook of the run', 'cluster.yml')
    .option('-i, --inventory <path>', 'INI or YAML inventory, or a directory; may be repeated', collect, [])
    .option('--host <name>', 'the host the answer is about (default: the first control-plane host)')
    .option('-e, --extra-vars <text>', 'k=v …, JSON or @file; may be repeated', collect, [])
    .option('--ansible <version>', 'the ansible-core of the run (default: what the role code pins and checks)')
    .option(
      '--evidence <path>',
      'a captured host (`whofixes collect`): a directory or tar, / for this host; or a directory of them',
    )
    .option('--facts <path>', 'facts of the hosts: what `ansible -m setup` prints or writes, or a JSON object')
    .option(
      '--assume <name=value>',
      'a fact, variable or registered value to take as given; may be repeated',
      collect,
      [],
    )
    .option('--tags <tags>', 'only tasks with these tags', collectTags, [])
    .option('--skip-tags <tags>', 'without tasks with these tags', collectTags, [])
}

/** `--rules`, for commands that judge problems. */
export function addRulesOption(command: Command): Command {
  return command.option('--rules <dir>', 'problems of your own besides the catalogue: *.ts and *.js files in DIR')
}

/** `--format` with the formats this command knows, the first is the default; and where the report goes. */
export function addOutputOptions(command: Command, formats: readonly string[]): Command {
  return command
    .addOption(new Option('--format <name>', 'format of the report').choices(formats).default(formats[0]))
    .option('-o, --output <file>', 'write the report to a file, whole or not at all')
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto'))
    .option('-q, --quiet', 'no hints on standard error')
}

/** `--report FORMAT=FILE`, for commands whose answer pipelines want in several formats: the work is done once. */
export function addReportOption(command: Command, formats: readonly string[]): Command {
  const collectReport = (value: string, before: readonly ReportFile[]): readonly ReportFile[] => {
    const [, format = '', file = ''] = /^([^=]*)=(.*)$/s.exec(value) ?? []
    if (!formats.includes(format) || file === '') {
      throw new UsageError(`--report ${value}: expected FORMAT=FILE with one of the formats ${formats.join(', ')}`)
    }
    return [...before, { format, file }]
  }
  return command.option(
    '--report <format=file>',
    'write the same report in this format to a file, besides; may be repeated',
    collectReport,
    [],
  )
}

/** What the options ask for. Throws InvalidArgumentError where `--playbook` is empty. */
export function requestOf(options: AnalysisOptions): AnalysisRequest {
  const { playbook, inventory, extraVars, assume, tags, skipTags, host, facts, evidence, rules, ansible } = options
  if (playbook === '') throw new UsageError('--playbook needs the name of a file')
  if (ansible !== undefined && !isVersion(ansible)) {
    throw new UsageError(`--ansible ${ansible}: expected a version of ansible-core, as in 2.17.14 or 2.18.0rc1`)
  }
  return {
    playbook,
    inventory,
    extraVars,
    assume,
    tags,
    skipTags,
    // whofixes runs where Ansible would: role code that asks the control host's environment gets this one.
    environment: process.env,
    ...(host === undefined ? {} : { host }),
    ...(facts === undefined ? {} : { facts }),
    ...(evidence === undefined ? {} : { evidence }),
    ...(rules === undefined ? {} : { beside: readOwnProblems(rules) }),
    ...(ansible === undefined ? {} : { ansible }),
  }
}

/** The options of a request that a recorded snapshot cannot answer: it holds the default inventory and playbook. */
export function beyondSnapshot(request: AnalysisRequest): readonly string[] {
  return [
    ...(request.playbook === 'cluster.yml' ? [] : ['--playbook']),
    ...(request.inventory.length > 0 ? ['--inventory'] : []),
    ...(request.host === undefined || request.host === 'node1' ? [] : ['--host']),
    ...(request.extraVars.length > 0 ? ['--extra-vars'] : []),
    ...(request.facts === undefined ? [] : ['--facts']),
    ...(request.evidence === undefined ? [] : ['--evidence']),
    ...(request.ansible === undefined ? [] : ['--ansible']),
    ...(request.assume.length > 0 ? ['--assume'] : []),
    ...(request.tags.length > 0 ? ['--tags'] : []),
    ...(request.skipTags.length > 0 ? ['--skip-tags'] : []),
    ...(request.beside ?? []).map(({ id }) => `an answer about ${id}`),
  ]
}
