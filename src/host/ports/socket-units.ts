import type { HostPlace } from '../moment.js'
import { triggeredBy } from '../units/boot-reach.js'
import { type UnitFiles, unitNames } from '../units/unit-files.js'
import { last, listed, withSpecifiers } from '../units/unit-syntax.js'
import { plainIpv6 } from './tcp-sockets.js'

/** A socket unit that listens on a port. */
export interface SocketUnit {
  readonly unit: string
  /** What it starts: a service, or with `Accept=yes` a template of which each connection gets an instance. */
  readonly starts: string
  readonly place: HostPlace
}

/**
 * The socket units whose `ListenStream=` (drop-ins and resets counted, man systemd.socket) is a TCP port on an address: those that
 * name the very address before those that name every address. `open` says why there may be others.
 */
export function socketUnitsOn(
  all: UnitFiles,
  address: string,
  port: number,
): { readonly units: readonly SocketUnit[]; readonly open: readonly string[] } {
  const { names, open } = unitNames(all, 'socket')
  const more = [...open]
  const found: { readonly unit: SocketUnit; readonly exact: boolean }[] = []
  for (const name of names) {
    if (/@\.socket$/.test(name)) continue
    const loaded = all.unit(name)
    if (loaded.kind === 'unknown') more.push(loaded.because)
    if (loaded.kind !== 'known' || loaded.value.masked || loaded.value.name !== name) continue
    const { settings } = loaded.value
    const onlyIpv6 = last(settings, 'Socket', 'BindIPv6Only')?.value === 'ipv6-only'
    for (const setting of listed(settings, 'Socket', 'ListenStream')) {
      const value = withSpecifiers(setting.value, name)
      const fit = value === undefined ? undefined : fitOf(value, address, port, onlyIpv6)
      if (fit === undefined) continue
      const starts = triggeredBy(name, settings)?.unit ?? name
      found.push({ unit: { unit: name, starts, place: setting.place }, exact: fit === 'exact' })
      break
    }
  }
  const exact = found.filter(each => each.exact)
  return { units: (exact.length > 0 ? exact : found).map(({ unit }) => unit), open: more }
}

/** A TCP port that a socket unit listens on; every address is `::`. */
export interface SocketPort extends SocketUnit {
  readonly port: number
  readonly address: string
}

/** The TCP ports of all socket units, whether or not they are started. */
export function portsOfSocketUnits(all: UnitFiles): readonly SocketPort[] {
  return unitNames(all, 'socket').names.flatMap((name): readonly SocketPort[] => {
    const loaded = all.unit(name)
    if (/@\.socket$/.test(name) || loaded.kind !== 'known' || loaded.value.masked || loaded.value.name !== name)
      return []
    const { settings } = loaded.value
    const starts = triggeredBy(name, settings)?.unit ?? name
    return listed(settings, 'Socket', 'ListenStream').flatMap(setting => {
      const value = withSpecifiers(setting.value, name) ?? ''
      const alone = /^[0-9]+$/.test(value) ? value : undefined
      const found = ADDRESSED.exec(value)
      const port = Number(alone ?? found?.[3])
      if (!Number.isInteger(port)) return []
      const address = found?.[2] ?? plainIpv6(found?.[1] ?? '') ?? '::'
      return [{ unit: name, starts, place: setting.place, port, address }]
    })
  })
}

const ADDRESSED = /^(?:\[([^\]]+)\]|([0-9.]+)):([0-9]+)(?:%.+)?$/

/** A port alone is on every address: `[::]` with IPv4 in it, or `0.0.0.0` on a host without IPv6. */
function fitOf(value: string, address: string, port: number, onlyIpv6: boolean): 'exact' | 'any' | undefined {
  if (/^[0-9]+$/.test(value)) {
    if (Number(value) !== port) return undefined
    return address === '::' ? 'exact' : address === '0.0.0.0' && !onlyIpv6 ? 'any' : undefined
  }
  const found = ADDRESSED.exec(value)
  if (found === null || Number(found[3]) !== port) return undefined
  const named = found[2] ?? plainIpv6(found[1] ?? '')
  return named === address ? 'exact' : undefined
}
