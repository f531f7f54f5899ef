import { ownEntry } from '../../source/own-entry.js'
import { isUnitName, unescapeUnit } from './unit-syntax.js'

/** What a process belongs to, by its cgroup. */
export type Owner =
  | { readonly kind: 'unit'; readonly unit: string }
  /** Of a user's own manager, `user@1000.service`. */
  | { readonly kind: 'user-unit'; readonly unit: string; readonly uid: number }
  /** Somebody's login. */
  | { readonly kind: 'session'; readonly unit: string; readonly uid?: number }
  | {
      readonly kind: 'container'
      readonly runtime: string
      readonly id?: string
      readonly pod: boolean
      readonly uid?: number
    }
  /** systemd itself. */
  | { readonly kind: 'manager' }
  /** No unit: the root of the tree, or a cgroup nobody knows. */
  | { readonly kind: 'none'; readonly path: string }

/**
 * The paths in /proc/PID/cgroup that systemd rules, the one to believe first: `name=systemd` of cgroup v1 and of the hybrid
 * layout, else the one line of cgroup v2, else the lines of single controllers (cgroupfs without systemd).
 */
export function cgroupPaths(text: string): readonly string[] {
  const lines = text.split('\n').flatMap(line => {
    const found = /^([0-9]+):([^:]*):(\/.*)$/.exec(line)
    return found === null ? [] : [{ controllers: found[2] ?? '', path: found[3] ?? '' }]
  })
  const named = lines.filter(({ controllers }) => controllers === 'name=systemd')
  const unified = lines.filter(({ controllers }) => controllers === '')
  const rest = lines.filter(({ controllers }) => controllers !== '' && controllers !== 'name=systemd')
  return [...named, ...unified, ...rest].map(({ path }) => path)
}

/**
 * What a process belongs to. The unit is the first `.service` or `.scope` below slices: what a service makes beneath it
 * (`Delegate=`) is its own. Containers are told by how their runtimes name cgroups, under kubelet or alone.
 */
export function ownerOf(text: string): Owner {
  const owners = cgroupPaths(text).map(ownerOfPath)
  return owners.find(({ kind }) => kind !== 'none') ?? owners[0] ?? { kind: 'none', path: '' }
}

const ID = '[0-9a-f]{12,64}'

/** How the runtimes name the cgroups of containers, with systemd as driver (`….scope`) and without. */
const CONTAINER_NAMES: readonly { readonly pattern: RegExp; readonly runtime: string }[] = [
  { pattern: new RegExp(`^cri-containerd-(${ID})\\.scope$`), runtime: 'containerd' },
  { pattern: new RegExp(`:cri-containerd:(${ID})$`), runtime: 'containerd' },
  { pattern: new RegExp(`^crio-(?:conmon-)?(${ID})(?:\\.scope)?$`), runtime: 'cri-o' },
  { pattern: new RegExp(`^docker-(${ID})\\.scope$`), runtime: 'docker' },
  { pattern: new RegExp(`^libpod-(?:conmon-)?(${ID})(?:\\.scope)?$`), runtime: 'podman' },
  { pattern: new RegExp(`^nerdctl-(${ID})\\.scope$`), runtime: 'nerdctl' },
  { pattern: new RegExp(`:nerdctl:(${ID})$`), runtime: 'nerdctl' },
  { pattern: /^lxc\.(?:payload|monitor)\.(.+)$/, runtime: 'lxc' },
]

/** Directories of the driver cgroupfs that have containers by their bare names below them. */
const CONTAINER_DIRECTORIES: Readonly<Record<string, string>> = {
  docker: 'docker',
  lxc: 'lxc',
  libpod_parent: 'podman',
}

function ownerOfPath(path: string): Owner {
  const parts = path.split('/').filter(part => part !== '' && part !== '..')
  const first = parts.findIndex(part => !part.endsWith('.slice'))
  if (first === -1)
    return parts.some(isPods) ? { kind: 'container', runtime: 'cri', pod: true } : { kind: 'none', path }
  if (parts[0] === 'init.scope') return { kind: 'manager' }
  const uid = uidOf(parts)
  const container = containerOf(parts, first)
  if (container !== undefined) return uid === undefined ? container : { ...container, uid }
  const unit = parts[first] ?? ''
  if (!isUnitName(unit) || !/\.(service|scope)$/.test(unit)) return { kind: 'none', path }
  if (parts[first - 1]?.startsWith('user-') && /^session-.*\.scope$/.test(unit))
    return uid === undefined ? { kind: 'session', unit } : { kind: 'session', unit, uid }
  const user = /^user@([0-9]+)\.service$/.exec(unit)?.[1]
  if (user === undefined) return { kind: 'unit', unit }
  const inner = parts.slice(first + 1).find(part => !part.endsWith('.slice'))
  if (inner === undefined || inner === 'init.scope' || !isUnitName(inner)) return { kind: 'unit', unit }
  return { kind: 'user-unit', unit: inner, uid: Number(user) }
}

function uidOf(parts: readonly string[]): number | undefined {
  for (const part of parts) {
    const uid = /^user-([0-9]+)\.slice$/.exec(part)?.[1] ?? /^user@([0-9]+)\.service$/.exec(part)?.[1]
    if (uid !== undefined) return Number(uid)
  }
  return undefined
}

function isPods(part: string): boolean {
  return /^(kubelet-)?kubepods(-|\.slice$|$)/.test(part)
}

function containerOf(parts: readonly string[], first: number): Extract<Owner, { kind: 'container' }> | undefined {
  const pod = parts.some(isPods)
  for (const part of parts) {
    for (const { pattern, runtime } of CONTAINER_NAMES) {
      const id = pattern.exec(part)?.[1]
      if (id !== undefined) return { kind: 'container', runtime, id: unescapeUnit(id), pod }
    }
  }
  if (pod) {
    const id = parts.findLast(part => new RegExp(`^${ID}$`).test(part))
    return { kind: 'container', runtime: 'cri', pod, ...(id !== undefined && { id }) }
  }
  const runtime = ownEntry(CONTAINER_DIRECTORIES, parts[first] ?? '')
  const id = parts[first + 1]
  if (runtime !== undefined && id !== undefined) return { kind: 'container', runtime, id, pod }
  const machine = /^machine-(.+)\.scope$/.exec(parts[first] ?? '')?.[1]
  if (parts[0] === 'machine.slice' && machine !== undefined)
    return { kind: 'container', runtime: 'machine', id: unescapeUnit(machine), pod }
  return undefined
}
