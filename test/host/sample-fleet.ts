import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveOf, type Member } from '../evidence/archive.js'
import type { Written } from './files.js'
import { debian12, enabledService, type HostRecord, listening } from './sample-hosts.js'

/** A fleet on disk: an inventory, and one archive a host. */
export interface SampleFleet {
  readonly inventory: string
  readonly evidence: string
  readonly hosts: readonly string[]
}

const KERNEL = '6.1.0-21-amd64'

/**
 * Writes a fleet of servers that differ as real ones do: every host has its own name, addresses, processes and amount of memory;
 * every seventh has swap, every eleventh an agent on the port of kubelet, every thirteenth a setting of its own that comes late,
 * every 17th a process of nobody's on that port, every 19th too little memory, every 23rd an older kernel. `filler`: members
 * that each archive has besides, as what `whofixes collect` takes has many that nothing asks for; `also`: files of every host.
 */
export function writeFleet(directory: string, count: number, filler = 0, also: HostRecord = {}): SampleFleet {
  const evidence = join(directory, 'evidence')
  mkdirSync(evidence, { recursive: true })
  const hosts = Array.from({ length: count }, (_, index) => `node${index + 1}`)
  const more = fillerOf(filler)
  for (const [index, host] of hosts.entries()) {
    const record = { ...sampleHost(index, host), ...more, ...also }
    writeFileSync(join(evidence, `${host}.tar`), archiveOf(membersOf(record)))
  }
  const inventory = join(directory, 'inventory.ini')
  writeFileSync(inventory, inventoryOf(hosts))
  return { inventory, evidence, hosts }
}

function addressOf(index: number): string {
  return `10.${20 + (index >> 8)}.${index & 255}.${10 + (index % 200)}`
}

/** A hosts file that names all hosts of a fleet, as a cluster may have left it on each. */
export function hostsFileOfAll(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `${addressOf(index)} node${index + 1}.lan node${index + 1}`)
  return ['127.0.0.1 localhost', ...lines, ''].join('\n')
}

function inventoryOf(hosts: readonly string[]): string {
  const lines = hosts.map((host, index) => `${host} ansible_host=${addressOf(index)} ip=${addressOf(index)}`)
  const control = hosts.slice(0, 3)
  return `${lines.join('\n')}\n\n[kube_control_plane]\n${control.join('\n')}\n\n[etcd]\n${control.join('\n')}\n\n[kube_node]\n${hosts.slice(3).join('\n')}\n\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n`
}

/** One host of the fleet, by its number. */
export function sampleHost(index: number, host: string): Readonly<Record<string, Written | undefined>> {
  const pid = 600 + ((index * 37) % 30_000)
  const is = (every: number): boolean => index % every === every - 1
  const total = is(19) ? 900_000 + index : 16_000_000 + ((index * 7919) % 400_000)
  const swap = is(7)
  const busy = is(11) ? 'agent' : is(17) ? 'process' : undefined
  const record: Record<string, Written | undefined> = {
    ...debian12,
    '/etc/hostname': `${host}\n`,
    '/proc/sys/kernel/hostname': `${host}\n`,
    '/etc/hosts': `127.0.0.1\tlocalhost\n${addressOf(index)}\t${host}\n`,
    '/etc/machine-id': `${(index * 2654435761).toString(16).padStart(32, '0').slice(-32)}\n`,
    '/proc/meminfo': `MemTotal:       ${total} kB\nMemFree:        ${total - 500_000 + index} kB\nSwapTotal:      ${swap ? 2_097_148 : 0} kB\nSwapFree:       ${swap ? 2_097_148 - index : 0} kB\n`,
    '/proc/modules': `bridge 311296 ${index % 5} - Live 0x${(index * 4096).toString(16).padStart(16, '0')}\n`,
    '/sys/fs/cgroup/system.slice/chrony.service/cgroup.procs': `${pid + 3}\n`,
  }
  if (swap) {
    record['/proc/swaps'] =
      'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sda2                               partition\t2097148\t\t0\t\t-2\n'
    record['/etc/fstab'] = '/dev/sda1 / ext4 errors=remount-ro 0 1\n/dev/sda2 none swap sw 0 0\n'
  }
  if (is(13)) record['/etc/sysctl.d/zz-hardening.conf'] = 'net.ipv4.ip_forward = 0\n'
  if (is(23)) Object.assign(record, withKernel(record as HostRecord, '5.10.0-28-amd64'))
  if (busy === 'agent') Object.assign(record, enabledService('agent.service', '/opt/agent/agent'))
  const held = { port: 10250, inode: 30_000 + index * 3, pid: pid + 11 }
  const ssh = { port: 22, inode: 20_000 + index * 7, pid, program: 'sshd', cgroup: '/system.slice/ssh.service' }
  Object.assign(
    record,
    listening([
      ssh,
      ...(busy === 'agent' ? [{ ...held, program: 'agent', cgroup: '/system.slice/agent.service' }] : []),
      ...(busy === 'process' ? [{ ...held, program: 'left', cgroup: '/' }] : []),
    ]),
  )
  return record
}

function withKernel(record: HostRecord, kernel: string): Readonly<Record<string, Written | undefined>> {
  const renamed = Object.entries(record).map(([path, written]) => [
    path.replace(KERNEL, kernel),
    typeof written === 'string' ? written.replaceAll(KERNEL, kernel) : written,
  ])
  const gone = Object.fromEntries(
    Object.keys(record).flatMap(path => (path.includes(KERNEL) ? [[path, undefined]] : [])),
  )
  return { ...gone, ...(Object.fromEntries(renamed) as HostRecord) }
}

/** Unit files, as `/usr/lib/systemd/system` has them. */
function fillerOf(count: number): HostRecord {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `/usr/lib/systemd/system/filler-${index}.service`,
      `[Unit]\nDescription=Number ${index}\n[Service]\nType=oneshot\nExecStart=/bin/true ${'x'.repeat(200 + (index % 7) * 60)}\n`,
    ]),
  )
}

function membersOf(record: Readonly<Record<string, Written | undefined>>): readonly Member[] {
  return Object.entries(record).flatMap(([path, written]): readonly Member[] => {
    const name = path.slice(1)
    if (written === undefined) return []
    if (written === null) return [{ path: `${name}/`, type: 'Directory', mode: 0o755 }]
    if (typeof written === 'string' || written instanceof Uint8Array) return [{ path: name, content: written }]
    return 'link' in written
      ? [{ path: name, type: 'SymbolicLink', target: written.link, mode: 0o777 }]
      : [{ path: name, content: written.text, ...(written.mode === undefined ? {} : { mode: written.mode }) }]
  })
}
