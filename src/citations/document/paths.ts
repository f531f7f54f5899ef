import type { SourceFile, Span } from '../../source/text.js'
import type { DocumentLink } from './links.js'
import type { Code } from './syntax.js'

/** A path into a tree of role code that a document names. */
export interface DocumentPath {
  readonly path: string
  /** What stands before it: where its author has the tree (`~/kubespray/`, `submodules/kubespray/`, `./`). */
  readonly under: string
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
  for (const match of file.text.matchAll(word)) {
    const start = match.index
    while (next < links.length && (links[next]?.at.end ?? 0) <= start) next++
    const link = links[next]
    if (link !== undefined && link.at.start < start + match[0].length) continue
    if (match[0].length > longest || !match[0].includes('/')) continue
    const wrapped = /^<([^<>]+)>[.:!?]*$/.exec(match[0])
    const written = wrapped?.[1] ?? match[0].replace(/[.:!?]+$/, '')
    paths.push(...pathAt(file, written, start + (wrapped ? 1 : 0)))
  }
  return paths
}

/** Chinese, Japanese and Korean put no blank between a path and the words around it. */
const word =
  /[^\s"'`()[\]|,;=\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u{3000}-\u{303f}\u{ff00}-\u{ffef}]+/gu

/** Longer than a path can be. */
const longest = 4096

/** `PATH`, `PATH:12`, `PATH:12-20`, `PATH#L12`, `PATH#L12-L20` (columns as GitHub writes them are passed over). */
const form =
  /^(?<path>[^\s:#]+?)(?::(?<first>\d{1,7})(?:-(?<last>\d{1,7}))?|#L(?<from>\d{1,7})(?:C\d+)?(?:-L?(?<to>\d{1,7})(?:C\d+)?)?)?$/

const placeholders = /[<>{}$*]/

/** Directories at the top of a tree, within which one called `kubespray` is no tree. */
const insideTree = /^(?:roles|playbooks|extra_playbooks|contrib|inventory|docs|tests|scripts)\//

/** `./`, or all up to a directory that is called as the repository or as an archive of a release is. */
function leadOf(written: string): string {
  if (insideTree.test(written)) return ''
  return /^(?:\.\/)+|^(?:[^\s:#]*?\/)?(?:kubespray(?:-v?\d+(?:\.\d+)*)?\/)+/.exec(written)?.[0] ?? ''
}

function pathAt(file: SourceFile, whole: string, from: number): readonly DocumentPath[] {
  const under = leadOf(whole)
  const [written, start] = [whole.slice(under.length), from + under.length]
  const groups = form.exec(written)?.groups
  const path = groups?.path
  if (path === undefined || !isPath(path, /\w/.test(under))) return []
  const first = groups?.first ?? groups?.from
  const last = groups?.last ?? groups?.to
  return [
    {
      path,
      under,
      ...(first === undefined ? {} : { first: Number(first) }),
      ...(last === undefined ? {} : { last: Number(last) }),
      placeholder: placeholders.test(path),
      at: { file, start, end: start + written.length },
    },
  ]
}

/**
 * Relative, of characters that paths of role code have, and of more than one part where nothing before it says what it is in;
 * `quay.io/…` and `10.0.0.0/8` are none.
 */
function isPath(path: string, isInTree: boolean): boolean {
  const parts = path.replace(/\/$/, '').split('/')
  const [top = ''] = parts
  return (
    (isInTree || path.includes('/')) &&
    parts.every(part => /^[\w.+@~<>{}$*-]+$/.test(part)) &&
    !/^[-~@+]/.test(top) &&
    (parts.length === 1 || !/^[^.]+\./.test(top) || placeholders.test(top)) &&
    parts.some(part => /[a-z]/i.test(part))
  )
}
