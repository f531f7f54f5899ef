import {
  type PlainCommand,
  type PlainList,
  type PlainPipeline,
  type PlainScript,
  type PlainWord,
  readPlainScript,
} from '../../../effects/plain-script.js'
import type { Evidence } from '../../../evidence/evidence.js'
import type { Moment } from '../../moment.js'
import { filePrograms, programAt } from './files.js'
import { kernelPrograms } from './kernel.js'
import {
  complains,
  ends,
  joined,
  notKnown,
  type Outcome,
  type Printed,
  type Program,
  prints,
  type Ran,
  succeeds,
} from './outcome.js'
import { textPrograms } from './texts.js'
import { unitPrograms } from './units.js'

const echo: Program = ({ words }) => {
  const isOpenEnded = words[0] === '-n'
  const shown = isOpenEnded ? words.slice(1) : words
  // bash takes a backslash as it is, dash takes it as an escape.
  if (shown[0]?.startsWith('-') || shown.some(word => word.includes('\\'))) return undefined
  return prints(`${shown.join(' ')}${isOpenEnded ? '' : '\n'}`)
}

/** Of a shell itself: there whatever programs are. */
const builtIns: ReadonlyMap<string, Program> = new Map<string, Program>([
  [':', () => prints('')],
  ['true', () => prints('')],
  ['false', () => ends(1)],
  ['echo', echo],
  ['[', filePrograms['['] ?? (() => undefined)],
  ['test', filePrograms.test ?? (() => undefined)],
])

const programs: ReadonlyMap<string, Program> = new Map([
  ...Object.entries(textPrograms),
  ...Object.entries(kernelPrograms),
  ...Object.entries(unitPrograms),
  ...Object.entries(filePrograms),
])

/** What a script is run with. */
export interface World {
  readonly moment: Moment
  readonly evidence: Evidence
  /** Whether the shell is bash; undefined where it is the `sh` of the host. */
  readonly isBash: boolean
  /** False where the task has a PATH of its own: it is taken to find what is there, but not where. */
  readonly isUsualPath: boolean
}

/** What a command comes to that is run without a shell: its words as they are. */
export function runWords(
  words: readonly string[],
  { moment, evidence, isUsualPath }: World,
): Outcome | 'no such program' | undefined {
  const [name = '', ...rest] = words
  const base = name.slice(name.lastIndexOf('/') + 1)
  // What only a shell has is no program.
  if (name === ':' || name === 'command') return undefined
  const program = programs.get(base) ?? builtIns.get(base)
  if (program === undefined || !isStandardPlace(name)) return undefined
  if (!isUsualPath && base === 'which') return undefined
  if (programAt(moment, name).kind === 'absent') return isUsualPath ? 'no such program' : undefined
  return program({ words: rest, stdin: undefined, moment, evidence })
}

function isStandardPlace(name: string): boolean {
  return !name.includes('/') || /^(?:\/usr)?\/s?bin\/[^/]+$/.test(name)
}

const MOST_DEPTH = 5

/** What a shell text comes to; undefined where it does anything but look, or is not worked out. */
export function runScript(text: string, world: World): Outcome | undefined {
  const script = readPlainScript(text)
  return script && runStatements(script, world, 0)
}

interface ShellState {
  pipefail: boolean
  errexit: boolean
}

function runStatements(script: PlainScript, world: World, depth: number): Outcome | undefined {
  if (depth > MOST_DEPTH) return undefined
  const state: ShellState = { pipefail: false, errexit: false }
  let last: Ran = prints('')
  let stdout: Printed = ''
  let silent = true
  for (const list of script.lists) {
    const outcome = runList(list, world, state, depth)
    if (outcome?.kind !== 'ran') return outcome
    stdout = joined(stdout, outcome.stdout)
    silent &&= outcome.silent
    last = outcome
    if (state.errexit) {
      const succeeded = succeeds(outcome.status)
      if (succeeded === undefined) return notKnown('whether the script goes on is not known')
      // Within `&&` and `||` a failure does not end it, so that is not worked out.
      if (!succeeded && list.rest.length > 0) return undefined
      if (!succeeded) break
    }
  }
  return { kind: 'ran', status: last.status, stdout, silent }
}

function runList({ first, rest }: PlainList, world: World, state: ShellState, depth: number): Outcome | undefined {
  let outcome = runPipeline(first, world, state, depth)
  if (outcome?.kind !== 'ran') return outcome
  let { stdout, silent } = outcome
  for (const { operator, pipeline } of rest) {
    const succeeded = succeeds(outcome.status)
    if (succeeded === undefined) return notKnown(reasonOf(outcome))
    if (succeeded !== (operator === '&&')) continue
    const next = runPipeline(pipeline, world, state, depth)
    if (next?.kind !== 'ran') return next
    stdout = joined(stdout, next.stdout)
    silent &&= next.silent
    outcome = next
  }
  return { kind: 'ran', status: outcome.status, stdout, silent }
}

function reasonOf({ status }: Ran): string {
  return typeof status === 'number' ? 'whether it succeeds' : status.because
}

/** More than this may fill a pipe whose reader has ended. */
const PIPE = 4096

function runPipeline(
  { negated, commands }: PlainPipeline,
  world: World,
  state: ShellState,
  depth: number,
): Outcome | undefined {
  let stdin: Printed | undefined
  let silent = true
  const statuses: Ran[] = []
  for (const command of commands) {
    if (state.pipefail && typeof stdin === 'string' && stdin.length > PIPE) return undefined
    const outcome = runCommand(command, stdin, world, state, depth)
    if (outcome?.kind !== 'ran') return outcome
    statuses.push(outcome)
    stdin = outcome.stdout
    silent &&= outcome.silent
  }
  let last = statuses.at(-1)
  if (last === undefined) return undefined
  if (state.pipefail) {
    for (const each of [...statuses].reverse()) {
      const succeeded = succeeds(each.status)
      if (succeeded === undefined && each !== last) return notKnown(reasonOf(each))
      if (succeeded !== true) {
        last = each
        break
      }
    }
  }
  const { status } = last
  if (!negated) return { kind: 'ran', status, stdout: stdin ?? '', silent }
  const succeeded = succeeds(status)
  if (succeeded === undefined) return notKnown(reasonOf(last))
  return { kind: 'ran', status: succeeded ? 1 : 0, stdout: stdin ?? '', silent }
}

function runCommand(
  command: PlainCommand,
  stdin: Printed | undefined,
  world: World,
  state: ShellState,
  depth: number,
): Outcome | undefined {
  // What a program prints may depend on its environment.
  if (command.assigned.some(name => !/^(?:LANG|LANGUAGE|LC_\w+)$/.test(name))) return undefined
  const words: string[] = []
  for (const word of command.words) {
    const read = wordOf(word, world, depth)
    if (read === undefined || typeof read === 'object') return read
    words.push(read)
  }
  const outcome = called(words, stdin, world, state)
  return outcome?.kind === 'ran' ? redirected(outcome, command) : outcome
}

/** The text of a word; what it substitutes must stay one word. */
function wordOf(word: PlainWord, world: World, depth: number): string | Outcome | undefined {
  let text = ''
  for (const piece of word) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    const inner = runStatements(piece, world, depth + 1)
    if (inner?.kind !== 'ran') return inner
    if (typeof inner.stdout !== 'string') return notKnown(inner.stdout.because)
    const printed = inner.stdout.replace(/\n+$/, '')
    if (!/^[\w./:@+-]+$/.test(printed)) return undefined
    text += printed
  }
  return text
}

function called(
  words: readonly string[],
  stdin: Printed | undefined,
  world: World,
  state: ShellState,
): Outcome | undefined {
  const [name = '', ...rest] = words
  if (name === 'set') return setOptions(rest, world, state)
  const { moment, evidence, isUsualPath } = world
  if (!isUsualPath && /(?:^|\/)(?:which|command)$/.test(name)) return undefined
  const call = { words: rest, stdin, moment, evidence }
  const own = builtIns.get(name) ?? (name === 'command' ? filePrograms.command : undefined)
  if (own !== undefined) return own(call)
  const program = programs.get(name.slice(name.lastIndexOf('/') + 1))
  if (program === undefined || !isStandardPlace(name)) return undefined
  if (programAt(moment, name).kind === 'absent') return isUsualPath ? complains(127) : undefined
  return program(call)
}

/** `set -e`, `set -o pipefail`; `-u` changes nothing where there are no variables. */
function setOptions(words: readonly string[], { isBash }: World, state: ShellState): Outcome | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!/^-[eu]*o?$/.test(word) || word === '-') return undefined
    if (word.includes('e')) state.errexit = true
    if (!word.endsWith('o')) continue
    const option = words[++at]
    if (option === 'errexit') state.errexit = true
    else if (option === 'pipefail' && isBash) state.pipefail = true
    else if (option !== 'nounset') return undefined
  }
  return prints('')
}

function redirected(ran: Ran, { output, errors }: PlainCommand): Ran {
  const { stdout, silent } = ran
  const isJoined = errors === 'as output' && !silent
  const because = 'the words of error messages are not worked out'
  return {
    ...ran,
    stdout: output === 'on' ? (isJoined ? joined(stdout, { because }) : stdout) : '',
    silent: errors !== 'on' || (silent && (output !== 'as errors' || stdout === '')),
  }
}
