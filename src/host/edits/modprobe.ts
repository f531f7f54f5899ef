import { type Found, follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { pythonWords, universalLines } from './lines.js'

/** A file a module writes, whole. */
export interface WrittenFile {
  readonly path: string
  readonly text: string
}

const LOAD = '/etc/modules-load.d'
const OPTIONS = '/etc/modprobe.d'

/**
 * What `community.general.modprobe` writes with `persistent`: `present` makes /etc/modules-load.d/NAME.conf unless some file of that
 * directory, whatever its name ends in, has the name as a line; options go to /etc/modprobe.d/NAME.conf. `absent` comments the
 * lines out. It looks in /etc alone. Source: community.general plugins/modules/modprobe.py (6.6.2 to 11).
 */
export function persistentFiles(
  files: HostFiles,
  module: { readonly name: string; readonly params?: string; readonly persistent: 'present' | 'absent' },
): Found<readonly WrittenFile[]> {
  const load = textsIn(files, LOAD)
  const options = textsIn(files, OPTIONS)
  if (load.kind === 'unknown') return load
  if (options.kind === 'unknown') return options
  if (load.kind === 'absent' || options.kind === 'absent') {
    const missing = load.kind === 'absent' ? LOAD : OPTIONS
    return { kind: 'unknown', because: `${missing} is not there, and the module fails without it` }
  }
  const { name } = module
  const isLine = (line: string): boolean => lineOfModule(name).test(line)
  const isLoaded = load.value.some(({ text }) => universalLines(text).some(isLine))
  const set = options.value.flatMap(({ text }) =>
    universalLines(text).flatMap(line => optionIn(name).exec(line)?.[1] ?? []),
  )
  if (module.persistent === 'absent') {
    const disabled = isLoaded ? commentedOut(load.value, isLine) : []
    return { kind: 'known', value: [...disabled, ...(set.length > 0 ? disabledOptions(options.value, name) : [])] }
  }
  const wanted = pythonWords(module.params ?? '')
  const isSet = new Set(wanted).size === new Set(set).size && wanted.every(each => set.includes(each))
  const written: WrittenFile[] = []
  if (!isLoaded) written.push({ path: `${LOAD}/${name}.conf`, text: `${name}\n` })
  if (!isSet) {
    const path = `${OPTIONS}/${name}.conf`
    const others = disabledOptions(options.value, name).filter(each => each.path !== path)
    written.push(...others, { path, text: `${wanted.map(each => `options ${name} ${each}`).join('\n')}\n` })
  }
  return { kind: 'known', value: written }
}

function textsIn(files: HostFiles, directory: string): Found<readonly WrittenFile[]> {
  const listed = files.list(directory)
  if (listed.kind !== 'known') return listed
  const texts: WrittenFile[] = []
  for (const name of listed.value) {
    const path = `${directory}/${name}`
    const entry = follow(files, path)
    if (entry.kind === 'unknown') return entry
    if (entry.kind === 'absent' || entry.value.kind !== 'file') continue
    const text = textAt(files, path)
    if (text.kind === 'unknown') return text
    if (text.kind === 'known') texts.push({ path, text: text.value.text })
  }
  return { kind: 'known', value: texts }
}

/** The module puts the name into a regular expression as it stands, so a dot in it matches anything. */
function pattern(name: string): string {
  return name.replace(/[\\^$*+?()[\]{}|]/g, '\\$&')
}

function lineOfModule(name: string): RegExp {
  return new RegExp(`^ *${pattern(name)} *(?:[#;].*)?\\n?$(?![\\s\\S])`)
}

function optionIn(name: string): RegExp {
  return new RegExp(`^options ${pattern(name)} (\\w+=\\S+) *(?:[#;].*)?\\n?$(?![\\s\\S])`)
}

/** The module joins the lines by a newline although they have theirs: there are empty lines between them afterwards. */
function commentedOut(texts: readonly WrittenFile[], isLine: (line: string) => boolean): readonly WrittenFile[] {
  return texts.flatMap(({ path, text }) => {
    const lines = universalLines(text)
    if (!lines.some(isLine)) return []
    return [{ path, text: lines.map(line => (isLine(line) ? `#${line}` : line)).join('\n') }]
  })
}

function disabledOptions(texts: readonly WrittenFile[], name: string): readonly WrittenFile[] {
  const line = new RegExp(`^options ${pattern(name)} \\w+=\\S+ *(?:[#;].*)?\\n?$(?![\\s\\S])`)
  return commentedOut(texts, each => line.test(each))
}
