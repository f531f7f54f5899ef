import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { type Cause, known, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { optionsOf, piecesOf, textOf } from './argument.js'

/** A word of a command line: its text as far as it is known, and the commands that are run to make it. */
export interface ShellWord {
  readonly value: Value
  /** Commands in `$( )` and `` ` ` `` inside this word; they are also listed as commands of their own. */
  readonly from: readonly SimpleCommand[]
}

export interface ShellRedirect {
  readonly operator: string
  /** The file, or for a here-document and a here-string the text. */
  readonly target: Value
}

/** One simple command, wherever it stands in the script. */
export interface SimpleCommand {
  /** The first is the program. Never empty. */
  readonly words: readonly ShellWord[]
  readonly redirects: readonly ShellRedirect[]
  /** What the command's running depends on inside the script, in shell words; undefined: it is reached. */
  readonly onlyIf: string | undefined
  /** The command before it in a pipe. */
  readonly stdin: SimpleCommand | undefined
  /** True for a call of a function of the same script, whose body stands among the commands. */
  readonly callsFunction?: true
}

export interface ShellReading {
  readonly commands: readonly SimpleCommand[]
  /** Redirections of whole compound commands, and of lines without a command (`> file`). */
  readonly redirects: readonly (ShellRedirect & { readonly onlyIf: string | undefined })[]
  /** What could not be read. */
  readonly unreadable: readonly string[]
  /** Why the task fails before anything is run, where Ansible could not make the text either. */
  readonly fails?: readonly string[]
}

/** Stands for an unknown piece while the text is parsed: a private-use character no shell grammar knows. */
const HOLE = '\uE000'
const MAX_COMMANDS = 5000
const MAX_OPTIONS = 16

/** Commands that never fail in practice, so that `set -e && x` and `cd /tmp; x` do not make `x` depend on them. */
const NEVER_FAILS = new Set(['set', 'export', 'umask', ':', 'true', 'echo', 'printf', 'unset', 'shopt', 'sleep'])
const ALWAYS_FAILS = new Set(['false'])

/**
 * Reads the text of `shell:`, `raw:` or a script: every simple command in lists, pipes, conditions, loops, functions and
 * substitutions. An unknown piece of the text is taken as part of a word, never as shell syntax.
 */
export function readShell(text: Value, at: Span): ShellReading {
  return ofEachText(text, (source, causes) => readScript(source, causes, at))
}

/**
 * Reads the text of `command:`: words only, split as Python's `shlex.split` does it, no shell operators.
 * Source: ansible/builtin/command (the module splits a string with shlex and runs it without a shell).
 */
export function readCommandLine(text: Value, at: Span): ShellReading {
  return ofEachText(text, (source, causes) => {
    const words = splitWords(source)
    if (words === undefined) return failed('a quotation is not closed')
    if (words.length === 0) return { commands: [], redirects: [], unreadable: [] }
    return {
      commands: [
        {
          words: words.map(word => ({ value: fill(word, causes, at), from: [] })),
          redirects: [],
          onlyIf: undefined,
          stdin: undefined,
        },
      ],
      redirects: [],
      unreadable: [],
    }
  })
}

function ofEachText(text: Value, read: (source: string, causes: readonly Cause[]) => ShellReading): ShellReading {
  const options = optionsOf(text)
  if (options.length > MAX_OPTIONS) return failed('too many alternatives for the text of the command')
  const readings = options.map(({ value, because }) => {
    const reading = readSingle(value, read)
    const condition = options.length > 1 ? (because[0]?.says ?? 'this alternative holds') : undefined
    return condition === undefined ? reading : within(reading, condition)
  })
  const [only] = readings
  if (readings.length === 1 && only !== undefined) return only
  return {
    commands: readings.flatMap(reading => reading.commands),
    redirects: readings.flatMap(reading => reading.redirects),
    unreadable: readings.flatMap(reading => reading.unreadable),
    fails: readings.flatMap(reading => reading.fails ?? []),
  }
}

function readSingle(value: Value, read: (source: string, causes: readonly Cause[]) => ShellReading): ShellReading {
  if (value.kind === 'failure' || value.kind === 'undefined') {
    return { commands: [], redirects: [], unreadable: [], fails: [value.says] }
  }
  const pieces = piecesOf(value)
  if (pieces === undefined) {
    const says = value.kind === 'unknown' ? (value.causes[0]?.says ?? 'unknown') : 'it is no text'
    return failed(`its text is not known: ${says}`)
  }
  const causes = value.kind === 'unknown' ? value.causes : []
  return read(pieces.map(piece => piece ?? HOLE).join(''), causes)
}

function within(reading: ShellReading, condition: string): ShellReading {
  return {
    commands: reading.commands.map(command => ({ ...command, onlyIf: and(condition, command.onlyIf) })),
    redirects: reading.redirects.map(redirect => ({ ...redirect, onlyIf: and(condition, redirect.onlyIf) })),
    unreadable: reading.unreadable,
    fails: reading.fails ?? [],
  }
}

function failed(says: string): ShellReading {
  return { commands: [], redirects: [], unreadable: [says] }
}

function and(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined) return inner
  return inner === undefined ? outer : `${outer} and ${inner}`
}

/** Puts the unknown pieces back where their stand-in is. */
function fill(text: string, causes: readonly Cause[], at: Span): Value {
  if (!text.includes(HOLE)) return known(text)
  const pieces: (string | null)[] = []
  for (const [index, piece] of text.split(HOLE).entries()) {
    if (index > 0) pieces.push(null)
    if (piece !== '') pieces.push(piece)
  }
  const because = causes.length > 0 ? causes : [{ says: 'part of the command is not known before the run', at }]
  return unknown(because, pieces)
}

function show(source: string): string {
  const line = source.replaceAll(HOLE, '…').split(/\s+/).join(' ').trim()
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** POSIX `shlex.split`; undefined when a quotation is not closed. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let at = 0
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === "'") {
      const end = text.indexOf("'", at + 1)
      if (end === -1) return undefined
      word = (word ?? '') + text.slice(at + 1, end)
      at = end + 1
    } else if (char === '"') {
      word ??= ''
      at++
      while (at < text.length && text.charAt(at) !== '"') {
        const next = text.charAt(at + 1)
        if (text.charAt(at) === '\\' && (next === '"' || next === '\\')) at++
        word += text.charAt(at)
        at++
      }
      if (at >= text.length) return undefined
      at++
    } else if (char === '\\') {
      if (at + 1 >= text.length) return undefined
      word = (word ?? '') + text.charAt(at + 1)
      at += 2
    } else if (char === ' ' || char === '\t' || char === '\n' || char === '\r') {
      if (word !== undefined) words.push(word)
      word = undefined
      at++
    } else {
      word = (word ?? '') + char
      at++
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

interface Walk {
  readonly source: string
  readonly causes: readonly Cause[]
  readonly at: Span
  readonly commands: SimpleCommand[]
  readonly redirects: (ShellRedirect & { readonly onlyIf: string | undefined })[]
  readonly unreadable: string[]
  /** Names of functions the script defines. */
  readonly functions: Set<string>
  /** Variables of the script whose text is known here (assignments, a loop over literal words). */
  readonly variables: Map<string, Value>
}

function readScript(source: string, causes: readonly Cause[], at: Span): ShellReading {
  const walk: Walk = {
    source,
    causes,
    at,
    commands: [],
    redirects: [],
    unreadable: [],
    functions: new Set(),
    variables: new Map(),
  }
  walkScript(parse(source), undefined, walk)
  if (walk.commands.length >= MAX_COMMANDS) walk.unreadable.push(`it has more than ${MAX_COMMANDS} commands`)
  const commands = walk.functions.size === 0 ? walk.commands : walk.commands.map(each => markCall(each, walk.functions))
  return { commands, redirects: walk.redirects, unreadable: walk.unreadable }
}

function markCall(command: SimpleCommand, functions: ReadonlySet<string>): SimpleCommand {
  const name = textOf(command.words[0]?.value)
  return name !== undefined && functions.has(name) ? { ...command, callsFunction: true } : command
}

function walkScript(script: ParsedScript, onlyIf: string | undefined, walk: Walk): readonly SimpleCommand[] {
  const first = script.errors?.[0]
  if (first !== undefined) walk.unreadable.push(`shell syntax: ${first.message}`)
  const inner = script.source === undefined ? walk : { ...walk, source: script.source }
  return walkStatements(script.commands, onlyIf, inner)
}

function walkStatements(
  statements: readonly Statement[],
  onlyIf: string | undefined,
  walk: Walk,
): readonly SimpleCommand[] {
  return statements.flatMap(statement => walkNode(statement.command, onlyIf, walk, undefined))
}

/** Walks one node; gives the simple commands whose output it passes on (for pipes). */
function walkNode(
  node: SyntaxNode,
  onlyIf: string | undefined,
  walk: Walk,
  stdin: SimpleCommand | undefined,
): readonly SimpleCommand[] {
  if (walk.commands.length >= MAX_COMMANDS) return []
  const text = (part: SyntaxNode) => show(walk.source.slice(part.pos, part.end))
  switch (node.type) {
    case 'Command':
      return walkCommand(node, onlyIf, walk, stdin)
    case 'Pipeline': {
      let before = stdin
      let last: readonly SimpleCommand[] = []
      for (const command of node.commands) {
        last = walkNode(command, onlyIf, walk, before)
        before = last.at(-1)
      }
      return last
    }
    case 'AndOr': {
      let condition = onlyIf
      const out: SimpleCommand[] = []
      for (const [index, command] of node.commands.entries()) {
        out.push(...walkNode(command, condition, walk, stdin))
        const operator = node.operators[index]
        if (operator === undefined) break
        condition = and(onlyIf, chainCondition(node, index, operator, walk))
      }
      return out
    }
    case 'If': {
      walkStatements(node.clause.commands, onlyIf, walk)
      const out = [...walkStatements(node.then.commands, and(onlyIf, `\`${text(node.clause)}\` succeeds`), walk)]
      for (const branch of node.elif) {
        walkStatements(branch.clause.commands, and(onlyIf, `\`${text(node.clause)}\` fails`), walk)
        out.push(...walkStatements(branch.then.commands, and(onlyIf, `\`${text(branch.clause)}\` succeeds`), walk))
      }
      if (node.else)
        out.push(...walkStatements(node.else.commands, and(onlyIf, `\`${text(node.clause)}\` fails`), walk))
      return out
    }
    case 'For': {
      const words = node.wordlist?.map(word => readWord(word, onlyIf, walk).value) ?? []
      const name = walk.source.slice(node.name.pos, node.name.end)
      const literal = words.length > 0 && words.length <= 64 && words.every(word => isPlain(word))
      if (!literal) {
        walk.variables.delete(name)
        return walkStatements(node.body.commands, and(onlyIf, `\`for ${name}\` has something to go over`), walk)
      }
      const out: SimpleCommand[] = []
      for (const word of words) {
        walk.variables.set(name, word)
        out.push(...walkStatements(node.body.commands, onlyIf, walk))
      }
      walk.variables.delete(name)
      return out
    }
    case 'While':
      walkStatements(node.clause.commands, onlyIf, walk)
      return walkStatements(
        node.body.commands,
        and(onlyIf, `\`${text(node.clause)}\` ${node.kind === 'while' ? 'succeeds' : 'fails'}`),
        walk,
      )
    case 'Select':
    case 'ArithmeticFor':
      return walkStatements(node.body.commands, and(onlyIf, 'the loop is entered'), walk)
    case 'Case': {
      readWord(node.word, onlyIf, walk)
      return node.items.flatMap(item =>
        walkStatements(
          item.body.commands,
          and(onlyIf, `\`${text(node.word)}\` is \`${item.pattern.map(text).join('|')}\``),
          walk,
        ),
      )
    }
    case 'Subshell':
    case 'BraceGroup':
      return walkStatements(node.body.commands, onlyIf, walk)
    case 'CompoundList':
      return walkStatements(node.commands, onlyIf, walk)
    case 'Function':
      walk.functions.add(walk.source.slice(node.name.pos, node.name.end))
      return walkNode(node.body, and(onlyIf, `the function \`${text(node.name)}\` is called`), walk, undefined)
    case 'Coproc':
      return walkNode(node.body, onlyIf, walk, undefined)
    case 'Redirected': {
      for (const redirect of node.redirects) {
        const read = readRedirect(redirect, onlyIf, walk)
        if (read) walk.redirects.push({ ...read, onlyIf })
      }
      return walkNode(node.command, onlyIf, walk, stdin)
    }
    default:
      // `[[ … ]]`, `(( … ))`: nothing is run but what their words substitute.
      substitutionsIn(node, onlyIf, walk)
      return []
  }
}

function chainCondition(
  node: Extract<SyntaxNode, { type: 'AndOr' }>,
  index: number,
  operator: '&&' | '||',
  walk: Walk,
): string | undefined {
  const before = node.operators.slice(0, index)
  const [first, last] = [node.commands[0], node.commands[index]]
  if (first && last && before.some(earlier => earlier !== operator)) {
    // `a || b && c`: what c depends on is the whole before it.
    return `\`${show(walk.source.slice(first.pos, last.end))}\` ${operator === '&&' ? 'succeeds' : 'fails'}`
  }
  const conditions: string[] = []
  for (let at = 0; at <= index; at++) {
    const part = node.commands[at]
    if (part === undefined) continue
    const program = part.type === 'Command' && part.name ? part.name.value : undefined
    if (operator === '&&' && program !== undefined && NEVER_FAILS.has(program)) continue
    if (operator === '||' && program !== undefined && ALWAYS_FAILS.has(program)) continue
    conditions.push(`\`${show(walk.source.slice(part.pos, part.end))}\` ${operator === '&&' ? 'succeeds' : 'fails'}`)
  }
  return conditions.length === 0 ? undefined : conditions.join(' and ')
}

function isPlain(value: Value): boolean {
  const text = textOf(value)
  return text !== undefined && !/[*?[\]]/.test(text)
}

function walkCommand(
  node: Command,
  onlyIf: string | undefined,
  walk: Walk,
  stdin: SimpleCommand | undefined,
): readonly SimpleCommand[] {
  const redirects = node.redirects.flatMap(redirect => readRedirect(redirect, onlyIf, walk) ?? [])
  for (const part of node.prefix) {
    if (part.type !== 'Assignment') continue
    if (part.value.type === 'Word') {
      const { value } = readWord(part.value, onlyIf, walk)
      if (node.name === undefined) setVariable(walk, part.name, part.append || onlyIf !== undefined ? undefined : value)
    } else for (const element of part.value.elements) readWord(element, onlyIf, walk)
  }
  if (node.name === undefined) {
    for (const redirect of redirects) walk.redirects.push({ ...redirect, onlyIf })
    return []
  }
  const words = [readWord(node.name, onlyIf, walk)]
  for (const argument of node.args) {
    if (argument.type === 'Word') {
      words.push(readWord(argument, onlyIf, walk))
      continue
    }
    // `export NAME=value`: the program sees it as one word.
    const value =
      argument.value.type === 'Word' ? readWord(argument.value, onlyIf, walk) : { value: known(''), from: [] }
    setVariable(walk, argument.name, onlyIf === undefined ? value.value : undefined)
    words.push({ value: prefixed(`${argument.name}=`, value.value, walk), from: value.from })
  }
  const command: SimpleCommand = { words, redirects, onlyIf, stdin }
  walk.commands.push(command)
  return [command]
}

function setVariable(walk: Walk, name: string, value: Value | undefined): void {
  if (value === undefined) walk.variables.delete(name)
  else walk.variables.set(name, value)
}

function prefixed(prefix: string, value: Value, walk: Walk): Value {
  const pieces = piecesOf(value) ?? [null]
  return joined([prefix, ...pieces], value.kind === 'unknown' ? value.causes : [], walk)
}

function joined(pieces: readonly (string | null)[], causes: readonly Cause[], walk: Walk): Value {
  if (!pieces.includes(null)) return known(pieces.join(''))
  const because =
    causes.length > 0 ? causes : [{ says: 'part of the command is not known before the run', at: walk.at }]
  const merged: (string | null)[] = []
  for (const piece of pieces) {
    const last = merged.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece
    else if (piece !== null || last !== null) merged.push(piece)
  }
  return unknown(because, merged)
}

function readRedirect(redirect: Redirection, onlyIf: string | undefined, walk: Walk): ShellRedirect | undefined {
  if (redirect.type === 'HereDoc') {
    if (redirect.delimiter?.quoted)
      return { operator: redirect.operator, target: fill(redirect.body.text, walk.causes, walk.at) }
    const pieces: (string | null)[] = []
    const causes: Cause[] = []
    const parts = redirect.body.parts
    if (parts === undefined)
      return { operator: redirect.operator, target: fill(redirect.body.text, walk.causes, walk.at) }
    for (const part of parts) readPart(part, pieces, causes, [], onlyIf, walk)
    return { operator: redirect.operator, target: joined(pieces, causes, walk) }
  }
  if (redirect.target === undefined) return undefined
  return { operator: redirect.operator, target: readWord(redirect.target, onlyIf, walk).value }
}

function readWord(word: Word, onlyIf: string | undefined, walk: Walk): ShellWord {
  const parts = word.parts
  if (parts === undefined) return { value: fill(word.value, walk.causes, walk.at), from: [] }
  const pieces: (string | null)[] = []
  const causes: Cause[] = []
  const from: SimpleCommand[] = []
  for (const part of parts) readPart(part, pieces, causes, from, onlyIf, walk)
  return { value: joined(pieces, causes, walk), from }
}

function readPart(
  part: SyntaxNode,
  pieces: (string | null)[],
  causes: Cause[],
  from: SimpleCommand[],
  onlyIf: string | undefined,
  walk: Walk,
): void {
  const literal = (text: string): void => {
    const value = fill(text, walk.causes, walk.at)
    pieces.push(...(piecesOf(value) ?? [null]))
    if (value.kind === 'unknown') causes.push(...value.causes)
  }
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      literal(part.value)
      return
    case 'Glob':
    case 'BraceExpansion':
    case 'ExtendedGlob':
      literal(part.text)
      return
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const child of part.parts) readPart(child, pieces, causes, from, onlyIf, walk)
      return
    case 'SimpleExpansion':
    case 'ParameterExpansion': {
      const plain =
        part.type === 'SimpleExpansion' ||
        (part.operation === undefined && part.prefix === undefined && part.index === undefined)
      const name = part.type === 'SimpleExpansion' ? part.text.slice(1) : part.parameter
      const value = plain ? walk.variables.get(name) : undefined
      if (value !== undefined) {
        pieces.push(...(piecesOf(value) ?? [null]))
        if (value.kind === 'unknown') causes.push(...value.causes)
        return
      }
      substitutionsIn(part, onlyIf, walk)
      pieces.push(null)
      causes.push({ says: `the shell variable ${show(part.text)} is set only on the host`, at: walk.at })
      return
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (part.script) from.push(...walkScript(part.script, onlyIf, walk))
      pieces.push(null)
      causes.push({ says: `what \`${show(part.text)}\` gives is only known on the host`, at: walk.at })
      return
    default:
      substitutionsIn(part, onlyIf, walk)
      pieces.push(null)
      causes.push({
        says: `what ${show(walk.source.slice(part.pos, part.end))} gives is only known on the host`,
        at: walk.at,
      })
  }
}

/** Walks the commands substituted anywhere inside a node. */
function substitutionsIn(node: SyntaxNode, onlyIf: string | undefined, walk: Walk): void {
  forEachChild(node, child => {
    if (child.type === 'Script') walkScript(child, onlyIf, walk)
    else substitutionsIn(child, onlyIf, walk)
  })
}

/** The base name of a program, also where the directory is not known; undefined where the name itself is not. */
export function programName(word: Value): string | undefined {
  const pieces = piecesOf(word)
  const last = pieces?.at(-1)
  if (pieces === undefined || typeof last !== 'string') return undefined
  const slash = last.lastIndexOf('/')
  if (slash === -1 && pieces.length > 1) return undefined
  const name = last.slice(slash + 1)
  return name === '' ? undefined : name
}
