import type { OpenedInventory } from '../../analyze.js'
import type { Evidence } from '../../evidence/evidence.js'
import { type Subject, subjectOf } from '../../host/alike/question.js'
import { factsOf } from '../../host/facts/facts.js'
import { ANY_HOST } from '../../inventory/facts.js'
import { groupNamesOf, hostsOf, shortName } from '../../inventory/inventory.js'
import { formOf } from '../../jinja/address-form.js'
import type { Dict, Value } from '../../jinja/value.js'
import { UsageError } from '../../source/diagnostic.js'
import type { Fleet } from './fleet.js'

/** A host that was made ready to be compared. */
export interface Candidate {
  readonly host: string
  readonly origin: string | null
  /** What is told of it before anything is asked: hosts share answers only where this is the same text. */
  readonly station: string
  /** Whether no other host can have its station. */
  readonly isAlone: boolean
  readonly subject: Subject
  readonly missing?: string
}

/** Opens the evidence of a host; where there is none, or it cannot be read, all of it is unknown for that reason. */
export function candidateOf(fleet: Fleet, host: string): Candidate {
  const { opened, facts, named } = fleet
  const found = fleet.evidence.get(host)
  let evidence: Evidence | undefined
  let missing = `no evidence of ${host}`
  try {
    evidence = found?.open()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    missing = error.message
  }
  const captured = evidence ?? withoutEvidence(host, missing)
  const given = facts().get(host) ?? facts().get(ANY_HOST) ?? (evidence === undefined ? undefined : factsOf(evidence))
  const { inventory, beside } = opened
  const groups = groupsFor(fleet, host)
  const others = groups.flatMap(({ group, counts }) => (counts ? [] : group))
  const subject = subjectOf(captured, given, ownNames(host, opened, given, captured, others), fleet.names())
  const { mask, values } = subject.identity
  const definitions = [
    ...(inventory.hosts.get(host)?.variables ?? []),
    ...beside.flatMap(file => (file.host === host ? file.definitions : [])),
  ]
  // A group that nothing names still has its place among the others.
  const places = groups.map(({ group, counts, place }) => (counts ? [group, place] : ['', '']))
  const station = JSON.stringify([
    places,
    definitions
      .filter(named().variable)
      .map(({ name, node: { span } }) => `${name}=${mask(span.file.text.slice(span.start, span.end))}`),
    [...values].map(([what, value]) => [what, isOfMachine.test(what) ? '' : formOf(value, named().networks)]),
    facts().has(host),
    // A plain word may stand in any text: nobody shares with such a host.
    isTelling(host) ? '' : host,
    evidence === undefined ? missing : '',
  ])
  return {
    host,
    origin: evidence?.origin ?? null,
    station,
    isAlone: isAlone(host, groups),
    subject,
    ...(evidence === undefined ? { missing } : {}),
  }
}

/**
 * The hosts in the order in which they are gone through: those that have a place of their own before the others, since each of them
 * needs a run; of these the last first, since all the others delegate to the first one, whose run is the longest.
 */
export function inOrderOfWork(fleet: Fleet): readonly string[] {
  const { hosts } = fleet
  const alone = new Set(hosts.filter(host => isAlone(host, groupsFor(fleet, host))))
  return [...[...alone].reverse(), ...hosts.filter(host => !alone.has(host))]
}

/** A group of a host, and which place it has there where that is its alone. */
interface OwnGroup {
  readonly group: string
  /** Whether it may tell the host apart: not where nothing names it (racks, sites). */
  readonly counts: boolean
  readonly place: string
}

function groupsFor({ opened: { inventory }, named }: Fleet, host: string): readonly OwnGroup[] {
  return ['all', ...groupNamesOf(inventory, host)].map(group => ({
    group,
    counts: group === 'all' || !isTelling(group) || named().group(group),
    place: placeIn(hostsOf(inventory, group), host),
  }))
}

/** Whether no other host can have the station of this one. */
function isAlone(host: string, groups: readonly OwnGroup[]): boolean {
  return !isTelling(host) || groups.some(({ counts, place }) => counts && place !== '')
}

/** Whether a name is more than a plain word, so that it stands in a text for what it names only. */
function isTelling(name: string): boolean {
  return /[^A-Za-z]/.test(name)
}

/** Numbers of a machine, which say nothing by how they look. */
const isOfMachine = /machine.id|serial|uuid|mac|^⟦group /

/** Longer groups are asked for their first host, and for who is in them. */
const SMALL = 9

function placeIn(hosts: readonly string[], host: string): string {
  if (hosts.length <= SMALL) return `${hosts.indexOf(host)} of ${hosts.length}`
  return hosts[0] === host ? 'first' : hosts.at(-1) === host ? 'last' : ''
}

function withoutEvidence(host: string, because: string): Evidence {
  const unknown = { kind: 'unknown', because } as const
  return {
    host,
    origin: host,
    files: { entry: () => unknown, list: () => unknown },
    command: () => unknown,
  }
}

/** What names a host and no other: its names and addresses in the inventory, in its facts, in its files; groups nothing names. */
function ownNames(
  host: string,
  { inventory }: OpenedInventory,
  facts: Dict | undefined,
  { files }: Evidence,
  groups: readonly string[],
): readonly (readonly [string, string])[] {
  const named: (readonly [string, string])[] = [['name', host]]
  const add = (what: string, value: string | undefined): void => {
    if (value !== undefined && /[0-9.:-]/.test(value) && !shared.has(value)) named.push([what, value])
  }
  add('short name', shortName(host))
  for (const { name, node } of inventory.hosts.get(host)?.variables ?? []) {
    const value = node.kind === 'scalar' && typeof node.data === 'string' ? node.data : undefined
    if (isName.test(name)) add(name, value)
  }
  for (const name of ['nodename', 'hostname', 'fqdn', 'machine_id', 'product_serial', 'product_uuid'])
    add(name, textOf(facts?.get(name)))
  for (const family of ['default_ipv4', 'default_ipv6']) {
    for (const member of ['address', 'macaddress'])
      add(`${family}.${member}`, textOf(memberOf(facts?.get(family), member)))
  }
  for (const list of ['all_ipv4_addresses', 'all_ipv6_addresses']) {
    const value = facts?.get(list)
    const items = value?.kind === 'known' && Array.isArray(value.data) ? (value.data as readonly Value[]) : []
    for (const [index, item] of items.entries()) add(`${list} ${index + 1}`, textOf(item))
  }
  for (const file of ['/etc/hostname', '/etc/machine-id']) {
    const entry = files.entry(file)
    const content = entry.kind === 'known' && entry.value.kind === 'file' ? entry.value.content() : undefined
    if (content?.kind === 'text') add(file, content.file.text.trim().split('\n')[0])
  }
  for (const [index, group] of groups.entries()) named.push([`group ${index + 1}`, group])
  return named
}

/** Variables of a host that hold its names and addresses. */
const isName =
  /^(?:ansible_host|ansible_ssh_host|ip|ip6|access_ip|access_ip6|etcd_member_name|kube_override_hostname|etcd_address|etcd_access_address|.*_hostname|.*_address|mac|macaddress)$/

const shared: ReadonlySet<string> = new Set(['127.0.0.1', '127.0.1.1', '::1', '0.0.0.0', '::'])

function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data : undefined
}

function memberOf(value: Value | undefined, name: string): Value | undefined {
  return value?.kind === 'known' && value.data instanceof Map ? value.data.get(name) : undefined
}
