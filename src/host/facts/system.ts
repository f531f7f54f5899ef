import type { Evidence } from '../../evidence/evidence.js'
import type { Found, HostFiles } from '../../evidence/host-files.js'
import { type Dict, type Key, known, type Value } from '../../jinja/value.js'
import { ownEntry } from '../../source/own-entry.js'
import { selinuxConfigMode, selinuxConfigType } from '../selinux.js'
import { contentOf, isMissing, isThere } from './file-content.js'
import { plainWords } from './shell-words.js'

/** Kernel, machine and names of the host. `fqdn` and `domain` are what a resolver says, and left out. */
export function platformFacts(evidence: Evidence): Dict {
  const { files } = evidence
  const facts = new Map<Key, Value>([['system', known('Linux')]])
  const set = (name: string, value: string | undefined): void => {
    if (value !== undefined) facts.set(name, known(value))
  }
  set('kernel', contentText(files, '/proc/sys/kernel/osrelease') ?? printed(evidence, ['uname', '-r']))
  set('kernel_version', contentText(files, '/proc/sys/kernel/version') ?? printed(evidence, ['uname', '-v']))
  const node = contentText(files, '/proc/sys/kernel/hostname') ?? printed(evidence, ['uname', '-n'])
  set('nodename', node)
  set('hostname', node?.split('.')[0])
  const machine = machineOf(evidence)
  set('machine', machine)
  set('architecture', machine !== undefined && /i([3456]86|86pc)/.test(machine) ? 'i386' : machine)
  return facts
}

function contentText(files: HostFiles, path: string): string | undefined {
  const content = contentOf(files, path)
  return content.kind === 'known' ? content.value : undefined
}

function printed(evidence: Evidence, words: readonly string[]): string | undefined {
  const result = evidence.command(words)
  const text = result.kind === 'known' && result.value.status === 0 ? result.value.stdout.trim() : ''
  return text === '' ? undefined : text
}

/** What `uname -m` prints; /proc/sys/kernel/arch has it since Linux 6.1. */
export function machineOf(evidence: Evidence): string | undefined {
  const told = contentText(evidence.files, '/proc/sys/kernel/arch') ?? printed(evidence, ['uname', '-m'])
  if (told !== undefined) return told
  // … version machine [processor platform] GNU/Linux; the version holds blanks.
  const words = printed(evidence, ['uname', '-a'])?.split(/\s+/) ?? []
  return /^(GNU\/)?Linux$/.test(words.at(-1) ?? '') && words.length > 4 ? words.at(-2) : undefined
}

const INITS: Readonly<Record<string, string>> = {
  procd: 'openwrt_init',
  'runit-init': 'runit',
  svscan: 'svc',
  'openrc-init': 'openrc',
}

const SYSTEMCTL = ['/usr/bin/systemctl', '/bin/systemctl', '/usr/sbin/systemctl', '/sbin/systemctl']

/** What starts services: the name of PID 1, where it is no general one. */
export function initSystem(files: HostFiles): string | undefined {
  const comm = contentOf(files, '/proc/1/comm')
  if (comm.kind !== 'known') return undefined
  const name = comm.value.slice(comm.value.lastIndexOf('/') + 1).trim()
  if (name !== 'init' && !name.endsWith('sh')) return ownEntry(INITS, name) ?? name
  const isSystemd = SYSTEMCTL.some(path => isThere(files, path)) && isThere(files, '/run/systemd/system')
  return isSystemd ? 'systemd' : undefined
}

/** Whether the kernel is in the mode of FIPS. */
export function isFips(files: HostFiles): boolean | undefined {
  const content = contentOf(files, '/proc/sys/crypto/fips_enabled')
  if (content.kind === 'unknown') return undefined
  return content.kind === 'known' && content.value === '1'
}

/** The kernel command line: of a word that stands twice `cmdline` has the last, `proc_cmdline` all. */
export function commandLineFacts(files: HostFiles): Dict {
  const content = contentOf(files, '/proc/cmdline')
  if (content.kind !== 'known') return new Map()
  const lasts = new Map<Key, Value>()
  const all = new Map<string, (string | true)[]>()
  for (const word of plainWords(content.value) ?? []) {
    const equals = word.indexOf('=')
    const name = equals === -1 ? word : word.slice(0, equals)
    const value = equals === -1 ? true : word.slice(equals + 1)
    lasts.set(name, known(value))
    // A word without a value takes the place of what stood before it; a value is put beside it.
    all.set(name, value === true ? [true] : [...(all.get(name) ?? []), value])
  }
  const every = new Map<Key, Value>(
    [...all].map(([name, values]): [Key, Value] => {
      const [only] = values
      return [name, values.length === 1 && only !== undefined ? known(only) : known(values.map(each => known(each)))]
    }),
  )
  return new Map<Key, Value>([
    ['cmdline', known(lasts)],
    ['proc_cmdline', known(every)],
  ])
}

const MODES: Readonly<Record<string, string>> = { 1: 'enforcing', 0: 'permissive' }

/**
 * SELinux as libselinux tells it: on where a policy is loaded and /etc/selinux/config is there. Families of distributions whose
 * base system needs the library have it; of others nothing is said.
 */
export function selinuxFacts(files: HostFiles, family: string | undefined): Dict | undefined {
  const enforce = contentOf(files, '/sys/fs/selinux/enforce')
  const hasConfig = contentOf(files, '/etc/selinux/config')
  if (enforce.kind === 'unknown' || hasConfig.kind === 'unknown') return undefined
  if (enforce.kind === 'absent' || hasConfig.kind === 'absent') {
    const hasLibrary = family === 'RedHat' || family === 'Debian'
    return hasLibrary ? new Map([['status', known('disabled')]]) : undefined
  }
  const facts = new Map<Key, Value>([['status', known('enabled')]])
  const mode = ownEntry(MODES, enforce.value)
  const config = selinuxConfigMode(files)
  const type = selinuxConfigType(files)
  const version = contentOf(files, '/sys/fs/selinux/policyvers')
  if (
    mode === undefined ||
    config.kind !== 'known' ||
    type === undefined ||
    version.kind !== 'known' ||
    !/^[0-9]+$/.test(version.value)
  )
    return undefined
  return facts
    .set('policyvers', known(BigInt(version.value)))
    .set('config_mode', known(config.value.mode))
    .set('mode', known(mode))
    .set('type', known(type))
}

/** Which of two things a path is, as far as it is known. */
function thereAt(files: HostFiles, path: string): Found<boolean> {
  if (isThere(files, path)) return { kind: 'known', value: true }
  return isMissing(files, path)
    ? { kind: 'known', value: false }
    : { kind: 'unknown', because: `${path} was not captured` }
}

/** Package managers by their programs; of several the last counts. Those two for RPM are told apart below. */
const MANAGERS: readonly (readonly [string, string])[] = [
  ['/usr/bin/apt-get', 'apt'],
  ['/usr/bin/zypper', 'zypper'],
  ['/usr/sbin/urpmi', 'urpmi'],
  ['/usr/bin/pacman', 'pacman'],
  ['/bin/opkg', 'opkg'],
  ['/usr/pkg/bin/pkgin', 'pkgin'],
  ['/opt/local/bin/pkgin', 'pkgin'],
  ['/opt/tools/bin/pkgin', 'pkgin'],
  ['/opt/local/bin/port', 'macports'],
  ['/usr/local/bin/brew', 'homebrew'],
  ['/opt/homebrew/bin/brew', 'homebrew'],
  ['/sbin/apk', 'apk'],
  ['/usr/sbin/pkg', 'pkgng'],
  ['/usr/sbin/swlist', 'swdepot'],
  ['/usr/bin/emerge', 'portage'],
  ['/usr/sbin/pkgadd', 'svr4pkg'],
  ['/usr/bin/pkg', 'pkg5'],
  ['/usr/bin/xbps-install', 'xbps'],
  ['/usr/local/sbin/pkg', 'pkgng'],
  ['/usr/bin/swupd', 'swupd'],
  ['/usr/sbin/sorcery', 'sorcery'],
  ['/usr/bin/installp', 'installp'],
]

const RPM_MANAGERS = [
  '/usr/bin/rpm-ostree',
  '/usr/bin/yum',
  '/usr/bin/dnf',
  '/usr/bin/dnf-3',
  '/usr/bin/dnf5',
  '/QOpenSys/pkgs/bin/yum',
]

/**
 * The package manager Ansible picks, where its versions 2.14 to 2.18 agree: by the family of the distribution for Debian and Red
 * Hat, else the last of its list that is installed.
 */
export function packageTool(
  files: HostFiles,
  family: string | undefined,
  distribution: string | undefined,
  major: string | undefined,
): string | undefined {
  if (family === undefined || family === 'Altlinux') return undefined
  if (family === 'RedHat') return rpmManager(files, distribution, major)
  let found: string | undefined
  if (family !== 'Debian') {
    for (const [path, name] of MANAGERS) {
      const there = thereAt(files, path)
      if (there.kind !== 'known') return undefined
      if (there.value) found = name
    }
    // What comes before in the list only counts where nothing after it is installed.
    if (found === undefined) return RPM_MANAGERS.every(path => isMissing(files, path)) ? 'unknown' : undefined
  }
  if (found !== undefined && found !== 'apt') return found
  // With rpm beside it Ansible asks the database of packages whose apt-get is.
  return isMissing(files, '/usr/bin/rpm') ? 'apt' : undefined
}

function rpmManager(files: HostFiles, distribution: string | undefined, major: string | undefined): string | undefined {
  const ostree = thereAt(files, '/run/ostree-booted')
  if (ostree.kind !== 'known') return undefined
  if (ostree.value) return 'atomic_container'
  const least = distribution === 'Fedora' ? 23 : distribution === 'Amazon' ? 2022 : 8
  if (major === undefined || !/^[0-9]+$/.test(major) || Number(major) < least) return undefined
  const dnf = files.entry('/usr/bin/dnf')
  if (dnf.kind !== 'known') return undefined
  const leads = dnf.value.kind === 'link' ? dnf.value.target : '/usr/bin/dnf'
  return /(^|\/)dnf5$/.test(leads) ? undefined : 'dnf'
}
