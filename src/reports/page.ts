/** A piece of a line: plain text, or text that is set off. Renderers escape; nobody else does. */
export type Inline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly to: string; readonly shown: Inline }
  | { readonly kind: 'break' }

export type Line = readonly Inline[]

export interface ListItem {
  readonly line: Line
  readonly below?: readonly Block[]
}

/** A report as a page: what stands there, whichever markup it is written in. */
export type Block =
  | { readonly kind: 'heading'; readonly depth: 1 | 2 | 3 | 4; readonly line: Line }
  | { readonly kind: 'paragraph'; readonly line: Line }
  | { readonly kind: 'quote'; readonly line: Line }
  | { readonly kind: 'list'; readonly items: readonly ListItem[] }
  | { readonly kind: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly Line[])[] }
  | { readonly kind: 'listing'; readonly language: string; readonly lines: readonly string[] }
  | { readonly kind: 'details'; readonly summary: Line; readonly inside: readonly Block[] }

/** Text set as code. */
export function code(text: string): Inline {
  return { kind: 'code', text }
}

/** Text that stands out. */
export function strong(text: string): Inline {
  return { kind: 'strong', text }
}

/** A paragraph of these pieces. */
export function paragraph(...line: Line): Block {
  return { kind: 'paragraph', line }
}

/** A heading of these pieces. */
export function heading(depth: 1 | 2 | 3 | 4, ...line: Line): Block {
  return { kind: 'heading', depth, line }
}

/** A sentence of a report: what it has between backticks is code, the rest is text. */
export function sentence(text: string): Line {
  return text
    .split(/(`[^`]+`)/)
    .filter(piece => piece !== '')
    .map(piece => (piece.length > 2 && piece.startsWith('`') && piece.endsWith('`') ? code(piece.slice(1, -1)) : piece))
}

/** Something shown that leads to an address; as it is where there is none, or one that is no web address. */
export function linked(shown: Inline, address: string | null): Inline {
  const to = address === null ? undefined : webAddress(address)
  return to === undefined ? shown : { kind: 'link', to, shown }
}

/** An address, shown by the name of its host; text that is none stays text. */
export function addressLink(text: string): Inline {
  const to = webAddress(text)
  return to === undefined ? text : { kind: 'link', to, shown: new URL(to).hostname }
}

/** An address of the web, percent-encoded; undefined for anything else (`javascript:`, a sentence). */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
