import type { Found, HostFiles } from '../evidence/host-files.js'

/** A place on the host that says something: `file` absolute on the host, `line` from 1 where one line says it. */
export interface HostPlace {
  readonly file: string
  readonly line?: number
  /** What stands there, for people: `net.ipv4.ip_forward = 0`. */
  readonly says?: string
}

/** Something known of the host (or not), with the places that say so, the deciding one first. */
export type Seen<T> = Found<T> & {
  readonly places: readonly HostPlace[]
  /** The place that decides, where one does and it is known: not what would do so otherwise. */
  readonly decidedBy?: HostPlace
}

/** One area of swap that is on. */
export interface SwapArea {
  /** As /proc/swaps names it, or what turns it on: `/swapfile`, `/dev/zram0`. */
  readonly device: string
  /** KiB, where known. */
  readonly sizeKb?: number
  /** What turns it on at boot, as a clause: `/etc/fstab:3 names it`. */
  readonly because?: string
  /** What keeps it off for good, in order. */
  readonly stop?: readonly OperatorStep[]
}

/** What an operator does, and the command that does it. */
export interface OperatorStep {
  /** What it does, as a clause. */
  readonly says: string
  /** The command, for a shell of the host, as root. */
  readonly command: string
}

/** Something that listens on a TCP port in the host's network namespace. */
export interface Listener {
  readonly port: number
  /** As `ss` prints it: `0.0.0.0`, `127.0.0.1`, `::`, `::1`. */
  readonly address: string
  readonly holder: Holder
  /** Why the run may have ended it, where that is not known. */
  readonly perhapsEnded?: string
}

/**
 * Who holds a port. `unit` is the one to stop and disable (for socket activation the socket unit); `container` is held by a
 * container runtime, not by a unit of its own.
 */
export interface Holder {
  readonly kind: 'unit' | 'container' | 'process' | 'unknown'
  readonly unit?: string
  /** What a socket unit starts. */
  readonly starts?: string
  readonly pids: readonly number[]
  /** `comm` or the base name of the program. */
  readonly program?: string
  /** Of a container: the runtime (`docker`, `podman`, `containerd`, `cri-o`, `cri`, `nerdctl`, `lxc`, `machine`). */
  readonly container?: { readonly runtime: string; readonly id?: string; readonly pod: boolean }
  /** The user whose own manager or login it belongs to. */
  readonly uid?: number
  /** Why the holder or its unit is not known. */
  readonly because?: string
}

/** What systemd knows of a unit. */
export interface UnitState {
  readonly active: Found<boolean>
  /** Something starts it at boot: `enabled` by a link, or pulled in by another unit that is. */
  readonly atBoot: Found<boolean>
  /** As `systemctl is-enabled` prints it, where that can be told. */
  readonly enabled?: string
}

/** A line that a run may have written into a file of settings, whose other lines are known. */
export interface PerhapsSet {
  readonly file: string
  /** With dots. */
  readonly key: string
  /** Absent: the line may have been taken out. */
  readonly value?: string
  readonly because: string
}

/**
 * A host at one moment: what runs on it and the files it has. Before a run, after it, and after the next boot are three
 * moments, so that one question can be asked of each.
 */
export interface Moment {
  readonly files: HostFiles
  /** The value the running kernel has, as /proc/sys shows it, without the final newline; absent: it has no such key. Keys by dots. */
  readonly sysctl: (key: string) => Seen<string>
  /** Whether a kernel module is there (`-` and `_` are the same); absent: it is not. */
  readonly module: (name: string) => Seen<'loaded' | 'built-in'>
  readonly swap: Seen<readonly SwapArea[]>
  readonly listeners: Seen<readonly Listener[]>
  readonly unit: (name: string) => Seen<UnitState>
  /** Settings that may stand in `files` beside what is read there; absent where there are none. */
  readonly perhapsSet?: readonly PerhapsSet[]
  /** Why its packages are no longer those that were captured; absent where they are. */
  readonly packagesChanged?: string
}
