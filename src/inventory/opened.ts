import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import type { SourceFile } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'

/** A path of the command line, opened: the tree around it, and where in that tree it is. */
export interface Opened {
  readonly tree: SourceTree
  /** The path inside the tree. */
  readonly path: string
  readonly kind: 'file' | 'directory'
  /** The absolute path. */
  readonly absolute: string
}

/**
 * Opens a file or directory the user named. Links are followed wherever they lead: it is the user's own machine.
 * Undefined where nothing stands at that path. Files show the path as the user wrote it, so that a place can be opened.
 */
export function openPath(path: string): Opened | undefined {
  const absolute = resolve(path)
  const tree = openShown(absolute, path)
  if (tree) return { tree, path: '', kind: 'directory', absolute }
  const parent = openShown(dirname(absolute), dirname(path))
  const name = basename(absolute)
  return parent?.entryKind(name) === 'file' ? { tree: parent, path: name, kind: 'file', absolute } : undefined
}

/** A directory as a tree whose files carry paths that begin with `shown`; undefined where there is none. */
export function openShown(directory: string, shown: string): SourceTree | undefined {
  let tree: SourceTree
  try {
    tree = openDirectory(directory, { links: 'anywhere' })
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
  const files = new Map<SourceFile, SourceFile>()
  const shownFile = (file: SourceFile): SourceFile => {
    const known = files.get(file)
    if (known) return known
    const renamed = { path: join(shown, file.path), text: file.text }
    files.set(file, renamed)
    return renamed
  }
  return {
    origin: tree.origin,
    entryKind: tree.entryKind,
    list: tree.list,
    read: path => {
      const file = tree.read(path)
      return file && shownFile(file)
    },
    diagnostics: () =>
      tree.diagnostics().map(diagnostic => ({
        ...diagnostic,
        at: { ...diagnostic.at, file: shownFile(diagnostic.at.file) },
      })),
  }
}

/** The extension as Python's splitext takes it: dots at the start of a name begin none. */
export function extensionOf(path: string): string {
  return /[^./][^/]*?(\.[^./]*)$/.exec(path)?.[1] ?? ''
}
