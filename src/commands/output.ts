import { randomUUID } from 'node:crypto'
import { closeSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { coloured, plain, type Style } from '../reports/style.js'
import { UsageError } from '../source/diagnostic.js'
import { visibleOutput } from '../source/visible.js'
import type { Terminal } from './command.js'
import type { OutputOptions, ReportFileOptions } from './options.js'

/** Puts a report, whole or in pieces, where the user wants it. An existing file is replaced whole or stays as it was. */
export function writeReport(
  text: string | Iterable<string>,
  options: Pick<OutputOptions, 'format' | 'output'>,
  terminal: Terminal,
): void {
  const shown = typeof text === 'string' ? shownAs(options.format, text) : text
  if (options.output !== undefined) replaceFile(options.output, shown)
  else if (typeof shown === 'string') terminal.out(shown)
  else for (const piece of shown) terminal.out(piece)
}

/** Reports for people hold values of inventories and hosts: no terminal obeys what stands in them. */
function shownAs(format: string, text: string): string {
  return format === 'text' ? visibleOutput(text.replaceAll('\r\n', '\n')) : text
}

/**
 * Puts a report where the user wants it, and the same in other formats into the files of `--report`. All of it is made before the
 * first is written. `text`: what `--output` gets, where that is not what `render` makes of the options. Throws UsageError where two
 * go to the same file.
 */
export function writeReports<Options extends OutputOptions & ReportFileOptions>(
  render: (options: Options) => string,
  options: Options,
  terminal: Terminal,
  text?: string,
): void {
  const files = options.report.map(({ file }) => file)
  const places = [...files, ...(options.output === undefined ? [] : [options.output])].map(file => resolve(file))
  const twice = places.find((place, index) => places.indexOf(place) !== index)
  if (twice !== undefined) throw new UsageError(`${twice}: two reports would go to this file, name another`)
  const main = text ?? render(options)
  const others = options.report.map(({ format, file }) => shownAs(format, render({ ...options, format, output: file })))
  for (const [index, file] of files.entries()) replaceFile(file, others[index] ?? '')
  writeReport(main, options, terminal)
}

/**
 * Writes a file beside its place first, then moves it there in one step, keeping its mode. A link is followed; what is no
 * regular file (a pipe, a device) is written to as it is.
 */
export function replaceFile(path: string, text: string | Uint8Array | Iterable<string>): void {
  if (path === '') throw new UsageError('--output needs the name of a file')
  let draft: string | undefined
  try {
    const before = statSync(path, { throwIfNoEntry: false })
    if (before !== undefined && !before.isFile() && !before.isDirectory()) {
      writeWhole(path, text, 'w')
      return
    }
    const target = before === undefined ? path : realpathSync(path)
    draft = `${target}.${randomUUID()}.tmp`
    writeWhole(draft, text, 'wx', before?.mode)
    renameSync(draft, target)
  } catch (error) {
    if (draft !== undefined) removeDraft(draft)
    throw new UsageError(`${path}: cannot be written (${reason(error)})`)
  }
}

function writeWhole(path: string, text: string | Uint8Array | Iterable<string>, flag: 'w' | 'wx', mode = 0o666): void {
  const file = openSync(path, flag, mode)
  try {
    if (typeof text === 'string' || text instanceof Uint8Array) writeFileSync(file, text)
    else for (const piece of text) writeFileSync(file, piece)
  } finally {
    closeSync(file)
  }
}

function removeDraft(draft: string): void {
  try {
    rmSync(draft, { force: true })
  } catch {
    // Where it could not be written, there is none.
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such directory',
    EACCES: 'permission denied',
    EISDIR: 'it is a directory',
    ENOTDIR: 'a part of the path is no directory',
    ENOSPC: 'no space left on the device',
    EROFS: 'read-only file system',
  }
  return known[String(code)] ?? String(code ?? error)
}

/** Colours as `--color` asks for them; `auto` is a terminal, and not into a file. */
export function styleFor(options: Pick<OutputOptions, 'color' | 'output'>, terminal: Terminal): Style {
  if (options.color === 'auto') return terminal.colours && options.output === undefined ? coloured : plain
  return options.color === 'always' ? coloured : plain
}
