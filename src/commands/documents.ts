import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Surroundings } from '../citations/cite.js'
import { UsageError } from '../source/diagnostic.js'
import { openDirectory } from '../source/directory.js'
import { askGit } from '../source/git.js'
import type { SourceFile } from '../source/text.js'
import { isKubespray } from './subject.js'

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

/** What lies around a document: its own repository, and whether that is a kubespray checkout. */
export function surroundingsOf(document: string): Surroundings {
  const directory = dirname(resolve(document))
  const top = askGit(directory, ['rev-parse', '--show-toplevel'])
  const inKubespray = top !== undefined && isKubespray(openDirectory(top))
  return {
    isOwn: path => !inKubespray && above(directory, top).some(each => existsSync(join(each, path))),
    inKubespray: top !== undefined && inKubespray ? relative(top, resolve(document)).split(sep).join('/') : undefined,
  }
}

/** A directory and those above it, up to the top of its repository. */
function above(directory: string, top: string | undefined): readonly string[] {
  if (top === undefined || directory === top) return [directory]
  const parent = dirname(directory)
  return parent === directory ? [directory] : [directory, ...above(parent, top)]
}
