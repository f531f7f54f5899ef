import { ABSENT, type Entry, type Found, walkPath } from '../../evidence/host-files.js'
import { sysctlKeyOf } from '../boot/sysctl-d.js'
import type { Moment } from '../moment.js'

/**
 * What stands at a path at this moment: files, and of what the kernel shows as files the part that the moment itself knows.
 * `followed`: links are. Undefined where looking there is an error of another kind than that nothing is there (a path through
 * a file, links in a circle).
 */
export function standsAt(moment: Moment, path: string, followed: boolean): Found<Entry> | undefined {
  const real = realPath(moment, path, followed || path.endsWith('/'))
  if (real === undefined || real.kind !== 'known') return real
  return entryOf(moment, real.value)
}

/**
 * A path without links in it; `followed`: the last part is followed, too. Absent where a directory on the way is
 * (`isLenient`: what stands behind it is put together all the same, as Python's `realpath` does); undefined
 * where the way goes through something that is none, or in a circle.
 */
export function realPath(
  moment: Moment,
  path: string,
  followed: boolean,
  isLenient = false,
): Found<string> | undefined {
  // There are no links there, and what there is the moment knows itself.
  if (/^\/(?:proc\/sys|sys\/module)\//.test(path) && !path.split('/').includes('..')) {
    const plain = walkPath<never>(path, false, () => ({ kind: 'on' }))
    return plain.kind === 'path' ? { kind: 'known', value: plain.path } : undefined
  }
  const walked = walkPath<Found<never> | undefined>(path, followed, (at, isLast) => {
    if (at === '/dev/null' && isLast) return { kind: 'on' }
    const found = entryOf(moment, at)
    if (found.kind === 'absent' && isLenient) return { kind: 'on' }
    if (found.kind !== 'known') return isLast ? { kind: 'on' } : { kind: 'end', end: found }
    if (found.value.kind === 'link') return { kind: 'link', target: found.value.target }
    return isLast || found.value.kind === 'directory' ? { kind: 'on' } : { kind: 'end', end: undefined }
  })
  if (walked.kind === 'end') return walked.end
  return walked.kind === 'path' ? { kind: 'known', value: walked.path } : undefined
}

/** Every host has these: where they are not among its files, those were put together by hand. */
const EVERYWHERE: ReadonlySet<string> = new Set(
  '/bin /dev /etc /etc/os-release /proc /proc/sys /run /sbin /sys /tmp /usr /usr/bin /usr/sbin /var /var/lib'.split(
    ' ',
  ),
)

/** What stands at a path whose directories are no links; of files of the kernel what the moment knows. */
function entryOf(moment: Moment, path: string): Found<Entry> {
  const found = moment.files.entry(path)
  const isLeftOut =
    found.kind === 'absent' &&
    (EVERYWHERE.has(path) || (path === '/etc/resolv.conf' && moment.files.entry('/etc/os-release').kind === 'absent'))
  const stored: Found<Entry> = isLeftOut ? { kind: 'unknown', because: `${path} was not captured` } : found
  const key = /^\/proc\/sys\/(.+)$/.exec(path)?.[1]
  if (key !== undefined && !(stored.kind === 'known' && stored.value.kind !== 'file')) {
    return settingFile(moment, path, key, stored)
  }
  const module = /^\/sys\/module\/([^/]+)$/.exec(path)?.[1]
  if (module !== undefined) {
    const loaded = moment.module(module)
    if (loaded.kind === 'known')
      return loaded.value === 'loaded' ? { kind: 'known', value: { kind: 'directory', path } } : stored
    return loaded.kind === 'absent' ? ABSENT : { kind: 'unknown', because: loaded.because }
  }
  if (path === '/proc/swaps') return swapsFile(moment, stored)
  if (path === '/proc/modules') {
    return { kind: 'known', value: { kind: 'file', path, content: () => changing(path) } }
  }
  return stored
}

function settingFile(moment: Moment, path: string, key: string, stored: Found<Entry>): Found<Entry> {
  const value = moment.sysctl(sysctlKeyOf(key))
  if (value.kind === 'absent') return ABSENT
  if (value.kind === 'unknown') return { kind: 'unknown', because: value.because }
  const text = `${value.value}\n`
  const attributes = stored.kind === 'known' ? stored.value : { path }
  return {
    kind: 'known',
    value: { ...attributes, kind: 'file', path, content: () => ({ kind: 'text', file: { path, text } }) },
  }
}

/** Without swap it is a line of headings; with it, its numbers change all the time. */
function swapsFile({ swap }: Moment, stored: Found<Entry>): Found<Entry> {
  const path = '/proc/swaps'
  if (stored.kind !== 'known' || stored.value.kind !== 'file') return stored
  const { value } = stored
  return {
    kind: 'known',
    value: {
      ...value,
      content: () => {
        const content = value.content()
        if (swap.kind !== 'known') return changing(path)
        if (content.kind !== 'text' || swap.value.length > 0) return changing(path)
        const [header = ''] = content.file.text.split('\n')
        return { kind: 'text', file: { path, text: `${header}\n` } }
      },
    },
  }
}

function changing(path: string): { readonly kind: 'withheld'; readonly because: string } {
  return { kind: 'withheld', because: `what ${path} says changes while the host runs` }
}

/** The content at a path, links followed, as bytes; absent where nothing stands there. */
export function bytesAt(moment: Moment, path: string): Found<Uint8Array> | 'directory' | undefined {
  const found = standsAt(moment, path, true)
  if (found === undefined || found.kind !== 'known') return found
  return found.value.kind === 'directory' ? 'directory' : contentOf(found.value)
}

/** The content of a file; unknown where it was not captured, or is another length than the file. */
export function contentOf(entry: Entry): Found<Uint8Array> {
  const { path } = entry
  if (entry.kind !== 'file') return { kind: 'unknown', because: `${path} is no file` }
  const content = entry.content()
  if (content.kind === 'withheld') return { kind: 'unknown', because: `${path}: ${content.because}` }
  const bytes = content.kind === 'text' ? Buffer.from(content.file.text) : content.bytes
  // Files of the kernel have no length.
  const isMadeUp = /^\/(?:proc|sys)\//.test(path)
  if (!isMadeUp && entry.size !== undefined && entry.size !== bytes.length) {
    return { kind: 'unknown', because: `${path} was captured with another length than it has` }
  }
  return { kind: 'known', value: bytes }
}

/** The text at a path; `directory` where one stands there, undefined where looking there is an error of another kind. */
export function textOfFile(moment: Moment, path: string): Found<string> | 'directory' | undefined {
  const found = bytesAt(moment, path)
  if (found === undefined || found === 'directory' || found.kind !== 'known') return found
  const text = Buffer.from(found.value.buffer, found.value.byteOffset, found.value.byteLength).toString()
  const isText = !text.includes('\uFFFD') && !text.includes('\0')
  return isText ? { kind: 'known', value: text } : { kind: 'unknown', because: `${path} is no text` }
}
