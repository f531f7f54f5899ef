import type { Task } from '../../ansible/statement.js'
import { splitWords } from '../../effects/shell.js'
import type { Evidence } from '../../evidence/evidence.js'
import { known, type Option, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import type { Moment } from '../moment.js'
import { type Given, givenIn } from './arguments.js'
import { standsAt } from './paths.js'
import type { Outcome, Printed, Status } from './programs/outcome.js'
import { runScript, runWords, type World } from './programs/run-script.js'
import { linesOf, open } from './said.js'

/** `command`, `shell` and `raw` where all they run only looks. */
export function commandOf(
  task: Task,
  invocation: Invocation,
  moment: Moment,
  evidence: Evidence,
): Answered | undefined {
  const given = givenIn(invocation)
  const module = task.module.replace(/^.*\./, '')
  // Where it stands, and what it is told, are not gone into.
  if (!given.lacks('chdir', 'stdin')) return undefined
  const line = lineOf(invocation, given)
  if (line === undefined) return undefined
  const cmd = module === 'shell' ? known(line.text) : known(line.words?.map(word => known(word)) ?? line.text)
  const spared = sparedBy(given, moment, cmd, task)
  if (spared !== undefined) return spared === 'not known' ? undefined : spared
  const executable = given.text('executable')
  if (executable === undefined || (executable !== null && !/^(?:\/usr)?\/bin\/(?:ba|da)?sh$/.test(executable)))
    return undefined
  const world: World = {
    moment,
    evidence,
    isBash: executable?.endsWith('/bash') ?? false,
    isUsualPath: !invocation.environment.has('PATH'),
  }
  if (module === 'command') {
    // The module puts in variables and `~` itself.
    if (line.words === undefined || line.words.some(word => /\$[\w{]|^~/.test(word))) return undefined
    const outcome = runWords(line.words, world)
    // A PATH of its own (most often with sbin) may lead to it elsewhere.
    if (outcome === 'no such program') return invocation.environment.has('PATH') ? undefined : noSuchProgram(cmd)
    return outcome && resultOf(outcome, 'command', given, cmd, task)
  }
  const outcome = line.text === undefined ? undefined : runScript(line.text, world)
  return outcome && resultOf(outcome, module === 'raw' ? 'raw' : 'shell', given, cmd, task)
}

interface Line {
  readonly text: string
  /** Undefined where a quotation is not closed. */
  readonly words: readonly string[] | undefined
}

function lineOf({ raw }: Invocation, given: Given): Line | undefined {
  const argv = given.value('argv')
  if (argv !== undefined) {
    const words = given.texts('argv')
    const isList = argv.kind === 'known' && Array.isArray(argv.data)
    return isList && Array.isArray(words) ? { text: words.join(' '), words } : undefined
  }
  const text = raw === undefined ? given.text('cmd', '_raw_params') : raw.kind === 'known' ? raw.data : undefined
  return typeof text === 'string' ? { text: text.trim(), words: splitWords(text) } : undefined
}

/** `creates` and `removes`: where what they name is there, or is not, nothing is run. */
function sparedBy(given: Given, moment: Moment, cmd: Value, task: Task): Answered | 'not known' | undefined {
  for (const [name, spares, says] of [
    ['creates', true, 'exists'],
    ['removes', false, 'does not exist'],
  ] as const) {
    const path = given.text(name)
    if (path === null) continue
    if (path === undefined || !path.startsWith('/') || /[*?[$]/.test(path)) return 'not known'
    const found = standsAt(moment, path, false)
    if (found === undefined || found.kind === 'unknown') return 'not known'
    if ((found.kind === 'known') !== spares) continue
    const stdout = `skipped, since ${path} ${says}`
    return {
      kind: 'fields',
      fields: new Map<string, Value>([
        ['rc', known(0n)],
        ['stdout', known(stdout)],
        ['stdout_lines', known([known(stdout)])],
        ['stderr', known('')],
        ['stderr_lines', known([])],
        ['cmd', cmd],
        ['msg', open('how the module says it depends on the version of ansible-core', task)],
        ['changed', known(false)],
      ]),
    }
  }
  return undefined
}

/** The module could not run it at all: the status is that of the system. */
function noSuchProgram(cmd: Value): Answered {
  return {
    kind: 'fields',
    fields: new Map<string, Value>([
      ['rc', known(2n)],
      ['failed', known(true)],
      ['changed', known(false)],
      ['stdout', known('')],
      ['stdout_lines', known([])],
      ['stderr', known('')],
      ['stderr_lines', known([])],
      ['cmd', cmd],
    ]),
  }
}

function resultOf(
  outcome: Outcome,
  module: 'command' | 'shell' | 'raw',
  given: Given,
  cmd: Value,
  task: Task,
): Answered {
  const fields = new Map<string, Value>([['changed', known(true)]])
  if (module !== 'raw') fields.set('cmd', cmd)
  if (outcome.kind === 'open') {
    const value = open(outcome.because, task)
    for (const name of ['rc', 'stdout', 'stdout_lines', 'failed']) fields.set(name, value)
    return { kind: 'fields', fields }
  }
  const { status, stdout, silent } = outcome
  fields.set('rc', statusOf(status, task))
  if (module === 'raw') {
    for (const [name, value] of rawOutput(stdout, silent, task)) fields.set(name, value)
    return { kind: 'fields', fields }
  }
  const strip = given.flag('strip_empty_ends', true)
  const printed =
    strip === undefined ? { because: 'whether empty ends are taken off is not known' } : stripped(stdout, strip)
  fields.set('stdout', textOf(printed, task))
  fields.set('stdout_lines', lines(printed, task))
  if (silent) fields.set('stderr', known('')).set('stderr_lines', known([]))
  return { kind: 'fields', fields }
}

/** What `raw` gives is not cut off; over a terminal its lines end as those of terminals do, and errors stand among them. */
function rawOutput(stdout: Printed, silent: boolean, task: Task): readonly (readonly [string, Value])[] {
  const because = 'whether it has a terminal decides how it ends lines, and where errors go'
  if (!silent || typeof stdout !== 'string') {
    const value = open(typeof stdout === 'string' ? because : stdout.because, task)
    return [
      ['stdout', value],
      ['stdout_lines', value],
    ]
  }
  const ends: Option[] = [stdout, stdout.replaceAll('\n', '\r\n')].map(text => ({
    value: known(text),
    because: [{ says: because, at: task.at }],
  }))
  return [
    ['stdout', stdout.includes('\n') ? { kind: 'one-of', options: ends } : known(stdout)],
    ['stdout_lines', known(linesOf(stdout).map(line => known(line)))],
  ]
}

function stripped(printed: Printed, strip: boolean): Printed {
  if (!strip) return printed
  if (typeof printed === 'string') return printed.replace(/[\r\n]+$/, '')
  return printed
}

function textOf(printed: Printed, task: Task): Value {
  if (typeof printed === 'string') return known(printed)
  const causes = [{ says: printed.because, at: task.at }]
  return printed.pieces === undefined ? { kind: 'unknown', causes } : { kind: 'unknown', causes, text: printed.pieces }
}

function lines(printed: Printed, task: Task): Value {
  return typeof printed === 'string' ? known(linesOf(printed).map(line => known(line))) : open(printed.because, task)
}

function statusOf(status: Status, { at }: Task): Value {
  if (typeof status === 'number') return known(BigInt(status))
  const because = [{ says: status.because, at }]
  return { kind: 'one-of', options: status.oneOf.map(each => ({ value: known(BigInt(each)), because })) }
}
