import { unitName } from '../effects/describe.js'
import type { Moment } from '../host/moment.js'
import { CONTROL_PLANE_PORTS, type PortJson } from './lab-files.js'
import type { Line } from './place.js'

/** What became of one answer. `unknown`: the right one could not be told. */
export type Mark = 'right' | 'wrong' | 'unknown'

/** One key of a file, or one demand on a host, with its mark. */
export interface MarkedKey {
  /** The key as it stands in the file; of a host what is demanded, in words. */
  readonly key: string
  /** What became of it. */
  readonly mark: Mark
  /** What stands in the file, or is so on the host; null where nothing does. */
  readonly given: unknown
  /** What is right; null where that could not be told. */
  readonly expected: unknown
  /** Why it is wrong, or why it could not be told; null where it is right. */
  readonly because: string | null
  /** The line in the file, from 1; null where it is not there. */
  readonly line: Line | null
}

/** A file of answers, or a host, marked. */
export interface VerifyReport {
  /** The file, as named; null for a host. */
  readonly file: string | null
  /** Which of the lab's files it is by its keys; `host` for one that should be ready. */
  readonly kind: 'who-fixes' | 'before' | 'ports' | 'facts' | 'host'
  /** The host it is about. */
  readonly host: string
  /** Every key that is asked for, then those that nobody asks for. */
  readonly keys: readonly MarkedKey[]
}

/** A value of an answer, with its line. */
export interface Given {
  readonly value: unknown
  readonly line: Line
}

/** What is right for a key, and what says so. */
export interface Right {
  readonly value: unknown
  /** What makes it right, as a clause: `v2.31.0 turns swap off and masks swap.target`. */
  readonly because: string
}

/** Marks the keys of a file: each that has to be there, then those that nobody asked for. */
export function markKeys(
  given: ReadonlyMap<string, Given>,
  right: ReadonlyMap<string, Right>,
  isSame: (key: string, given: unknown, expected: unknown) => boolean = isSameAnswer,
): readonly MarkedKey[] {
  const asked = [...right].map(([key, { value, because }]): MarkedKey => {
    const answer = given.get(key)
    const base = { key, given: answer?.value ?? null, expected: value ?? null, line: answer?.line ?? null }
    if (answer === undefined) return { ...base, mark: 'wrong', because: `the key is missing: ${because}` }
    if (value === null || value === 'unknown')
      return {
        ...base,
        mark: answer.value === value ? 'right' : 'unknown',
        because: answer.value === value ? null : because,
      }
    return isSame(key, answer.value, value)
      ? { ...base, mark: 'right', because: null }
      : { ...base, mark: 'wrong', because }
  })
  const others = [...given].flatMap(([key, { value, line }]): readonly MarkedKey[] =>
    right.has(key)
      ? []
      : [{ key, mark: 'wrong', given: value, expected: null, because: 'nobody asks for this key', line }],
  )
  return [...asked, ...others]
}

const YES: readonly unknown[] = [1, '1', 'yes', 'on', 'loaded']
const NO: readonly unknown[] = [0, '0', 'no', 'off', '', null]

/** Numbers and booleans may stand as text, as a shell script writes them, a version as a number; lists are compared in order. */
function isSameAnswer(_: string, given: unknown, expected: unknown): boolean {
  if (typeof expected === 'boolean' && (expected ? YES : NO).includes(given)) return true
  if (typeof expected === 'string' && typeof given === 'number') return String(given) === expected
  return plain(given) === plain(expected)
}

function plain(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.trim()
    return /^(true|false)$/i.test(text) || /^-?\d+$/.test(text) ? text.toLowerCase() : JSON.stringify(text)
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value)
}

/** A row of ports.json as it stands in a file. */
export interface GivenPort {
  readonly port: unknown
  readonly unit: unknown
  readonly pid: unknown
  readonly line: Line
}

/**
 * Marks ports.json port by port: each that is held has to be there with its unit and process, and no other. `right` is a text
 * where it is not known who holds what: why.
 */
export function markPorts(given: readonly GivenPort[], right: readonly PortJson[] | string): readonly MarkedKey[] {
  if (typeof right === 'string') {
    const open = (key: string, row: GivenPort | undefined): MarkedKey => {
      const stands = row === undefined ? null : { unit: row.unit, pid: row.pid }
      return { key, mark: 'unknown', given: stands, expected: null, because: right, line: row?.line ?? null }
    }
    return given.length === 0 ? [open('ports', undefined)] : given.map(row => open(`port ${plain(row.port)}`, row))
  }
  const left = [...given]
  const keys = right.map((row): MarkedKey => {
    const samePort = left.filter(({ port }) => plain(port) === plain(row.port))
    const answer = samePort.find(each => isSameHolder(each, row)) ?? samePort[0]
    if (answer !== undefined) left.splice(left.indexOf(answer), 1)
    const expected = { unit: row.unit, pid: row.pid }
    const key = `port ${row.port}`
    if (answer === undefined)
      return { key, mark: 'wrong', given: null, expected, because: 'the port is missing', line: null }
    const { unit, pid, line } = answer
    const base = { key, given: { unit, pid }, expected, line }
    if (row.unit === null && row.pid === null) return { ...base, mark: 'unknown', because: 'who holds it is not known' }
    if (isSameHolder(answer, row)) return { ...base, mark: 'right', because: null }
    const holder = row.unit ?? 'a process without a unit'
    return { ...base, mark: 'wrong', because: `${holder} holds it${row.pid === null ? '' : ` as process ${row.pid}`}` }
  })
  const others = left.map(({ port, unit, pid, line }): MarkedKey => {
    const because = 'nothing listens there that the control plane, the kubelet or etcd has to make way for'
    return { key: `port ${plain(port)}`, mark: 'wrong', given: { unit, pid }, expected: null, because, line }
  })
  return [...keys, ...others]
}

/** A service may be named without its ending, as systemctl takes it. */
function isSameHolder({ unit, pid }: GivenPort, right: PortJson): boolean {
  const named = typeof unit === 'string' && unit !== '' ? unitName(unit.trim()) : null
  return named === right.unit && (right.pid === null || plain(pid) === plain(right.pid))
}

const SETTINGS = ['net.ipv4.ip_forward', 'net.bridge.bridge-nf-call-iptables', 'net.bridge.bridge-nf-call-ip6tables']
const MODULES = ['overlay', 'br_netfilter']

/** What a host has to be like after the run: swap off, modules and settings there, now and after a boot, ports free. */
export function markReady(now: Moment, booted: Moment): readonly MarkedKey[] {
  const keys: MarkedKey[] = []
  const mark = (key: string, expected: unknown, given: unknown, state: Mark, because: string): void => {
    keys.push({ key, mark: state, given, expected, because: state === 'right' ? null : because, line: null })
  }
  for (const [when, moment] of [
    ['now', now],
    ['after a reboot', booted],
  ] as const) {
    const { swap } = moment
    const areas = swap.kind === 'known' ? swap.value : []
    const state = swap.kind === 'unknown' ? 'unknown' : areas.length === 0 ? 'right' : 'wrong'
    const on = areas.map(({ device, because }) => (because === undefined ? `${device} is on` : `${because}: ${device}`))
    const devices = areas.map(({ device }) => device)
    mark(`swap off ${when}`, [], devices, state, swap.kind === 'unknown' ? swap.because : on.join('; '))
  }
  for (const name of MODULES) {
    for (const [when, moment] of [
      ['now', now],
      ['at boot', booted],
    ] as const) {
      const seen = moment.module(name)
      const state = seen.kind === 'unknown' ? 'unknown' : seen.kind === 'known' ? 'right' : 'wrong'
      const because =
        seen.kind === 'unknown'
          ? seen.because
          : when === 'now'
            ? `${name} is not loaded`
            : `nothing loads ${name} at boot`
      mark(`${name} ${when}`, true, seen.kind === 'known', state, because)
    }
  }
  for (const key of SETTINGS) {
    for (const [when, moment] of [
      ['now', now],
      ['after a reboot', booted],
    ] as const) {
      const seen = moment.sysctl(key)
      const value = seen.kind === 'known' ? seen.value : null
      const state = seen.kind === 'unknown' ? 'unknown' : value?.trim() === '1' ? 'right' : 'wrong'
      const [place] = seen.places
      const by = place?.line === undefined ? '' : ` (${place.file}:${place.line})`
      const because =
        seen.kind === 'unknown'
          ? seen.because
          : value === null
            ? `the kernel has no ${key}${when === 'now' ? '' : ' then'}`
            : `${key} is ${value}${by}`
      mark(`${key} ${when}`, '1', value, state, because)
    }
  }
  const { listeners } = now
  for (const port of CONTROL_PLANE_PORTS) {
    const held = listeners.kind === 'known' ? listeners.value.filter(each => each.port === port) : []
    const state = listeners.kind === 'unknown' ? 'unknown' : held.length === 0 ? 'right' : 'wrong'
    const names = held.map(({ holder }) => holder.unit ?? holder.program ?? 'a process that is not known')
    mark(
      `port ${port} free`,
      [],
      names,
      state,
      listeners.kind === 'unknown' ? listeners.because : `held by ${names.join(', ')}`,
    )
  }
  return [...keys, ...markUnitsOff(unitsOnPorts(booted), booted)]
}

/** Units that hold a port of the control plane at this moment. */
function unitsOnPorts({ listeners }: Moment): readonly string[] {
  const held = listeners.kind === 'known' ? listeners.value : []
  const names = held.filter(({ port }) => CONTROL_PLANE_PORTS.includes(port)).flatMap(({ holder }) => holder.unit ?? [])
  return [...new Set(names)]
}

/** Marks whether units that held a port of the control plane are kept from starting at boot. */
export function markUnitsOff(units: readonly string[], booted: Moment): readonly MarkedKey[] {
  return units.map((unit): MarkedKey => {
    const seen = booted.unit(unit)
    const key = `${unit} disabled`
    const atBoot = seen.kind === 'known' ? seen.value.atBoot : seen
    if (atBoot.kind === 'unknown') {
      return { key, mark: 'unknown', given: null, expected: false, because: atBoot.because, line: null }
    }
    const starts = atBoot.kind === 'known' && atBoot.value
    const because = starts ? `${unit} is started at boot and takes the port again` : null
    return { key, mark: starts ? 'wrong' : 'right', given: starts, expected: false, because, line: null }
  })
}
