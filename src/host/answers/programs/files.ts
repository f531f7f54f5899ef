import type { Entry, Found } from '../../../evidence/host-files.js'
import type { Moment } from '../../moment.js'
import { realPath, standsAt, textOfFile } from '../paths.js'
import { readWords } from './options.js'
import { type Call, complains, ends, notKnown, type Outcome, type Program, prints } from './outcome.js'

/** Where programs are looked for: by root itself, or by sudo. */
const SEARCHED = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** These are searched for root however it comes to be root. */
const ALWAYS = new Set(['/usr/sbin', '/usr/bin', '/sbin', '/bin'])

/**
 * Whether a program is there: at its path, or in a directory that is searched. Where not even a shell was captured nobody
 * looked for programs: it is unknown then, too.
 */
export function programAt(moment: Moment, name: string): Found<readonly string[]> {
  if (!['/bin/sh', '/usr/bin/sh'].some(path => standsAt(moment, path, true)?.kind === 'known')) {
    return { kind: 'unknown', because: 'which programs the host has was not captured' }
  }
  if (name.includes('/')) {
    const found = name.startsWith('/') ? runnable(moment, name) : undefined
    if (found === undefined) return { kind: 'unknown', because: `where ${name} is looked for is not known` }
    return found.kind === 'known' ? { kind: 'known', value: [name] } : found
  }
  const places: string[] = []
  for (const directory of SEARCHED) {
    const place = `${directory}/${name}`
    const found = runnable(moment, place)
    if (found === undefined) continue
    if (found.kind === 'unknown') return found
    if (found.kind === 'known') places.push(place)
  }
  return places.length === 0 ? { kind: 'absent' } : { kind: 'known', value: places }
}

/** A file that can be run; undefined where looking there is an error. */
function runnable(moment: Moment, path: string): Found<Entry> | undefined {
  const found = standsAt(moment, path, true)
  if (found?.kind !== 'known') return found
  const { kind, mode } = found.value
  if (kind !== 'file' || (mode !== undefined && (mode & 0o111) === 0)) return { kind: 'absent' }
  return found
}

/** `which NAME`, `command -v NAME`. */
const which: Program = ({ words, moment }) => {
  const [name, ...more] = words
  if (name === undefined || more.length > 0 || name.startsWith('-')) return undefined
  const found = programAt(moment, name)
  if (found.kind === 'unknown') return notKnown(found.because)
  if (found.kind === 'absent') return complains(1)
  // sudo of some distributions does not look into /usr/local.
  if (!name.includes('/') && !found.value.some(path => ALWAYS.has(path.slice(0, path.lastIndexOf('/'))))) {
    return notKnown(`whether ${found.value[0]} is found depends on the PATH of root`)
  }
  const [only, ...others] = found.value
  if (only !== undefined && others.length === 0) return prints(`${only}\n`)
  return prints({ because: `which of ${found.value.join(', ')} is found first depends on the PATH of root` })
}

const command: Program = call => {
  const [option, name, ...more] = call.words
  if (option !== '-v' || name === undefined || more.length > 0) return undefined
  const found = which({ ...call, words: [name] })
  // A shell ends with 1 or 127 where there is none, and has some programs itself.
  if (found?.kind !== 'ran' || found.status !== 0) {
    return found?.kind === 'open' || BUILT_IN.has(name)
      ? notKnown(`whether the shell has ${name} itself`)
      : ends({ oneOf: [1, 127], because: 'which status it is depends on the shell' })
  }
  return { ...found, stdout: BUILT_IN.has(name) ? { because: `the shell may have ${name} itself` } : found.stdout }
}

const BUILT_IN: ReadonlySet<string> = new Set(
  '. : [ alias bg break cd command continue echo eval exec exit export false fg getopts hash if for jobs kill printf pwd read return set shift test time times trap true type ulimit umask unset wait while'.split(
    ' ',
  ),
)

/** `test`: one question about a path or a text, and its negation. */
const test: Program = call => {
  const [first, ...rest] = call.words
  if (first === '!' && rest.length > 1) {
    const inner = test({ ...call, words: rest })
    if (inner?.kind !== 'ran') return inner
    return typeof inner.status === 'number' && inner.status < 2 ? ends(inner.status === 0 ? 1 : 0) : undefined
  }
  const truth = answered(call)
  if (truth === undefined || typeof truth === 'object') return truth
  return ends(truth ? 0 : 1)
}

function answered({ words, moment }: Call): boolean | Outcome | undefined {
  const [first = '', second = '', third = ''] = words
  if (words.length === 0) return false
  if (words.length === 1) return first !== ''
  if (words.length === 3) {
    if (second === '=' || second === '==') return first === third
    return second === '!=' ? first !== third : undefined
  }
  if (words.length !== 2) return undefined
  if (first === '-n') return second !== ''
  if (first === '-z') return second === ''
  if (!/^-[edfhLsx]$/.test(first) || !second.startsWith('/')) return undefined
  const isLink = first === '-h' || first === '-L'
  const found = standsAt(moment, second, !isLink)
  // A path through a file leads nowhere, too.
  if (found === undefined) return false
  if (found.kind === 'unknown') return notKnown(found.because)
  if (found.kind === 'absent') return false
  const { value } = found
  switch (first) {
    case '-e':
      return true
    case '-d':
      return value.kind === 'directory'
    case '-f':
      return value.kind === 'file'
    case '-s':
      return value.kind === 'file' && value.size !== undefined && !/^\/(?:proc|sys)\//.test(value.path)
        ? value.size > 0
        : undefined
    case '-x':
      if (value.kind === 'directory') return true
      return value.mode === undefined ? notKnown(`the mode of ${second} was not captured`) : (value.mode & 0o111) !== 0
    default:
      return value.kind === 'link'
  }
}

/** `[ … ]` */
const bracket: Program = call =>
  call.words.at(-1) === ']' ? test({ ...call, words: call.words.slice(0, -1) }) : undefined

/** `ls PATH…`: of a directory with more than one name the order is the locale's. */
const ls: Program = ({ words, moment }) => {
  const read = readWords(words, { flags: '1dAa' })
  if (read === undefined || read.operands.length !== 1) return undefined
  const [path = ''] = read.operands
  const found = path.startsWith('/') ? standsAt(moment, path, !read.flags.has('d')) : undefined
  if (found === undefined) return undefined
  if (found.kind === 'unknown') return notKnown(found.because)
  // What a link that leads nowhere is, is not followed.
  if (found.kind === 'absent') return standsAt(moment, path, false)?.kind === 'known' ? undefined : complains(2)
  if (found.value.kind !== 'directory' || read.flags.has('d')) return prints(`${path}\n`)
  const names = moment.files.list(path)
  if (names.kind === 'unknown') return notKnown(names.because)
  const visible = (names.kind === 'known' ? names.value : []).filter(
    name => read.flags.has('A') || !name.startsWith('.'),
  )
  if (read.flags.has('a') || visible.length > 1)
    return prints({ because: 'the order of the names depends on the locale' })
  return prints(visible.map(name => `${name}\n`).join(''))
}

/** `stat PATH`, `stat -c FORMAT PATH` for a few formats, and `stat -f -c %T` of the control groups. */
const stat: Program = ({ words, moment }) => {
  const read = readWords(words, {
    flags: 'Lf',
    values: 'c',
    long: { dereference: 'L', 'file-system': 'f' },
    longValues: { format: 'c' },
  })
  const [path = '', ...more] = read?.operands ?? []
  if (read === undefined || more.length > 0 || !path.startsWith('/')) return undefined
  const found = standsAt(moment, path, read.flags.has('L') || read.flags.has('f'))
  if (found === undefined) return undefined
  if (found.kind === 'unknown') return notKnown(found.because)
  if (found.kind === 'absent') return complains(1)
  const format = read.values.get('c')
  if (read.flags.has('f')) return format === '%T' ? fileSystem(moment, path) : undefined
  if (format === undefined) return prints({ because: 'what stat prints is not worked out' })
  const { value } = found
  const said: Readonly<Record<string, number | string | undefined>> = {
    '%n': path,
    '%a': value.mode?.toString(8),
    '%u': value.uid,
    '%g': value.gid,
    '%s': value.kind === 'file' && !/^\/(?:proc|sys)\//.test(value.path) ? value.size : undefined,
  }
  if (!Object.hasOwn(said, format)) return undefined
  return said[format] === undefined ? notKnown(`${format} of ${path} was not captured`) : prints(`${said[format]}\n`)
}

/** The type of the file system at `/sys/fs/cgroup`, which tells the two kinds of control groups apart. */
function fileSystem(moment: Moment, path: string): Outcome | undefined {
  const real = realPath(moment, path, true)
  if (real?.kind !== 'known' || real.value !== '/sys/fs/cgroup') return undefined
  const mounts = textOfFile(moment, '/proc/mounts')
  const type =
    mounts !== undefined && mounts !== 'directory' && mounts.kind === 'known'
      ? mounts.value
          .split('\n')
          .map(line => line.split(' '))
          .findLast(([, point]) => point === '/sys/fs/cgroup')?.[2]
      : undefined
  if (type === 'cgroup2') return prints('cgroup2fs\n')
  if (type === 'tmpfs') return prints('tmpfs\n')
  const controllers = standsAt(moment, '/sys/fs/cgroup/cgroup.controllers', false)
  if (controllers?.kind === 'known') return prints('cgroup2fs\n')
  return notKnown('how control groups are mounted was not captured')
}

/** `readlink -f PATH`, and `readlink PATH` of a link. */
const readlink: Program = ({ words, moment }) => {
  const read = readWords(words, { flags: 'f', long: { canonicalize: 'f' } })
  const [path = '', ...more] = read?.operands ?? []
  if (read === undefined || more.length > 0 || !path.startsWith('/')) return undefined
  if (!read.flags.has('f')) {
    const found = standsAt(moment, path, false)
    if (found === undefined) return undefined
    if (found.kind === 'unknown') return notKnown(found.because)
    return found.kind === 'known' && found.value.kind === 'link' ? prints(`${found.value.target}\n`) : ends(1)
  }
  const real = realPath(moment, path, true)
  if (real === undefined) return undefined
  if (real.kind === 'unknown') return notKnown(real.because)
  return real.kind === 'absent' ? ends(1) : prints(`${real.value}\n`)
}

/** Programs that ask for files. */
export const filePrograms: Readonly<Record<string, Program>> = {
  '[': bracket,
  command,
  ls,
  readlink,
  stat,
  test,
  which,
}
