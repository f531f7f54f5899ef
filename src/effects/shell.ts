import {
  type Assignment,
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
import { optionsOf, pathIn, piecesOf, showValue, textOf } from './argument.js'
import {
  and,
  type Branch,
  defineFunction,
  type Flow,
  forgetVariables,
  inScope,
  jump,
  newFlow,
  reached,
  setVariable,
  walkBranches,
} from './shell-flow.js'

/** A word of a command line: its text as far as it is known, and the commands that are run to make it. */
export interface ShellWord {
  readonly value: Value
  /** Commands in `$( )` and `` ` ` `` inside this word; they are also listed as commands of their own. */
  readonly from: readonly SimpleCommand[]
  /** For a word the shell makes file names of (`*.conf`): what is known of them. `value` has it as written. */
  readonly files?: Value
}

/** How a text is run. */
export interface ShellStart {
  /** The directory it starts in; absent: which is not known. */
  readonly cwd?: Value | undefined
  /** The shell, by its base name; absent: `sh`, whichever the host has for it. */
  readonly shell?: string | undefined
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
  /** The directory it is run in; absent where that is not known. */
  readonly cwd?: Value
  /** True where what it runs stands among the commands: a call of a function of the same script, `eval`, `trap`. */
  readonly runsListed?: true
}

export interface PlacedRedirect extends ShellRedirect {
  readonly onlyIf: string | undefined
  readonly cwd?: Value
}

export interface ShellReading {
  readonly commands: readonly SimpleCommand[]
  /** Redirections of whole compound commands, and of lines without a command (`> file`). */
  readonly redirects: readonly PlacedRedirect[]
  /** What could not be read. */
  readonly unreadable: readonly string[]
  /** Why the task fails before anything is run, where Ansible could not make the text either. */
  readonly fails?: readonly string[]
}

/** Stands for an unknown piece while the text is parsed: a private-use character no shell grammar knows. */
const HOLE = '\uE000'
const MAX_COMMANDS = 5000
const MAX_STEPS = 100_000
const MAX_OPTIONS = 16

/** Commands that never fail in practice, so that `set -e && x` and `cd /tmp; x` do not make `x` depend on them. */
const NEVER_FAILS = new Set(['set', 'export', 'umask', ':', 'true', 'echo', 'printf', 'unset', 'shopt', 'sleep'])
const ALWAYS_FAILS = new Set(['false'])

/**
 * Reads the text of `shell:`, `raw:` or a script: every simple command in lists, pipes, conditions, loops, functions and
 * substitutions. An unknown piece of the text is taken as part of a word, never as shell syntax.
 */
export function readShell(text: Value, at: Span, start: ShellStart = {}): ShellReading {
  return ofEachText(text, (source, causes) => readScript(source, causes, at, start))
}

/**
 * Reads the text of `command:`: words only, split as Python's `shlex.split` does it, no shell operators.
 * Source: ansible/builtin/command (the module splits a string with shlex and runs it without a shell).
 */
export function readCommandLine(text: Value, at: Span, start: ShellStart = {}): ShellReading {
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
          ...inDirectory(start.cwd),
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

/** A function of the script: its body, in the text it stands in, and what decides whether it is this one. */
interface FunctionBody {
  readonly node: SyntaxNode
  readonly source: string
  readonly onlyIf: string | undefined
}

interface Walk {
  readonly source: string
  readonly causes: readonly Cause[]
  readonly at: Span
  readonly flow: Flow<FunctionBody>
  readonly commands: SimpleCommand[]
  readonly redirects: PlacedRedirect[]
  readonly unreadable: string[]
  /** Texts of `trap`, with when they are run: they see every function of the script. */
  readonly traps: { readonly text: Value; readonly when: string }[]
  /** Functions that are being called, and those that were. */
  readonly calling: Set<string>
  readonly called: Set<string>
  /** Nodes walked so far: functions that call each other twice grow without bound. */
  readonly steps: { count: number }
  /** True where a loop is only looked through for what it sets. */
  readonly looksThrough: boolean
  /** Whether the shell expands `{a,b}`: `sh` does where it is bash, and does not where it is dash. */
  readonly braces: 'yes' | 'no' | 'perhaps'
}

const EXPANDS_BRACES = new Set(['bash', 'ksh', 'zsh'])
const BRACES_EXPAND = 'the shell expands braces (bash does, dash does not)'
const MAX_EXPANDED = 256

/** The variable that stands for the directory a script is in; no shell has one of this name. */
const CWD = '(cwd)'

function inDirectory(cwd: Value | undefined): { readonly cwd?: Value } {
  return cwd === undefined ? {} : { cwd }
}

function readScript(source: string, causes: readonly Cause[], at: Span, start: ShellStart): ShellReading {
  const flow = newFlow<FunctionBody>()
  setVariable(flow, CWD, start.cwd)
  const walk: Walk = {
    source,
    causes,
    at,
    flow,
    commands: [],
    redirects: [],
    unreadable: [],
    traps: [],
    calling: new Set(),
    called: new Set(),
    steps: { count: 0 },
    looksThrough: false,
    braces: EXPANDS_BRACES.has(start.shell ?? '')
      ? 'yes'
      : start.shell === undefined || start.shell === 'sh'
        ? 'perhaps'
        : 'no',
  }
  walkScript(parse(source), undefined, walk)
  flow.ended = undefined
  flow.exits = []
  for (let index = 0; index < walk.traps.length; index++) {
    const trap = walk.traps[index]
    if (trap !== undefined) walkText(trap.text, trap.when, walk)
  }
  walkMentioned(walk)
  if (walk.commands.length >= MAX_COMMANDS) walk.unreadable.push(`it has more than ${MAX_COMMANDS} commands`)
  else if (walk.steps.count >= MAX_STEPS) walk.unreadable.push('it is too long to be followed')
  return { commands: walk.commands, redirects: walk.redirects, unreadable: walk.unreadable }
}

/** A function that is only named (`export -f f`, `xargs … f`) may be called by what it is given to. */
function walkMentioned(walk: Walk): void {
  const names = [...walk.flow.functions.keys()].filter(name => !walk.called.has(name))
  if (names.length === 0) return
  const words = new Set(
    walk.commands.flatMap(command =>
      command.words.flatMap(word =>
        (piecesOf(word.value) ?? []).flatMap(piece => piece?.split(/[\s;&|(){}'"]+/) ?? []),
      ),
    ),
  )
  for (const name of names) {
    if (!words.has(name)) continue
    inScope(walk.flow, 'shell', () => {
      forgetVariables(walk.flow)
      walkCall(name, `the function \`${name}\` is called`, walk)
    })
  }
}

function walkScript(script: ParsedScript, onlyIf: string | undefined, walk: Walk): readonly SimpleCommand[] {
  const first = script.errors?.[0]
  if (first !== undefined) walk.unreadable.push(`shell syntax: ${first.message}`)
  const inner = script.source === undefined ? walk : { ...walk, source: script.source }
  return walkStatements(script.commands, onlyIf, inner)
}

/** A text that is run as part of the script, by a shell of its own: it sees the functions, not what the variables are now. */
function walkText(text: Value, when: string, walk: Walk): void {
  const pieces = piecesOf(text)
  if (pieces === undefined) {
    walk.unreadable.push(`what is run when ${when} is not known`)
    return
  }
  const source = pieces.map(piece => piece ?? HOLE).join('')
  const causes = text.kind === 'unknown' ? text.causes : walk.causes
  inScope(walk.flow, 'shell', () => {
    forgetVariables(walk.flow)
    walkScript(parse(source), when, { ...walk, source, causes })
  })
}

function walkStatements(
  statements: readonly Statement[],
  onlyIf: string | undefined,
  walk: Walk,
): readonly SimpleCommand[] {
  const out: SimpleCommand[] = []
  for (const { command, background } of statements) {
    if (walk.flow.ended !== undefined) break
    const inner = (): readonly SimpleCommand[] => walkNode(command, onlyIf, walk, undefined)
    out.push(...(background ? inScope(walk.flow, 'shell', inner) : inner()))
  }
  return out
}

/** Walks what is run only under a condition. */
function walkIf(
  condition: string | undefined,
  onlyIf: string | undefined,
  walk: Walk,
  inner: (onlyIf: string | undefined) => readonly SimpleCommand[],
): readonly SimpleCommand[] {
  if (condition === undefined) return inner(onlyIf)
  let out: readonly SimpleCommand[] = []
  const branch = (): void => {
    out = inner(and(onlyIf, condition))
  }
  walkBranches(walk.flow, [{ condition, walk: branch }], false)
  return out
}

/** Walks one node; gives the simple commands whose output it passes on (for pipes). */
function walkNode(
  node: SyntaxNode,
  onlyIf: string | undefined,
  walk: Walk,
  stdin: SimpleCommand | undefined,
): readonly SimpleCommand[] {
  if (walk.commands.length >= MAX_COMMANDS || walk.steps.count++ >= MAX_STEPS) return []
  const { flow } = walk
  const text = (part: SyntaxNode) => show(walk.source.slice(part.pos, part.end))
  switch (node.type) {
    case 'Command':
      return walkCommand(node, onlyIf, walk, stdin)
    case 'Pipeline': {
      const [only] = node.commands
      if (node.commands.length === 1 && only !== undefined) return walkNode(only, onlyIf, walk, stdin)
      let before = stdin
      let last: readonly SimpleCommand[] = []
      for (const command of node.commands) {
        // Each part of a pipe is a subshell of its own.
        last = inScope(flow, 'shell', () => walkNode(command, onlyIf, walk, before))
        before = last.at(-1)
      }
      return last
    }
    case 'AndOr': {
      let condition: string | undefined
      const out: SimpleCommand[] = []
      for (const [index, command] of node.commands.entries()) {
        if (flow.ended !== undefined) break
        out.push(...walkIf(condition, onlyIf, walk, under => walkNode(command, under, walk, stdin)))
        const operator = node.operators[index]
        if (operator === undefined) break
        condition = chainCondition(node, index, operator, walk)
      }
      return out
    }
    case 'If':
      return walkConditions(node, onlyIf, walk)
    case 'For': {
      const wordlist = node.wordlist?.map(word => readWords(word, onlyIf, walk)) ?? []
      const read = wordlist.flatMap(each => each.words)
      const words = read.map(word => word.value)
      const name = walk.source.slice(node.name.pos, node.name.end)
      const files = read.length === 1 ? read[0]?.files : undefined
      if (wordlist.some(each => each.onlyIf !== undefined))
        return walkLoop(name, BRACES_EXPAND, onlyIf, walk, (under, inner) =>
          walkStatements(node.body.commands, under, inner),
        )
      const literal = words.length > 0 && words.length <= 64 && words.every(word => isPlain(word))
      if (!literal) {
        const condition = `\`for ${name}\` has something to go over`
        return walkLoop(name, condition, onlyIf, walk, (under, inner) => {
          if (files !== undefined) setVariable(flow, name, files)
          return walkStatements(node.body.commands, under, inner)
        })
      }
      const out: SimpleCommand[] = []
      inScope(flow, 'loop', () => {
        for (const word of words) {
          if (flow.ended !== undefined) break
          setVariable(flow, name, word)
          out.push(...inScope(flow, 'turn', () => walkStatements(node.body.commands, onlyIf, walk)))
        }
      })
      return out
    }
    case 'While': {
      const condition = `\`${text(node.clause)}\` ${node.kind === 'while' ? 'succeeds' : 'fails'}`
      const clause = (inner: Walk): void => void walkStatements(node.clause.commands, onlyIf, inner)
      return walkLoop(
        undefined,
        condition,
        onlyIf,
        walk,
        (under, inner) => walkStatements(node.body.commands, under, inner),
        clause,
      )
    }
    case 'Select':
    case 'ArithmeticFor': {
      const name = node.type === 'Select' ? walk.source.slice(node.name.pos, node.name.end) : undefined
      return walkLoop(name, 'the loop is entered', onlyIf, walk, (under, inner) => {
        if (node.type === 'ArithmeticFor') {
          const from = node.pos
          forgetNames(walk.source.slice(from, node.body.pos), inner)
        }
        return walkStatements(node.body.commands, under, inner)
      })
    }
    case 'Case': {
      readWord(node.word, onlyIf, walk)
      return walkCases(node, onlyIf, walk)
    }
    case 'Subshell':
      return inScope(flow, 'shell', () => walkStatements(node.body.commands, onlyIf, walk))
    case 'BraceGroup':
      return walkStatements(node.body.commands, onlyIf, walk)
    case 'CompoundList':
      return walkStatements(node.commands, onlyIf, walk)
    case 'Function': {
      const name = walk.source.slice(node.name.pos, node.name.end)
      const decides = reached(flow, onlyIf)
      defineFunction(flow, name, { node: node.body, source: walk.source, onlyIf: decides }, decides === undefined)
      return []
    }
    case 'Coproc':
      return inScope(flow, 'shell', () => walkNode(node.body, onlyIf, walk, undefined))
    case 'Redirected': {
      for (const redirect of node.redirects) {
        const read = readRedirect(redirect, onlyIf, walk)
        if (read)
          walk.redirects.push({ ...read, onlyIf: reached(flow, onlyIf), ...inDirectory(flow.variables.get(CWD)) })
      }
      return walkNode(node.command, onlyIf, walk, stdin)
    }
    case 'ArithmeticCommand':
      forgetNames(node.body, walk)
      substitutionsIn(node, onlyIf, walk)
      return []
    default:
      // `[[ … ]]`: nothing is run but what its words substitute.
      substitutionsIn(node, onlyIf, walk)
      return []
  }
}

function walkConditions(
  node: Extract<SyntaxNode, { type: 'If' }>,
  onlyIf: string | undefined,
  walk: Walk,
): readonly SimpleCommand[] {
  const out: SimpleCommand[] = []
  const text = (part: SyntaxNode) => show(walk.source.slice(part.pos, part.end))
  let before: string | undefined
  walkStatements(node.clause.commands, onlyIf, walk)
  if (walk.flow.ended !== undefined) return out
  const branches: Branch[] = []
  const add = (condition: string, statements: readonly Statement[]): void => {
    branches.push({
      condition,
      walk: () => void out.push(...walkStatements(statements, and(onlyIf, condition), walk)),
    })
  }
  for (const [index, { clause, then }] of [node, ...node.elif].entries()) {
    // A clause after the first is run where those before have failed; what it sets is as good as not known.
    const failed = before
    if (index > 0) walkIf(failed, onlyIf, walk, under => walkStatements(clause.commands, under, walk))
    add(and(failed, `\`${text(clause)}\` succeeds`) ?? '', then.commands)
    before = and(failed, `\`${text(clause)}\` fails`)
  }
  if (node.else !== undefined && before !== undefined) add(before, node.else.commands)
  walkBranches(walk.flow, branches, node.else !== undefined)
  return out
}

function walkCases(
  node: Extract<SyntaxNode, { type: 'Case' }>,
  onlyIf: string | undefined,
  walk: Walk,
): readonly SimpleCommand[] {
  const out: SimpleCommand[] = []
  const text = (part: SyntaxNode) => show(walk.source.slice(part.pos, part.end))
  const seen: string[] = []
  let through: readonly string[] = []
  let exhaustive = false
  const branches = node.items.map(({ pattern, body, terminator }) => {
    const own = pattern.map(each => text(each).replace(/^(['"])(.*)\1$/, '$2'))
    const patterns = [...through, ...own]
    // `;&` goes on with the next commands whatever their pattern is.
    through = terminator === ';&' ? patterns : []
    const all = patterns.includes('*')
    if (all) exhaustive = true
    const condition =
      all && seen.length > 0
        ? `\`${text(node.word)}\` is none of \`${seen.join('|')}\``
        : `\`${text(node.word)}\` is \`${patterns.join('|')}\``
    seen.push(...own)
    return {
      condition,
      walk: () => void out.push(...walkStatements(body.commands, and(onlyIf, condition), walk)),
    }
  })
  walkBranches(walk.flow, branches, exhaustive)
  return out
}

/**
 * A loop that is entered perhaps, and perhaps more than once: what its turns set is not known in any of them, nor behind it.
 * So it is looked through first.
 */
function walkLoop(
  name: string | undefined,
  condition: string,
  onlyIf: string | undefined,
  walk: Walk,
  body: (onlyIf: string | undefined, walk: Walk) => readonly SimpleCommand[],
  clause: (walk: Walk) => void = () => {},
): readonly SimpleCommand[] {
  const { flow } = walk
  if (name !== undefined) setVariable(flow, name, undefined)
  const turn = (inner: Walk): readonly SimpleCommand[] => {
    clause(inner)
    if (flow.ended !== undefined) return []
    return walkIf(condition, onlyIf, inner, under =>
      inScope(flow, 'loop', () => inScope(flow, 'turn', () => body(under, inner))),
    )
  }
  if (walk.looksThrough) return turn(walk)
  const mark = flow.log.length
  const { exits } = flow
  const aside = { commands: [], redirects: [], unreadable: [], traps: [], called: new Set<string>() }
  turn({ ...walk, ...aside, looksThrough: true })
  const names = new Set(flow.log.slice(mark).flatMap(change => change.name ?? []))
  flow.ended = undefined
  flow.exits = exits
  for (const each of names) setVariable(flow, each, undefined)
  return turn(walk)
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
  const { flow } = walk
  const redirects = node.redirects.flatMap(redirect => readRedirect(redirect, onlyIf, walk) ?? [])
  const assigned: (readonly [string, Value | undefined])[] = []
  for (const part of node.prefix) {
    if (part.type === 'Assignment') assigned.push([part.name, readAssignment(part, onlyIf, walk)])
  }
  if (node.name === undefined) {
    for (const [name, value] of assigned) setVariable(flow, name, value)
    const cwd = inDirectory(flow.variables.get(CWD))
    for (const redirect of redirects) walk.redirects.push({ ...redirect, onlyIf: reached(flow, onlyIf), ...cwd })
    return []
  }
  const first = readWords(node.name, onlyIf, walk)
  const words = [...first.words]
  let braces = first.onlyIf
  const set: (readonly [string, Value | undefined])[] = []
  for (const argument of node.args) {
    if (argument.type === 'Word') {
      const read = readWords(argument, onlyIf, walk)
      words.push(...read.words)
      braces ??= read.onlyIf
      continue
    }
    // `export NAME=value`: the program sees it as one word.
    const value = readAssignment(argument, onlyIf, walk)
    set.push([argument.name, value])
    words.push({ value: prefixed(`${argument.name}=`, value ?? known(''), walk), from: [] })
  }
  const name = textOf(words[0]?.value)
  const bodies = name === undefined ? undefined : flow.functions.get(name)
  const text = name === 'eval' ? joinedWords(words.slice(1), walk) : undefined
  const runs = bodies !== undefined || (text !== undefined && piecesOf(text) !== undefined) || isTrap(name, words)
  const under = and(reached(flow, onlyIf), braces)
  const command: SimpleCommand = {
    words,
    redirects,
    onlyIf: under,
    stdin,
    ...inDirectory(flow.variables.get(CWD)),
    ...(runs ? { runsListed: true } : {}),
  }
  walk.commands.push(command)
  if (name === undefined) return [command]
  if (bodies !== undefined) {
    callWith(name, words.slice(1), assigned, onlyIf, walk)
    return [command]
  }
  if (text !== undefined) evaluate(text, assigned, onlyIf, walk)
  else if (isTrap(name, words)) rememberTrap(words, under, walk)
  else {
    const local = ['local', 'declare', 'typeset'].includes(name)
    const named = words.slice(1).flatMap(word => textOf(word.value)?.match(/^\w+$/)?.[0] ?? [])
    if (local) makeLocal([...set.map(([each]) => each), ...named], flow)
    for (const [each, value] of set) setVariable(flow, each, value)
    if (local) for (const each of named) setVariable(flow, each, undefined)
    setByBuiltin(name, words.slice(1), walk)
    if (name === 'cd' || name === 'pushd' || name === 'popd') changeDirectory(name, words.slice(1), walk)
    const operand = textOf(words[1]?.value)
    if (name === 'exec') {
      // `exec` with a command never comes back.
      if (words.length > 1) jump(flow, 'exit', 1)
    } else jump(flow, name, operand === undefined ? 1 : Number(operand))
  }
  return [command]
}

/** What an assignment gives its variable: undefined where that is not worked out (`+=`, an array or a member of one). */
function readAssignment(part: Assignment, onlyIf: string | undefined, walk: Walk): Value | undefined {
  if (part.value.type !== 'Word') {
    for (const element of part.value.elements) readWord(element, onlyIf, walk)
    return undefined
  }
  const { value } = readWord(part.value, onlyIf, walk)
  return part.append || part.index !== undefined ? undefined : value
}

/** Runs `walk` with variables that are set for it alone: `NAME=value command`. */
function withAssigned(
  assigned: readonly (readonly [string, Value | undefined])[],
  flow: Flow<FunctionBody>,
  inner: () => void,
): void {
  const before = assigned.map(([name]) => [name, flow.variables.get(name)] as const)
  for (const [name, value] of assigned) setVariable(flow, name, value)
  inner()
  for (const [name, value] of before) setVariable(flow, name, value)
}

const PARAMETERS = ['1', '2', '3', '4', '5', '6', '7', '8', '9']

/** A function is called: its body is walked with the words as its parameters. */
function callWith(
  name: string,
  words: readonly ShellWord[],
  assigned: readonly (readonly [string, Value | undefined])[],
  onlyIf: string | undefined,
  walk: Walk,
): void {
  const parameters = PARAMETERS.map((each, index) => [each, words[index]?.value] as const)
  withAssigned([...parameters, ...assigned], walk.flow, () => walkCall(name, onlyIf, walk))
}

function walkCall(name: string, onlyIf: string | undefined, walk: Walk): void {
  walk.called.add(name)
  if (walk.calling.has(name)) return
  walk.calling.add(name)
  for (const body of walk.flow.functions.get(name) ?? []) {
    walkIf(body.onlyIf, onlyIf, { ...walk, source: body.source }, under =>
      inScope(walk.flow, 'function', () => walkNode(body.node, under, { ...walk, source: body.source }, undefined)),
    )
    if (walk.flow.ended !== undefined) break
  }
  walk.calling.delete(name)
}

/** `eval WORDS`: the text is part of the script. One of which nothing is known may set any variable. */
function evaluate(
  text: Value,
  assigned: readonly (readonly [string, Value | undefined])[],
  onlyIf: string | undefined,
  walk: Walk,
): void {
  const pieces = piecesOf(text)
  if (pieces === undefined || pieces.includes(null)) forgetVariables(walk.flow)
  if (pieces === undefined) return
  const source = pieces.map(piece => piece ?? HOLE).join('')
  const causes = text.kind === 'unknown' ? text.causes : walk.causes
  const key = `eval ${source}`
  // A text that evaluates itself has no end.
  if (walk.calling.has(key)) return
  walk.calling.add(key)
  withAssigned(assigned, walk.flow, () => void walkScript(parse(source), onlyIf, { ...walk, source, causes }))
  walk.calling.delete(key)
}

function joinedWords(words: readonly ShellWord[], walk: Walk): Value {
  const pieces = words.flatMap(({ value }, index) => [...(index === 0 ? [] : [' ']), ...(piecesOf(value) ?? [null])])
  const causes = words.flatMap(({ value }) => (value.kind === 'unknown' ? value.causes : []))
  return joined(pieces, causes, walk)
}

/** The text and the signals of a `trap` that sets one. */
function trapOf(words: readonly ShellWord[]): readonly [Value, ...Value[]] | undefined {
  const rest = words.slice(1).map(word => word.value)
  const [text, ...signals] = textOf(rest[0]) === '--' ? rest.slice(1) : rest
  if (text === undefined || signals.length === 0 || /^-/.test(textOf(text) ?? '')) return undefined
  return [text, ...signals]
}

function isTrap(name: string | undefined, words: readonly ShellWord[]): boolean {
  return name === 'trap' && trapOf(words) !== undefined
}

function rememberTrap(words: readonly ShellWord[], onlyIf: string | undefined, walk: Walk): void {
  const trap = trapOf(words)
  if (trap === undefined) return
  const [text, ...signals] = trap
  const when = and(onlyIf, `${signals.map(showValue).join(' or ')} is trapped`)
  if (when !== undefined) walk.traps.push({ text, when })
}

function makeLocal(names: readonly string[], flow: Flow<FunctionBody>): void {
  const scope = flow.scopes.findLast(({ kind }) => kind === 'function')
  for (const name of names) if (scope && !scope.locals.has(name)) scope.locals.set(name, flow.variables.get(name))
}

/** `cd DIR` and `pushd DIR`; without one, with `-` and after `popd` it is not known. */
function changeDirectory(name: string, words: readonly ShellWord[], walk: Walk): void {
  const target = words.map(word => word.value).find(value => !/^-[LPe@-]+$/.test(textOf(value) ?? ''))
  const text = textOf(target)
  const known = target !== undefined && name !== 'popd' && text !== '' && !/^[-+~]/.test(text ?? '')
  const cwd = known ? pathIn(walk.flow.variables.get(CWD), target, walk.at) : undefined
  setVariable(walk.flow, CWD, cwd)
}

/** Options of built-ins that set variables, which take the next word. */
const SETTING_OPTIONS: Readonly<Record<string, string>> = {
  read: 'd n N p t u i',
  mapfile: 'd n O s u C c',
  readarray: 'd n O s u C c',
  unset: '',
}

/** Variables a built-in sets to what only the host knows. */
function setByBuiltin(name: string, words: readonly ShellWord[], walk: Walk): void {
  const { flow } = walk
  if (name === '.' || name === 'source') {
    forgetVariables(flow)
    return
  }
  if (name === 'let') {
    for (const { value } of words) forgetNames(textOf(value) ?? '', walk)
    if (words.some(({ value }) => textOf(value) === undefined)) forgetVariables(flow)
    return
  }
  if (name === 'shift' || name === 'set') {
    if (name === 'set' && /^[-+]/.test(textOf(words[0]?.value) ?? '')) {
      if (!words.some(({ value }) => textOf(value) === '--')) return
    }
    for (const parameter of PARAMETERS) setVariable(flow, parameter, undefined)
    return
  }
  const takesNext = Object.hasOwn(SETTING_OPTIONS, name) ? SETTING_OPTIONS[name]?.split(' ') : undefined
  const set: Value[] = []
  if (name === 'printf') {
    if (textOf(words[0]?.value) !== '-v') return
    if (words[1] !== undefined) set.push(words[1].value)
  } else if (name === 'getopts') {
    set.push(known('OPTARG'), known('OPTIND'))
    if (words[1] !== undefined) set.push(words[1].value)
  } else if (takesNext !== undefined) {
    for (let index = 0; index < words.length; index++) {
      const value = words[index]?.value
      const text = textOf(value)
      if (text?.startsWith('-')) {
        if (text !== '-' && takesNext.includes(text.at(-1) ?? '')) index++
      } else if (value !== undefined) set.push(value)
    }
    if (set.length === 0) set.push(known(name === 'read' ? 'REPLY' : 'MAPFILE'))
  }
  for (const value of set) {
    const text = textOf(value)
    if (text === undefined) forgetVariables(flow)
    else setVariable(flow, text.replace(/\[.*$/, ''), undefined)
  }
}

/** Arithmetic may set each variable it names. */
function forgetNames(text: string, walk: Walk): void {
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) setVariable(walk.flow, name, undefined)
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

/** The words a word becomes: several where it has braces, under the condition that the shell expands them. */
function readWords(
  word: Word,
  onlyIf: string | undefined,
  walk: Walk,
): { readonly words: readonly ShellWord[]; readonly onlyIf: string | undefined } {
  const parts = word.parts
  if (walk.braces === 'no' || !parts?.some(part => part.type === 'BraceExpansion'))
    return { words: [readWord(word, onlyIf, walk)], onlyIf: undefined }
  const written = (part: SyntaxNode) => walk.source.slice(part.pos, part.end)
  let texts = ['']
  for (const part of parts) {
    const choices = part.type === 'BraceExpansion' ? bracesOf(written(part)) : [written(part)]
    texts = texts.flatMap(start => choices.map(choice => start + choice)).slice(0, MAX_EXPANDED + 1)
  }
  if (texts.length > MAX_EXPANDED || (texts.length === 1 && texts[0] === written(word)))
    return { words: [readWord(word, onlyIf, walk)], onlyIf: undefined }
  const words = texts.flatMap(source => {
    const [statement] = parse(`: ${source}`).commands
    const command = statement?.command
    const inner = { ...walk, source: `: ${source}`, braces: 'yes' as const }
    if (command?.type !== 'Command') return []
    return command.args.flatMap(each => (each.type === 'Word' ? readWords(each, onlyIf, inner).words : []))
  })
  return { words, onlyIf: walk.braces === 'yes' ? undefined : BRACES_EXPAND }
}

/** What `{a,b}`, `{1..3}` and `{a..c}` stand for; anything else stands for itself. */
function bracesOf(text: string): readonly string[] {
  const inside = text.slice(1, -1)
  const choices: string[] = ['']
  let depth = 0
  for (let at = 0; at < inside.length; at++) {
    const char = inside.charAt(at)
    if (char === '{') depth++
    if (char === '}') depth--
    if (char === ',' && depth === 0) {
      choices.push('')
      continue
    }
    const more = char === '\\' ? inside.slice(at, ++at + 1) : char
    choices[choices.length - 1] += more
  }
  if (choices.length > 1) return choices
  const range = inside.match(/^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?(\d+))?$/)
  const [from = '', to = '', step = '1'] = range?.slice(1) ?? []
  const letters = /^[A-Za-z]$/.test(from)
  if (range === null || letters !== /^[A-Za-z]$/.test(to)) return [text]
  const [start, end] = letters ? [from.charCodeAt(0), to.charCodeAt(0)] : [Number(from), Number(to)]
  const by = Math.max(1, Number(step))
  const count = Math.floor(Math.abs(end - start) / by) + 1
  if (count > MAX_EXPANDED) return [text]
  const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0
  return Array.from({ length: count }, (_, index) => {
    const at = start + (end < start ? -by : by) * index
    return letters ? String.fromCharCode(at) : String(at).padStart(width, '0')
  })
}

function readWord(word: Word, onlyIf: string | undefined, walk: Walk): ShellWord {
  const parts = word.parts
  if (parts === undefined) return { value: fill(word.value, walk.causes, walk.at), from: [] }
  const pieces: (string | null)[] = []
  const causes: Cause[] = []
  const from: SimpleCommand[] = []
  const named: (string | null)[] = []
  for (const part of parts) {
    const before = pieces.length
    readPart(part, pieces, causes, from, onlyIf, walk)
    named.push(...(part.type === 'Glob' || part.type === 'ExtendedGlob' ? [null] : pieces.slice(before)))
  }
  const value = joined(pieces, causes, walk)
  // What stands last in a path alone is all of the directory.
  const globs = parts.filter(part => part.type === 'Glob' || part.type === 'ExtendedGlob')
  const all = globs.length === 1 && parts.at(-1)?.type === 'Glob' && /\/\*$/.test(textOf(value) ?? '')
  if (globs.length === 0 || all) return { value, from }
  const cause = { says: `which files \`${show(word.text)}\` matches is only known on the host`, at: walk.at }
  return { value, from, files: joined(named, [...causes, cause], walk) }
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
      const value = plain ? walk.flow.variables.get(name) : undefined
      if (value !== undefined) {
        pieces.push(...(piecesOf(value) ?? [null]))
        if (value.kind === 'unknown') causes.push(...value.causes)
        return
      }
      substitutionsIn(part, onlyIf, walk)
      // `${NAME:=word}` sets it.
      if (part.type === 'ParameterExpansion' && part.operation?.operator.endsWith('='))
        setVariable(walk.flow, name, undefined)
      pieces.push(null)
      causes.push({ says: `the shell variable ${show(part.text)} is set only on the host`, at: walk.at })
      return
    }
    case 'CommandExpansion':
    case 'ProcessSubstitution': {
      const { script } = part
      if (script) from.push(...inScope(walk.flow, 'shell', () => walkScript(script, onlyIf, walk)))
      pieces.push(null)
      causes.push({ says: `what \`${show(part.text)}\` gives is only known on the host`, at: walk.at })
      return
    }
    default:
      if (part.type === 'ArithmeticExpansion' && /\+\+|--|=/.test(part.text)) forgetNames(part.text, walk)
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
    if (child.type === 'Script') inScope(walk.flow, 'shell', () => walkScript(child, onlyIf, walk))
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
