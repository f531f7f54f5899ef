import type { SourceFile } from '../source/text.js'

/**
 * What is known of something on a host: its value, that it is not there, or neither. `because` is a clause for people
 * (`/etc/fstab was not captured`); nothing turns unknown into absent.
 */
export type Found<T> =
  | { readonly kind: 'known'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown'; readonly because: string }

export const ABSENT: { readonly kind: 'absent' } = { kind: 'absent' }

/** What `lstat` says of a path, as far as it was captured. */
interface Attributes {
  /** Absolute; directories on the way that are links stand resolved. */
  readonly path: string
  /** Permission bits, as in 0o644. */
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  /** Bytes. */
  readonly size?: number
  /** Seconds since 1970. */
  readonly modified?: number
}

/** `binary`: no UTF-8 text, or one with a NUL. `withheld`: it is there, its content was not captured, for this reason. */
export type Content =
  | { readonly kind: 'text'; readonly file: SourceFile }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  | { readonly kind: 'withheld'; readonly because: string }

export interface FileEntry extends Attributes {
  readonly kind: 'file'
  /** Read when first asked for. `file.path` of a text is the absolute path on the host. */
  readonly content: () => Content
}

export interface DirectoryEntry extends Attributes {
  readonly kind: 'directory'
}

export interface LinkEntry extends Attributes {
  readonly kind: 'link'
  /** As written, relative or absolute; `socket:[123]` where it names no path. */
  readonly target: string
}

/** A device, a socket, a pipe. */
export interface OtherEntry extends Attributes {
  readonly kind: 'other'
}

export type Entry = FileEntry | DirectoryEntry | LinkEntry | OtherEntry

/** The files of a host: captured, or as a run would leave them. Paths are absolute; `..` and links never lead out of it. */
export interface HostFiles {
  /** Links of the directories on the way are followed, the last part is not (`lstat`). */
  readonly entry: (path: string) => Found<Entry>
  /** The names in a directory, sorted by bytes; links to it are followed. Unknown where only parts of it were captured. */
  readonly list: (path: string) => Found<readonly string[]>
}

/** How many links Linux follows on one way. */
export const MOST_LINKS = 40

/** What a part of a path is: gone through, a link to somewhere else, or where the way ends with what that means. */
export type Step<T> =
  | { readonly kind: 'on' }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'end'; readonly end: T }

/**
 * Goes along a path as Linux does, part by part: `..` leads up from where a link has led. `look` says what stands at a place, whose
 * directories are no links; the last part is looked at only where it is followed, too. `circle`: there are more links than Linux follows.
 */
export function walkPath<T>(
  path: string,
  followsLast: boolean,
  look: (at: string, isLast: boolean) => Step<T>,
):
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'end'; readonly end: T }
  | { readonly kind: 'circle' } {
  let rest = partsOf(path)
  let at = ''
  let links = 0
  while (rest.length > 0) {
    const [part = '', ...behind] = rest
    rest = behind
    if (part === '..') {
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
      continue
    }
    const next = `${at}/${part}`
    if (rest.length === 0 && !followsLast) return { kind: 'path', path: next }
    const step = look(next, rest.length === 0)
    if (step.kind === 'end') return step
    if (step.kind === 'on') at = next
    else {
      if (++links > MOST_LINKS) return { kind: 'circle' }
      if (step.target.startsWith('/')) at = ''
      rest = [...partsOf(step.target), ...rest]
    }
  }
  return { kind: 'path', path: at === '' ? '/' : at }
}

function partsOf(path: string): readonly string[] {
  return path.split('/').filter(part => part !== '' && part !== '.')
}

/** What a path leads to, all links followed (`stat`): absent also where one leads nowhere or in a circle. */
export function follow(files: HostFiles, path: string): Found<Entry> {
  let at = path
  for (let links = 0; links <= MOST_LINKS; links++) {
    // Every Linux has it, also where nobody captured /dev: what masks a file is a link to it.
    if (at === '/dev/null') return { kind: 'known', value: { kind: 'other', path: at } }
    const found = files.entry(at)
    if (found.kind !== 'known' || found.value.kind !== 'link') return found
    at = resolveLink(found.value)
  }
  return ABSENT
}

/** Where a link points to, absolute and without `.` and `..`. */
export function resolveLink({ path, target }: LinkEntry): string {
  const parts = (target.startsWith('/') ? target : `${path}/../${target}`).split('/')
  const kept: string[] = []
  for (const part of parts) {
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(part)
  }
  return `/${kept.join('/')}`
}

/** The text at a path, links followed; unknown where the content is binary or was withheld, or where no file stands there. */
export function textAt(files: HostFiles, path: string): Found<SourceFile> {
  const found = follow(files, path)
  if (found.kind !== 'known') return found
  if (found.value.kind !== 'file') return { kind: 'unknown', because: `${path} is no file` }
  const content = found.value.content()
  if (content.kind === 'text') return { kind: 'known', value: content.file }
  const because = content.kind === 'binary' ? `${path} is no text` : `${path}: ${content.because}`
  return { kind: 'unknown', because }
}
