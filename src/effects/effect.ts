import type { Truth, Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'

/**
 * What a program, a module or a script could do to a host. A problem names the powers that could change its verdict, so
 * a command that is not modelled in detail counts only where it could matter.
 */
export type Power =
  | 'stops-units'
  | 'starts-units'
  | 'signals-processes'
  | 'manages-containers'
  | 'changes-swap'
  | 'changes-mounts'
  | 'changes-modules'
  | 'changes-sysctl'
  | 'changes-firewall'
  | 'changes-network'
  | 'changes-packages'
  | 'changes-accounts'
  | 'changes-selinux'
  | 'changes-hostname'
  | 'changes-clock'
  | 'changes-boot'
  | 'writes-files'
  | 'reboots'

export const EVERY_POWER: readonly Power[] = [
  'stops-units',
  'starts-units',
  'signals-processes',
  'manages-containers',
  'changes-swap',
  'changes-mounts',
  'changes-modules',
  'changes-sysctl',
  'changes-firewall',
  'changes-network',
  'changes-packages',
  'changes-accounts',
  'changes-selinux',
  'changes-hostname',
  'changes-clock',
  'changes-boot',
  'writes-files',
  'reboots',
]

/** What every effect says. Field values that come from arguments are Values: they may be unknown, or one of a few. */
interface Placed {
  /** The task that has the effect. */
  readonly at: Span
  /** What decides inside the task whether it happens (`creates`, `if` and `&&` of a shell), in words; absent: it happens. */
  readonly onlyIf?: string
  /** Why this program cannot tell whether it happens (a template that is read without being rendered). */
  readonly unread?: string
}

/** Lines leave an fstab file: those with exactly six fields of which the second is `mountPoint` (and the first `source`). */
export interface FstabEntriesRemoved extends Placed {
  readonly kind: 'fstab-entries-removed'
  readonly file: Value
  readonly mountPoint: Value
  readonly fstype: Value | undefined
  readonly source: Value | undefined
}

/** A line for `mountPoint` stands in an fstab file afterwards. */
export interface FstabEntryWritten extends Placed {
  readonly kind: 'fstab-entry-written'
  readonly file: Value
  readonly mountPoint: Value
  readonly fstype: Value | undefined
  readonly source: Value | undefined
}

/** A file system is mounted or unmounted now. */
export interface Mount extends Placed {
  readonly kind: 'mount'
  readonly state: 'mounted' | 'unmounted' | 'remounted'
  readonly path: Value
}

/** A unit of systemd (or a service of another init): started, stopped, enabled, masked. */
export interface Unit extends Placed {
  readonly kind: 'unit'
  /** As named: `kubelet`, `swap.target`. */
  readonly unit: Value
  /** `started`, `stopped`, `restarted` or `reloaded`. */
  readonly state: Value | undefined
  readonly enabled: Value | undefined
  readonly masked: Value | undefined
}

/** A unit file is written; `atStart` are the effects of what it runs at each start (`ExecStartPre=`, `ExecStart=`); one that cannot be read stands for text that is not known. */
export interface UnitFile extends Placed {
  readonly kind: 'unit-file'
  readonly unit: string
  readonly path: Value
  readonly atStart: readonly Effect[]
  /** It is edited: what else stands in it stays. */
  readonly edits?: true
}

/** A kernel module is loaded or unloaded, now or at each boot. */
export interface KernelModule extends Placed {
  readonly kind: 'kernel-module'
  readonly module: Value
  readonly when: 'now' | 'boot'
  readonly state: 'loaded' | 'unloaded'
  readonly parameters: Value | undefined
  /** For `boot`: the file that says so. */
  readonly file: Value | undefined
}

/** A kernel setting is written: to the running kernel (`now`), to a file that is applied at boot (`persisted`), or both. */
export interface Sysctl extends Placed {
  readonly kind: 'sysctl'
  readonly key: Value
  /** Undefined: the line leaves the file; the running kernel keeps its value. */
  readonly value: Value | undefined
  readonly file: Value | undefined
  readonly now: Truth
  readonly persisted: Truth
  /** Whether what applies the whole file passes over keys the kernel does not know; absent where nothing is said of it. */
  readonly ignoresUnknownKeys?: Truth
}

export interface FileChange extends Placed {
  readonly kind: 'file'
  readonly path: Value
  /** `line` edits part of the file; `attributes` changes owner, mode or time only; `unpacked`: `path` is the directory. */
  readonly change: 'written' | 'line' | 'removed' | 'directory' | 'link' | 'attributes' | 'unpacked'
  readonly content: Value | undefined
  /** Why parts of the content may not be there: its template was not rendered. */
  readonly contentUnsure?: string
  /** For `line`: lines also leave the file, and which is not worked out. */
  readonly takesOut?: true
  /** For `attributes`: where there is no such file it comes, empty (`touch`). */
  readonly creates?: true
  /** For `link`: what it points to. */
  readonly target: Value | undefined
}

export interface Package extends Placed {
  readonly kind: 'package'
  readonly names: Value
  /** `present`, `latest`, `absent`, `held` … as the module or command says it. */
  readonly state: Value
  /** Whose packages they are, where not the distribution's: names of pip mean others. */
  readonly manager?: 'pip'
}

/** Where packages come from: a repository, a key, a subscription. */
export interface PackageSource extends Placed {
  readonly kind: 'package-source'
  readonly says: Value
}

/** Parameters of the kernel's command line come or go; they are there from the next boot on. */
export interface BootParameters extends Placed {
  readonly kind: 'boot-parameters'
  readonly change: 'added' | 'removed'
  /** As given, with blanks between: `quiet mem=4G`. */
  readonly parameters: Value
}

/** Swap is turned off or on now. */
export interface Swap extends Placed {
  readonly kind: 'swap'
  readonly state: 'off' | 'on'
  readonly which: 'all' | 'device'
  readonly device: Value | undefined
}

export interface ProcessesSignalled extends Placed {
  readonly kind: 'processes-signalled'
  readonly by: 'name' | 'pid' | 'port' | 'file' | 'unit'
  readonly target: Value
  /** As given: `9`, `KILL`, `SIGHUP`; absent: the program's default, which ends them. `endsProcesses` tells them apart. */
  readonly signal?: Value
}

/** A container or container image is created, stopped or removed. */
export interface Container extends Placed {
  readonly kind: 'container'
  readonly runtime: string
  readonly action: 'started' | 'stopped' | 'removed' | 'image' | 'other'
  readonly arguments: readonly Value[]
}

/** A simple command that is run. `powers`: what it could do beyond the effects that stand beside it. */
export interface Command extends Placed {
  readonly kind: 'command'
  /** The base name of the program; undefined where it is not known. */
  readonly program: string | undefined
  readonly arguments: readonly Value[]
  readonly powers: readonly Power[]
  /** True where the table of programs does not have it: then `powers` is all of them. */
  readonly unfamiliar: boolean
}

export interface Kubeadm extends Placed {
  readonly kind: 'kubeadm'
  /** `init`, `join`, `reset`, `token create`, `init phase certs`. */
  readonly subcommand: string
  readonly arguments: readonly Value[]
  readonly ignoredPreflightErrors: Value | undefined
}

/** A rule or policy of the packet filter, or of what manages it. */
export interface Firewall extends Placed {
  readonly kind: 'firewall'
  readonly tool: string
  readonly says: Value
  /** For ufw: what becomes of it as a whole, as given (`enabled`, `disable`, `reset`); absent where it is not about that. */
  readonly turns?: Value
}

/** An interface, address or route. */
export interface Network extends Placed {
  readonly kind: 'network'
  readonly says: Value
}

/** The mode of SELinux, or one of its booleans. */
export interface Selinux extends Placed {
  readonly kind: 'selinux'
  readonly sets: 'mode' | 'boolean'
  /** As given: `permissive`, `disabled`, `enforcing`; `0` and `1` of setenforce. */
  readonly state: Value
  /** Whether it is still so after a reboot. */
  readonly persisted: boolean
}

/** The host gets a name: the running kernel (`now`), what it boots with (`persisted`), or both. */
export interface Hostname extends Placed {
  readonly kind: 'hostname'
  readonly name: Value
  readonly now: boolean
  readonly persisted: boolean
}

/** The clock, its zone or its synchronisation. */
export interface Clock extends Placed {
  readonly kind: 'clock'
  readonly says: Value
  /** Where it turns the synchronisation of the host on or off for good (`timedatectl set-ntp`): a boolean as text. */
  readonly synchronised?: Value
}

/** A user or group. */
export interface Account extends Placed {
  readonly kind: 'account'
  readonly says: Value
}

/** A job of cron or at. */
export interface Schedule extends Placed {
  readonly kind: 'schedule'
  readonly says: Value
  /** The effects of what the job runs. */
  readonly runs?: readonly Effect[]
  /** When it runs: at each boot, or at times of a clock. */
  readonly when?: 'boot' | 'clock'
}

/** A partition, file system or volume. */
export interface Storage extends Placed {
  readonly kind: 'storage'
  readonly says: Value
}

/** An object of the cluster (kubectl, helm): nothing of this host. */
export interface ClusterObject extends Placed {
  readonly kind: 'cluster-object'
  readonly says: Value
}

export interface Reboot extends Placed {
  readonly kind: 'reboot'
}

/** The run stops for this host when something does not hold (`assert`) or at this task (`fail`). */
export interface StopIf extends Placed {
  readonly kind: 'stop-if'
  readonly says: Value
  /** The names that decide it, by the path as written: `ansible_facts.memtotal_mb`. */
  readonly reads: readonly string[]
}

/** A command that could not be read: it could do anything. */
export interface UnreadableCommand extends Placed {
  readonly kind: 'unreadable-command'
  readonly says: string
}

/** A module the table does not have: it could do anything. */
export interface UnmodelledModule extends Placed {
  readonly kind: 'unmodelled-module'
  readonly module: string
}

/** What a task does to the host. A closed union; each kind has an entry in docs/effects.md. */
export type Effect =
  | FstabEntriesRemoved
  | FstabEntryWritten
  | Mount
  | Unit
  | UnitFile
  | KernelModule
  | Sysctl
  | FileChange
  | Package
  | PackageSource
  | BootParameters
  | Swap
  | ProcessesSignalled
  | Container
  | Command
  | Kubeadm
  | Firewall
  | Network
  | Selinux
  | Hostname
  | Clock
  | Account
  | Schedule
  | Storage
  | ClusterObject
  | Reboot
  | StopIf
  | UnreadableCommand
  | UnmodelledModule

export type EffectKind = Effect['kind']

/** The effect, happening only if this holds too. */
export function onlyIf(effect: Effect, condition: string | undefined): Effect {
  if (condition === undefined) return effect
  return { ...effect, onlyIf: effect.onlyIf === undefined ? condition : `${condition} and ${effect.onlyIf}` }
}
