import { type Edited, pythonStrip, pythonWords, universalLines } from './lines.js'

/** The entry `ansible.posix.mount` is asked about. */
export interface MountEntry {
  /** The mount point, `path:` (formerly `name:`). */
  readonly name: string
  readonly src?: string
}

/**
 * `ansible.posix.mount` with `state: absent`: lines of exactly six fields whose second is the name leave the file, whatever their type;
 * with a source, lines of swap with mount point `none` have to have that source too. A file without such a line is not written,
 * so its carriage returns stay. Source: ansible.posix plugins/modules/mount.py unset_mount (1.5.4 to 2.2.0 are the same).
 */
export function fstabWithout(text: string, entry: MountEntry): Edited {
  const name = escapeField(entry.name)
  const lines = universalLines(text)
  const kept = lines.filter(line => !isRemoved(line, name, entry.src))
  return kept.length === lines.length ? { text, changed: false } : { text: kept.join(''), changed: true }
}

function isRemoved(line: string, name: string, src: string | undefined): boolean {
  const bare = pythonStrip(line)
  if (bare === '' || bare.startsWith('#')) return false
  const fields = pythonWords(line)
  if (fields.length !== 6 || fields[1] !== name) return false
  return !(src !== undefined && fields[1] === 'none' && fields[2] === 'swap' && fields[0] !== src)
}

/** The entry `state: present` or `mounted` writes. */
export interface NewMountEntry {
  readonly name: string
  readonly src: string
  readonly fstype: string
  /** Defaults of the module: `defaults`, `0`, `0`. */
  readonly opts?: string
  readonly dump?: string
  readonly passno?: string
}

const FIELDS = ['src', 'name', 'fstype', 'opts', 'dump', 'passno'] as const
type Fields = Record<(typeof FIELDS)[number], string | number>

/**
 * `ansible.posix.mount` with `state: present` (and `mounted`): every line of four to six fields for the mount point gets the new fields,
 * the first that is wanted is appended where there is none; a last line without its newline gets one.
 * Source: ansible.posix plugins/modules/mount.py _set_mount_save_old.
 */
export function fstabWith(text: string, entry: NewMountEntry): Edited {
  const wanted: Fields = {
    src: escapeField(entry.src),
    name: escapeField(entry.name),
    fstype: escapeField(entry.fstype),
    opts: escapeField(entry.opts ?? 'defaults'),
    dump: escapeField(entry.dump ?? '0'),
    passno: escapeField(entry.passno ?? '0'),
  }
  let exists = false
  let changed = false
  const written = universalLines(text).map(raw => {
    const line = raw.endsWith('\n') ? raw : `${raw}\n`
    const bare = pythonStrip(line)
    if (bare === '' || bare.startsWith('#')) return line
    const words = pythonWords(line)
    if (words.length < 4 || words.length > 6) return line
    const [src = '', name = '', fstype = '', opts = '', dump = 0, passno = 0] = words
    const fields: Fields = { src, name, fstype, opts, dump, passno }
    if (name !== wanted.name || (name === 'none' && fstype === 'swap' && src !== entry.src)) return line
    exists = true
    for (const each of FIELDS) {
      // The number 0 of a missing field is not the text 0 of the wanted one, so such a line is written anew.
      if (each === 'name' || fields[each] === wanted[each]) continue
      fields[each] = wanted[each]
      changed = true
    }
    return changed ? lineOf(fields) : line
  })
  if (!exists) written.push(lineOf(wanted))
  return exists && !changed ? { text, changed: false } : { text: written.join(''), changed: true }
}

/**
 * Whether every version of the module writes the same here: they differ in lines of the mount point that lack fields, and in swap,
 * whose mount point says nothing.
 */
export function isPlainlyWritten(text: string, name: string): boolean {
  const point = escapeField(name)
  return point !== 'none' && universalLines(text).every(line => isOther(line, point))
}

function isOther(line: string, point: string): boolean {
  const words = pythonWords(line)
  return pythonStrip(line).startsWith('#') || words[1] !== point || words.length === 6
}

function lineOf(fields: Fields): string {
  return `${FIELDS.map(each => fields[each]).join(' ')}\n`
}

function escapeField(text: string): string {
  return text.replaceAll('\\', '\\134').replaceAll(' ', '\\040').replaceAll('&', '\\046')
}
