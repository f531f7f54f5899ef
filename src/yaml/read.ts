import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Parser,
  Schema,
  type YAMLSeq as SyntaxList,
  type YAMLMap as SyntaxMap,
  type Node as SyntaxNode,
  type Scalar as SyntaxScalar,
} from 'yaml'
import type { DiagnosticCode, Report } from '../source/diagnostic.js'
import { lineOf, type SourceFile, type Span } from '../source/text.js'
import { noPadding, padded, padFrom, unpadding } from './indent.js'
import { maxNesting, readJson } from './json.js'
import type { ListNode, MapEntry, MapNode, Node, ScalarNode, UnreadableNode } from './node.js'
import { type PlainTag, plainTagOf, scalarUnder } from './scalar.js'

/** Longer texts are refused: no role or inventory file comes near, and reading one would take many seconds. */
const maxLength = 4 * 1024 * 1024

/** How many characters are parsed again at most to make up for indentation that only the parser minds. */
const maxReparsed = 1024 * 1024

/** How many nodes aliases and merge keys may add to a document before it counts as an alias bomb. */
const maxRepeated = 1_000_000

const corePrefix = 'tag:yaml.org,2002:'

/** Only text, lists and maps: what a plain scalar stands for is decided here, by PyYAML's rules. */
const schema = new Schema({ schema: 'failsafe', resolveKnownTags: false, merge: false })

/** Why a document is not readable, and where. */
interface Fault {
  readonly code: DiagnosticCode
  readonly says: string
  readonly start: number
  readonly end: number
}

/**
 * The documents of a YAML stream, as PyYAML with Ansible's tags reads them (YAML 1.1). A stream without a document gives
 * an empty list. One fault makes the whole stream a single UnreadableNode, as Ansible refuses the whole file; it is
 * reported as yaml-syntax, yaml-alias or file-too-large. Unknown tags (yaml-tag) and alias bombs (yaml-alias) cost only
 * their own node. A repeated key is a warning. Bounds: nesting 256, 4 Mi characters, a million nodes repeated by aliases.
 */
export function readYaml(file: SourceFile, report: Report): readonly Node[] {
  const refused = refusalOf(file.text)
  if (refused) return [unreadableStream(file, refused, report)]
  const stream = streamOf(file.text)
  if ('code' in stream) return [unreadableStream(file, stream, report)]
  const nodes: Node[] = []
  const pending: (() => void)[] = []
  for (const document of stream.documents) {
    const read = readDocument(file, document, stream.original, (code, severity, message, at) =>
      pending.push(() => report({ code, severity, message, at })),
    )
    if ('code' in read) return [unreadableStream(file, read, report)]
    nodes.push(read)
  }
  for (const tell of pending) tell()
  return nodes
}

/**
 * The one document of a file, as Ansible's loader reads playbooks, tasks and variables: JSON where the whole text is JSON,
 * YAML otherwise; an empty file is null; a second document is a fault (yaml-syntax).
 */
export function readYamlFile(file: SourceFile, report: Report): Node {
  return (mayBeJson(file.text) ? readJson(file) : undefined) ?? readSingle(file, report)
}

/**
 * The one document of a text that is no file, as the from_yaml filter reads it. The spans belong to a file made for the
 * text; `path` is how messages name it.
 */
export function readYamlText(text: string, report: Report, path = '<text>'): Node {
  return readSingle({ path, text }, report)
}

function readSingle(file: SourceFile, report: Report): Node {
  const documents = readYaml(file, report)
  const [first, second] = documents
  if (!first) return { kind: 'scalar', data: null, span: { file, start: 0, end: 0 } }
  if (!second) return first
  const { start, end } = second.span
  return unreadableStream(
    file,
    { code: 'yaml-syntax', says: 'expected one document, found another', start, end },
    report,
  )
}

function mayBeJson(text: string): boolean {
  return text.length <= maxLength && /^[ \t\n\r]*["[{\-0-9tfnNI]/.test(text)
}

function unreadableStream(file: SourceFile, fault: Fault, report: Report): UnreadableNode {
  const start = Math.min(fault.start, file.text.length)
  const end = Math.max(start, Math.min(fault.end, file.text.length))
  report({ code: fault.code, severity: 'error', message: fault.says, at: { file, start, end } })
  return { kind: 'unreadable', says: fault.says, span: { file, start, end } }
}

/** Characters the YAML reader does not let through, lone surrogates included. */
const unacceptable =
  /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\ud800-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

function refusalOf(text: string): Fault | undefined {
  if (text.length > maxLength) {
    return { code: 'file-too-large', says: `larger than ${maxLength} characters of YAML`, start: 0, end: 0 }
  }
  const found = unacceptable.exec(text)
  if (!found) return undefined
  const code = found[0].charCodeAt(0).toString(16).padStart(4, '0')
  return syntaxFault(`character U+${code.toUpperCase()} is not allowed in YAML`, found.index, found.index + 1)
}

function syntaxFault(says: string, start: number, end: number): Fault {
  return { code: 'yaml-syntax', says, start, end }
}

/** The syntax trees of a stream, and the way from their offsets to those of the text. */
interface Stream {
  readonly documents: readonly Document.Parsed[]
  readonly original: (offset: number) => number
}

/**
 * The syntax trees of a stream, or the first fault. NEL and a lone CR end a line in YAML 1.1 and not for the parser:
 * they are put in as LF, which keeps every offset. Where a fault may be the indentation of a quoted or flow part, which
 * only this parser minds, the part is padded and all is parsed again, as long as that stays cheap.
 */
function streamOf(text: string): Stream | Fault {
  // The parser counts a byte order mark as a column, which would put the first line out of line with the others.
  const shift = text.startsWith('\ufeff') ? 1 : 0
  const marked = text.slice(shift)
  const broken = /\x85|\r(?!\n)/.test(marked) ? marked.replace(/\x85|\r(?!\n)/g, '\n') : marked
  // Behind `---` and more than one blank the parser takes any content for plain text.
  const source = broken.includes('---') ? broken.replace(/^(---[ \t]+)[ \t](?=[^\s#|>&!])/gm, '$1\n') : broken
  let padding = noPadding
  for (let budget = maxReparsed; ; budget -= source.length) {
    const unpadded = unpadding(padding)
    const original = (offset: number): number => unpadded(offset) + shift
    const parsed = parse(padded(source, padding))
    if (!parsed.fault) return { documents: parsed.documents, original }
    const more =
      parsed.unclosed !== undefined && budget > source.length
        ? padFrom(source, unpadded(parsed.unclosed), padding)
        : undefined
    if (!more) {
      return { ...parsed.fault, start: original(parsed.fault.start), end: original(parsed.fault.end) }
    }
    padding = more
  }
}

interface Parsed {
  readonly documents: readonly Document.Parsed[]
  readonly fault: Fault | undefined
  /** Where the first quoted scalar or flow collection starts that the parser saw no end of. */
  readonly unclosed: number | undefined
}

function parse(source: string): Parsed {
  const tokens: CST.Token[] = []
  let fault: Fault | undefined
  let unclosed: number | undefined
  for (const token of new Parser().parse(source)) {
    if (token.type === 'error') {
      fault = syntaxFault(token.message, token.offset, token.offset + token.source.length)
      break
    }
    if (token.type === 'document') {
      const survey = surveyOf(token, source)
      unclosed ??= survey.unclosed
      fault ??= survey.fault
      if (fault) break
    }
    tokens.push(token)
  }
  if (fault) return { documents: [], fault, unclosed }
  return { ...compose(tokens), unclosed }
}

function compose(tokens: readonly CST.Token[]): { documents: readonly Document.Parsed[]; fault: Fault | undefined } {
  let fault: Fault | undefined
  const composer = new Composer({
    schema,
    strict: true,
    uniqueKeys: false,
    logLevel: 'silent',
    keepSourceTokens: false,
  })
  // One fault is enough; the composer's own list of Error objects with their stacks makes hostile input very slow.
  Reflect.set(composer, 'onError', (at: unknown, code: string, message: string, warning?: boolean) => {
    if (fault || isAllowed(code, message, warning)) return
    const [start, end] = placeOfToken(at)
    fault = syntaxFault(`${message} (${code})`, start, end)
  })
  const documents: Document.Parsed[] = []
  for (const document of composer.compose(tokens)) {
    const [error] = document.errors
    if (error) fault ??= syntaxFault(error.message, error.pos[0], error.pos[1])
    if (fault) break
    documents.push(document as Document.Parsed)
  }
  const [late] = composer.streamInfo().errors
  if (late) fault ??= syntaxFault(late.message, late.pos[0], late.pos[1])
  return { documents, fault }
}

/** Where libyaml and the parser part: it refuses unknown directives, and takes a comment without a space before it. */
function isAllowed(code: string, message: string, warning: boolean | undefined): boolean {
  if (code === 'BAD_DIRECTIVE') return false
  return warning === true || message.startsWith('Comments must be separated')
}

function placeOfToken(at: unknown): [number, number] {
  if (typeof at === 'number') return [at, at + 1]
  if (Array.isArray(at)) return [Number(at[0]), Number(at[1])]
  const { offset, source } = at as { offset: number; source?: unknown }
  return [offset, offset + (typeof source === 'string' ? source.length : 1)]
}

interface Survey {
  fault: Fault | undefined
  unclosed: number | undefined
}

/**
 * What has to be known of a document before anything recursive meets it, found without recursion: nesting beyond the
 * bound, parts without an end, and what libyaml refuses where the parser does not (`: x`, a tab after `-`, a lone `...`).
 */
function surveyOf(document: CST.Document, source: string): Survey {
  const survey: Survey = { fault: undefined, unclosed: undefined }
  const tokens: CST.Token[] = []
  const depths: number[] = []
  const visit = (token: CST.Token | null | undefined, depth: number): void => {
    if (!token) return
    if ('items' in token) {
      tokens.push(token)
      depths.push(depth)
    } else if (isUnclosedQuote(token)) survey.unclosed = Math.min(survey.unclosed ?? token.offset, token.offset)
    else if (token.type === 'block-scalar') {
      const says = refusedBlock(token, token === document.value)
      if (says !== undefined) survey.fault ??= syntaxFault(says, token.offset, token.offset + 1)
    }
  }
  if (!document.value && !document.start.some(({ type }) => type === 'doc-start')) {
    survey.fault = syntaxFault('a document ends before it starts', document.offset, document.offset + 1)
  }
  visit(document.value, 1)
  for (let token = tokens.pop(); token; token = tokens.pop()) {
    const depth = depths.pop() ?? 0
    if (!('items' in token)) continue
    if (token.type === 'flow-collection' && !token.end.some(({ source }) => source === ']' || source === '}')) {
      survey.unclosed = Math.min(survey.unclosed ?? token.start.offset, token.start.offset)
    }
    if (depth > maxNesting) {
      survey.fault ??= syntaxFault(`nested deeper than ${maxNesting} levels`, token.offset, token.offset + 1)
      return survey
    }
    for (const item of token.items) {
      if (isEmptyImplicitKey(item)) {
        const at = item.sep?.[0]?.offset ?? token.offset
        survey.fault ??= syntaxFault('a key is missing before the colon', at, at + 1)
      }
      const tab = tabAfterIndicator(item)
      if (tab) survey.fault ??= syntaxFault('a tab cannot stand here', tab.offset, tab.offset + 1)
      const loose = token.type === 'flow-collection' ? refusedInFlow(item, source) : undefined
      if (loose !== undefined) survey.fault ??= syntaxFault('a character that cannot stand here', loose, loose + 1)
      visit(item.key, depth + 1)
      visit(item.value, depth + 1)
    }
  }
  return survey
}

/** In a flow collection libyaml takes no `:` right before another mark, and no plain scalar that starts with `?`. */
function refusedInFlow({ start, key, value }: SyntaxItem, source: string): number | undefined {
  const asked = start.find(({ type }) => type === 'explicit-key-ind')
  if (asked !== undefined && !key) return asked.offset
  for (const token of [key, value]) {
    if (token?.type !== 'scalar') continue
    if (token.source.startsWith('?') || token.source.endsWith(':?')) return token.offset
    const end = token.offset + token.source.length
    if (source[end] === ':' && /[,?[\]{}]/.test(source[end + 1] ?? '')) return end
  }
  return undefined
}

/**
 * What libyaml refuses in a block scalar: a tab where it still looks for the indentation, and text at the left edge, where
 * a scalar that is the whole document has none.
 */
function refusedBlock({ props, source }: CST.BlockScalar, isDocument: boolean): string | undefined {
  const header = props.find(({ type }) => type === 'block-scalar-header')
  if (header === undefined || !('source' in header) || /\d/.test(header.source)) return undefined
  for (let at = 0; at < source.length; ) {
    const end = source.indexOf('\n', at)
    const line = source.slice(at, end === -1 ? source.length : end)
    const first = line.search(/[^ \r]/)
    if (first !== -1) {
      if (line[first] === '\t') return 'a tab cannot stand where the indentation of a block begins'
      return isDocument && first === 0 ? 'a block that is the whole document has to be indented' : undefined
    }
    at = end === -1 ? source.length : end + 1
  }
  return undefined
}

function isUnclosedQuote(token: CST.Token): boolean {
  if (token.type !== 'double-quoted-scalar' && token.type !== 'single-quoted-scalar') return false
  const quote = token.type === 'double-quoted-scalar' ? '"' : "'"
  return token.source.length < 2 || !token.source.endsWith(quote)
}

/** Behind `-` and `?` more of the block's structure may follow, so libyaml takes only spaces there. */
function tabAfterIndicator({ start }: SyntaxItem): CST.SourceToken | undefined {
  return start.find((token, index) => {
    const before = start[index - 1]?.type
    if (token.type !== 'space' || !token.source.includes('\t')) return false
    return before === 'seq-item-ind' || before === 'explicit-key-ind'
  })
}

type SyntaxItem =
  | CST.BlockMap['items'][number]
  | CST.BlockSequence['items'][number]
  | CST.FlowCollection['items'][number]

function isEmptyImplicitKey({ start, key, sep }: SyntaxItem): boolean {
  if (key || !sep?.some(token => token.type === 'map-value-ind')) return false
  return !start.some(({ type }) => type === 'explicit-key-ind' || type === 'anchor' || type === 'tag')
}

type Tell = (code: DiagnosticCode, severity: 'error' | 'warning', message: string, at: Span) => void

/** One document on its way from the parser's tree to ours. */
interface Reading {
  readonly file: SourceFile
  readonly original: (offset: number) => number
  readonly tell: Tell
  /** Anchors so far; `open` while the collection that carries the anchor is still being read. */
  readonly anchors: Map<string, Node | 'open'>
  readonly sizes: Map<Node, Size>
  /** Nodes aliases and merge keys have added so far. */
  repeated: number
  /** The first thing that makes Ansible refuse the document. */
  fault: Fault | undefined
  /** Where the text of the node read last ends, comments and blank lines after it left out. */
  end: number
}

interface Size {
  readonly nodes: number
  readonly height: number
}

function readDocument(
  file: SourceFile,
  document: Document.Parsed,
  original: (offset: number) => number,
  tell: Tell,
): Node | Fault {
  const reading: Reading = {
    file,
    original,
    tell,
    anchors: new Map(),
    sizes: new Map(),
    repeated: 0,
    fault: undefined,
    end: original(document.range[0]),
  }
  const node = readNode(reading, document.contents, 1)
  return reading.fault ?? node
}

function readNode(reading: Reading, node: SyntaxNode | null, depth: number): Node {
  if (reading.fault || !node) return nullAt(reading)
  if (isAlias(node)) return readAlias(reading, node.source, node.range, depth)
  const anchor = (node as SyntaxScalar | SyntaxMap | SyntaxList).anchor
  if (anchor !== undefined) {
    if (reading.anchors.has(anchor)) {
      return refuse(reading, 'yaml-alias', `the anchor &${anchor} stands twice`, spanOf(reading, node.range))
    }
    reading.anchors.set(anchor, 'open')
  }
  const read = readTagged(reading, node, depth)
  if (anchor !== undefined) reading.anchors.set(anchor, read)
  return read
}

function readTagged(reading: Reading, node: SyntaxNode, depth: number): Node {
  if (isScalar(node)) return readScalar(reading, node)
  if (!isCollection(node)) return refuse(reading, 'yaml-syntax', 'unexpected content', spanOf(reading, node.range))
  const read = isMap(node)
    ? readMap(reading, node as SyntaxMap<SyntaxNode>, depth)
    : readList(reading, node as SyntaxList<SyntaxNode>, depth)
  const expected = isSeq(node) ? `${corePrefix}seq` : `${corePrefix}map`
  if (node.tag === undefined || node.tag === '!' || node.tag === expected) return read
  if (node.tag === '!unsafe') return withoutTemplates(read)
  return unknownTag(reading, node.tag, read.span)
}

function readScalar(reading: Reading, node: SyntaxScalar): Node {
  const span = spanOf(reading, node.range)
  reading.end = span.end
  if (node.type === 'QUOTE_DOUBLE' && escapesSurrogate(node.source ?? '', span)) {
    return refuse(reading, 'yaml-syntax', 'an escape that is half a character', span)
  }
  const text = asLibyaml(node, span)
  switch (node.tag) {
    case '!':
      return scalarOf(reading, text === '' && isPlain(node) ? 'str' : plainTagOf(text), text, span)
    case undefined:
      return isPlain(node) ? scalarOf(reading, plainTagOf(text), text, span) : { kind: 'scalar', data: text, span }
    case '!unsafe':
      return { kind: 'scalar', data: text, tag: 'unsafe', span }
    case '!vault':
    case '!vault-encrypted':
      return { kind: 'scalar', data: text, tag: 'vault', span }
    case `${corePrefix}str`:
    case `${corePrefix}int`:
    case `${corePrefix}bool`:
    case `${corePrefix}float`:
    case `${corePrefix}null`:
    case `${corePrefix}timestamp`:
      return scalarOf(reading, node.tag.slice(corePrefix.length) as PlainTag, text, span)
    default:
      return unknownTag(reading, node.tag, span)
  }
}

/** JSON writes characters beyond U+FFFF as two escapes; YAML takes neither half. */
function escapesSurrogate(text: string, { file, start, end }: Span): boolean {
  return /[\ud800-\udfff]/.test(text) && /\\u[dD][89a-fA-F]/.test(file.text.slice(start, end))
}

/** A block scalar whose last line is cut off by the end of the text has no line break there; the parser adds one. */
function asLibyaml(node: SyntaxScalar, { file, start, end }: Span): string {
  const given = node.source ?? ''
  // Behind `---` the parser leaves blanks at the start.
  const text = node.type === 'PLAIN' ? given.replace(/^[ \t]+/, '') : given
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
  if (!isBlock || end < file.text.length || !text.endsWith('\n') || endsLine(file.text)) return text
  return file.text.slice(start, end).includes('\n') ? text.slice(0, -1) : text
}

function endsLine(text: string): boolean {
  return /[\n\r\x85]$/.test(text.slice(-1))
}

function isPlain(node: SyntaxNode): boolean {
  return isScalar(node) && (node.type === 'PLAIN' || node.type === undefined)
}

function scalarOf(reading: Reading, tag: PlainTag, text: string, span: Span): Node {
  if (tag === 'merge' || tag === 'value') {
    return refuse(reading, 'yaml-syntax', `a plain ${text} stands for nothing here`, span)
  }
  const read = scalarUnder(tag, text)
  if ('refused' in read) return refuse(reading, 'yaml-syntax', read.refused, span)
  return { kind: 'scalar', data: read.data, span }
}

function readList(reading: Reading, list: SyntaxList<SyntaxNode>, depth: number): ListNode {
  const items: Node[] = []
  for (const item of list.items) items.push(readNode(reading, item, depth + 1))
  return { kind: 'list', items, span: collectionSpan(reading, list) }
}

/**
 * A collection ends where its last item's text does; a flow collection at its bracket. The parser's own end of a block
 * collection takes in comments and blank lines that follow.
 */
function collectionSpan(reading: Reading, node: SyntaxMap | SyntaxList): Span {
  const { start, end } = spanOf(reading, node.range)
  reading.end = node.flow ? end : Math.max(start, reading.end)
  return { file: reading.file, start, end: reading.end }
}

function readMap(reading: Reading, map: SyntaxMap<SyntaxNode>, depth: number): MapNode | UnreadableNode {
  const own = new Map<string, MapEntry>()
  const merged: MapNode[] = []
  let lost: UnreadableNode | undefined
  for (const pair of map.items) {
    if (reading.fault) break
    const key = pair.key as SyntaxNode | null
    const value = pair.value as SyntaxNode | null
    if (key && isPlain(key) && (key as SyntaxScalar).source === '<<' && (key as SyntaxScalar).tag === undefined) {
      lost = readMerge(reading, value, depth, merged) ?? lost
      continue
    }
    const readKey = readMapKey(reading, key, depth)
    if (!readKey) break
    const entry = { key: readKey, value: readNode(reading, value, depth + 1) }
    const identity = keyIdentity(readKey)
    const earlier = own.get(identity)
    if (earlier) tellDuplicate(reading, earlier.key, readKey)
    own.set(identity, earlier ? replaced(earlier, entry) : entry)
  }
  const span = collectionSpan(reading, map)
  if (lost) return { kind: 'unreadable', says: lost.says, span }
  return { kind: 'map', entries: merged.length > 0 ? mergeEntries(reading, merged, own) : [...own.values()], span }
}

function readMapKey(reading: Reading, key: SyntaxNode | null, depth: number): ScalarNode | undefined {
  if (key && isPlain(key) && (key as SyntaxScalar).source === '=' && (key as SyntaxScalar).tag === undefined) {
    const span = spanOf(reading, key.range)
    reading.end = span.end
    return { kind: 'scalar', data: '=', span }
  }
  const read = readNode(reading, key, depth + 1)
  if (reading.fault) return undefined
  if (read.kind === 'scalar') {
    return key && isAlias(key) ? { ...read, span: spanOf(reading, key.range) } : read
  }
  const what = read.kind === 'map' ? 'a mapping' : read.kind === 'list' ? 'a list' : 'what could not be read'
  const hint = read.kind === 'map' ? ' (a value that starts with {{ has to be quoted)' : ''
  refuse(reading, 'yaml-syntax', `${what} cannot be a key${hint}`, read.span)
  return undefined
}

/** Keys are one where Python's dict finds them equal: 1, 1.0 and true are, 1 and "1" are not. */
function keyIdentity({ data }: ScalarNode): string {
  switch (typeof data) {
    case 'string':
      return `s${data}`
    case 'boolean':
      return data ? 'n1' : 'n0'
    case 'number':
      return Number.isInteger(data) ? `n${BigInt(data)}` : `n${data}`
    case 'bigint':
      return `n${data}`
    default:
      return 'null'
  }
}

/** The last value counts, and the place it stands; Python keeps the key it saw first (1 stays 1 where 1.0 comes later). */
function replaced(earlier: MapEntry, later: MapEntry): MapEntry {
  return { key: { ...later.key, data: earlier.key.data }, value: later.value }
}

function put(entries: Map<string, MapEntry>, identity: string, entry: MapEntry): void {
  const earlier = entries.get(identity)
  entries.set(identity, earlier ? replaced(earlier, entry) : entry)
}

function tellDuplicate(reading: Reading, earlier: ScalarNode, later: ScalarNode): void {
  const name = typeof later.data === 'string' ? JSON.stringify(later.data) : String(later.data)
  const message = `the key ${name} on line ${lineOf(earlier.span)} stands again on line ${lineOf(later.span)}; the last one counts`
  reading.tell('yaml-duplicate-key', 'warning', message, later.span)
}

/** Puts the maps a merge key names into `merged`, weakest first; gives the node back where it could not be read. */
function readMerge(
  reading: Reading,
  value: SyntaxNode | null,
  depth: number,
  merged: MapNode[],
): UnreadableNode | undefined {
  const read = readNode(reading, value, depth + 1)
  if (reading.fault) return undefined
  const sources = read.kind === 'list' ? [...read.items].reverse() : [read]
  for (const source of sources) {
    if (source.kind === 'unreadable') return source
    if (source.kind !== 'map') {
      refuse(reading, 'yaml-syntax', 'only mappings can be merged with <<', spanOf(reading, value?.range))
      return undefined
    }
    merged.push(source)
  }
  return undefined
}

/** PyYAML puts merged entries first; a later one of the same key keeps the place and brings the value. */
function mergeEntries(
  reading: Reading,
  merged: readonly MapNode[],
  own: ReadonlyMap<string, MapEntry>,
): readonly MapEntry[] {
  const entries = new Map<string, MapEntry>()
  for (const map of merged) {
    reading.repeated += map.entries.length
    if (reading.repeated > maxRepeated) {
      refuse(reading, 'yaml-alias', 'merge keys repeat too much', map.span)
      return []
    }
    for (const entry of map.entries) put(entries, keyIdentity(entry.key), entry)
  }
  for (const [identity, entry] of own) put(entries, identity, entry)
  return [...entries.values()]
}

type Range = readonly [number, number, ...number[]] | null | undefined

function readAlias(reading: Reading, name: string, range: Range, depth: number): Node {
  const span = spanOf(reading, range)
  reading.end = span.end
  const target = reading.anchors.get(name)
  if (target === undefined) return refuse(reading, 'yaml-alias', `no anchor &${name} stands before *${name}`, span)
  if (target === 'open') return lose(reading, 'yaml-alias', `*${name} stands inside the node it names`, span)
  if (target.kind === 'scalar' || target.kind === 'unreadable') return target
  const size = sizeOf(reading, target)
  if (depth + size.height - 1 > maxNesting) {
    return lose(reading, 'yaml-alias', `*${name} nests deeper than ${maxNesting} levels`, span)
  }
  if (reading.repeated + size.nodes > maxRepeated) {
    return lose(reading, 'yaml-alias', `*${name} would repeat more than ${maxRepeated} nodes`, span)
  }
  reading.repeated += size.nodes
  return target
}

/** Nodes and levels below and with a node, aliases counted as often as they stand. Aliases already read bound the depth. */
function sizeOf(reading: Reading, node: Node): Size {
  if (node.kind === 'scalar' || node.kind === 'unreadable') return { nodes: 1, height: 0 }
  const known = reading.sizes.get(node)
  if (known) return known
  const children = node.kind === 'list' ? node.items : node.entries.map(entry => entry.value)
  let nodes = 1
  let height = 0
  for (const child of children) {
    const size = sizeOf(reading, child)
    nodes += size.nodes
    height = Math.max(height, size.height)
  }
  const size = { nodes, height: height + 1 }
  reading.sizes.set(node, size)
  return size
}

/** `!unsafe` on a collection: every text below is never templated. */
function withoutTemplates(node: Node): Node {
  switch (node.kind) {
    case 'scalar':
      return typeof node.data === 'string' && node.tag === undefined ? { ...node, tag: 'unsafe' } : node
    case 'list':
      return { ...node, items: node.items.map(withoutTemplates) }
    case 'map':
      return { ...node, entries: node.entries.map(({ key, value }) => ({ key, value: withoutTemplates(value) })) }
    case 'unreadable':
      return node
  }
}

function unknownTag(reading: Reading, tag: string, span: Span): UnreadableNode {
  return lose(
    reading,
    'yaml-tag',
    `the tag ${tag.replace(corePrefix, '!!')} is not one Ansible's YAML knows here`,
    span,
  )
}

/** One node is lost; the document goes on. */
function lose(reading: Reading, code: DiagnosticCode, says: string, span: Span): UnreadableNode {
  reading.tell(code, 'error', says, span)
  return { kind: 'unreadable', says, span }
}

/** The whole document is lost: Ansible refuses it. The first reason is kept. */
function refuse(reading: Reading, code: DiagnosticCode, says: string, span: Span): UnreadableNode {
  reading.fault ??= { code, says, start: span.start, end: span.end }
  return { kind: 'unreadable', says, span }
}

function nullAt(reading: Reading): ScalarNode {
  return { kind: 'scalar', data: null, span: { file: reading.file, start: reading.end, end: reading.end } }
}

function spanOf(reading: Reading, range: Range): Span {
  const { file, original, end } = reading
  return range ? { file, start: original(range[0]), end: original(range[1]) } : { file, start: end, end }
}
