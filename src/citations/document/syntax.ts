import type { Container } from './containers.js'

/** What is asked of the syntax of a document, whichever grammar it was read with. Offsets are those of the file's text. */
export interface Syntax {
  /** Pieces of HTML, in the order of the text. */
  readonly html: readonly HtmlPiece[]
  /** MDX: expressions that are nothing but a comment. */
  readonly comments: readonly Comment[]
  readonly destinations: readonly Destination[]
  readonly codes: readonly Code[]
  /** Front matter: no Markdown, but URLs stand in it. */
  readonly frontMatter: Range | undefined
  /** Every node but HTML blocks, in the order of the text. */
  readonly shape: readonly ShapeNode[]
}

/** Why a text cannot be read, or is not read. */
export interface Unread extends Range {
  readonly unread: string
}

export interface Range {
  readonly start: number
  readonly end: number
}

export interface ShapeNode {
  readonly type: string
  readonly depth: number
  readonly start: number
}

/** Where a piece of HTML or an expression stands. */
export interface Place {
  readonly container: Container
  /** The number of the syntax node around it. */
  readonly within: number
  /** Whether it is a block of its own, not a part of a line of text. */
  readonly isFlow: boolean
  readonly isInCell: boolean
}

export interface HtmlPiece extends Range {
  readonly place: Place
}

/** A comment, `<!-- … -->` or `{/* … *​/}`, with what stands inside of it, container prefixes taken off its lines. */
export interface Comment extends Range {
  readonly place: Place
  /** The number of the HTML block it stands in; undefined for one that is part of a line of text, and in MDX. */
  readonly block: number | undefined
  readonly inner: string
  /** The offset in the file of an offset in `inner`. */
  readonly offsetOf: (at: number) => number
  readonly isClosed: boolean
}

export interface Destination extends Range {
  readonly kind: 'link' | 'image' | 'definition' | 'autolink' | 'literal' | 'jsx'
}

export interface Code extends Range {
  readonly kind: 'span' | 'block'
}
