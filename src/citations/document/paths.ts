import type { SourceFile, Span } from '../../source/text.js'
import type { DocumentLink } from './links.js'
import type { Code } from './syntax.js'

/** A path into a tree of role code that a document names. */
export interface DocumentPath {
  readonly path: string
  /** Lines, from 1. */
  readonly first?: number
  readonly last?: number
  /** It holds a part that stands for something: `roles/<name>/tasks`, `roles/*​/tasks`, `{{ … }}`. */
  readonly placeholder: boolean
  /** Where it is written, with its lines. */
  readonly at: Span
}

/** The paths in the code spans of a document: the whole span is one. */
export function pathsOf(file: SourceFile, codes: readonly Code[]): readonly DocumentPath[] {
  return codes.flatMap(({ kind, start, end }) => {
    if (kind !== 'span' || end - start > longest) return []
    const written = file.text.slice(start, end)
    const lead = written.length - written.trimStart().length
    return pathAt(file, written.trim(), start + lead)
  })
}

/** The paths in a text that is no Markdown: words of that form, without the marks around them. */
export function pathsOfText(file: SourceFile, links: readonly DocumentLink[]): readonly DocumentPath[] {
  const paths: DocumentPath[] = []
  let next = 0
  for (const match of file.text.matchAll(/[^\s"'`()[\]|,;=]+/g)) {
    const start = match.index
    while (next < links.length && (links[next]?.at.end ?? 0) <= start) next++
    const link = links[next]
    if (link !== undefined && link.at.start < start + match[0].length) continue
    if (match[0].length > longest || !match[0].includes('/')) continue
    const wrapped = /^<([^<>]+)>[.:!?]*$/.exec(match[0])
    const word = wrapped?.[1] ?? match[0].replace(/[.:!?]+$/, '')
    paths.push(...pathAt(file, word, start + (wrapped ? 1 : 0)))
  }
  return paths
}

/** Longer than a path can be. */
const longest = 4096

/** `PATH`, `PATH:12`, `PATH:12-20`, `PATH#L12`, `PATH#L12-L20` (columns as GitHub writes them are passed over). */
const form =
  /^(?<path>[^\s:#]+?)(?::(?<first>\d{1,7})(?:-(?<last>\d{1,7}))?|#L(?<from>\d{1,7})(?:C\d+)?(?:-L?(?<to>\d{1,7})(?:C\d+)?)?)?$/

const placeholders = /[<>{}$*]/

function pathAt(file: SourceFile, written: string, start: number): readonly DocumentPath[] {
  const groups = form.exec(written)?.groups
  const path = groups?.path
  if (path === undefined || !isPath(path)) return []
  const first = groups?.first ?? groups?.from
  const last = groups?.last ?? groups?.to
  return [
    {
      path,
      ...(first === undefined ? {} : { first: Number(first) }),
      ...(last === undefined ? {} : { last: Number(last) }),
      placeholder: placeholders.test(path),
      at: { file, start, end: start + written.length },
    },
  ]
}

/** Relative, of more than one part, of characters that paths of role code have; `quay.io/…` and `10.0.0.0/8` are none. */
function isPath(path: string): boolean {
  const parts = path.replace(/\/$/, '').split('/')
  const [top = ''] = parts
  return (
    path.includes('/') &&
    parts.every(part => /^[\w.+@~<>{}$*-]+$/.test(part)) &&
    !/^[-~@+]/.test(top) &&
    (!/^[^.]+\./.test(top) || placeholders.test(top)) &&
    parts.some(part => /[a-z]/i.test(part))
  )
}
