import type { Span } from '../source/text.js'
import {
  type Arguments,
  type BinaryOperator,
  type Binding,
  type Body,
  type Branch,
  type Comparator,
  childrenOf,
  type Expression,
  type NamedArgument,
  type Parameter,
  type Statement,
  type SyntaxProblem,
  type Target,
  type Template,
} from './syntax.js'
import { type Lexed, lexExpression, lexTemplate, type Token } from './tokens.js'

export type { Expression, SyntaxProblem, Template } from './syntax.js'

/**
 * How tightly each form binds, loosest first; the printer puts brackets by the same numbers. `~` binds tighter than
 * `+`, `**` groups to the left, and filters and tests apply to a signed operand (Jinja2 3.1's parser).
 */
export const precedence = {
  conditional: 1,
  or: 2,
  and: 3,
  not: 4,
  comparison: 5,
  sum: 6,
  join: 7,
  product: 8,
  power: 9,
  filtered: 10,
  sign: 11,
  primary: 12,
} as const

export const binaryLevels: ReadonlyMap<string, number> = new Map<BinaryOperator, number>([
  ['+', precedence.sum],
  ['-', precedence.sum],
  ['~', precedence.join],
  ['*', precedence.product],
  ['/', precedence.product],
  ['//', precedence.product],
  ['%', precedence.product],
  ['**', precedence.power],
])

const comparators: ReadonlySet<string> = new Set<Comparator>(['==', '!=', '<', '<=', '>', '>='])
const constants: ReadonlyMap<string, null | boolean> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
])

/** Deeper input is refused: Jinja2 itself dies in Python's recursion limit not far from here. */
const maximumDepth = 250
const cacheLimit = 20_000
/** No template is this long; reading one would only cost time. */
const longestTemplate = 8_000_000

const templates = new Map<string, Template | { says: string; offset: number }>()
const expressions = new Map<string, Expression | { says: string; offset: number }>()

/** Whether Ansible would look at the text as a template at all: it holds `{{`, `{%` or `{#`. */
export function hasTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%') || text.includes('{#')
}

/**
 * Parses a template. As a YAML value (the default) a backslash in a string literal inside `{{ }}` stands for itself;
 * with `file` Jinja2's escapes apply, as in a `.j2` file. Never throws; what Jinja2 refuses is a SyntaxProblem.
 */
export function parseTemplate(
  text: string,
  at: Span,
  options: { file?: boolean; trimBlocks?: boolean; lstripBlocks?: boolean } = {},
): Template | SyntaxProblem {
  // Ansible doubles backslashes only where the text has both a backslash and `{{`.
  const literalBackslashes = options.file !== true && text.includes('\\') && text.includes('{{')
  const trimBlocks = options.trimBlocks !== false
  const lstripBlocks = options.lstripBlocks === true
  const key = `${literalBackslashes ? 'v' : 'f'}${trimBlocks ? 't' : ''}${lstripBlocks ? 'l' : ''}:${text}`
  const parsed = cached(templates, key, () => {
    const plain = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
    const source = plain.endsWith('\n') ? plain.slice(0, -1) : plain
    if (source.length > longestTemplate) return { says: 'the template is too long', offset: 0 }
    return guarded(lexTemplate(source, { literalBackslashes, trimBlocks, lstripBlocks }), cursor => {
      const body = readBody(cursor, null)
      return { kind: 'template', text: source, body } satisfies Template
    })
  })
  return 'says' in parsed ? { kind: 'syntax-problem', says: parsed.says, offset: parsed.offset, at } : parsed
}

/**
 * Parses a bare expression (`when`, `that`, `until`), where Jinja2's string escapes apply: Ansible puts the text into
 * `{% if … %}`. With `literalBackslashes` it is read as inside `{{ }}` of a YAML value; `inStatement` refuses a bare inline
 * `if`, as `{% if %}` does. Never throws.
 */
export function parseExpression(
  text: string,
  at: Span,
  options: { literalBackslashes?: boolean; inStatement?: boolean } = {},
): Expression | SyntaxProblem {
  const literalBackslashes = options.literalBackslashes === true
  const inStatement = options.inStatement === true
  const key = (literalBackslashes ? 'v' : 'f') + (inStatement ? 's' : 'e') + text
  const parsed = cached(expressions, key, () =>
    guarded(lexExpression(text, literalBackslashes), cursor => {
      const expression = readTuple(cursor, !inStatement, token => token.kind === 'end', false)
      const rest = cursor.now()
      if (rest.kind !== 'end') refuse(`expected end of expression, got '${rest.value}'`, rest)
      return expression
    }),
  )
  return 'says' in parsed ? { kind: 'syntax-problem', says: parsed.says, offset: parsed.offset, at } : parsed
}

function cached<T>(store: Map<string, T>, key: string, make: () => T): T {
  const known = store.get(key)
  if (known !== undefined) return known
  const made = make()
  if (store.size >= cacheLimit) store.clear()
  if (key.length < 100_000) store.set(key, made)
  return made
}

class Refusal extends Error {
  readonly offset: number
  constructor(says: string, offset: number) {
    super(says)
    this.offset = offset
  }
}

function refuse(says: string, token: { readonly start: number }): never {
  throw new Refusal(says, token.start)
}

function guarded<T>(lexed: Lexed, read: (cursor: Cursor) => T): T | { says: string; offset: number } {
  try {
    const result = read(cursorOver(lexed))
    return lexed.problem ?? result
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // The lexer stops at its first problem; the parser chosen only sees the text end early.
    return lexed.problem ?? { says: error.message, offset: error.offset }
  }
}

interface Cursor {
  readonly now: () => Token
  readonly next: () => Token
  readonly peek: () => Token
  /** Where the token before the current one ended. */
  readonly lastEnd: () => number
  /** Runs a reader one level deeper, refusing input that nests too deeply. */
  readonly deeper: <T>(read: () => T) => T
  /** How many `for` loops the reader is in, for `break` and `continue`. */
  loops: number
  /** Names of the blocks read so far: each may stand once. */
  readonly blocks: Set<string>
}

function cursorOver(lexed: Lexed): Cursor {
  const { tokens } = lexed
  const end = tokens[tokens.length - 1]?.end ?? 0
  // Where the lexer stopped at a problem there is no end token of its own.
  const last: Token = { kind: 'end', value: '', start: end, end }
  let index = 0
  let depth = 0
  const at = (position: number): Token => tokens[position] ?? last
  return {
    now: () => at(index),
    peek: () => at(index + 1),
    next: () => at(index++),
    lastEnd: () => (index === 0 ? 0 : at(index - 1).end),
    deeper: read => {
      if (++depth > maximumDepth) refuse('nested too deeply', at(index))
      const result = read()
      depth--
      return result
    },
    loops: 0,
    blocks: new Set(),
  }
}

function isMark(token: Token, mark: string): boolean {
  return token.kind === 'operator' && token.value === mark
}

function isWord(token: Token, word: string): boolean {
  return token.kind === 'name' && token.value === word
}

function skipMark(cursor: Cursor, mark: string): boolean {
  if (!isMark(cursor.now(), mark)) return false
  cursor.next()
  return true
}

function skipWord(cursor: Cursor, word: string): boolean {
  if (!isWord(cursor.now(), word)) return false
  cursor.next()
  return true
}

function shown(token: Token): string {
  return token.kind === 'end' ? 'end of template' : token.value
}

function expectMark(cursor: Cursor, mark: string): Token {
  const token = cursor.now()
  if (!isMark(token, mark)) refuse(`expected token '${mark}', got '${shown(token)}'`, token)
  return cursor.next()
}

function expectWord(cursor: Cursor, word: string): Token {
  const token = cursor.now()
  if (!isWord(token, word)) refuse(`expected token '${word}', got '${shown(token)}'`, token)
  return cursor.next()
}

function expectName(cursor: Cursor): Token {
  const token = cursor.now()
  if (token.kind !== 'name') refuse(`expected token 'name', got '${shown(token)}'`, token)
  return cursor.next()
}

type Fields<T> = T extends Expression ? Omit<T, 'depth'> : never

/** Completes a node with its depth, refusing chains and nests that later stages could not walk. */
function node(fields: Fields<Expression>): Expression {
  const made = { ...fields, depth: 0 }
  let depth = 0
  for (const child of childrenOf(made as Expression)) if (child.depth > depth) depth = child.depth
  if (depth >= maximumDepth * 2) throw new Refusal('nested too deeply', fields.start)
  made.depth = depth + 1
  return made as Expression
}

function readExpression(cursor: Cursor, withConditional = true): Expression {
  return cursor.deeper(() => (withConditional ? readConditional(cursor) : readLogical(cursor, 'or')))
}

function readConditional(cursor: Cursor): Expression {
  let chosen = readLogical(cursor, 'or')
  while (skipWord(cursor, 'if')) {
    const test = readLogical(cursor, 'or')
    const otherwise = skipWord(cursor, 'else') ? cursor.deeper(() => readConditional(cursor)) : null
    chosen = node({ kind: 'conditional', test, chosen, otherwise, start: chosen.start, end: (otherwise ?? test).end })
  }
  return chosen
}

function readLogical(cursor: Cursor, kind: 'and' | 'or'): Expression {
  const operand = (): Expression => (kind === 'or' ? readLogical(cursor, 'and') : readNot(cursor))
  let left = operand()
  while (skipWord(cursor, kind)) {
    const right = operand()
    left = node({ kind, left, right, start: left.start, end: right.end })
  }
  return left
}

function readNot(cursor: Cursor): Expression {
  const token = cursor.now()
  if (!isWord(token, 'not')) return readComparison(cursor)
  cursor.next()
  const of = cursor.deeper(() => readNot(cursor))
  return node({ kind: 'not', of, start: token.start, end: of.end })
}

function readComparator(cursor: Cursor): Comparator | null {
  const token = cursor.now()
  if (token.kind === 'operator' && comparators.has(token.value)) {
    cursor.next()
    return token.value as Comparator
  }
  if (skipWord(cursor, 'in')) return 'in'
  if (isWord(token, 'not') && isWord(cursor.peek(), 'in')) {
    cursor.next()
    cursor.next()
    return 'not in'
  }
  return null
}

function readComparison(cursor: Cursor): Expression {
  const first = readBinary(cursor, precedence.sum)
  const links: { comparator: Comparator; right: Expression }[] = []
  for (let comparator = readComparator(cursor); comparator !== null; comparator = readComparator(cursor)) {
    links.push({ comparator, right: readBinary(cursor, precedence.sum) })
  }
  const end = links[links.length - 1]?.right.end
  return end === undefined ? first : node({ kind: 'comparison', first, links, start: first.start, end })
}

/** Precedence climbing over the left-associative arithmetic operators of `binaryLevels`. */
function readBinary(cursor: Cursor, level: number): Expression {
  let left = readSigned(cursor, true)
  for (;;) {
    const token = cursor.now()
    const binds = token.kind === 'operator' ? binaryLevels.get(token.value) : undefined
    if (binds === undefined || binds < level) return left
    cursor.next()
    const right = readBinary(cursor, binds + 1)
    left = node({
      kind: 'binary',
      operator: token.value as BinaryOperator,
      left,
      right,
      start: left.start,
      end: right.end,
    })
  }
}

function readSigned(cursor: Cursor, withFilters: boolean): Expression {
  const token = cursor.now()
  let operand: Expression
  if (isMark(token, '-') || isMark(token, '+')) {
    cursor.next()
    const of = cursor.deeper(() => readSigned(cursor, false))
    operand = node({ kind: 'sign', operator: token.value as '-' | '+', of, start: token.start, end: of.end })
  } else operand = readPrimary(cursor)
  const whole = readPostfix(cursor, operand)
  return withFilters ? readFiltersAndTests(cursor, whole) : whole
}

function readPrimary(cursor: Cursor): Expression {
  const token = cursor.now()
  const { start } = token
  switch (token.kind) {
    case 'name': {
      cursor.next()
      const constant = constants.get(token.value)
      return constant === undefined
        ? node({ kind: 'name', name: token.value, start, end: token.end })
        : node({ kind: 'constant', data: constant, start, end: token.end })
    }
    case 'string': {
      let data = ''
      while (cursor.now().kind === 'string') data += cursor.next().value
      return node({ kind: 'constant', data, start, end: cursor.lastEnd() })
    }
    case 'integer':
      cursor.next()
      return node({ kind: 'constant', data: BigInt(token.value), start, end: token.end })
    case 'float':
      cursor.next()
      return node({ kind: 'constant', data: Number(token.value), start, end: token.end })
    default:
  }
  if (isMark(token, '(')) {
    cursor.next()
    const inside = readTuple(cursor, true, () => false, true)
    expectMark(cursor, ')')
    // The brackets belong to the slice, so that what is cut out of a larger text reads the same.
    return { ...inside, start, end: cursor.lastEnd() }
  }
  if (isMark(token, '[')) {
    cursor.next()
    const items = readItems(cursor, ']')
    expectMark(cursor, ']')
    return node({ kind: 'list', items, start, end: cursor.lastEnd() })
  }
  if (isMark(token, '{')) {
    cursor.next()
    const entries: { key: Expression; value: Expression }[] = []
    while (!isMark(cursor.now(), '}')) {
      if (entries.length > 0) expectMark(cursor, ',')
      if (isMark(cursor.now(), '}')) break
      const key = readExpression(cursor)
      expectMark(cursor, ':')
      entries.push({ key, value: readExpression(cursor) })
    }
    expectMark(cursor, '}')
    return node({ kind: 'dict', entries, start, end: cursor.lastEnd() })
  }
  return refuse(`unexpected '${shown(token)}'`, token)
}

function readItems(cursor: Cursor, close: string): Expression[] {
  const items: Expression[] = []
  while (!isMark(cursor.now(), close)) {
    if (items.length > 0) expectMark(cursor, ',')
    if (isMark(cursor.now(), close)) break
    items.push(readExpression(cursor))
  }
  return items
}

/** An expression, or a tuple where a comma follows; only in brackets may a tuple be empty. */
function readTuple(
  cursor: Cursor,
  withConditional: boolean,
  endsAt: (token: Token) => boolean,
  inBrackets: boolean,
  readOne: () => Expression = () => readExpression(cursor, withConditional),
): Expression {
  const { start } = cursor.now()
  const items: Expression[] = []
  let isTuple = false
  for (;;) {
    if (items.length > 0) expectMark(cursor, ',')
    const token = cursor.now()
    if (token.kind === 'variable-end' || token.kind === 'block-end' || isMark(token, ')') || endsAt(token)) break
    items.push(readOne())
    if (!isMark(cursor.now(), ',')) break
    isTuple = true
  }
  const only = items[0]
  if (!isTuple && only !== undefined) return only
  if (!isTuple && !inBrackets) refuse(`Expected an expression, got '${shown(cursor.now())}'`, cursor.now())
  return node({ kind: 'tuple', items, start, end: Math.max(start, cursor.lastEnd()) })
}

function readPostfix(cursor: Cursor, from: Expression): Expression {
  let of = from
  for (;;) {
    const token = cursor.now()
    if (isMark(token, '.')) {
      cursor.next()
      const member = cursor.next()
      if (member.kind === 'name') {
        of = node({ kind: 'attribute', of, name: member.value, start: of.start, end: member.end })
      } else if (member.kind === 'integer') {
        const index = node({ kind: 'constant', data: BigInt(member.value), start: member.start, end: member.end })
        of = node({ kind: 'item', of, index, start: of.start, end: member.end })
      } else refuse('expected name or number', member)
    } else if (isMark(token, '[')) of = readSubscript(cursor, of)
    else if (isMark(token, '(')) {
      const args = readArguments(cursor)
      of = node({ kind: 'call', of, args, start: of.start, end: cursor.lastEnd() })
    } else return of
  }
}

function readSubscript(cursor: Cursor, of: Expression): Expression {
  expectMark(cursor, '[')
  const { start } = of
  if (!isMark(cursor.now(), ':')) {
    const first = readExpression(cursor)
    if (isMark(cursor.now(), ',')) {
      // `a[1, 2]` asks for a tuple as key.
      const items = [first]
      while (skipMark(cursor, ',')) {
        if (isMark(cursor.now(), ']')) break
        items.push(readExpression(cursor))
      }
      expectMark(cursor, ']')
      const end = cursor.lastEnd()
      return node({ kind: 'item', of, index: node({ kind: 'tuple', items, start: first.start, end }), start, end })
    }
    if (!isMark(cursor.now(), ':')) {
      expectMark(cursor, ']')
      return node({ kind: 'item', of, index: first, start, end: cursor.lastEnd() })
    }
    return readSlice(cursor, of, first)
  }
  return readSlice(cursor, of, null)
}

function readSlice(cursor: Cursor, of: Expression, from: Expression | null): Expression {
  expectMark(cursor, ':')
  const absent = (): boolean => isMark(cursor.now(), ':') || isMark(cursor.now(), ']')
  const to = absent() ? null : readExpression(cursor)
  const step = skipMark(cursor, ':') && !absent() ? readExpression(cursor) : null
  expectMark(cursor, ']')
  return node({ kind: 'slice', of, from, to, step, start: of.start, end: cursor.lastEnd() })
}

const noArguments: Arguments = { positional: [], named: [], spread: null, spreadNamed: null }

function readArguments(cursor: Cursor): Arguments {
  const open = expectMark(cursor, '(')
  const positional: Expression[] = []
  const named: NamedArgument[] = []
  let spread: Expression | null = null
  let spreadNamed: Expression | null = null
  const allow = (allowed: boolean): void => {
    if (!allowed) refuse('invalid syntax for function call expression', open)
  }
  for (let first = true; !isMark(cursor.now(), ')'); first = false) {
    if (!first) {
      expectMark(cursor, ',')
      if (isMark(cursor.now(), ')')) break
    }
    const token = cursor.now()
    if (skipMark(cursor, '*')) {
      allow(spread === null && spreadNamed === null)
      spread = readExpression(cursor)
    } else if (skipMark(cursor, '**')) {
      allow(spreadNamed === null)
      spreadNamed = readExpression(cursor)
    } else if (token.kind === 'name' && isMark(cursor.peek(), '=')) {
      allow(spreadNamed === null)
      cursor.next()
      cursor.next()
      named.push({ name: token.value, value: readExpression(cursor) })
    } else {
      allow(spread === null && spreadNamed === null && named.length === 0)
      positional.push(readExpression(cursor))
    }
  }
  expectMark(cursor, ')')
  return { positional, named, spread, spreadNamed }
}

function readDottedName(cursor: Cursor): string {
  let name = expectName(cursor).value
  while (skipMark(cursor, '.')) name += `.${expectName(cursor).value}`
  return name
}

function readFiltersAndTests(cursor: Cursor, from: Expression): Expression {
  let of = from
  for (;;) {
    const token = cursor.now()
    if (isMark(token, '|')) {
      cursor.next()
      of = readFilter(cursor, of, of.start)
    } else if (isWord(token, 'is')) of = readTest(cursor, of)
    else if (isMark(token, '(')) {
      const args = readArguments(cursor)
      of = node({ kind: 'call', of, args, start: of.start, end: cursor.lastEnd() })
    } else return of
  }
}

function readFilter(cursor: Cursor, of: Expression | null, start: number): Expression {
  const name = readDottedName(cursor)
  const args = isMark(cursor.now(), '(') ? readArguments(cursor) : noArguments
  return node({ kind: 'filter', of, name, args, start, end: cursor.lastEnd() })
}

function readTest(cursor: Cursor, of: Expression): Expression {
  cursor.next()
  const negated = skipWord(cursor, 'not')
  const name = readDottedName(cursor)
  const token = cursor.now()
  let args = noArguments
  if (isMark(token, '(')) args = readArguments(cursor)
  else if (startsArgument(token)) {
    if (isWord(token, 'is')) refuse('You cannot chain multiple tests with is', token)
    args = { ...noArguments, positional: [readPostfix(cursor, readPrimary(cursor))] }
  }
  const test = node({ kind: 'test', of, name, args, start: of.start, end: cursor.lastEnd() })
  return negated ? node({ kind: 'not', of: test, start: test.start, end: test.end }) : test
}

function startsArgument(token: Token): boolean {
  switch (token.kind) {
    case 'name':
      return token.value !== 'else' && token.value !== 'or' && token.value !== 'and'
    case 'string':
    case 'integer':
    case 'float':
      return true
    default:
      return isMark(token, '[') || isMark(token, '{')
  }
}

/** Reads statements until a block starts with one of the end words (left as the current token), or to the end. */
function readBody(cursor: Cursor, endWords: readonly string[] | null): Body {
  const body: Statement[] = []
  for (;;) {
    const token = cursor.now()
    switch (token.kind) {
      case 'end':
        if (endWords !== null) {
          refuse(`Unexpected end of template. Jinja was looking for: ${endWords.join(' or ')}.`, token)
        }
        return body
      case 'text':
        cursor.next()
        body.push({ kind: 'text', text: token.value })
        break
      case 'variable-begin': {
        cursor.next()
        body.push({ kind: 'output', expression: readTuple(cursor, true, () => false, false) })
        expectKind(cursor, 'variable-end', 'end of print statement')
        break
      }
      case 'block-begin': {
        cursor.next()
        const word = cursor.now()
        if (endWords !== null && word.kind === 'name' && endWords.includes(word.value)) return body
        const read = cursor.deeper(() => readStatement(cursor))
        body.push(...read)
        expectKind(cursor, 'block-end', 'end of statement block')
        break
      }
      default:
        refuse(`unexpected '${shown(token)}'`, token)
    }
  }
}

function expectKind(cursor: Cursor, kind: Token['kind'], words: string): void {
  const token = cursor.now()
  if (token.kind !== kind) refuse(`expected token '${words}', got '${shown(token)}'`, token)
  cursor.next()
}

/** The body of a statement; afterwards the current token is the end word (or behind it with `drop`). */
function readInner(cursor: Cursor, endWords: readonly string[], drop: boolean): Body {
  skipMark(cursor, ':')
  expectKind(cursor, 'block-end', 'end of statement block')
  const body = readBody(cursor, endWords)
  if (drop) cursor.next()
  return body
}

type StatementReader = (cursor: Cursor) => readonly Statement[]

const statementReaders: ReadonlyMap<string, StatementReader> = new Map<string, StatementReader>([
  ['if', readIf],
  ['for', readFor],
  ['set', readSet],
  ['with', readWith],
  ['do', cursor => [{ kind: 'do', expression: readTuple(cursor, true, () => false, false) }]],
  ['print', readPrint],
  ['filter', readFilterBlock],
  ['macro', readMacro],
  ['call', readCallBlock],
  ['block', readBlock],
  ['autoescape', readAutoescape],
  ['include', readInclude],
  ['import', readImport],
  ['from', readFrom],
  ['extends', cursor => [{ kind: 'other-file', tag: 'extends', source: readExpression(cursor), binds: [] }]],
  ['break', cursor => readLoopControl(cursor, 'break')],
  ['continue', cursor => readLoopControl(cursor, 'continue')],
])

function readStatement(cursor: Cursor): readonly Statement[] {
  const token = cursor.now()
  if (token.kind !== 'name') refuse('tag name expected', token)
  const reader = statementReaders.get(token.value)
  if (reader === undefined) return refuse(`Encountered unknown tag '${token.value}'.`, token)
  cursor.next()
  return reader(cursor)
}

function readIf(cursor: Cursor): readonly Statement[] {
  const branches: Branch[] = []
  for (;;) {
    const test = readTuple(cursor, false, () => false, false)
    branches.push({ test, body: readInner(cursor, ['elif', 'else', 'endif'], false) })
    const word = cursor.next().value
    if (word === 'elif') continue
    const otherwise = word === 'else' ? readInner(cursor, ['endif'], true) : []
    return [{ kind: 'if', branches, otherwise }]
  }
}

function readFor(cursor: Cursor): readonly Statement[] {
  const target = readTarget(cursor, token => isWord(token, 'in'))
  expectWord(cursor, 'in')
  const over = readTuple(cursor, false, token => isWord(token, 'recursive'), false)
  const only = skipWord(cursor, 'if') ? readExpression(cursor) : null
  const recursive = skipWord(cursor, 'recursive')
  cursor.loops++
  const body = readInner(cursor, ['endfor', 'else'], false)
  cursor.loops--
  const otherwise = cursor.next().value === 'else' ? readInner(cursor, ['endfor'], true) : []
  return [{ kind: 'for', target, over, only, recursive, body, otherwise }]
}

function readLoopControl(cursor: Cursor, kind: 'break' | 'continue'): readonly Statement[] {
  if (cursor.loops === 0) refuse(`'${kind}' outside of a loop`, cursor.now())
  return [{ kind }]
}

function readSet(cursor: Cursor): readonly Statement[] {
  let target: Target
  if (cursor.now().kind === 'name' && isMark(cursor.peek(), '.')) {
    const of = cursor.next().value
    cursor.next()
    target = { kind: 'member', of, name: expectName(cursor).value }
  } else target = readTarget(cursor, () => false)
  if (skipMark(cursor, '=')) {
    return [{ kind: 'set', target, value: readTuple(cursor, true, () => false, false) }]
  }
  let filter: Expression | null = null
  while (isMark(cursor.now(), '|')) {
    const { start } = cursor.next()
    filter = readFilter(cursor, filter, start)
  }
  return [{ kind: 'set-block', target, filter, body: readInner(cursor, ['endset'], true) }]
}

function readTarget(cursor: Cursor, endsAt: (token: Token) => boolean): Target {
  const { start } = cursor.now()
  return targetOf(
    readTuple(cursor, false, endsAt, false, () => readPrimary(cursor)),
    start,
  )
}

const reserved: ReadonlySet<string> = new Set(['true', 'false', 'none', 'True', 'False', 'None'])

function targetOf(read: Expression, start: number): Target {
  if (read.kind === 'name' && !reserved.has(read.name)) return { kind: 'name', name: read.name }
  if (read.kind === 'tuple') return { kind: 'tuple', items: read.items.map(item => targetOf(item, start)) }
  return refuse(`can't assign to '${read.kind}'`, { start })
}

function readWith(cursor: Cursor): readonly Statement[] {
  const bindings: Binding[] = []
  while (cursor.now().kind !== 'block-end') {
    if (bindings.length > 0) expectMark(cursor, ',')
    const target = readTarget(cursor, () => false)
    expectMark(cursor, '=')
    bindings.push({ target, value: readExpression(cursor) })
  }
  return [{ kind: 'with', bindings, body: readInner(cursor, ['endwith'], true) }]
}

function readPrint(cursor: Cursor): readonly Statement[] {
  const outputs: Statement[] = []
  while (cursor.now().kind !== 'block-end') {
    if (outputs.length > 0) expectMark(cursor, ',')
    outputs.push({ kind: 'output', expression: readExpression(cursor) })
  }
  return outputs
}

function readFilterBlock(cursor: Cursor): readonly Statement[] {
  const { start } = cursor.now()
  let filter = readFilter(cursor, null, start)
  while (skipMark(cursor, '|')) filter = readFilter(cursor, filter, start)
  return [{ kind: 'filter-block', filter, body: readInner(cursor, ['endfilter'], true) }]
}

function readParameters(cursor: Cursor): readonly Parameter[] {
  const parameters: Parameter[] = []
  expectMark(cursor, '(')
  while (!isMark(cursor.now(), ')')) {
    if (parameters.length > 0) expectMark(cursor, ',')
    const { value: name } = expectName(cursor)
    const fallback = skipMark(cursor, '=') ? readExpression(cursor) : null
    if (fallback === null && parameters.some(parameter => parameter.fallback !== null)) {
      refuse('non-default argument follows default argument', cursor.now())
    }
    parameters.push({ name, fallback })
  }
  expectMark(cursor, ')')
  return parameters
}

/** Loop control does not reach out of a macro's body. */
function readOwnBody(cursor: Cursor, endWord: string): Body {
  const { loops } = cursor
  cursor.loops = 0
  const body = readInner(cursor, [endWord], true)
  cursor.loops = loops
  return body
}

function readMacro(cursor: Cursor): readonly Statement[] {
  const { value: name } = expectName(cursor)
  const parameters = readParameters(cursor)
  return [{ kind: 'macro', name, parameters, body: readOwnBody(cursor, 'endmacro') }]
}

function readCallBlock(cursor: Cursor): readonly Statement[] {
  const parameters = isMark(cursor.now(), '(') ? readParameters(cursor) : []
  const start = cursor.now()
  const call = readExpression(cursor)
  if (call.kind !== 'call') refuse('expected call', start)
  return [{ kind: 'call-block', parameters, call, body: readOwnBody(cursor, 'endcall') }]
}

function readBlock(cursor: Cursor): readonly Statement[] {
  const { value: name } = expectName(cursor)
  skipWord(cursor, 'scoped')
  skipWord(cursor, 'required')
  const body = readInner(cursor, ['endblock'], true)
  skipWord(cursor, name)
  if (cursor.blocks.has(name)) refuse(`block '${name}' defined twice`, cursor.now())
  cursor.blocks.add(name)
  return [{ kind: 'block', name, body }]
}

function readAutoescape(cursor: Cursor): readonly Statement[] {
  // Escaping is off in Ansible's environment and the switch is never used by role code; the body is read as it stands.
  readExpression(cursor)
  return readInner(cursor, ['endautoescape'], true)
}

function skipContext(cursor: Cursor): boolean {
  const token = cursor.now()
  if (!(isWord(token, 'with') || isWord(token, 'without')) || !isWord(cursor.peek(), 'context')) return false
  cursor.next()
  cursor.next()
  return true
}

function readInclude(cursor: Cursor): readonly Statement[] {
  const source = readExpression(cursor)
  if (isWord(cursor.now(), 'ignore') && isWord(cursor.peek(), 'missing')) {
    cursor.next()
    cursor.next()
  }
  skipContext(cursor)
  return [{ kind: 'other-file', tag: 'include', source, binds: [] }]
}

function readImport(cursor: Cursor): readonly Statement[] {
  const source = readExpression(cursor)
  expectWord(cursor, 'as')
  const { value: name } = expectName(cursor)
  skipContext(cursor)
  return [{ kind: 'other-file', tag: 'import', source, binds: [name] }]
}

function readFrom(cursor: Cursor): readonly Statement[] {
  const source = readExpression(cursor)
  expectWord(cursor, 'import')
  const binds: string[] = []
  for (;;) {
    if (binds.length > 0) expectMark(cursor, ',')
    if (skipContext(cursor)) break
    const token = expectName(cursor)
    if (token.value.startsWith('_')) refuse('names starting with an underline can not be imported', token)
    binds.push(skipWord(cursor, 'as') ? expectName(cursor).value : token.value)
    if (skipContext(cursor) || !isMark(cursor.now(), ',')) break
  }
  return [{ kind: 'other-file', tag: 'from', source, binds }]
}
