import type { Analysis } from '../analyze.js'
import type { RoleIndex } from './role-index.js'

/** One of two versions that are compared: its run for the host, and what its role code says as written. */
export interface Side {
  readonly analysis: Analysis
  readonly index: RoleIndex
}
