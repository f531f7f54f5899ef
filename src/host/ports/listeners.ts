import type { Evidence } from '../../evidence/evidence.js'
import { type Found, type HostFiles, textAt } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { Holder, Listener, Seen } from '../moment.js'
import { type Owner, ownerOf } from '../units/cgroup.js'
import { type UnitFiles, unitFilesOf } from '../units/unit-files.js'
import { listedState } from '../units/unit-state.js'
import { socketUnitsOn } from './socket-units.js'
import { hostPort, type ListeningSocket, parseTcpSockets } from './tcp-sockets.js'

/**
 * Everything that listens on a TCP port in the host's network namespace: from /proc/1/net/tcp and tcp6, else /proc/net; who holds
 * it by /proc/PID/fd, and what that belongs to by /proc/PID/cgroup. A holder that cannot be told is `unknown` and says why;
 * unknown as a whole where a table is missing or has lines that cannot be read. A dual-stack socket stands once, as `::`.
 */
export function listenersOf(evidence: Evidence): Seen<readonly Listener[]> {
  const { files } = evidence
  const tables = tablesOf(files)
  if (tables.kind !== 'known')
    return { kind: 'unknown', because: tables.kind === 'unknown' ? tables.because : NO_TABLE, places: [] }
  const read = tables.value.map(table => parseTcpSockets(table, isBigEndian(files)))
  const [bad] = read.flatMap(each => each.bad)
  if (bad !== undefined)
    return { kind: 'unknown', because: `${bad.file}:${bad.line} is no line of a table of sockets`, places: [bad] }
  const sockets = read.flatMap(each => each.sockets)
  const holders = openHolders(evidence, new Set(sockets.map(({ inode }) => inode)))
  const value = sockets.map(socket => ({ port: socket.port, address: socket.address, holder: holders(socket) }))
  return { kind: 'known', value: merged(value), places: sockets.map(({ place }) => place) }
}

const NO_TABLE = 'there is no /proc/net/tcp, which every Linux has'

/** Sockets that share a port (SO_REUSEPORT) and a holder are one listener. */
function merged(listeners: readonly Listener[]): readonly Listener[] {
  const seen = new Map<string, Listener>()
  for (const listener of listeners) {
    const { port, address, holder } = listener
    const key = `${port} ${address} ${holder.kind} ${holder.unit ?? holder.container?.id ?? holder.program ?? ''}`
    const before = seen.get(key)
    const pids = [...new Set([...(before?.holder.pids ?? []), ...holder.pids])].toSorted((left, right) => left - right)
    seen.set(key, { ...listener, holder: { ...(before?.holder ?? holder), pids } })
  }
  return [...seen.values()].toSorted((left, right) => left.port - right.port)
}

/** tcp and tcp6 of the host's namespace. A host without IPv6 has no tcp6. */
function tablesOf(files: HostFiles): Found<readonly SourceFile[]> {
  const first = textAt(files, '/proc/1/net/tcp')
  const directory = first.kind === 'known' ? '/proc/1/net' : '/proc/net'
  const tcp = first.kind === 'known' ? first : textAt(files, '/proc/net/tcp')
  if (tcp.kind !== 'known') return tcp
  if (directory === '/proc/net') {
    const [own, host] = ['/proc/self/ns/net', '/proc/1/ns/net'].map(path => linkTarget(files, path))
    if (own !== undefined && host !== undefined && own !== host)
      return { kind: 'unknown', because: '/proc/net is that of another network namespace than the host has' }
  }
  const tcp6 = textAt(files, `${directory}/tcp6`)
  if (tcp6.kind === 'unknown') return tcp6
  return { kind: 'known', value: tcp6.kind === 'known' ? [tcp.value, tcp6.value] : [tcp.value] }
}

function linkTarget(files: HostFiles, path: string): string | undefined {
  const found = files.entry(path)
  return found.kind === 'known' && found.value.kind === 'link' ? found.value.target : undefined
}

/** The tables are in the order of the machine; of those kubespray knows only s390x is big-endian. */
function isBigEndian(files: HostFiles): boolean {
  const text = textAt(files, '/proc/sys/kernel/arch')
  if (text.kind === 'known') return /^(s390|s390x|ppc|ppc64)$/.test(text.value.text.trim())
  const cpus = textAt(files, '/proc/cpuinfo')
  return cpus.kind === 'known' && /^vendor_id\s*:\s*IBM\/S390/m.test(cpus.value.text)
}

/** Who holds which socket, from one walk over the processes. */
function openHolders(evidence: Evidence, inodes: ReadonlySet<string>): (socket: ListeningSocket) => Holder {
  const { files } = evidence
  const processes = files.list('/proc')
  const pids = processes.kind === 'known' ? processes.value.filter(name => /^[0-9]+$/.test(name)) : []
  const unread: string[] = []
  const byInode = new Map<string, number[]>()
  for (const pid of pids) {
    const open = files.list(`/proc/${pid}/fd`)
    if (open.kind === 'unknown') unread.push(open.because)
    for (const name of open.kind === 'known' ? open.value : []) {
      const inode = /^socket:\[([0-9]+)\]$/.exec(linkTarget(files, `/proc/${pid}/fd/${name}`) ?? '')?.[1]
      if (inode === undefined || !inodes.has(inode)) continue
      const holders = byInode.get(inode) ?? []
      if (!holders.includes(Number(pid))) byInode.set(inode, [...holders, Number(pid)])
    }
  }
  const nobody = whyNobody(processes, pids.length, unread)
  const all = unitFilesOf(files, 'now')
  const known = new Map<number, HeldBy>()
  const describe = (pid: number): HeldBy => {
    const found = known.get(pid) ?? heldBy(files, pid)
    known.set(pid, found)
    return found
  }
  return socket => {
    const held = byInode.get(socket.inode)?.map(describe) ?? []
    if (held.length > 0) return holderOf(evidence, all, socket, held)
    const because = socket.inode === '0' ? 'it is a socket of the kernel: no process has it open' : nobody
    return { kind: 'unknown', pids: [], because }
  }
}

function whyNobody(processes: Found<readonly string[]>, count: number, unread: readonly string[]): string {
  if (processes.kind === 'unknown') return `which process holds it is not known: ${processes.because}`
  const [first] = unread
  if (first !== undefined) {
    const many = unread.length === 1 ? '' : ` (and so for ${unread.length - 1} more processes)`
    return `which process holds it is not known: ${first}${many}`
  }
  if (processes.kind === 'absent' || count === 0)
    return 'which process holds it is not known: there are no processes in what was captured'
  return 'no process has it open: the kernel holds it (as for NFS), or its process ended while the evidence was taken'
}

interface HeldBy {
  readonly pid: number
  readonly program: string | undefined
  readonly owner: Found<Owner>
}

function heldBy(files: HostFiles, pid: number): HeldBy {
  const cgroup = textAt(files, `/proc/${pid}/cgroup`)
  const owner: Found<Owner> = cgroup.kind === 'known' ? { kind: 'known', value: ownerOf(cgroup.value.text) } : cgroup
  return { pid, program: programOf(files, pid), owner }
}

/** `comm` is cut at 15 characters; the program's own name is whole where it was captured and begins so. */
function programOf(files: HostFiles, pid: number): string | undefined {
  const text = textAt(files, `/proc/${pid}/comm`)
  const comm = text.kind === 'known' ? text.value.text.replace(/\n$/, '') : undefined
  const target = linkTarget(files, `/proc/${pid}/exe`)?.replace(/ \(deleted\)$/, '')
  const base = target?.slice(target.lastIndexOf('/') + 1)
  if (comm === undefined || comm === '') return base === '' ? undefined : base
  return comm.length === MOST_OF_COMM && base?.startsWith(comm) ? base : comm
}

const MOST_OF_COMM = 15

function holderOf(evidence: Evidence, all: UnitFiles, socket: ListeningSocket, held: readonly HeldBy[]): Holder {
  const pids = held.map(({ pid }) => pid).toSorted((left, right) => left - right)
  const others = held.filter(each => !isManager(each))
  if (others.length < held.length) {
    const activated = bySocketUnit(evidence, all, socket, pids, others)
    if (activated !== undefined) return activated
  }
  const [first] = others
  if (first === undefined) return { kind: 'unknown', pids, program: 'systemd', because: noSocketUnit(all, socket) }
  const holder = ofProcesses(others, first, pids)
  const isShared = others.length < held.length && holder.because === undefined
  return isShared ? { ...holder, because: noSocketUnit(all, socket) } : holder
}

function ofProcesses(others: readonly HeldBy[], first: HeldBy, pids: readonly number[]): Holder {
  const program = first.program === undefined ? {} : { program: first.program }
  const kinds = new Map(others.map(each => [keyOf(each), each]))
  if (kinds.size > 1) {
    const names = [...kinds.values()].map(each => describeOwner(each)).join(' and ')
    return { kind: 'unknown', pids, ...program, because: `${names} hold it together` }
  }
  if (first.owner.kind !== 'known') {
    const because = first.owner.kind === 'unknown' ? first.owner.because : `/proc/${first.pid}/cgroup is not there`
    return { kind: 'process', pids, ...program, because: `its unit is not known: ${because}` }
  }
  const owner = first.owner.value
  if (owner.kind === 'unit') {
    // What docker publishes for a container is held by a program of dockerd's.
    if (first.program === 'docker-proxy')
      return { kind: 'container', pids, ...program, unit: owner.unit, container: { runtime: 'docker', pod: false } }
    return { kind: 'unit', unit: owner.unit, pids, ...program }
  }
  if (owner.kind === 'user-unit') return { kind: 'unit', unit: owner.unit, uid: owner.uid, pids, ...program }
  if (owner.kind === 'session')
    return { kind: 'process', unit: owner.unit, pids, ...program, ...(owner.uid !== undefined && { uid: owner.uid }) }
  if (owner.kind === 'container') {
    const { runtime, id, pod, uid } = owner
    return {
      kind: 'container',
      container: { runtime, pod, ...(id !== undefined && { id }) },
      pids,
      ...program,
      ...(uid !== undefined && { uid }),
    }
  }
  return { kind: 'process', pids, ...program }
}

/** PID 1 where it is systemd: in a container, or under another init, it is a process like any. */
function isManager({ pid, program, owner }: HeldBy): boolean {
  if (pid !== 1) return false
  return program === 'systemd' || (program === undefined && owner.kind === 'known' && owner.value.kind === 'manager')
}

/**
 * systemd holds the port for a socket unit: that one is to be stopped. It is told by what socket units listen on; of several
 * that fit by which starts the service that has the socket now, or by which is active.
 */
function bySocketUnit(
  evidence: Evidence,
  all: UnitFiles,
  { address, port }: ListeningSocket,
  pids: readonly number[],
  others: readonly HeldBy[],
): Holder | undefined {
  const services = others.flatMap(({ owner }) =>
    owner.kind === 'known' && owner.value.kind === 'unit' ? [owner.value.unit] : [],
  )
  const { units } = socketUnitsOn(all, address, port)
  const starting = units.filter(({ starts }) => services.includes(starts))
  const active = units.filter(({ unit }) => {
    const state = listedState(evidence, unit)
    return state.kind === 'known' && state.value.active === 'active'
  })
  const fitting = units.length === 1 ? units : starting.length > 0 ? starting : active
  const program = others[0]?.program ?? 'systemd'
  const [only] = fitting
  if (fitting.length === 1 && only !== undefined)
    return { kind: 'unit', unit: only.unit, starts: only.starts, pids, program }
  if (units.length === 0) return undefined
  const because = `systemd holds it for one of ${units.map(({ unit }) => unit).join(', ')}: which of them is active is not known`
  return { kind: 'unknown', pids, program, because }
}

function noSocketUnit(all: UnitFiles, { address, port }: ListeningSocket): string {
  const { open } = socketUnitsOn(all, address, port)
  const [because] = open
  const tail = because === undefined ? '' : `; ${because}`
  return `systemd holds it for a socket unit, and none that was captured listens on ${hostPort(address, port)}${tail}`
}

function keyOf({ owner, pid }: HeldBy): string {
  if (owner.kind !== 'known') return `unknown ${pid}`
  const { value } = owner
  if (value.kind === 'unit') return value.unit
  if (value.kind === 'user-unit' || value.kind === 'session') return `${value.uid} ${value.unit}`
  // A conmon and the container it watches are one.
  if (value.kind === 'container') return `container ${value.id ?? ''}`
  return value.kind
}

function describeOwner({ owner, pid, program }: HeldBy): string {
  if (owner.kind === 'known' && 'unit' in owner.value) return owner.value.unit
  if (owner.kind === 'known' && owner.value.kind === 'container') return `container ${owner.value.id ?? '(no id)'}`
  return `process ${pid}${program === undefined ? '' : ` (${program})`}`
}
