import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, type Stats, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Report, UsageError } from '../source/diagnostic.js'
import { compareBytes } from '../source/store.js'
import { wholeFile } from '../source/text.js'
import { directoryStore } from './directory-store.js'
import type { CommandResult, Evidence } from './evidence.js'
import { ABSENT, type Found } from './host-files.js'
import { type HostStore, hostFilesOver, type StoredEntry } from './host-store.js'
import { type Manifest, manifestName, readManifest } from './manifest.js'
import { parentOf } from './scope.js'
import { storeOf } from './stored-tree.js'
import { type Archive, indexTar } from './tar.js'

/** One host of several; it is read when it is opened, and `open` throws UsageError where that cannot be done. */
export interface EvidenceHost {
  readonly host: string
  readonly origin: string
  readonly open: () => Evidence
}

const archiveName = /\.(?:tar|tar\.gz|tgz)$/
/** What nobody needs more of of one host, and what a bomb does not stop at. */
const maxArchive = 1024 * 1024 * 1024

/**
 * What was captured of one host: a tar (also packed with gzip) or a directory, with evidence.json or, without, as the host's
 * whole root. What could not be read when it was taken is reported: it is unknown. Throws UsageError where nothing is there,
 * the archive is cut off or damaged, or it holds no files of a host.
 */
export function openEvidence(path: string, report: Report): Evidence {
  const found = statOf(path)
  if (!found.isDirectory()) return openArchive(path, report)
  if (isHost(path)) return openHostDirectory(path, report)
  const only = onlyDirectory(path)
  if (only !== undefined) return openHostDirectory(only, report)
  throw new UsageError(
    `${path}: it holds neither ${manifestName} nor etc/ or proc/, so it is no evidence of one host; name what \`whofixes collect\` printed there, or one of the hosts in it`,
  )
}

/**
 * The hosts that a path has evidence of: one, or those of a directory of archives and directories named after them, by name.
 * What lies in such a directory and is no evidence is reported and left out. Throws UsageError where there is none, or one
 * host has two.
 */
export function evidenceHosts(path: string, report: Report): readonly EvidenceHost[] {
  if (!statOf(path).isDirectory() || isHost(path)) {
    const evidence = openEvidence(path, report)
    return [{ host: evidence.host, origin: path, open: () => evidence }]
  }
  const hosts = new Map<string, EvidenceHost>()
  for (const name of readdirSync(path).sort(compareBytes)) {
    if (name.startsWith('.')) continue
    const origin = join(path, name)
    const form = formOf(origin)
    if (form !== 'directory' && form !== 'archive') {
      const message = `${form.refused}: left out`
      report({ code: 'file-unreadable', severity: 'warning', message, at: wholeFile({ path: origin, text: '' }) })
      continue
    }
    const host = form === 'directory' ? name : name.replace(archiveName, '')
    const other = hosts.get(host)
    if (other !== undefined) {
      throw new UsageError(
        `${path}: ${basename(other.origin)} and ${name} are both evidence of ${host}; leave one of them`,
      )
    }
    hosts.set(host, { host, origin, open: () => ({ ...openEvidence(origin, report), host }) })
  }
  if (hosts.size > 0) return [...hosts.values()]
  throw new UsageError(
    `${path}: no evidence of a host in it; expected ${manifestName}, etc/ or proc/, or a .tar or directory for each host`,
  )
}

/** In what form evidence of a host stands here, or why none does: a link that leads nowhere, what may not be read. */
function formOf(path: string): 'directory' | 'archive' | { readonly refused: string } {
  try {
    const found = statOf(path)
    if (found.isDirectory() && (isHost(path) || onlyDirectory(path) !== undefined)) return 'directory'
    // A pipe would be waited for.
    if (found.isFile() && archiveName.test(path)) return 'archive'
  } catch (error) {
    if (error instanceof UsageError) return { refused: error.message }
    throw error
  }
  const refused = `${path}: neither a .tar, .tar.gz or .tgz file nor a directory with ${manifestName}, etc/ or proc/`
  return { refused }
}

function statOf(path: string): Stats {
  try {
    return statSync(path)
  } catch (error) {
    throw new UsageError(`${path}: ${reasonOf(error)}; expected a tar or a directory that \`whofixes collect\` fills`)
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'no such file or directory',
    EACCES: 'permission denied',
    ERR_FS_FILE_TOO_LARGE: 'it is too large to be read',
  }
  return known[code] ?? code
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    throw new UsageError(`${path}: ${reasonOf(error)}; expected the directory of a host's evidence`)
  }
}

const isHostTop = (name: string): boolean => [manifestName, 'etc', 'proc'].includes(name)

function isHost(path: string): boolean {
  return namesIn(path).some(isHostTop)
}

/** Where somebody packed the directory and not what it holds: the one directory in it, if that is a host. */
function onlyDirectory(path: string): string | undefined {
  const [name, ...others] = namesIn(path).filter(each => !each.startsWith('.'))
  if (name === undefined || others.length > 0) return undefined
  const only = join(path, name)
  return statSync(only, { throwIfNoEntry: false })?.isDirectory() === true && isHost(only) ? only : undefined
}

function openHostDirectory(path: string, report: Report): Evidence {
  const all = directoryStore(path, [])
  const manifest = namesIn(path).includes(manifestName) ? manifestOf(join(path, manifestName), all) : undefined
  const store = directoryStore(path, manifest === undefined ? [] : [manifestName, 'commands'])
  tellUnreadable(path, manifest, report)
  return evidenceOf(path, store, manifest, name => besideIn(all, name))
}

/** What stands beside evidence.json; no link is followed to it, as it may lead out of the evidence. */
function besideIn(all: HostStore, name: string): Found<StoredEntry> {
  for (let above = parentOf(name); above !== undefined && above !== '/'; above = parentOf(above)) {
    const found = all.entry(above)
    if (found.kind !== 'known' || found.value.kind !== 'directory') return ABSENT
  }
  return all.entry(name)
}

function manifestOf(path: string, all: HostStore): Manifest {
  const found = all.entry(`/${manifestName}`)
  const refused = found.kind === 'unknown' ? found.because : 'it is no file'
  const content = found.kind === 'known' && found.value.kind === 'file' ? found.value.bytes() : { refused }
  if ('bytes' in content) return readManifest(path, Buffer.from(content.bytes).toString())
  throw new UsageError(`${path}: ${content.refused}; expected the list of what was captured`)
}

function openArchive(path: string, report: Report): Evidence {
  const entries = topOf(path, indexTar(path, archiveAt(path)))
  const written = entries.get(`/${manifestName}`)
  if (written === undefined) return evidenceOf(path, storeOf(entries), undefined, () => ({ kind: 'absent' }))
  const content = written.kind === 'file' ? written.bytes() : { refused: 'it is no file' }
  if ('refused' in content)
    throw new UsageError(`${path}: ${manifestName}: ${content.refused}; collect the evidence again`)
  const manifest = readManifest(`${path}: ${manifestName}`, Buffer.from(content.bytes).toString())
  const host = new Map([...entries].filter(([each]) => !/^\/(?:evidence\.json$|commands(?:\/|$))/.test(each)))
  tellUnreadable(path, manifest, report)
  return evidenceOf(path, storeOf(host), manifest, name => {
    const found = entries.get(name)
    return found === undefined ? { kind: 'absent' } : { kind: 'known', value: found }
  })
}

/** The members from where the host's root begins: the top, or the one directory at the top. */
function topOf(name: string, entries: ReadonlyMap<string, StoredEntry>): ReadonlyMap<string, StoredEntry> {
  const partsOf = (path: string): readonly string[] => path.split('/').slice(1)
  const tops = new Set([...entries.keys()].map(path => partsOf(path)[0] ?? ''))
  if ([...tops].some(isHostTop)) return entries
  const [only = ''] = tops
  if (tops.size === 1 && [...entries.keys()].some(path => isHostTop(partsOf(path)[1] ?? ''))) {
    const inside = [...entries].filter(([path]) => path !== `/${only}`)
    return new Map(inside.map(([path, entry]) => [path.slice(only.length + 1), entry] as const))
  }
  throw new UsageError(
    `${name}: it holds neither ${manifestName} nor etc/ or proc/, so it is no evidence of a host; expected what \`whofixes collect\` prints`,
  )
}

/**
 * The bytes of an archive: a plain one is read again for each of its files, one that is packed is unpacked again where nobody
 * holds it any more. A pipe can be read only once and stays.
 */
function archiveAt(path: string): Archive {
  const isFile = statOf(path).isFile()
  const first = isFile ? readInto(path) : bytesAt(path)
  const bytes = unpacked(path, first)
  if (isFile && bytes === first) {
    const own = archivesRead
    return {
      all: () => first,
      // Most archives are done with before the next is opened.
      part: (start, size) =>
        archivesRead === own ? Buffer.from(first.subarray(start, start + size)) : partOf(path, start, size),
    }
  }
  if (!isFile) return { all: () => bytes, part: (start, size) => Buffer.from(bytes.subarray(start, start + size)) }
  let held = new WeakRef(bytes)
  return {
    all: () => bytesAgain(),
    // A copy: the archive as a whole must not be held by one of its files.
    part: (start, size) => Buffer.from(bytesAgain().subarray(start, start + size)),
  }

  function bytesAgain(): Buffer {
    const known = held.deref()
    if (known !== undefined) return known
    const again = unpacked(path, bytesAt(path))
    held = new WeakRef(again)
    return again
  }
}

/** One piece of memory for every archive in turn: a thousand of them would wait for the garbage collector. */
let scratch = Buffer.alloc(0)

/** As long as it stays the same, `scratch` does. */
let archivesRead = 0

function readInto(path: string): Buffer {
  return withFile(path, file => {
    const { size } = fstatSync(file)
    if (size > maxArchive)
      throw new UsageError(`${path}: larger than ${maxArchive >> 20} MiB; expected the evidence of one host`)
    archivesRead++
    if (scratch.length < size) scratch = Buffer.allocUnsafe(size)
    return scratch.subarray(0, readWhole(file, scratch.subarray(0, size), 0))
  })
}

function partOf(path: string, start: number, size: number): Buffer {
  return withFile(path, file => {
    const part = Buffer.allocUnsafe(size)
    if (readWhole(file, part, start) === size) return part
    throw new UsageError(`${path}: it was changed while it was read; start again`)
  })
}

/** How many bytes there were. */
function readWhole(file: number, into: Buffer, start: number): number {
  let length = 0
  while (length < into.length) {
    const got = readSync(file, into, length, into.length - length, start + length)
    if (got === 0) break
    length += got
  }
  return length
}

function withFile<T>(path: string, use: (file: number) => T): T {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    return use(file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path}: ${reasonOf(error)}; expected a tar that \`whofixes collect\` fills`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function bytesAt(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UsageError(`${path}: ${reasonOf(error)}; expected a tar that \`whofixes collect\` fills`)
  }
}

const otherForms: readonly { readonly starts: string; readonly form: string }[] = [
  { starts: '\x28\xb5\x2f\xfd', form: 'zstd' },
  { starts: '\xfd7zXZ', form: 'xz' },
  { starts: 'BZh', form: 'bzip2' },
  { starts: 'PK\x03\x04', form: 'zip' },
]

function isPacked(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 2) === '\x1f\x8b'
}

/** What gzip packed, or the bytes themselves. */
function unpacked(path: string, bytes: Buffer): Buffer {
  const start = bytes.toString('latin1', 0, 8)
  const other = otherForms.find(({ starts }) => start.startsWith(starts))
  if (other !== undefined)
    throw new UsageError(`${path}: packed with ${other.form}; expected a tar, plain or packed with gzip`)
  if (!isPacked(bytes)) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: maxArchive })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const what =
      code === 'ERR_BUFFER_TOO_LARGE'
        ? `it holds more than ${maxArchive >> 20} MiB`
        : 'what gzip packed breaks off or is damaged'
    throw new UsageError(`${path}: ${what}; collect the evidence again`)
  }
}

/** Descriptors of processes are not counted: who holds which is told where it matters. */
function tellUnreadable(path: string, manifest: Manifest | undefined, report: Report): void {
  const [first, ...others] = manifest?.unreadable.filter(each => !each.startsWith('/proc/')) ?? []
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const message = `${path}: ${first}${more} could not be read when the evidence was taken, so it is unknown; run collect.sh as root`
  report({ code: 'file-unreadable', severity: 'warning', message, at: wholeFile({ path, text: '' }) })
}

function evidenceOf(
  path: string,
  store: HostStore,
  manifest: Manifest | undefined,
  beside: (name: string) => Found<StoredEntry>,
): Evidence {
  const files = hostFilesOver(store, manifest)
  const commands = new Map(manifest?.commands.map(command => [JSON.stringify(command.words), command]))
  return {
    host: manifest?.host ?? nameOf(path),
    origin: path,
    files,
    command: words => {
      const run = commands.get(JSON.stringify(words))
      if (run === undefined) return { kind: 'unknown', because: `${words.join(' ')} was not run on the host` }
      return printed(run.status, words, beside(run.stdout))
    },
  }
}

function printed(status: number, words: readonly string[], found: Found<StoredEntry>): Found<CommandResult> {
  const content = found.kind === 'known' && found.value.kind === 'file' ? found.value.bytes() : undefined
  if (content === undefined || 'refused' in content || !isUtf8(content.bytes)) {
    return { kind: 'unknown', because: `what ${words.join(' ')} printed is not in the evidence, or no text` }
  }
  return { kind: 'known', value: { status, stdout: Buffer.from(content.bytes).toString() } }
}

/** The name of a host by the name of its file or directory. */
function nameOf(path: string): string {
  return basename(resolve(path)).replace(archiveName, '') || 'localhost'
}
