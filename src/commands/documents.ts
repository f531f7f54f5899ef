import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { globbySync, isDynamicPattern } from 'globby'
import type { Wording } from '../citations/template.js'
import type { Surroundings } from '../citations/text-places.js'
import { readWording } from '../citations/wording.js'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import { once } from '../source/once.js'
import type { SourceFile } from '../source/text.js'
import { type OpenEditions, topOf } from './editions.js'
import { isKubespray } from './subject.js'

/**
 * The documents that arguments name: files, and patterns (`docs/**\/*.md`) for shells that leave those to the program. Throws
 * UsageError for a pattern that fits nothing, and what `readText` throws.
 */
export function readDocuments(named: readonly string[]): readonly SourceFile[] {
  const paths = named.flatMap(name => {
    if (existsSync(name) || !isDynamicPattern(name)) return [name]
    const found = globbySync(name, { gitignore: true, dot: false }).toSorted()
    if (found.length === 0) throw new UsageError(`${name}: no file fits this pattern`)
    return found
  })
  return [...new Set(paths)].map(readText)
}

/** Larger than any text somebody wrote. */
const maxDocument = 8 * 1024 * 1024

/** A document as it lies on disk. Throws UsageError where it is none that can be read. */
export function readText(path: string): SourceFile {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new UsageError(`${path}: no such file`)
  if (!found.isFile()) throw new UsageError(`${path}: not a file; name the documents themselves, as in docs/*.md`)
  if (found.size > maxDocument)
    throw new UsageError(`${path}: ${found.size} bytes; documents above ${maxDocument} are not read`)
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
    return { path, text }
  } catch (error) {
    const why =
      error instanceof TypeError ? 'not UTF-8' : error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${path}: cannot be read (${String(why)})`)
  }
}

/** The templates and words of a file. Throws UsageError where it holds something else. */
export function wordingIn(path: string): Wording {
  const wording = readWording(readText(path))
  if ('unread' in wording) throw new UsageError(wording.unread)
  return wording
}

/** What lies around a document: its own repository, and whether that is a kubespray checkout. */
export function surroundingsOf(document: string, editions: OpenEditions): Surroundings {
  // A text that is no file yet stands where it says.
  const path = existsSync(document) ? realpathSync(document) : resolve(document)
  const directory = dirname(path)
  const top = topOf(directory)
  const inKubespray = top !== undefined && isKubespray(openDirectory(top))
  const edition = once(() => editions.checkout(top ?? directory))
  return {
    isOwn: cited => !inKubespray && above(directory, top).some(each => existsSync(join(each, cited))),
    checkout:
      top === undefined || !inKubespray ? undefined : { edition, path: relative(top, path).split(sep).join('/') },
  }
}

/** A directory and those above it, up to the top of its repository. */
function above(directory: string, top: string | undefined): readonly string[] {
  if (top === undefined || directory === top) return [directory]
  const parent = dirname(directory)
  return parent === directory ? [directory] : [directory, ...above(parent, top)]
}
