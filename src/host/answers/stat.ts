import { createHash } from 'node:crypto'
import type { Task } from '../../ansible/statement.js'
import type { Entry } from '../../evidence/host-files.js'
import { type Key, known, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import type { Moment } from '../moment.js'
import { givenIn } from './arguments.js'
import { contentOf, realPath, standsAt } from './paths.js'
import { captured, open, plain } from './said.js'

/** `stat`: what `lstat` says of a path, or (`follow`) of what it leads to. */
export function statOf(task: Task, invocation: Invocation, moment: Moment): Answered | undefined {
  const given = givenIn(invocation)
  const path = given.path('path', 'dest', 'name')
  const follow = given.flag('follow', false)
  if (path === undefined || follow === undefined) return undefined
  const found = standsAt(moment, path, follow)
  if (found === undefined) return undefined
  if (found.kind === 'unknown') return fields(openStat(found.because, task))
  if (found.kind === 'absent') return fields(known(new Map<Key, Value>([['exists', known(false)]])))
  const { value: entry } = found
  const stat = new Map<Key, Value>([['exists', known(true)], ['path', known(path)], ...attributesOf(entry, task)])
  for (const [name, value] of accessOf(moment, entry, path, task)) stat.set(name, value)
  if (entry.kind === 'link') {
    const source = realPath(moment, path, true, true)
    const lnkSource = source?.kind === 'known' ? known(source.value) : undefined
    stat.set('lnk_target', known(entry.target))
    stat.set('lnk_source', captured(lnkSource, `where ${path} leads to`, task))
  }
  const wanted = (name: string, aliases: readonly string[], otherwise: boolean): boolean | undefined => {
    const alias = [name, ...aliases].find(each => !given.lacks(each))
    return given.flag(alias ?? name, otherwise)
  }
  if (wanted('get_mime', ['mime', 'mime_type', 'mime-type'], true) !== false) {
    for (const name of ['mimetype', 'charset'])
      stat.set(name, open(`the ${name} of ${path} is found out by the host`, task))
  }
  if (wanted('get_attributes', ['attr', 'attributes'], true) !== false) {
    for (const name of ['version', 'attributes', 'attr_flags']) {
      stat.set(name, open(`the ${name} of ${path} is found out by the host`, task))
    }
  }
  const checksum = given.flag('get_checksum', true)
  if (entry.kind === 'file' && checksum !== false) {
    const algorithm = given.text('checksum_algorithm', 'checksum', 'checksum_algo') ?? 'sha1'
    const content = contentOf(entry)
    const sum =
      checksum === true && content.kind === 'known' && digests.has(algorithm)
        ? known(createHash(algorithm).update(content.value).digest('hex'))
        : undefined
    stat.set('checksum', captured(sum, `the content of ${path}`, task))
  }
  return fields(known(stat))
}

const digests: ReadonlySet<string> = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'])

function fields(stat: Value): Answered {
  return { kind: 'fields', fields: new Map([['stat', stat]]) }
}

/** Of a path nobody knows: `exists` is there in any case, everything else where it exists. */
function openStat(because: string, task: Task): Value {
  const exists = open(because, task)
  return exists.kind === 'unknown' ? { ...exists, fields: new Map([['exists', exists]]) } : exists
}

/** What `lstat` says, as `stat` and `find` show it; `find` leaves out some. */
export function attributesOf(entry: Entry, task: Task): readonly (readonly [string, Value])[] {
  const { kind, path, mode, uid, gid } = entry
  const of = (what: string): string => `the ${what} of ${path}`
  const says = (what: string): Value => open(`${of(what)} was not captured`, task)
  const bit = (mask: number): Value =>
    captured(mode === undefined ? undefined : known((mode & mask) !== 0), of('mode'), task)
  const special = (what: string): Value => (kind === 'other' ? says(what) : known(false))
  // The length of a link is that of its target; only of links of the kernel it is not.
  const size =
    entry.size ?? (kind === 'link' && !/^\/(?:proc|sys)\//.test(path) ? Buffer.byteLength(entry.target) : undefined)
  const octal = mode === undefined ? undefined : known((mode & 0o7777).toString(8).padStart(4, '0'))
  return [
    ['mode', captured(octal, of('mode'), task)],
    ['isdir', known(kind === 'directory')],
    ['isreg', known(kind === 'file')],
    ['islnk', known(kind === 'link')],
    ['ischr', special('kind')],
    ['isblk', special('kind')],
    ['isfifo', special('kind')],
    ['issock', special('kind')],
    ['uid', captured(plain(uid), of('owner'), task)],
    ['gid', captured(plain(gid), of('group'), task)],
    ['size', captured(plain(size), of('size'), task)],
    ...['inode', 'dev', 'nlink', 'atime', 'mtime', 'ctime'].map(name => [name, says(name)] as const),
    ['wusr', bit(0o200)],
    ['rusr', bit(0o400)],
    ['xusr', bit(0o100)],
    ['wgrp', bit(0o020)],
    ['rgrp', bit(0o040)],
    ['xgrp', bit(0o010)],
    ['woth', bit(0o002)],
    ['roth', bit(0o004)],
    ['xoth', bit(0o001)],
    ['isuid', bit(0o4000)],
    ['isgid', bit(0o2000)],
    ['pw_name', uid === 0 ? known('root') : says('name of the owner')],
    ['gr_name', gid === 0 ? known('root') : says('name of the group')],
  ]
}

/** What `stat` adds to it, and what root may do there: what the file system lets it. */
function accessOf(moment: Moment, entry: Entry, path: string, task: Task): readonly (readonly [string, Value])[] {
  const rest = ['blocks', 'block_size', 'device_type'].map(
    name => [name, open(`the ${name} of ${path} was not captured`, task)] as const,
  )
  const says = (what: string): Value => open(`whether root may ${what} ${path} was not captured`, task)
  // Of a link it is what it leads to that is asked.
  if (entry.kind === 'link' || entry.kind === 'other') {
    return [...rest, ['readable', says('read')], ['writeable', says('write')], ['executable', says('run')]]
  }
  const options = mountOptions(moment, path)
  const isMadeUp = /^\/(?:proc|sys)(?:\/|$)/.test(path)
  // A file may be immutable.
  const writeable = options?.has('ro')
    ? known(false)
    : options !== undefined && entry.kind === 'directory'
      ? known(true)
      : undefined
  const { mode, kind } = entry
  const runnable = mode === undefined ? undefined : (mode & 0o111) !== 0 && !options?.has('noexec')
  const isRun = runnable === true && options === undefined ? undefined : runnable
  return [
    ...rest,
    ['readable', isMadeUp ? says('read') : known(true)],
    ['writeable', isMadeUp ? says('write') : (writeable ?? says('write'))],
    ['executable', kind === 'directory' ? known(true) : (plain(isRun) ?? says('run'))],
  ]
}

/** The options of the file system a path is on; undefined where that was not captured. */
function mountOptions(moment: Moment, path: string): ReadonlySet<string> | undefined {
  const real = realPath(moment, path, true)
  const mounts = ['/proc/mounts', '/proc/self/mounts', '/proc/1/mounts']
    .map(file => moment.files.entry(file))
    .find(found => found.kind === 'known' && found.value.kind === 'file')
  if (real?.kind !== 'known' || mounts?.kind !== 'known') return undefined
  const content = contentOf(mounts.value)
  if (content.kind !== 'known') return undefined
  let best: { readonly point: string; readonly options: string } | undefined
  for (const line of Buffer.from(content.value).toString().split('\n')) {
    const [, point = '', , options = ''] = line.split(' ').map(unescaped)
    const isOver = point === '/' || real.value === point || real.value.startsWith(`${point}/`)
    // What is mounted later on the same place hides what was there.
    if (point !== '' && isOver && point.length >= (best?.point.length ?? 0)) best = { point, options }
  }
  return best === undefined ? undefined : new Set(best.options.split(','))
}

/** A field of a mount table: blanks in it are octal. */
function unescaped(field: string): string {
  return field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
