import { type Content, type Entry, type Found, follow, type HostFiles } from '../../evidence/host-files.js'
import { compareBytes } from '../../source/store.js'
import type { SourceFile } from '../../source/text.js'

/** A configuration file that is read, in its turn. */
export interface ConfFile {
  /** The path it is read by; where that is a link, the text stands elsewhere. */
  readonly path: string
  /** Absent: what stands there masks weaker files of its name and says nothing (a link to /dev/null or to nothing, a directory). */
  readonly text: Found<SourceFile>
  /** Files of the same name in weaker directories, which are therefore not read. */
  readonly hides: readonly string[]
}

/** The configuration files of one kind, in the order in which they are read. */
export interface ConfFiles {
  readonly read: readonly ConfFile[]
  /** Why there may be more, or others: a directory that was not captured. */
  readonly unknown: readonly string[]
}

/** Which files of a directory are read. */
export interface ConfFilesRule {
  /** systemd passes over names that begin with a dot, procps reads them. */
  readonly dotFiles?: boolean
  /** systemd takes whatever is called x.conf, kmod only what is no directory. */
  readonly directoriesMask?: boolean
}

const SYSTEMD: ConfFilesRule = { dotFiles: false, directoriesMask: true }

/**
 * The files of `sysctl.d`, `modules-load.d`, `modprobe.d` …: one file a name, from the strongest directory that has it, sorted
 * by the bytes of the names alone. Only names that end in `.conf`.
 * Source: systemd src/basic/conf-files.c, man sysctl.d(5); kmod libkmod-config.c sorts and masks the same way.
 */
export function confFiles(files: HostFiles, name: string, rule: ConfFilesRule = SYSTEMD): ConfFiles {
  const byName = new Map<string, { path: string; hides: string[] }>()
  const unknown: string[] = []
  for (const directory of confDirectories(files, name)) {
    const listed = files.list(directory)
    if (listed.kind === 'unknown') unknown.push(`${listed.because}`)
    if (listed.kind !== 'known') continue
    for (const each of listed.value) {
      if (!each.endsWith('.conf') || (each.startsWith('.') && rule.dotFiles !== true)) continue
      const path = `${directory}/${each}`
      if (rule.directoriesMask !== true && isDirectory(files, path)) continue
      const stronger = byName.get(each)
      if (stronger === undefined) byName.set(each, { path, hides: [] })
      else stronger.hides.push(path)
    }
  }
  const read = [...byName]
    .sort(([left], [right]) => compareBytes(left, right))
    .map(([, { path, hides }]): ConfFile => ({ path, hides, text: confText(files, path) }))
  return { read, unknown }
}

/**
 * The directories of one kind, strongest first. `/lib` counts only where it is a directory of its own; whether it is has not
 * to be captured, because whoever captures `/usr/lib` of such a host has captured `/lib` too.
 */
export function confDirectories(files: HostFiles, name: string): readonly string[] {
  const lib = files.entry('/lib')
  const isOwn = lib.kind === 'known' && lib.value.kind === 'directory'
  const roots = ['/etc', '/run', '/usr/local/lib', '/usr/lib', ...(isOwn ? ['/lib'] : [])]
  return roots.map(root => `${root}/${name}`)
}

/**
 * The text of a configuration file. Bytes that are no UTF-8 are still lines to the programs that read them, so they are taken
 * one by one; a NUL says that it is no text at all.
 */
export function confText(files: HostFiles, path: string): Found<SourceFile> {
  const found = follow(files, path)
  if (found.kind !== 'known') return found
  return textOfEntry(found.value, path)
}

function textOfEntry(entry: Entry, path: string): Found<SourceFile> {
  if (entry.kind !== 'file') return { kind: 'absent' }
  const content: Content = entry.content()
  if (content.kind === 'text') return { kind: 'known', value: content.file }
  if (content.kind === 'withheld') return { kind: 'unknown', because: `${path} could not be read: ${content.because}` }
  if (content.bytes.includes(0)) {
    return { kind: 'unknown', because: `${path} is no text (it holds NUL bytes), so what it sets is not known` }
  }
  return { kind: 'known', value: { path: entry.path, text: Buffer.from(content.bytes).toString('latin1') } }
}

function isDirectory(files: HostFiles, path: string): boolean {
  const found = follow(files, path)
  return found.kind === 'known' && found.value.kind === 'directory'
}

/** A line of a configuration file with its number (from 1), without the characters that end it. */
export interface ConfLine {
  readonly text: string
  readonly line: number
}

/**
 * The lines as systemd reads them: a carriage return or a NUL ends one too. The number counts what an editor counts, so that a
 * reader finds the line. Source: systemd src/basic/fileio.c read_line_full.
 */
export function* linesOfSystemd(text: string): Generator<ConfLine> {
  for (const { text: whole, line } of linesOf(text)) {
    for (const part of whole.split(/[\r\0]/)) yield { text: part, line }
  }
}

/** The lines of a text, each without its newline. */
export function* linesOf(text: string): Generator<ConfLine> {
  let start = 0
  let line = 1
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    yield { text: text.slice(start, end), line }
    start = end + 1
    line += 1
  }
  if (start < text.length) yield { text: text.slice(start), line }
}

/** Without white space around it, as C programs strip it: blank, tab, newline, carriage return. */
export function strip(text: string): string {
  return text.replace(/^[ \t\n\r]+/, '').replace(/[ \t\n\r]+$/, '')
}

const withoutRunOf = new WeakMap<HostFiles, HostFiles>()

/** The files as the next boot finds them: /run is empty, whatever stands there now. */
export function withoutRun(files: HostFiles): HostFiles {
  const known = withoutRunOf.get(files)
  if (known !== undefined) return known
  const isRun = (path: string): boolean => path === '/run' || path.startsWith('/run/')
  const next: HostFiles = {
    entry: path => (path !== '/run' && isRun(path) ? { kind: 'absent' } : files.entry(path)),
    list: path => (isRun(path) ? { kind: 'known', value: [] } : files.list(path)),
  }
  withoutRunOf.set(files, next)
  return next
}
