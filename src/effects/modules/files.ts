import { known, unknown, type Value } from '../../jinja/value.js'
import { causesOf, isOneOfTexts, isSet, isText, mapText, optionsOf, piecesOf, textOf } from '../argument.js'
import type { Effect, FileChange } from '../effect.js'
import { fileChange, type ModuleEffects, required } from './call.js'

/** `dest` that ends in `/` is a directory: the file lands in it under the source's name. */
function landing(dest: Value, source: Value | undefined): Value {
  const pieces = piecesOf(dest)
  const name = textOf(source)?.split('/').at(-1)
  if (pieces === undefined || name === undefined || name === '') return dest
  const last = pieces.at(-1)
  if (typeof last !== 'string' || !last.endsWith('/')) return dest
  return dest.kind === 'unknown' ? { ...dest, text: [...pieces, name] } : mapText(dest, text => `${text}${name}`)
}

/** ansible.builtin.copy: `content`, or `src` from the role's files (from the host itself with `remote_src`). */
export const copy: ModuleEffects = call => {
  const source = call.argument('src')
  const given = call.argument('content')
  const remote = isSet(call.argument('remote_src'), false).kind === 'true'
  const content = given ?? (source === undefined || remote ? undefined : call.roleText('file', source))
  return [fileChange(call, landing(required(call, 'dest'), source), 'written', content)]
}

/** ansible.builtin.template: the rendered text as far as it is known without the host. */
export const template: ModuleEffects = call => {
  const source = required(call, 'src')
  const path = landing(
    required(call, 'dest'),
    mapText(source, text => text.replace(/\.j2$/, '')),
  )
  return [fileChange(call, path, 'written', call.roleText('template', source))]
}

/** ansible.builtin.file, by `state` (default: what is there stays, its attributes change). */
export const file: ModuleEffects = call => {
  const path = required(call, 'path', 'dest', 'name')
  const state = call.argument('state') ?? known(call.argument('src') === undefined ? 'file' : 'link')
  return optionsOf(state).flatMap(({ value, because }): readonly Effect[] => {
    const changes: Readonly<Record<string, FileChange['change']>> = {
      absent: 'removed',
      directory: 'directory',
      link: 'link',
      hard: 'link',
      touch: 'attributes',
      file: 'attributes',
    }
    const change = changes[textOf(value) ?? '']
    const effect = fileChange(call, path, change ?? 'written', undefined, call.argument('src'))
    const condition = because[0]?.says
    return [condition === undefined ? effect : { ...effect, onlyIf: condition }]
  })
}

/** A change that also takes lines out, which ones is not worked out. */
const takingOut = (change: FileChange): FileChange => ({ ...change, takesOut: true })

/** ansible.builtin.lineinfile: with `state: absent` lines leave the file, else `line` stands in it, perhaps for another. */
export const lineinfile: ModuleEffects = call => {
  const path = required(call, 'path', 'dest', 'destfile', 'name')
  if (isText(call.argument('state'), 'absent').kind === 'true')
    return [takingOut(fileChange(call, path, 'line', known('')))]
  const change = fileChange(call, path, 'line', call.argument('line', 'value'))
  return [call.argument('regexp', 'regex', 'search_string') === undefined ? change : takingOut(change)]
}

/** ansible.builtin.blockinfile: the block stands in the file, or is taken out. */
export const blockinfile: ModuleEffects = call => {
  const path = required(call, 'path', 'dest', 'destfile', 'name')
  if (isText(call.argument('state'), 'absent').kind === 'true')
    return [takingOut(fileChange(call, path, 'line', known('')))]
  return [fileChange(call, path, 'line', call.argument('block', 'content') ?? known(''))]
}

/** ansible.builtin.replace: what `replace` puts in (default: the match leaves). */
export const replace: ModuleEffects = call => [
  takingOut(
    fileChange(call, required(call, 'path', 'dest', 'destfile', 'name'), 'line', call.argument('replace') ?? known('')),
  ),
]

/** A file written with a content that is not looked at (downloads, archives, assembled pieces, keys). */
export const writes =
  (...names: readonly string[]): ModuleEffects =>
  call => [fileChange(call, required(call, ...names), 'written')]

/** ansible.builtin.unarchive: which files come out is not looked at, only where. */
export const unarchive: ModuleEffects = call => [fileChange(call, required(call, 'dest'), 'unpacked')]

/** ansible.posix.synchronize: `mode: pull` brings files to the controller, the default `push` to the host. */
export const synchronize: ModuleEffects = call =>
  isText(call.argument('mode'), 'pull').kind === 'true' ? [] : [fileChange(call, required(call, 'dest'), 'unpacked')]

/** community.general.ini_file: the line `option = value` stands in the file for any other of that option, or is taken out. */
export const iniFile: ModuleEffects = call => {
  const path = required(call, 'path', 'dest')
  if (isOneOfTexts(call.argument('state'), ['absent']).kind === 'true')
    return [takingOut(fileChange(call, path, 'line', known('')))]
  const option = call.argument('option')
  if (option === undefined) return [fileChange(call, path, 'line', known(''))]
  const line = joinText([option, known(' = '), call.argument('value') ?? known('')])
  return [takingOut(fileChange(call, path, 'line', line))]
}

/** Texts put together; what is not known of one is a piece that is not known. */
function joinText(parts: readonly Value[]): Value {
  const pieces = parts.flatMap(part => piecesOf(part) ?? [null])
  if (!pieces.includes(null)) return known(pieces.join(''))
  return unknown(parts.flatMap(causesOf), pieces)
}
