import type { Evidence } from '../../evidence/evidence.js'
import { follow, type HostFiles } from '../../evidence/host-files.js'
import { ownEntry } from '../../source/own-entry.js'
import { contentOf } from './file-content.js'
import { type Distro, readDistro } from './os-release.js'

/** Facts of the distribution by their names, those left out that the evidence does not decide. */
export type DistributionFacts = ReadonlyMap<string, string | boolean>

interface Host {
  readonly evidence: Evidence
  readonly distro: Distro
}

/** What a file says: facts; that it is not for this; or that it would have to be known what is not. */
type Says =
  | { readonly kind: 'facts'; readonly facts: Readonly<Record<string, string>>; readonly open?: readonly string[] }
  | 'passes'
  | 'unknown'

interface Source {
  readonly path: string
  readonly name: string
  /** The file may be empty: that it is there says it. */
  readonly empty?: true
  readonly says: (text: string, host: Host, path: string) => Says
}

function facts(said: Readonly<Record<string, string>>): Says {
  return { kind: 'facts', facts: said }
}

/** The text names it; if not, its first word is the name of something that is made from it. */
function named(name: string, by: string): Source['says'] {
  return text =>
    text.includes(by)
      ? facts({ distribution: name, distribution_file_search_string: by })
      : facts({ distribution: text.split(/\s+/).find(word => word !== '') ?? '' })
}

/** `VERSION_ID="…"` with the quotes, as these files have it. */
function quotedVersion(text: string): string | undefined {
  return /VERSION_ID="(.*)"/.exec(text)?.[1]
}

/**
 * The files that name a distribution in the order in which Ansible looks at them; the first that says something counts
 * (module_utils/facts/system/distribution.py of ansible-core 2.16 to 2.18, where they agree).
 */
const SOURCES: readonly Source[] = [
  { path: '/etc/altlinux-release', name: 'Altlinux', says: named('Altlinux', 'ALT') },
  { path: '/etc/oracle-release', name: 'OracleLinux', says: named('OracleLinux', 'Oracle Linux') },
  { path: '/etc/slackware-version', name: 'Slackware', says: slackware },
  { path: '/etc/centos-release', name: 'CentOS', says: centos },
  { path: '/etc/redhat-release', name: 'RedHat', says: named('RedHat', 'Red Hat') },
  { path: '/etc/vmware-release', name: 'VMwareESX', empty: true, says: () => facts({}) },
  { path: '/etc/openwrt_release', name: 'OpenWrt', says: openwrt },
  { path: '/etc/os-release', name: 'Amazon', says: amazon },
  { path: '/etc/system-release', name: 'Amazon', says: amazon },
  {
    path: '/etc/alpine-release',
    name: 'Alpine',
    says: text => facts({ distribution: 'Alpine', distribution_version: text }),
  },
  { path: '/etc/arch-release', name: 'Archlinux', empty: true, says: () => facts({}) },
  {
    path: '/etc/os-release',
    name: 'Archlinux',
    says: text => (text.includes('Arch Linux') ? facts({ distribution: 'Archlinux' }) : 'passes'),
  },
  { path: '/etc/os-release', name: 'SUSE', says: suse },
  { path: '/etc/SuSE-release', name: 'SUSE', says: oldSuse },
  { path: '/etc/os-release', name: 'Debian', says: debian },
  { path: '/etc/lsb-release', name: 'Debian', says: debian },
  { path: '/etc/lsb-release', name: 'Mandriva', says: mandriva },
  { path: '/etc/sourcemage-release', name: 'SMGL', says: named('SMGL', 'Source Mage GNU/Linux') },
  { path: '/usr/lib/os-release', name: 'ClearLinux', says: clearLinux },
  { path: '/etc/coreos/update.conf', name: 'Coreos', says: coreos },
  { path: '/etc/os-release', name: 'Flatcar', says: flatcar },
  { path: '/etc/os-release', name: 'NA', says: anyOther },
]

/** The facts `distribution*` and `os_family`. */
export function distributionFacts(evidence: Evidence): DistributionFacts {
  const { files } = evidence
  const distro = readDistro(evidence)
  const told = new Map<string, string | boolean>()
  const guessed = guess(distro)
  for (const [name, value] of Object.entries(guessed)) if (value !== undefined) told.set(name, value)
  const host: Host = { evidence, distro }
  for (const { path, name, empty, says } of SOURCES) {
    const found = follow(files, path)
    if (found.kind === 'unknown') return new Map()
    if (found.kind === 'absent' || found.value.kind !== 'file') continue
    if (empty) {
      told.set('distribution', name).set('distribution_file_path', path).set('distribution_file_variety', name)
      return withFamily(told)
    }
    const content = contentOf(files, path)
    if (content.kind === 'unknown') return new Map()
    // A file of nothing but white space makes Ansible fail.
    if (content.kind === 'absent') {
      if ((found.value.size ?? 0) > 0) return new Map()
      continue
    }
    const said = says(content.value.replace(/^['"\\]+|['"\\]+$/g, ''), host, path)
    if (said === 'unknown') return new Map()
    if (said === 'passes') continue
    told.set('distribution', name).set('distribution_file_path', path).set('distribution_file_variety', name)
    told.set('distribution_file_parsed', true)
    for (const [fact, value] of Object.entries(said.facts)) told.set(fact, value)
    for (const fact of said.open ?? []) told.delete(fact)
    return withFamily(told)
  }
  // Every host says somewhere what it is: files that were put together by hand do not.
  const isSilent = ['/etc/os-release', '/usr/lib/os-release'].every(path => follow(files, path).kind === 'absent')
  return isSilent ? new Map() : withFamily(told)
}

/** What holds where no file says otherwise. */
function guess({ id, version, codename }: Distro): Readonly<Record<string, string | undefined>> {
  const capital = id.kind === 'known' ? id.value.charAt(0).toUpperCase() + id.value.slice(1) : undefined
  const names: Readonly<Record<string, string>> = { Amzn: 'Amazon', Rhel: 'Redhat', '': 'OtherLinux' }
  const number = version.kind === 'known' ? version.value || 'NA' : undefined
  return {
    distribution: capital === undefined ? undefined : (ownEntry(names, capital) ?? capital),
    distribution_version: number,
    distribution_major_version: number === undefined ? undefined : number.split('.')[0] || 'NA',
    distribution_release: codename.kind === 'known' ? codename.value : codename.kind === 'absent' ? 'NA' : undefined,
  }
}

function slackware(text: string): Says {
  if (!text.includes('Slackware')) return 'passes'
  const version = /\w+[.]\w+\+?/.exec(text)?.[0]
  return facts({ distribution: 'Slackware', ...(version !== undefined && { distribution_version: version }) })
}

function centos(text: string): Says {
  if (text.includes('CentOS Stream')) return facts({ distribution_release: 'Stream' })
  return text.includes('TencentOS Server') ? facts({ distribution: 'TencentOS' }) : 'passes'
}

function openwrt(text: string): Says {
  if (!text.includes('OpenWrt')) return 'passes'
  const version = /DISTRIB_RELEASE="(.*)"/.exec(text)?.[1]
  const release = /DISTRIB_CODENAME="(.*)"/.exec(text)?.[1]
  return facts({
    distribution: 'OpenWrt',
    ...(version !== undefined && { distribution_version: version }),
    ...(release !== undefined && { distribution_release: release }),
  })
}

function amazon(text: string, _host: Host, path: string): Says {
  if (!text.includes('Amazon')) return 'passes'
  if (path !== '/etc/os-release') {
    const version = text.split(/\s+/).find(word => /^[0-9]+$/.test(word)) ?? 'NA'
    return facts({ distribution: 'Amazon', distribution_version: version })
  }
  const version = quotedVersion(text)
  if (version === undefined) return facts({ distribution: 'Amazon' })
  const parts = version.split('.')
  // Ansible takes exactly two parts apart and fails on more.
  if (parts.length > 2) return 'unknown'
  const [major = '', minor = 'NA'] = parts
  return facts({
    distribution: 'Amazon',
    distribution_version: version,
    distribution_major_version: major,
    distribution_minor_version: minor,
  })
}

function suse(text: string, { evidence }: Host): Says {
  const lower = text.toLowerCase()
  if (!lower.includes('suse')) return 'passes'
  const said: Record<string, string> = {}
  for (const line of text.split(/\r\n|\r|\n/)) {
    const name = /^NAME=(.*)/.exec(line)?.[1]
    if (name !== undefined) said.distribution = name.replace(/^"+|"+$/g, '')
    const version = /^VERSION_ID="?([0-9]+\.?[0-9]*)"?/.exec(line)?.[1]
    if (version !== undefined) {
      said.distribution_version = version
      said.distribution_major_version = version.split('.')[0] ?? ''
    }
    const minor = /^VERSION_ID="?[0-9]+\.?([0-9]*)"?/.exec(line)?.[1]
    if (lower.includes('open')) {
      if (minor !== undefined) said.distribution_release = minor
    } else if (lower.includes('enterprise') && line.includes('VERSION_ID')) {
      if (minor === undefined) return 'passes'
      said.distribution_release = minor === '' ? '0' : minor
    }
  }
  return sapOr(said, evidence.files)
}

/** SLES for SAP is told by a link. */
function sapOr(said: Record<string, string>, files: HostFiles): Says {
  const product = files.entry('/etc/products.d/baseproduct')
  if (product.kind === 'absent') return facts(said)
  if (product.kind === 'unknown') return { kind: 'facts', facts: said, open: ['distribution'] }
  const led = follow(files, '/etc/products.d/baseproduct')
  const target = product.value.kind === 'link' ? (led.kind === 'known' ? led.value.path : product.value.target) : ''
  return facts(target.endsWith('SLES_SAP.prod') ? { ...said, distribution: 'SLES_SAP' } : said)
}

/** A form of SUSE from before os-release; none that kubespray knows. */
function oldSuse(text: string): Says {
  return text.toLowerCase().includes('suse') ? 'unknown' : 'passes'
}

function debian(text: string, { evidence, distro }: Host, path: string): Says {
  if (text.includes('Debian') || text.includes('Raspbian')) return trueDebian(text, evidence, distro)
  if (text.includes('Ubuntu')) return facts({ distribution: 'Ubuntu' })
  if (text.includes('SteamOS')) return facts({ distribution: 'SteamOS' })
  if (['/etc/lsb-release', '/etc/os-release'].includes(path) && /Kali|Parrot/.test(text)) {
    const release = /DISTRIB_RELEASE=(.*)/.exec(text)?.[1]
    return facts({
      distribution: text.includes('Kali') ? 'Kali' : 'Parrot',
      ...(release !== undefined && { distribution_release: release }),
    })
  }
  const version = quotedVersion(text)
  const numbers =
    version === undefined
      ? {}
      : { distribution_version: version, distribution_major_version: version.split('.')[0] ?? '' }
  const codename = /VERSION_CODENAME="?([^"]+)"?/.exec(text)?.[1]
  const release = codename === undefined ? {} : { distribution_release: codename }
  if (text.includes('Devuan')) {
    const pretty = /PRETTY_NAME="?[^("]+ \(?([^) "]+)\)?/.exec(text)?.[1]
    return facts({
      distribution: 'Devuan',
      ...(pretty !== undefined && { distribution_release: pretty }),
      ...(version !== undefined && { distribution_version: version, distribution_major_version: version }),
    })
  }
  if (text.includes('Cumulus')) return cumulus(text)
  if (text.includes('Mint')) return facts({ distribution: 'Linux Mint', ...numbers })
  if (/UOS|Uos|uos/.test(text)) return facts({ distribution: 'Uos', ...release, ...numbers })
  if (/Deepin|deepin/.test(text)) return facts({ distribution: 'Deepin', ...release, ...numbers })
  return 'passes'
}

function trueDebian(text: string, { files }: Evidence, { codename }: Distro): Says {
  const pretty = /PRETTY_NAME=[^(]+ \(?([^)]+?)\)/.exec(text)?.[1]
  const open: string[] = []
  // Ansible then asks dpkg about tzdata.
  if (codename.kind === 'absent' && text.includes('Debian')) open.push('distribution_release')
  const lines = contentOf(files, '/etc/debian_version')
  if (lines.kind === 'unknown') open.push('distribution_minor_version')
  const minors =
    lines.kind === 'known' ? lines.value.split('\n').flatMap(line => /(\d+)\.(\d+)/.exec(line)?.[2] ?? []) : []
  const minor = minors.at(-1)
  return {
    kind: 'facts',
    facts: {
      distribution: 'Debian',
      ...(pretty !== undefined && { distribution_release: pretty }),
      ...(minor !== undefined && { distribution_minor_version: minor }),
    },
    open,
  }
}

function cumulus(text: string): Says {
  const version = /VERSION_ID=(.*)/.exec(text)?.[1]
  const release = /VERSION="(.*)"/.exec(text)?.[1]
  if (version !== undefined && version.split('.').length !== 3) return 'unknown'
  return facts({
    distribution: 'Cumulus Linux',
    ...(version !== undefined && {
      distribution_version: version,
      distribution_major_version: version.split('.')[0] ?? '',
    }),
    ...(release !== undefined && { distribution_release: release }),
  })
}

function mandriva(text: string): Says {
  if (!text.includes('Mandriva')) return 'passes'
  const version = /DISTRIB_RELEASE="(.*)"/.exec(text)?.[1]
  const release = /DISTRIB_CODENAME="(.*)"/.exec(text)?.[1]
  return facts({
    distribution: 'Mandriva',
    ...(version !== undefined && { distribution_version: version }),
    ...(release !== undefined && { distribution_release: release }),
  })
}

function clearLinux(text: string): Says {
  const name = /NAME="(.*)"/.exec(text)?.[1]
  if (name !== undefined && !name.includes('Clear Linux')) return 'passes'
  const version = /VERSION_ID=(.*)/.exec(text)?.[1]
  const release = /ID=(.*)/.exec(text)?.[1]
  return facts({
    ...(name !== undefined && { distribution: name }),
    ...(version !== undefined && { distribution_version: version, distribution_major_version: version }),
    ...(release !== undefined && { distribution_release: release }),
  })
}

/** The old CoreOS Container Linux. */
function coreos(text: string, { distro }: Host): Says {
  if (distro.id.kind === 'unknown') return 'unknown'
  if (distro.id.kind !== 'known' || distro.id.value !== 'coreos') return 'passes'
  const group = /^GROUP=(.*)/.exec(text)?.[1]
  return facts(group === undefined ? {} : { distribution_release: group.replace(/^"+|"+$/g, '') })
}

function flatcar(text: string, { distro }: Host): Says {
  if (distro.id.kind === 'unknown') return 'unknown'
  if (distro.id.kind !== 'known' || distro.id.value !== 'flatcar') return 'passes'
  const version = /VERSION=(.*)/.exec(text)?.[1]?.replace(/^"+|"+$/g, '')
  return facts(
    version === undefined
      ? {}
      : { distribution_version: version, distribution_major_version: version.split('.')[0] ?? '' },
  )
}

function anyOther(text: string, { distro }: Host): Says {
  const said: Record<string, string> = {}
  for (const line of text.split(/\r\n|\r|\n/)) {
    const name = /^NAME=(.*)/.exec(line)?.[1]
    if (name !== undefined) said.distribution = name.replace(/^"+|"+$/g, '')
    const version = /^VERSION=(.*)/.exec(line)?.[1]
    if (version === undefined || distro.version.kind !== 'known' || distro.version.value !== '') continue
    said.distribution_version = version.replace(/^"+|"+$/g, '')
  }
  return facts(said)
}

/** Which distributions Ansible counts among which family; every other is its own. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  RedHat: [
    ...[
      'RedHat',
      'RHEL',
      'Fedora',
      'CentOS',
      'Scientific',
      'SLC',
      'Ascendos',
      'CloudLinux',
      'PSBM',
      'OracleLinux',
      'OVS',
      'OEL',
    ],
    ...[
      'Amazon',
      'Virtuozzo',
      'XenServer',
      'Alibaba',
      'EulerOS',
      'openEuler',
      'AlmaLinux',
      'Rocky',
      'TencentOS',
      'EuroLinux',
    ],
    'Kylin Linux Advanced Server',
  ],
  Debian: [
    ...[
      'Debian',
      'Ubuntu',
      'Raspbian',
      'Neon',
      'KDE neon',
      'Linux Mint',
      'SteamOS',
      'Devuan',
      'Kali',
      'Cumulus Linux',
      'Pop!_OS',
    ],
    ...['Parrot', 'Pardus GNU/Linux', 'Uos', 'Deepin', 'OSMC'],
  ],
  Suse: ['SuSE', 'SLES', 'SLED', 'openSUSE', 'openSUSE Tumbleweed', 'SLES_SAP', 'SUSE_LINUX', 'openSUSE Leap'],
  Archlinux: ['Archlinux', 'Antergos', 'Manjaro'],
  Mandrake: ['Mandrake', 'Mandriva'],
  Gentoo: ['Gentoo', 'Funtoo'],
  ClearLinux: ['Clear Linux OS', 'Clear Linux Mix'],
}

/** Names that only some of the versions count among a family. */
const UNSETTLED = new Set(['Amzn', 'MIRACLE', 'ALP-Dolomite', 'SL-Micro', 'SMGL', 'SGML'])

function withFamily(told: Map<string, string | boolean>): DistributionFacts {
  const name = told.get('distribution')
  if (typeof name !== 'string' || UNSETTLED.has(name)) return told
  const family = Object.keys(FAMILIES).find(each => FAMILIES[each]?.includes(name))
  return told.set('os_family', family ?? name)
}
