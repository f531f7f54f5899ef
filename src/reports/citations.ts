import type { ReportedSource } from './report.js'

/** What became of a citation. */
export type CitationState =
  /** It says the same at the same place. */
  | 'true'
  /** It says the same at another place. */
  | 'moved'
  /** It says something else now, or the text between the markers is not what was written there. */
  | 'changed'
  | 'gone'
  /** The text between the markers has not been written yet, or the marker asks for another one now. */
  | 'unwritten'
  /** It cannot be told from what is at hand. */
  | 'unchecked'
  /** The marker names what there is not. */
  | 'invalid'

export const citationStates: readonly CitationState[] = [
  'true',
  'moved',
  'changed',
  'gone',
  'unwritten',
  'unchecked',
  'invalid',
]

/** Lines of a file of one version, both included; no lines for a whole file or directory. */
export interface CitedPlace {
  readonly version: string
  readonly file: string
  readonly first: number | null
  readonly last: number | null
  readonly permalink: string | null
}

/** One citation of a document, and what became of it. */
export interface ReportedCitation {
  /** From 1, in the document. */
  readonly line: number
  readonly column: number
  /** Written between markers, a link, or a path in the text. */
  readonly kind: 'marker' | 'link' | 'path'
  /** As the document has it: what the marker says, the address of the link, the path. */
  readonly citation: string
  readonly state: CitationState
  /** One sentence: why. */
  readonly says: string
  /** What it cited when it was written; null where that is not known. */
  readonly cited: CitedPlace | null
  /** What it cites in the version it was checked against; null where there is no place. */
  readonly now: CitedPlace | null
  /** A unified diff of what changed. */
  readonly diff: string | null
  /** What comes nearest to what is gone, and why it is not taken. */
  readonly nearest: { readonly file: string; readonly line: number | null; readonly why: string } | null
  /** What to write instead of a link or path that only moved. */
  readonly replacement: string | null
  /** Whether `--write` has put it right. */
  readonly written: boolean
}

/** What was found in one document. */
export interface ReportedDocument {
  /** As it was named. */
  readonly path: string
  readonly citations: readonly ReportedCitation[]
  /** Markers that cannot be read: nothing is written to the document then. */
  readonly problems: readonly { readonly line: number; readonly says: string }[]
  /** Whether `--write` has changed the file. */
  readonly written: boolean
}

/** What `cite` found in all documents. */
export interface CitationsReport {
  /** The version everything was checked against; null where each citation has its own. */
  readonly source: ReportedSource | null
  readonly documents: readonly ReportedDocument[]
}

/** How many citations are in which state, those that were put right not counted with them. */
export function countStates({ documents }: CitationsReport): Readonly<Record<CitationState, number>> {
  const all = documents.flatMap(({ citations }) => citations).filter(({ written }) => !written)
  const count = (state: CitationState): number => all.filter(each => each.state === state).length
  return {
    true: count('true'),
    moved: count('moved'),
    changed: count('changed'),
    gone: count('gone'),
    unwritten: count('unwritten'),
    unchecked: count('unchecked'),
    invalid: count('invalid'),
  }
}
