import { addressText, type PartialAddress, parseAddress } from '../addresses/address.js'

/**
 * What a closing marker keeps of a citation as it was last written, so that a later version can be compared with it:
 * `VERSION FILE:FIRST-LAST says=HASH wording=HASH content=HASH shown=HASH body=HASH address=ADDRESS`.
 */
export interface Pin {
  /** The release or commit it was written from; null for a directory that is no commit. */
  readonly version: string | null
  readonly place: PinnedPlace | null
  /** A hash of what the opening marker cites: whether it still cites the same. */
  readonly says: string
  /** A hash of the template and the words: whether the author words it as before. */
  readonly wording: string
  /** A hash of what is cited: whether it says the same. */
  readonly content: string
  /** A hash of what the text shows of it, without places and versions. */
  readonly shown: string
  /** A hash of the text between the markers: whether it was changed by hand. */
  readonly body: string
  /** Of a task. */
  readonly address: PartialAddress | undefined
}

/** Lines of a file, both included. */
export interface PinnedPlace {
  readonly file: string
  readonly first: number
  readonly last: number
}

const NOTHING = '-'

/** A pin as the closing marker has it. */
export function pinText({ version, place, says, wording, content, shown, body, address }: Pin): string {
  const where = place === null ? NOTHING : `${encodeURI(place.file)}:${place.first}-${place.last}`
  const hashes = `says=${says} wording=${wording} content=${content} shown=${shown} body=${body}`
  return `${version ?? NOTHING} ${where} ${hashes}${address === undefined ? '' : ` address=${addressText(address)}`}`
}

/** Reads a pin; undefined where the marker has none, or none that was written here. */
export function parsePin(text: string): Pin | undefined {
  const [version, where, ...rest] = text.trim().split(/\s+/)
  const named = new Map(rest.map(word => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
  const hashes = ['says', 'wording', 'content', 'shown', 'body'].map(name => named.get(name) ?? '')
  const [says = '', wording = '', content = '', shown = '', body = ''] = hashes
  if (version === undefined || where === undefined) return undefined
  if (!hashes.every(hash => /^[0-9a-f]{7}$/.test(hash))) return undefined
  const place = where === NOTHING ? null : parsePlace(where)
  if (place === undefined) return undefined
  const address = parseAddress(named.get('address') ?? '')
  return { version: version === NOTHING ? null : version, place, says, wording, content, shown, body, address }
}

function parsePlace(text: string): PinnedPlace | undefined {
  const [, file, first, last] = /^(.+):(\d+)-(\d+)$/.exec(text) ?? []
  if (file === undefined) return undefined
  try {
    return { file: decodeURI(file), first: Number(first), last: Number(last) }
  } catch {
    return undefined
  }
}
