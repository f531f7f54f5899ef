import type { Task } from '../../ansible/statement.js'
import type { Entry } from '../../evidence/host-files.js'
import { globMatcher } from '../../inventory/patterns.js'
import { compileRegex } from '../../inventory/regex.js'
import { type Key, known, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import { ownEntry } from '../../source/own-entry.js'
import type { Moment } from '../moment.js'
import { givenIn } from './arguments.js'
import { standsAt } from './paths.js'
import { open } from './said.js'
import { attributesOf } from './stat.js'

/** More entries than this are not gone through. */
const MOST_ENTRIES = 20_000

/** These ask for times, sizes or contents. */
const asking = ['age', 'size', 'contains', 'depth', 'limit', 'mode', 'exact_mode', 'encoding']

/** What a search goes by. */
interface Search {
  readonly fileType: string
  readonly recurse: boolean
  readonly hidden: boolean
  readonly matches: (name: string) => boolean
}

/** `find`: what stands below some directories, by name and kind. */
export function findOf(task: Task, invocation: Invocation, moment: Moment): Answered | undefined {
  const given = givenIn(invocation)
  const paths = given.texts('paths', 'name', 'path')
  const search = searchOf(invocation)
  if (!Array.isArray(paths) || search === undefined || !given.lacks(...asking)) return undefined
  if (given.flag('follow', false) !== false || given.flag('get_checksum', false) !== false) return undefined
  if (paths.some((path: string) => !path.startsWith('/') || path.includes('$'))) return undefined
  const found: Found[] = []
  const skipped: string[] = []
  let examined = 0
  let isOrdered = true
  for (const path of paths) {
    const top = standsAt(moment, path, true)
    if (top === undefined || top.kind === 'unknown') return top === undefined ? undefined : openFind(top.because, task)
    if (top.kind === 'absent' || top.value.kind !== 'directory') {
      skipped.push(path)
      continue
    }
    const below = gatherBelow(moment, path, search, { left: MOST_ENTRIES })
    if (below === undefined) return undefined
    if (typeof below === 'string') return openFind(below, task)
    examined += below.examined
    isOrdered &&= below.isOrdered
    found.push(...below.found)
  }
  const files = known(
    found.map(({ path, entry }) => known(new Map<Key, Value>([['path', known(path)], ...attributesOf(entry, task)]))),
  )
  const fields = new Map<string, Value>([
    ['matched', known(BigInt(found.length))],
    ['examined', known(BigInt(examined))],
    ['files', isOrdered ? files : open('the order of names in a directory is the file system’s own', task)],
  ])
  if (skipped.length === 0) fields.set('msg', known('All paths examined')).set('skipped_paths', known(new Map()))
  return { kind: 'fields', fields }
}

interface Found {
  readonly path: string
  readonly entry: Entry
}

function searchOf(invocation: Invocation): Search | undefined {
  const given = givenIn(invocation)
  const fileType = given.text('file_type')
  const recurse = given.flag('recurse', false)
  const hidden = given.flag('hidden', false)
  const isRegex = given.flag('use_regex', false)
  const patterns = given.texts('patterns', 'pattern')
  const excludes = given.texts('excludes', 'exclude')
  if (fileType === undefined || recurse === undefined || hidden === undefined || isRegex === undefined) return undefined
  if (patterns === undefined || excludes === undefined) return undefined
  const wanted = matchersOf(patterns ?? [], isRegex)
  const unwanted = matchersOf(excludes ?? [], isRegex)
  if (wanted === undefined || unwanted === undefined) return undefined
  return {
    fileType: fileType ?? 'file',
    recurse,
    hidden,
    matches: name => (wanted.length === 0 || wanted.some(each => each(name))) && !unwanted.some(each => each(name)),
  }
}

function matchersOf(patterns: readonly string[], isRegex: boolean): readonly ((name: string) => boolean)[] | undefined {
  if (!isRegex) return patterns.map(globMatcher)
  const compiled = patterns.map(pattern => compileRegex(`^(?:${pattern})`, 'u'))
  if (compiled.some(each => typeof each === 'string')) return undefined
  return compiled.map(each => (name: string) => typeof each !== 'string' && each.test(name))
}

/** Goes through a directory as `os.walk` does: what stands in it, then what stands below its directories. */
function gatherBelow(
  moment: Moment,
  path: string,
  search: Search,
  budget: { left: number },
): { readonly found: readonly Found[]; readonly examined: number; readonly isOrdered: boolean } | string | undefined {
  const names = moment.files.list(path)
  if (names.kind === 'unknown') return names.because
  const files: Found[] = []
  const directories: Found[] = []
  for (const name of names.kind === 'known' ? names.value : []) {
    if (budget.left-- <= 0) return undefined
    const place = `${path.replace(/\/+$/, '')}/${name}`
    const entry = standsAt(moment, place, false)
    if (entry === undefined) return undefined
    if (entry.kind === 'unknown') return entry.because
    if (entry.kind === 'absent') continue
    // A link to a directory is one for `os.walk`, though it is not gone into.
    const target = entry.value.kind === 'link' ? standsAt(moment, place, true) : entry
    if (target?.kind === 'unknown') return target.because
    const isDirectory = target?.kind === 'known' && target.value.kind === 'directory'
    const found = { path: place, entry: entry.value }
    if (isDirectory) directories.push(found)
    else files.push(found)
  }
  const own = (all: readonly Found[]): readonly Found[] => all.filter(each => isWanted(each, search))
  const found = [...own(files), ...own(directories)]
  let isOrdered = own(files).length < 2 && own(directories).length < 2
  let examined = files.length + directories.length
  if (search.recurse) {
    let filled = 0
    for (const { path: place, entry } of directories) {
      if (entry.kind === 'link') continue
      const inside = gatherBelow(moment, place, search, budget)
      if (inside === undefined || typeof inside === 'string') return inside
      found.push(...inside.found)
      examined += inside.examined
      isOrdered &&= inside.isOrdered
      if (inside.found.length > 0) filled++
    }
    // Which directory comes first is not known either.
    isOrdered &&= filled < 2
  }
  return { found, examined, isOrdered }
}

const kinds: Readonly<Record<string, string>> = { file: 'file', directory: 'directory', link: 'link' }

function isWanted({ path, entry }: Found, { fileType, hidden, matches }: Search): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name.startsWith('.') && !hidden) return false
  return (fileType === 'any' || ownEntry(kinds, fileType) === entry.kind) && matches(name)
}

function openFind(because: string, task: Task): Answered {
  const value = open(because, task)
  return {
    kind: 'fields',
    fields: new Map([
      ['matched', value],
      ['files', value],
    ]),
  }
}
