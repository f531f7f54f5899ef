import type { Moment } from '../host/moment.js'
import { type Dict, known, type Value } from '../jinja/value.js'
import { jsonText } from './json-text.js'
import { jsonOf } from './value-text.js'

/** The ports that kubeadm, the control plane and etcd need, ascending. */
export const CONTROL_PLANE_PORTS: readonly number[] = [2379, 2380, 6443, 10250, 10257, 10259]

/** before.json: the host as it is before the run. Null stands where that is not known. */
export interface BeforeJson {
  /** Swap in KiB, whether used or not; 0 where none is on. */
  readonly swap_total_kb: number | null
  /** The value of net.ipv4.ip_forward. */
  readonly ip_forward: number | null
  /** Whether the kernel module is loaded or built in. */
  readonly br_netfilter: boolean | null
  /** Ports of the control plane, of the kubelet and of etcd that something listens on, ascending. */
  readonly busy_ports: readonly number[] | null
}

/** One row of ports.json: who holds a port. Ascending by port, then by process. */
export interface PortJson {
  readonly port: number
  /** The unit to stop and disable; null where no unit holds it, or where that is not known. */
  readonly unit: string | null
  /** Null where it is not known. */
  readonly pid: number | null
}

/** facts.json: what kubespray's checks look at. Null stands where that is not known. */
export interface FactsJson {
  /** MB, as Ansible gathers it. */
  readonly memtotal_mb: number | null
  /** How many CPUs the host has. */
  readonly processor_vcpus: number | null
  /** As Ansible names it, as in `Ubuntu`. */
  readonly distribution: string | null
  /** As in `24.04`. */
  readonly distribution_version: string | null
  /** The release of the kernel that runs. */
  readonly kernel: string | null
  /** The address of the interface with the default route. */
  readonly default_ipv4: string | null
  /** MB that the release asks of a control-plane host. */
  readonly minimal_master_memory_mb: number | null
}

/** What keeps a lab's file from being complete, one line a key. */
export interface LabFile<Content> {
  readonly content: Content
  readonly unknown: readonly string[]
}

/** The state of a host before the run. */
export function beforeFile(now: Moment, swapTotalKb: number | undefined): LabFile<BeforeJson> {
  const unknown: string[] = []
  const forward = now.sysctl('net.ipv4.ip_forward')
  const module = now.module('br_netfilter')
  const { listeners, swap } = now
  if (forward.kind === 'unknown') unknown.push(`ip_forward: ${forward.because}`)
  if (module.kind === 'unknown') unknown.push(`br_netfilter: ${module.because}`)
  if (listeners.kind === 'unknown') unknown.push(`busy_ports: ${listeners.because}`)
  const ofAreas =
    swap.kind === 'known'
      ? swap.value.reduce<number | undefined>(
          (sum, { sizeKb }) => (sum === undefined || sizeKb === undefined ? undefined : sum + sizeKb),
          0,
        )
      : undefined
  const total = swapTotalKb ?? ofAreas
  if (total === undefined)
    unknown.push(`swap_total_kb: ${swap.kind === 'unknown' ? swap.because : '/proc/meminfo was not captured'}`)
  return {
    content: {
      swap_total_kb: total ?? null,
      ip_forward: forward.kind === 'known' ? Number(forward.value) : forward.kind === 'absent' ? 0 : null,
      br_netfilter: module.kind === 'unknown' ? null : module.kind === 'known',
      busy_ports: busyPorts(now),
    },
    unknown,
  }
}

function busyPorts({ listeners }: Moment): readonly number[] | null {
  if (listeners.kind === 'unknown') return null
  const ports = listeners.kind === 'known' ? listeners.value.map(({ port }) => port) : []
  return CONTROL_PLANE_PORTS.filter(port => ports.includes(port))
}

/** Who holds the ports of the control plane; null where that is not known. */
export function portsFile({ listeners }: Moment): LabFile<readonly PortJson[] | null> {
  if (listeners.kind === 'unknown') return { content: null, unknown: [`ports: ${listeners.because}`] }
  const held =
    listeners.kind === 'known' ? listeners.value.filter(({ port }) => CONTROL_PLANE_PORTS.includes(port)) : []
  const rows = new Map<string, PortJson>()
  const unknown: string[] = []
  for (const { port, holder } of held.toSorted((left, right) => left.port - right.port)) {
    const pid = holder.pids.toSorted((left, right) => left - right)[0] ?? null
    rows.set(`${port} ${holder.unit} ${pid}`, { port, unit: holder.unit ?? null, pid })
    if (holder.kind === 'unknown') unknown.push(`the holder of port ${port}: ${holder.because ?? 'not known'}`)
  }
  return { content: [...rows.values()], unknown }
}

/** The facts of a host, and what the release asks of its memory. */
export function factsFile(facts: Dict | undefined, minimum: Value | undefined): LabFile<FactsJson> {
  const fact = (name: string): unknown => jsonOf(facts?.get(name) ?? known(null))
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const route = fact('default_ipv4')
  const address = typeof route === 'object' && route !== null && 'address' in route ? route.address : null
  const least = minimum === undefined ? null : jsonOf(minimum)
  const content: FactsJson = {
    memtotal_mb: number(fact('memtotal_mb')),
    processor_vcpus: number(fact('processor_vcpus')),
    distribution: text(fact('distribution')),
    distribution_version: text(fact('distribution_version')),
    kernel: text(fact('kernel')),
    default_ipv4: text(address),
    minimal_master_memory_mb: number(typeof least === 'string' ? Number(least) : least),
  }
  const unknown = Object.entries(content).flatMap(([key, value]) =>
    value === null ? [`${key}: neither facts nor evidence say it`] : [],
  )
  return { content, unknown }
}

/** A lab's file as it is written: two blanks of indentation and a newline at the end. */
export function labText(content: unknown): string {
  return jsonText(content)
}
