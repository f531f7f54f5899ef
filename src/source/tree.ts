import type { Diagnostic } from './diagnostic.js'
import type { SourceFile } from './text.js'

/** Where a tree came from, as reports name it. */
export interface TreeOrigin {
  readonly kind: 'directory' | 'revision'
  /** The directory, or the git repository the revision was read from. */
  readonly path: string
  /** The revision as the user gave it (`v2.31.0`, `master`, an abbreviated commit); absent for a directory. */
  readonly revision?: string
  /** The full commit id: of the revision, or of HEAD where the directory is a git work tree. */
  readonly commit?: string
}

export type EntryKind = 'file' | 'directory'

/**
 * The files role code is read from: a directory on disk or a git revision, with one behaviour.
 * Paths are relative to the root, `/` separated, without `.` or `..` segments after normalisation; the root is `''`.
 * Symbolic links are followed as long as they stay inside the tree; one that leaves it or loops counts as missing and is
 * reported. Nothing here throws on what the tree holds.
 */
export interface SourceTree {
  readonly origin: TreeOrigin
  /** What stands at this path after links are followed; undefined where nothing (readable) does. */
  readonly entryKind: (path: string) => EntryKind | undefined
  /** The text of a file, the same object at each call; undefined where there is none, or it was refused (and reported). */
  readonly read: (path: string) => SourceFile | undefined
  /** Names in a directory, in byte order; empty where it is none. */
  readonly list: (path: string) => readonly string[]
  /** Everything the tree itself found wrong so far (too large, not UTF-8, a link that leaves), without duplicates. */
  readonly diagnostics: () => readonly Diagnostic[]
}
