import type { Evidence } from '../../evidence/evidence.js'
import { type Found, follow, type HostFiles, textAt } from '../../evidence/host-files.js'
import { ownEntry } from '../../source/own-entry.js'
import { isMissing } from './file-content.js'
import { posixWords } from './shell-words.js'

/** What the library `distro` says of a host, as Ansible asks it (versions 1.6 to 1.9 of it, as ansible-core 2.16 to 2.18 bring). */
export interface Distro {
  /** In lower case: `debian`, `rhel`. */
  readonly id: Found<string>
  readonly version: Found<string>
  /** Absent: it has none. Empty where os-release says so. */
  readonly codename: Found<string>
}

/** Reads what tells the distribution: os-release, then `lsb_release -a`, then a file like /etc/redhat-release. */
export function readDistro(evidence: Evidence): Distro {
  const { files } = evidence
  const release = osRelease(files)
  if (release.kind === 'unknown') return { id: release, version: release, codename: release }
  const attributes = release.kind === 'known' ? release.value : new Map<string, string>()
  const named = attributes.get('id') ?? ''
  const lsb = lsbRelease(evidence)
  const file = releaseFile(files)
  const id: Found<string> =
    named !== ''
      ? { kind: 'known', value: normalized(named, OS_IDS) }
      : map2(lsb, file, (asked, read) => {
          const distributor = asked.get('distributor_id') ?? ''
          return distributor !== '' ? normalized(distributor, LSB_IDS) : normalized(read?.id ?? '', FILE_IDS)
        })
  return { id, version: versionOf(files, id, attributes, lsb, file), codename: codenameOf(id, attributes, lsb, file) }
}

const OS_IDS: Readonly<Record<string, string>> = { ol: 'oracle', 'opensuse-leap': 'opensuse' }
const LSB_IDS: Readonly<Record<string, string>> = {
  enterpriseenterpriseas: 'oracle',
  enterpriseenterpriseserver: 'oracle',
  redhatenterpriseworkstation: 'rhel',
  redhatenterpriseserver: 'rhel',
  redhatenterprisecomputenode: 'rhel',
}
const FILE_IDS: Readonly<Record<string, string>> = { redhat: 'rhel' }

function normalized(id: string, table: Readonly<Record<string, string>>): string {
  const plain = id.toLowerCase().replaceAll(' ', '_')
  return ownEntry(table, plain) ?? plain
}

function map2<A, B, C>(left: Found<A>, right: Found<B>, combine: (left: A, right: B) => C): Found<C> {
  if (left.kind !== 'known') return left.kind === 'absent' ? { kind: 'unknown', because: 'it is not there' } : left
  if (right.kind !== 'known') return right.kind === 'absent' ? { kind: 'unknown', because: 'it is not there' } : right
  return { kind: 'known', value: combine(left.value, right.value) }
}

/** The assignments of /etc/os-release, else /usr/lib/os-release, names in lower case; absent: there is neither. */
export function osRelease(files: HostFiles): Found<ReadonlyMap<string, string>> {
  const first = textAt(files, '/etc/os-release')
  const text = first.kind === 'absent' ? textAt(files, '/usr/lib/os-release') : first
  if (text.kind !== 'known') return text
  const words = posixWords(text.value.text)
  if (words === undefined) return { kind: 'unknown', because: `${text.value.path} has a quote that is not closed` }
  const attributes = new Map<string, string>()
  for (const word of words) {
    const equals = word.indexOf('=')
    if (equals !== -1) attributes.set(word.slice(0, equals).toLowerCase(), word.slice(equals + 1))
  }
  return { kind: 'known', value: attributes }
}

const LSB_PROGRAMS = ['/usr/bin/lsb_release', '/bin/lsb_release', '/usr/local/bin/lsb_release']

/** What `lsb_release -a` prints; nothing where the program is not installed. */
function lsbRelease(evidence: Evidence): Found<ReadonlyMap<string, string>> {
  const printed = evidence.command(['lsb_release', '-a'])
  if (printed.kind === 'known') {
    const lines = printed.value.status === 0 ? printed.value.stdout.split('\n') : []
    const pairs = lines.flatMap((line): readonly (readonly [string, string])[] => {
      const colon = line.indexOf(':')
      return colon === -1
        ? []
        : [[line.slice(0, colon).replaceAll(' ', '_').toLowerCase(), line.slice(colon + 1).trim()]]
    })
    return { kind: 'known', value: new Map(pairs) }
  }
  if (LSB_PROGRAMS.every(path => isMissing(evidence.files, path))) return { kind: 'known', value: new Map() }
  return { kind: 'unknown', because: 'what lsb_release -a prints was not captured' }
}

interface ReleaseFile {
  readonly id: string
  readonly version: string
  readonly codename: string
}

/** Files that are no source for the name of a distribution. */
const PASSED_OVER = new Set([
  'debian_version',
  'lsb-release',
  'oem-release',
  'os-release',
  'system-release',
  'plesk-release',
  'iredmail-release',
  'board-release',
  'ec2_version',
])

/** The first file like /etc/redhat-release, by name; undefined where there is none. */
function releaseFile(files: HostFiles): Found<ReleaseFile | undefined> {
  const names = files.list('/etc')
  if (names.kind === 'unknown') return names
  for (const name of names.kind === 'known' ? names.value : []) {
    const id = /^(\w+)[-_](?:release|version)$/.exec(name)?.[1]
    if (id === undefined || PASSED_OVER.has(name)) continue
    const found = follow(files, `/etc/${name}`)
    if (found.kind === 'unknown') return found
    if (found.kind === 'absent' || found.value.kind !== 'file') continue
    const text = textAt(files, `/etc/${name}`)
    if (text.kind === 'unknown') return text
    const [line = ''] = text.kind === 'known' ? text.value.text.split('\n') : []
    if (line.trim() === '') continue
    const { version, codename, name: title } = releaseLine(line)
    return {
      kind: 'known',
      value: { id: title.toLowerCase().includes('cloudlinux') ? 'cloudlinux' : id, version, codename },
    }
  }
  return { kind: 'known', value: undefined }
}

/** `Rocky Linux release 9.3 (Blue Onyx)`: read from its end, as the name may hold digits. */
function releaseLine(line: string): { readonly name: string; readonly version: string; readonly codename: string } {
  const back = (text: string): string => [...text].toReversed().join('')
  const found = /^(?:[^)]*\)(.*)\()? *(?:STL )?([\d.+\-a-z]*\d) *(?:esaeler *)?(.+)/.exec(back(line.trim()))
  if (found === null) return { name: line.trim(), version: '', codename: '' }
  return { name: back(found[3] ?? ''), version: back(found[2] ?? ''), codename: back(found[1] ?? '') }
}

/** Of these the version with the most parts counts, where several sources have one. */
const BY_PRECISION = new Set(['centos', 'debian'])

function versionOf(
  files: HostFiles,
  id: Found<string>,
  attributes: ReadonlyMap<string, string>,
  lsb: Found<ReadonlyMap<string, string>>,
  file: Found<ReleaseFile | undefined>,
): Found<string> {
  if (id.kind !== 'known') return id
  const own = attributes.get('version_id') ?? ''
  const isPrecise = BY_PRECISION.has(id.value)
  if (!isPrecise && own !== '') return { kind: 'known', value: own }
  // What lsb_release says of Debian and CentOS is never more precise than their own files.
  const asked: Found<ReadonlyMap<string, string>> =
    isPrecise && own !== '' && lsb.kind === 'unknown' ? { kind: 'known', value: new Map() } : lsb
  if (asked.kind !== 'known')
    return asked.kind === 'unknown' ? asked : { kind: 'unknown', because: 'lsb_release is not known' }
  if (file.kind === 'unknown') return file
  const versions = [
    own,
    asked.value.get('release') ?? '',
    (file.kind === 'known' ? file.value?.version : undefined) ?? '',
    releaseVersion(attributes.get('pretty_name')),
    releaseVersion(asked.value.get('description')),
  ]
  if (id.value === 'debian' || (attributes.get('id_like') ?? '').split(/\s+/).includes('debian')) {
    const debian = textAt(files, '/etc/debian_version')
    if (debian.kind === 'unknown') return debian
    if (debian.kind === 'known') versions.push(debian.value.text.split('\n')[0]?.trimEnd() ?? '')
  }
  if (!isPrecise) return { kind: 'known', value: versions.find(version => version !== '') ?? '' }
  let best = ''
  for (const version of versions) if (dots(version) > dots(best) || best === '') best = version
  return { kind: 'known', value: id.value === 'centos' ? best.split('.').slice(0, 2).join('.') : best }
}

function releaseVersion(text: string | undefined): string {
  return text === undefined || text === '' ? '' : releaseLine(text).version
}

function dots(version: string): number {
  return version.split('.').length - 1
}

function codenameOf(
  id: Found<string>,
  attributes: ReadonlyMap<string, string>,
  lsb: Found<ReadonlyMap<string, string>>,
  file: Found<ReleaseFile | undefined>,
): Found<string> {
  const own = attributes.get('version_codename') ?? attributes.get('ubuntu_codename')
  if (own !== undefined) return { kind: 'known', value: own }
  if (id.kind !== 'known') return id
  const found = /\((\D+)\)|,\s*(\D+)/.exec(attributes.get('version') ?? '')
  const named = found?.[1] ?? found?.[2]
  if (id.value !== 'ubuntu' && named !== undefined) return { kind: 'known', value: named }
  if (lsb.kind !== 'known')
    return lsb.kind === 'unknown' ? lsb : { kind: 'unknown', because: 'lsb_release is not known' }
  const asked = lsb.value.get('codename') ?? ''
  if (id.value === 'ubuntu' && asked !== '') return { kind: 'known', value: asked }
  if (named !== undefined) return { kind: 'known', value: named }
  if (asked !== '') return { kind: 'known', value: asked }
  if (file.kind === 'unknown') return file
  const last = (file.kind === 'known' ? file.value?.codename : undefined) ?? ''
  return last === '' ? { kind: 'absent' } : { kind: 'known', value: last }
}
