import type { Count, Line } from './place.js'
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
  /** As people name it: a release, a commit, a path; `-` for what was written from a directory. */
  readonly version: string
  /** From the top of the checkout. */
  readonly file: string
  /** From 1; null for a whole file or directory. */
  readonly first: Line | null
  /** From 1; null for a whole file or directory. */
  readonly last: Line | null
  /** The address of these lines on the web; null where no public commit is known to hold them. */
  readonly permalink: string | null
}

/** What comes nearest to what is gone. */
export interface NearestPlace {
  /** From the top of the checkout. */
  readonly file: string
  /** From 1; null for a whole file. */
  readonly line: Line | null
  /** What it is, and why it is not taken for what was cited. */
  readonly why: string
}

/** One citation of a document, and what became of it. */
export interface ReportedCitation {
  /** Where it stands in the document, from 1. */
  readonly line: Line
  /** From 1, in UTF-16 code units. */
  readonly column: Line
  /** Written between markers, a link, or a path in the text. */
  readonly kind: 'marker' | 'link' | 'path'
  /** As the document has it: what the marker says, the address of the link, the path. */
  readonly citation: string
  /** What became of it, before anything was written. */
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
  readonly nearest: NearestPlace | null
  /** What to write instead of a link or path that only moved. */
  readonly replacement: string | null
  /** Whether `--write` has put it right. */
  readonly written: boolean
}

/** A marker that cannot be read. */
export interface DocumentProblem {
  /** From 1, in the document. */
  readonly line: Line
  /** What is wrong, and what to do. */
  readonly says: string
}

/** What was found in one document. */
export interface ReportedDocument {
  /** As it was named on the command line. */
  readonly path: string
  /** In the order in which they stand. */
  readonly citations: readonly ReportedCitation[]
  /** Markers that cannot be read: nothing is written to the document then. */
  readonly problems: readonly DocumentProblem[]
  /** Whether `--write` has changed the file. */
  readonly written: boolean
}

/** What `cite` found in all documents. */
export interface CitationsReport {
  /** The version everything was checked against; null where each citation has its own. */
  readonly source: ReportedSource | null
  readonly documents: readonly ReportedDocument[]
}

/** A number for each state. */
export interface CountedStates extends Readonly<Record<CitationState, Count>> {
  /** It says the same at the same place. */
  readonly true: Count
  /** It says the same at another place. */
  readonly moved: Count
  /** It says something else, or the text between the markers was changed by hand. */
  readonly changed: Count
  /** There is none any more. */
  readonly gone: Count
  /** Not written yet, or the marker asks for another text now. */
  readonly unwritten: Count
  /** It cannot be told from what is at hand. */
  readonly unchecked: Count
  /** The marker names what there is not. */
  readonly invalid: Count
}

/** How many citations are in which state, those that were put right not counted with them. */
export function countStates({ documents }: CitationsReport): CountedStates {
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
