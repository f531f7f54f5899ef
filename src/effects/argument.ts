import {
  type Cause,
  FALSE,
  type Failure,
  type Known,
  mergeCauses,
  type Option,
  TRUE,
  type Truth,
  type Undefined,
  type Unknown,
  unknown,
  type Value,
} from '../jinja/value.js'
import { placeOf } from '../source/text.js'

export type Single = Known | Undefined | Unknown | Failure

/** The alternatives of a value: one, unless it is one of a few. */
export function optionsOf(value: Value): readonly Option[] {
  return value.kind === 'one-of' ? value.options : [{ value, because: [] }]
}

/** The text of a known scalar, as a module or a command line sees it; undefined for everything else. */
export function textOf(value: Value | undefined): string | undefined {
  if (value?.kind !== 'known') return undefined
  switch (typeof value.data) {
    case 'string':
      return value.data
    case 'bigint':
    case 'number':
      return String(value.data)
    case 'boolean':
      return value.data ? 'True' : 'False'
    default:
      return undefined
  }
}

/** The known pieces of a text, null for each unknown piece; undefined where nothing at all is known of it. */
export function piecesOf(value: Value): readonly (string | null)[] | undefined {
  const text = textOf(value)
  if (text !== undefined) return [text]
  return value.kind === 'unknown' ? value.text : undefined
}

/** The pieces as one text, a NUL for each unknown one. */
export function joinedPieces(pieces: readonly (string | null)[]): string {
  return pieces.map(piece => piece ?? '\0').join('')
}

/** A cause for people: what it says and where, the place once. */
export function causeText(cause: Cause): string {
  const place = placeOf(cause.at)
  return cause.says.includes(place) ? cause.says : `${cause.says} (${place})`
}

/** Why a value is not known; empty for a known one. */
export function causesOf(value: Value): readonly Cause[] {
  switch (value.kind) {
    case 'known':
      return []
    case 'unknown':
      return value.causes
    case 'undefined':
      return [{ says: value.says, at: value.at }]
    case 'failure':
      return [{ says: value.says, at: value.at, unread: true }]
    case 'one-of':
      return mergeCauses(value.options.flatMap(option => [...option.because, ...causesOf(option.value)]))
  }
}

/** Whether a text made of known pieces and unknown ones (null) can be this text. */
export function piecesCanBe(pieces: readonly (string | null)[], text: string): boolean {
  let from = 0
  let loose = false
  for (const [index, piece] of pieces.entries()) {
    if (piece === null) {
      loose = true
      continue
    }
    const last = index === pieces.length - 1
    if (!loose) {
      if (!text.startsWith(piece, from)) return false
      from += piece.length
    } else if (last) {
      return text.length - piece.length >= from && text.endsWith(piece)
    } else {
      const found = text.indexOf(piece, from)
      if (found === -1) return false
      from = found + piece.length
    }
    loose = false
  }
  return loose || from === text.length
}

/**
 * Asks a question about a text argument: true or false where every alternative agrees, else unknown with the causes.
 * `ofPieces` may answer for a text of which only pieces are known; undefined means it cannot tell.
 */
export function askText(
  value: Value | undefined,
  ofText: (text: string) => boolean,
  ofPieces: (pieces: readonly (string | null)[]) => boolean | undefined = () => undefined,
): Truth {
  if (value === undefined) return FALSE
  let someTrue = false
  let someFalse = false
  const causes: Cause[] = []
  for (const { value: single, because } of optionsOf(value)) {
    const answer = askSingle(single, ofText, ofPieces)
    if (answer === undefined) {
      someTrue = true
      someFalse = true
      causes.push(...because, ...causesOf(single))
    } else {
      if (answer) someTrue = true
      else someFalse = true
      causes.push(...because)
    }
  }
  if (!someFalse) return TRUE
  if (!someTrue) return FALSE
  return unknown(causes)
}

function askSingle(
  value: Single,
  ofText: (text: string) => boolean,
  ofPieces: (pieces: readonly (string | null)[]) => boolean | undefined,
): boolean | undefined {
  const text = textOf(value)
  if (text !== undefined) return ofText(text)
  if (value.kind === 'unknown') return value.text === undefined ? undefined : ofPieces(value.text)
  if (value.kind === 'failure') return undefined
  return false
}

/** Whether an argument is this text. */
export function isText(value: Value | undefined, text: string): Truth {
  return isOneOfTexts(value, [text])
}

/** Whether an argument is one of these texts. */
export function isOneOfTexts(value: Value | undefined, texts: readonly string[]): Truth {
  return askText(
    value,
    text => texts.includes(text),
    pieces => (texts.some(text => piecesCanBe(pieces, text)) ? undefined : false),
  )
}

const YES = new Set(['yes', 'on', '1', 'true', 't', 'y', '1.0'])

/**
 * Whether two arguments are certainly the same: the same known text, or the same value of which the same is not known
 * (two uses of one variable). False means only that it is not certain.
 */
export function isCertainlySame(left: Value, right: Value): boolean {
  const ours = optionsOf(left)
  const theirs = optionsOf(right)
  return (
    ours.length === theirs.length &&
    ours.every(({ value }) => theirs.some(({ value: other }) => isSameSingle(value, other)))
  )
}

const GLOB = /\*|\?|\[[^\]]+\]/

/** Whether a text is a pattern of names. */
export function isPattern(text: string): boolean {
  return GLOB.test(text)
}

/** A pattern of names as what is known of the names it stands for: its pieces between the wildcards. */
export function matchesOf(text: string, cause: Cause): Unknown {
  const pieces = text.split(GLOB).flatMap((piece, index) => [...(index === 0 ? [] : [null]), piece])
  return unknown(
    [cause],
    pieces.filter(piece => piece !== ''),
  )
}

/** A path without doubled slashes, `.` and `..`; a slash at its end stays. */
export function plainPath(value: Value): Value {
  if (value.kind === 'one-of') {
    const options = value.options.map(option => ({ ...option, value: plainPath(option.value) as Single }))
    return { ...value, options }
  }
  const text = textOf(value)
  if (text !== undefined)
    return /\/\.{0,2}\//.test(text) || /\/\.{1,2}$/.test(text) ? { kind: 'known', data: plainText(text) } : value
  if (value.kind !== 'unknown' || value.text === undefined) return value
  return { ...value, text: value.text.map(piece => piece?.replace(/\/{2,}/g, '/') ?? null) }
}

function plainText(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '..' || !path.startsWith('/')) parts.push(part)
  }
  const start = path.startsWith('/') ? '/' : ''
  return `${start}${parts.join('/')}${/\/\.{0,2}$/.test(path) && parts.length > 0 ? '/' : ''}`
}

/**
 * A path as it is meant in a directory; in one that is not known (undefined) its beginning is not known either. A path that
 * is not relative is taken as it is, one of which nothing is known too.
 */
export function pathIn(directory: Value | undefined, path: Value, at: Cause['at']): Value {
  if (path.kind === 'one-of') {
    return {
      ...path,
      options: path.options.map(option => ({ ...option, value: pathIn(directory, option.value, at) as Single })),
    }
  }
  const pieces = piecesOf(path)
  const [first] = pieces ?? []
  if (pieces === undefined || typeof first !== 'string' || first === '' || /^[/~]/.test(first)) return plainPath(path)
  const known = directory === undefined || directory.kind === 'one-of' ? undefined : piecesOf(directory)
  const start = known ?? [null]
  const all = [...start, '/', ...pieces]
  if (!all.includes(null)) return plainPath({ kind: 'known', data: all.join('') })
  const merged: (string | null)[] = []
  for (const piece of all) {
    const last = merged.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece
    else merged.push(piece)
  }
  const open: Cause = { says: 'the directory the command is run in is not known', at }
  const causes = [...(known === undefined ? [open] : causesOf(directory as Value)), ...causesOf(path)]
  return plainPath(unknown(causes, merged))
}

/**
 * Whether two paths are the same file: certainly, certainly not, or perhaps where the known pieces of one can be the
 * other. A path of which nothing is known is not taken for every file there is: `false`.
 */
export function isSamePath(left: Value, right: Value): Truth {
  if (isCertainlySame(left, right)) return TRUE
  for (const { value: ours } of optionsOf(left)) {
    for (const { value: theirs } of optionsOf(right)) {
      const [one, other] = [textOf(ours), textOf(theirs)]
      const pieces = one === undefined ? piecesOf(ours) : piecesOf(theirs)
      const text = one ?? other
      const fits =
        text === undefined
          ? isSameSingle(ours, theirs)
          : one === other || (pieces?.some(piece => piece !== null) === true && piecesCanBe(pieces, text))
      if (fits) return unknown([...causesOf(left), ...causesOf(right)])
    }
  }
  return FALSE
}

function isSameSingle(left: Single, right: Single): boolean {
  const text = textOf(left)
  if (text !== undefined) return text === textOf(right)
  if (left.kind !== 'unknown' || right.kind !== 'unknown') return false
  const key = (value: Unknown): string =>
    JSON.stringify([
      value.text ?? null,
      ...value.causes.map(cause => [cause.name ?? null, cause.says, placeOf(cause.at)]),
    ])
  // An unread value may be another each time it is asked for.
  return left.causes.every(cause => cause.name !== undefined && !cause.unread) && key(left) === key(right)
}

/** Whether a boolean argument is set, read as Ansible's modules read `type: bool`; `otherwise` where it is not given. */
export function isSet(value: Value | undefined, otherwise: boolean): Truth {
  if (value === undefined) return otherwise ? TRUE : FALSE
  return askText(value, text => YES.has(text.toLowerCase().trim()))
}

/** Both hold. */
export function bothTrue(left: Truth, right: Truth): Truth {
  if (left.kind === 'false' || right.kind === 'false') return FALSE
  if (left.kind === 'true') return right
  if (right.kind === 'true') return left
  return unknown([...left.causes, ...right.causes])
}

/** At least one holds. */
export function eitherTrue(left: Truth, right: Truth): Truth {
  if (left.kind === 'true' || right.kind === 'true') return TRUE
  if (left.kind === 'false') return right
  if (right.kind === 'false') return left
  return unknown([...left.causes, ...right.causes])
}

/** The opposite; what is unknown stays unknown for the same causes. */
export function notTrue(truth: Truth): Truth {
  if (truth.kind === 'unknown') return truth
  return truth.kind === 'true' ? FALSE : TRUE
}

/** The value with a function applied to each known text; unknown pieces stay unknown as a whole. */
export function mapText(value: Value, change: (text: string) => string): Value {
  if (value.kind === 'one-of') {
    return {
      kind: 'one-of',
      options: value.options.map(option => ({ ...option, value: mapText(option.value, change) as Single })),
    }
  }
  const text = textOf(value)
  if (text !== undefined) return { kind: 'known', data: change(text) }
  return value.kind === 'unknown' ? unknown(value.causes) : value
}

/** The members of a list argument: a list, or a text split at commas as Ansible's `type: list` does. */
export function membersOf(value: Value): readonly Value[] {
  if (value.kind !== 'known') return [value]
  if (Array.isArray(value.data)) return value.data as readonly Value[]
  if (typeof value.data === 'object' && value.data !== null && 'kind' in value.data && value.data.kind === 'tuple')
    return value.data.items
  if (typeof value.data === 'string')
    return value.data
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '')
      .map(part => ({ kind: 'known', data: part }) as const)
  return [value]
}

/** A value for people: known text as it is, alternatives with `or`; `…` or the deciding name where it is not known. */
export function showValue(value: Value | undefined): string {
  if (value === undefined) return ''
  if (value.kind === 'one-of') return value.options.map(option => showValue(option.value)).join(' or ')
  const text = textOf(value)
  if (text !== undefined) return text
  if (value.kind === 'known') return showData(value.data)
  if (value.kind !== 'unknown') return '…'
  if (value.text !== undefined) return value.text.map(piece => piece ?? '…').join('')
  const name = value.causes.length === 1 ? value.causes[0]?.name : undefined
  return name === undefined ? '…' : `the value of ${name}`
}

function showData(data: Known['data']): string {
  if (data === null) return ''
  if (Array.isArray(data)) return (data as readonly Value[]).map(showValue).join(', ')
  if (data instanceof Map) {
    return [...data].map(([key, member]) => `${String(key)}: ${showValue(member as Value)}`).join(', ')
  }
  return '…'
}
