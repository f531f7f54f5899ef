import { isSet, optionsOf, textOf } from '../../effects/argument.js'
import type { FileChange, FstabEntriesRemoved, FstabEntryWritten } from '../../effects/effect.js'
import { ABSENT, type Entry, type Found, follow, textAt } from '../../evidence/host-files.js'
import { Unresolved } from '../../jinja/python.js'
import type { Matcher } from '../../jinja/regex.js'
import { matcherOf } from '../../jinja/regex.js'
import { textWithBlock } from '../edits/block-in-file.js'
import { fstabWith, fstabWithout, isPlainlyWritten } from '../edits/fstab.js'
import { iniFileWith } from '../edits/ini-file.js'
import { textWithLine, textWithoutLine } from '../edits/line-in-file.js'
import { textReplaced } from '../edits/replace.js'
import { type Applied, blurPath, editFile, failTask, fileEntry, moduleNameOf, putThere } from './applied.js'

/** A file is written, edited, linked or removed. */
export function changeFile(effect: FileChange, applied: Applied): void {
  const { state, sure, because } = applied
  if (effect.change === 'attributes' && effect.creates !== true) return
  for (const { value } of optionsOf(effect.path)) {
    const path = textOf(value)
    if (path === undefined) {
      blurPath(applied, value)
      continue
    }
    if (!path.startsWith('/')) continue
    if (effect.change === 'unpacked') {
      state.files.blur([`${path.replace(/\/+$/, '')}/`, null], because)
      continue
    }
    const entry = entryAfter(effect, path, applied)
    if (entry === undefined) continue
    if (effect.path.kind === 'one-of' || !sure) blurUnlessSame(path, entry, applied)
    else if (entry.kind === 'absent') state.files.remove(path)
    else if (effect.change === 'line') putThere(state, path, entry)
    else state.files.put(path, entry)
  }
}

/** What stands at a path once it has changed; undefined where it stays as it is. */
function entryAfter(effect: FileChange, path: string, applied: Applied): Found<Entry> | undefined {
  const { state, because } = applied
  switch (effect.change) {
    case 'removed':
      return ABSENT
    case 'directory': {
      const before = follow(state.files, path)
      const isThere = before.kind === 'known' && before.value.kind === 'directory'
      return isThere ? undefined : { kind: 'known', value: { kind: 'directory', path } }
    }
    case 'link': {
      const target = textOf(effect.target)
      return target === undefined
        ? { kind: 'unknown', because }
        : { kind: 'known', value: { kind: 'link', path, target } }
    }
    case 'written': {
      const text = effect.contentUnsure === undefined ? textOf(effect.content) : undefined
      if (text !== undefined) return fileEntry(path, text)
      const withheld = { kind: 'withheld', because: `its new text is not known: ${because}` } as const
      return { kind: 'known', value: { kind: 'file', path, content: () => withheld } }
    }
    case 'line':
      return editedLines(path, applied)
    case 'attributes': {
      const before = follow(state.files, path)
      return before.kind === 'absent' ? fileEntry(path, '') : before.kind === 'unknown' ? before : undefined
    }
    default:
      return undefined
  }
}

/** A change that only may happen makes a difference where it would leave something else than stands there. */
function blurUnlessSame(path: string, entry: Found<Entry>, { state: { files }, because }: Applied): void {
  if (entry.kind === 'absent' && files.entry(path).kind === 'absent') return
  const old = textAt(files, path)
  const text = entry.kind === 'known' && entry.value.kind === 'file' ? entry.value.content() : undefined
  if (text?.kind === 'text' && old.kind === 'known' && old.value.text === text.file.text) return
  files.put(path, { kind: 'unknown', because })
  if (entry.kind === 'absent') files.blur([`${path.replace(/\/+$/, '')}/`, null], because)
}

/** A file after lineinfile, blockinfile, replace or ini_file, where everything they are given is known. */
function editedLines(path: string, applied: Applied): Found<Entry> {
  const { state, occurrence, because } = applied
  const before = textAt(state.files, path)
  if (before.kind === 'unknown') return before
  const given = new Map<string, string>()
  for (const [name, value] of occurrence.invocation.arguments) {
    const text = textOf(value)
    if (text !== undefined) given.set(name, text)
    else if (DECIDING.has(name)) return { kind: 'unknown', because }
  }
  const text = before.kind === 'known' ? before.value.text : undefined
  const after = unlessOpen(() => textAfter(moduleNameOf(applied), text, given, applied))
  return after === undefined ? { kind: 'unknown', because } : fileEntry(path, after)
}

/** A pattern that cannot be searched here leaves open what comes of it. */
function unlessOpen<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof Unresolved) return undefined
    throw error
  }
}

/** Arguments that decide about the text. */
const DECIDING: ReadonlySet<string> = new Set([
  ...[
    'line',
    'value',
    'regexp',
    'regex',
    'search_string',
    'insertafter',
    'insertbefore',
    'firstmatch',
    'backrefs',
    'state',
  ],
  ...['block', 'content', 'marker', 'marker_begin', 'marker_end'],
  ...['replace', 'after', 'before'],
  ...['section', 'option', 'values', 'no_extra_spaces', 'exclusive', 'allow_no_value'],
])

/** Arguments of ini_file that are not gone into. */
const NOT_PLAIN = [
  'values',
  'exclusive',
  'allow_no_value',
  'section_has_values',
  'modify_inactive_option',
  'ignore_spaces',
]

function textAfter(
  module: string,
  text: string | undefined,
  given: ReadonlyMap<string, string>,
  { occurrence }: Applied,
): string | undefined {
  const flag = (name: string): boolean => isSet(occurrence.invocation.arguments.get(name), false).kind === 'true'
  const isAbsent = given.get('state') === 'absent'
  const pattern = (text: string | undefined): Matcher | undefined =>
    text === undefined ? undefined : matcherOf(text, {})
  const anchor = <Place extends 'EOF' | 'BOF'>(
    name: string,
    ...places: readonly Place[]
  ): Matcher | Place | undefined => {
    const value = given.get(name)
    return places.find(each => each === value) ?? pattern(value)
  }
  const insertAfter = anchor('insertafter', 'EOF', 'BOF')
  const insertBefore = anchor('insertbefore', 'BOF')
  if (module === 'lineinfile') {
    const line = given.get('line') ?? given.get('value')
    const regexp = pattern(given.get('regexp') ?? given.get('regex'))
    const searchString = given.get('search_string')
    const options = {
      ...(line === undefined ? {} : { line }),
      ...(regexp === undefined ? {} : { regexp }),
      ...(searchString === undefined ? {} : { searchString }),
    }
    if (isAbsent) return text === undefined ? undefined : textWithoutLine(text, options).text
    if (flag('backrefs') || line === undefined) return undefined
    return textWithLine(text, {
      ...options,
      line,
      ...(insertAfter === undefined ? {} : { insertAfter }),
      ...(insertBefore === undefined ? {} : { insertBefore }),
      firstMatch: flag('firstmatch'),
    }).text
  }
  if (module === 'replace') {
    const source = given.get('regexp')
    if (text === undefined || source === undefined || given.has('after') || given.has('before')) return undefined
    return textReplaced(text, matcherOf(source, { multiLine: true }), given.get('replace') ?? '').text
  }
  if (module === 'ini_file') {
    const [section, option, value] = ['section', 'option', 'value'].map(name => given.get(name))
    const isPlain = NOT_PLAIN.every(name => !occurrence.invocation.arguments.has(name))
    if (isAbsent || !isPlain || section === undefined || option === undefined || value === undefined) return undefined
    return iniFileWith(text, { section, option, value, noExtraSpaces: flag('no_extra_spaces') }).text
  }
  if (module !== 'blockinfile' || insertAfter === 'BOF') return undefined
  const [marker, markerBegin, markerEnd] = ['marker', 'marker_begin', 'marker_end'].map(name => given.get(name))
  return textWithBlock(text, {
    block: given.get('block') ?? given.get('content') ?? '',
    state: isAbsent ? 'absent' : 'present',
    ...(marker === undefined ? {} : { marker }),
    ...(markerBegin === undefined ? {} : { markerBegin }),
    ...(markerEnd === undefined ? {} : { markerEnd }),
    ...(insertAfter === undefined ? {} : { insertAfter }),
    ...(insertBefore === undefined ? {} : { insertBefore }),
  }).text
}

/** Lines leave an fstab; a file that is not there makes the module fail. */
export function removeFstabEntries(effect: FstabEntriesRemoved, applied: Applied): void {
  const name = textOf(effect.mountPoint)
  const src = textOf(effect.source)
  const isOpen = name === undefined || (effect.source !== undefined && src === undefined)
  const path = textOf(effect.file)
  if (path !== undefined && follow(applied.state.files, path).kind === 'absent') {
    failTask(applied, `the host has no ${path}, and the module needs it`)
    return
  }
  editFile(applied, effect.file, text =>
    isOpen || text === undefined ? undefined : fstabWithout(text, { name, ...(src === undefined ? {} : { src }) }).text,
  )
}

/** Arguments of the mount module that decide what it writes; of any other it is not known. */
const OF_ENTRY: ReadonlySet<string> = new Set(
  'path name src fstype opts dump passno fstab state backup boot'.split(' '),
)

/** A line comes into an fstab, or takes the place of one; a file that is not there is made. */
export function writeFstabEntry(effect: FstabEntryWritten, applied: Applied): void {
  const given = applied.occurrence.invocation.arguments
  const text = (name: string): string | undefined => textOf(given.get(name))
  const optional = ['opts', 'dump', 'passno'].filter(each => given.has(each))
  const [name, src, fstype] = [textOf(effect.mountPoint), textOf(effect.source), textOf(effect.fstype)]
  // The module puts the home directory and variables into paths.
  const isPath = (path: string | undefined): path is string => path !== undefined && !/^~|\$/.test(path)
  const isKnown =
    isPath(name) &&
    isPath(src) &&
    fstype !== undefined &&
    isSet(given.get('boot'), true).kind === 'true' &&
    optional.every(each => text(each) !== undefined) &&
    [...given.keys()].every(each => OF_ENTRY.has(each))
  editFile(applied, effect.file, before => {
    if (!isKnown || !isPlainlyWritten(before ?? '', name)) return undefined
    const entry = { name, src, fstype, ...Object.fromEntries(optional.map(each => [each, text(each)])) }
    return fstabWith(before ?? '', entry).text
  })
}
