import type { Analysis } from '../analyze.js'
import type { Given } from './given.js'
import type { Matching } from './matching/matching.js'
import type { RoleIndex } from './role-index.js'

/** One of two versions that are compared: its run for the host, and what its role code says as written. */
export interface Side {
  readonly analysis: Analysis
  readonly index: RoleIndex
}

/** Two versions, what matches in them, and what the user has set. */
export interface Compared {
  readonly old: Side
  readonly new: Side
  readonly matching: Matching
  readonly given: Given
  /** Names that the user's own files read. */
  readonly ownReads: ReadonlySet<string>
}
