import { addressText, type PartialAddress, parseAddress } from '../addresses/address.js'
import type { PinnedPlace } from './pin.js'

/** What an author cites, as the opening marker says it. */
export type Citation = {
  /** The version it is always looked up in, where the marker names one. */
  readonly source: string | undefined
  /** The name of the template that words it; the one of its kind where absent. */
  readonly template: string | undefined
} & Cited

type Cited =
  | { readonly kind: 'verdict'; readonly problem: string }
  /** The task that decides a problem: the `nth` piece of evidence of a phase. */
  | { readonly kind: 'deciding'; readonly problem: string; readonly phase: Phase | undefined; readonly nth: number }
  | { readonly kind: 'task'; readonly address: PartialAddress }
  /** What a variable comes to, as a role sees it. */
  | { readonly kind: 'variable'; readonly name: string; readonly role: string | undefined }
  /** The conditions of a task with those it inherits, or the `nth` of them. */
  | { readonly kind: 'condition'; readonly address: PartialAddress; readonly nth: number | undefined }
  | { readonly kind: 'lines'; readonly path: string; readonly first: number; readonly last: number }

type Phase = 'now' | 'reboot'

export type CitationKind = Cited['kind']

/** Why a marker cites nothing, for its author. */
export interface Invalid {
  readonly invalid: string
}

interface Words {
  readonly plain: readonly string[]
  readonly named: ReadonlyMap<string, string>
}

interface Form {
  readonly usage: string
  /** The options it takes besides `source` and `template`. */
  readonly options: readonly string[]
  readonly read: (words: Words) => Cited | undefined
}

const forms: Readonly<Record<CitationKind, Form>> = {
  verdict: {
    usage: 'verdict PROBLEM',
    options: [],
    read: ({ plain: [problem, ...more] }) =>
      problem === undefined || more.length > 0 ? undefined : { kind: 'verdict', problem },
  },
  deciding: {
    usage: 'deciding PROBLEM [phase=now|reboot] [n=NUMBER]',
    options: ['phase', 'n'],
    read: ({ plain: [problem, ...more], named }) => {
      const phase = named.get('phase')
      const nth = numberIn(named.get('n') ?? '1')
      if (problem === undefined || more.length > 0 || nth === undefined) return undefined
      if (phase !== undefined && phase !== 'now' && phase !== 'reboot') return undefined
      return { kind: 'deciding', problem, phase, nth }
    },
  },
  task: {
    usage: 'task ADDRESS (ROLE:NAME, ROLE:NAME:MODULE#N or the whole address that `whofixes explain` prints)',
    options: [],
    read: ({ plain }) => {
      const address = parseAddress(plain.join(' '))
      return address && { kind: 'task', address }
    },
  },
  variable: {
    usage: 'variable NAME [role=ROLE]',
    options: ['role'],
    read: ({ plain: [name, ...more], named }) =>
      name === undefined || more.length > 0 ? undefined : { kind: 'variable', name, role: named.get('role') },
  },
  condition: {
    usage: 'condition ADDRESS [n=NUMBER]',
    options: ['n'],
    read: ({ plain, named }) => {
      const address = parseAddress(plain.join(' '))
      const given = named.get('n')
      const nth = given === undefined ? undefined : numberIn(given)
      if (address === undefined || (given !== undefined && nth === undefined)) return undefined
      return { kind: 'condition', address, nth }
    },
  },
  lines: {
    usage: 'lines FILE:FIRST-LAST',
    options: [],
    read: ({ plain: [place, ...more] }) => {
      const found = /^(.+?)(?::|#L)(\d+)(?:-L?(\d+))?$/.exec(place ?? '')
      const [, path, from = '', to = from] = found ?? []
      const [first, last] = [numberIn(from), numberIn(to)]
      if (path === undefined || first === undefined || last === undefined || last < first || more.length > 0)
        return undefined
      return { kind: 'lines', path, first, last }
    },
  },
}

/** The kinds of citation there are. */
const citationKinds = Object.keys(forms) as readonly CitationKind[]

/** Reads what an opening marker says; what it cannot read it explains. */
export function parseCitation(says: string): Citation | Invalid {
  const [kind = '', ...rest] = wordsIn(says)
  if (!isKind(kind)) return { invalid: `'${kind}' is nothing to cite; there are ${citationKinds.join(', ')}` }
  const form = forms[kind]
  const named = new Map<string, string>()
  const plain: string[] = []
  const options = ['source', 'template', ...form.options]
  for (const word of rest) {
    const [, name = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(word) ?? []
    if (options.includes(name)) named.set(name, value)
    else plain.push(word)
  }
  const cited = form.read({ plain, named })
  if (cited === undefined) return { invalid: `'${says}' cannot be read; expected ${form.usage}` }
  return { ...cited, source: named.get('source'), template: named.get('template') }
}

/** What a citation cites, in the same text for whatever marker says it, and wherever it is looked up. */
export function citedText({ source: _, template: __, ...cited }: Citation): string {
  if (!('address' in cited)) return JSON.stringify(cited)
  return JSON.stringify({ ...cited, address: addressText(cited.address) })
}

/** A marker's text for the same citation of a task under another address. */
export function withAddress(says: string, address: PartialAddress): string {
  const words = wordsIn(says)
  const options = words.slice(1).filter(word => /^(?:source|template|n)=/.test(word))
  const { content: _, ...place } = address
  return [words[0], addressText(place), ...options.map(quoted)].join(' ')
}

/** A marker's text for the same lines at another place. */
export function withPlace(says: string, { file, first, last }: PinnedPlace): string {
  const cited = parseCitation(says)
  const isSame = 'kind' in cited && cited.kind === 'lines' && cited.path === file
  if (isSame && cited.first === first && cited.last === last) return says
  const words = wordsIn(says)
  const options = words.slice(1).filter(word => /^(?:source|template)=/.test(word))
  const place = `${file}:${first}${last === first ? '' : `-${last}`}`
  return [words[0], /\s/.test(place) ? `"${place}"` : place, ...options.map(quoted)].join(' ')
}

function isKind(word: string): word is CitationKind {
  return citationKinds.some(kind => kind === word)
}

/** Words between blanks; double quotes keep blanks within one. */
export function wordsIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''))
}

function quoted(word: string): string {
  return /\s/.test(word) ? word.replace('=', '="').concat('"') : word
}

/** A counting number, undefined where the text is none. */
function numberIn(text: string): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined
}
