import { known, unknown, type Value } from '../../jinja/value.js'
import { causesOf, isOneOfTexts, isSet, isText, mapText, optionsOf, pathIn, piecesOf, textOf } from '../argument.js'
import type { Effect, FileChange } from '../effect.js'
import { isDirectoryPath } from '../places.js'
import { fileChange, type ModuleCall, type ModuleEffects, required } from './call.js'

/** `dest` that ends in `/`, or is a directory of every host: the file lands in it under the source's name. */
function landing(given: Value, source: Value | undefined): Value {
  const dest = isDirectoryPath(given) ? mapText(given, text => `${text.replace(/\/+$/, '')}/`) : given
  const pieces = piecesOf(dest)
  const name = textOf(source)?.split('/').at(-1)
  if (pieces === undefined || name === undefined || name === '') return given
  const last = pieces.at(-1)
  if (typeof last !== 'string' || !last.endsWith('/')) return dest
  return dest.kind === 'unknown' ? { ...dest, text: [...pieces, name] } : mapText(dest, text => `${text}${name}`)
}

/** ansible.builtin.copy: `content`, or `src` from the role's files (from the host itself with `remote_src`). */
export const copy: ModuleEffects = call => {
  const source = call.argument('src')
  const given = call.argument('content')
  const remote = isSet(call.argument('remote_src'), false).kind === 'true'
  if (given === undefined && source !== undefined) {
    const tree = copiedTree(call, source, remote)
    if (tree !== undefined) return tree
  }
  const content = given ?? (source === undefined || remote ? undefined : call.roleText('file', source))
  return [fileChange(call, landing(required(call, 'dest'), source), 'written', content)]
}

/**
 * A directory of the role's files: each file of it, in `dest` under the directory's name unless that ends in `/`. One that
 * is not listed is only known to come in; undefined for a file.
 */
function copiedTree(call: ModuleCall, source: Value, remote: boolean): readonly Effect[] | undefined {
  const dest = required(call, 'dest')
  const text = textOf(source)
  const files = remote ? undefined : call.roleFiles(source)
  if (files === undefined || text === undefined)
    return text?.endsWith('/') ? [fileChange(call, dest, 'unpacked')] : undefined
  const name = text.endsWith('/') ? '' : `${text.split('/').at(-1)}/`
  return files.map(file => fileChange(call, pathIn(dest, known(name + file.path), call.at), 'written', file.content))
}

/** ansible.builtin.get_url, uri: what is at the address, in `dest`; uri only looks where it is not given. */
export const download: ModuleEffects = call => {
  const dest = call.argument('dest')
  if (dest === undefined)
    return call.task.task.action.endsWith('get_url') ? [fileChange(call, required(call, 'dest'), 'written')] : []
  return [fileChange(call, landing(dest, call.argument('url')), 'written')]
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
    const touches = textOf(value) === 'touch' ? { creates: true as const } : {}
    const effect = { ...fileChange(call, path, change ?? 'written', undefined, call.argument('src')), ...touches }
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
export const synchronize: ModuleEffects = call => {
  if (isText(call.argument('mode'), 'pull').kind === 'true') return []
  const dest = required(call, 'dest')
  const source = call.argument('src')
  const brought = fileChange(call, dest, 'unpacked')
  // What has no `/` at its end may be a file.
  return textOf(source)?.endsWith('/') ? [brought] : [fileChange(call, landing(dest, source), 'written'), brought]
}

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
