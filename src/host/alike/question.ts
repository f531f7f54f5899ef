import { createHash } from 'node:crypto'
import type { Evidence } from '../../evidence/evidence.js'
import type { Content, Entry, Found } from '../../evidence/host-files.js'
import { shortName } from '../../inventory/inventory.js'
import type { Dict, Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import { once } from '../../source/once.js'
import { capturedMoment } from '../captured.js'
import { hostsLineOf, isLoopback } from '../hosts-file.js'
import type { Listener, Moment, Seen } from '../moment.js'
import { exchange, type Identity, identityOf } from './identity.js'

/** A host as questions are put to it: all that a run can learn of it. */
export interface Subject {
  readonly evidence: Evidence
  readonly moment: Moment
  /** Facts that were given, else those its evidence decides; undefined where there are none. */
  readonly facts: Dict | undefined
  readonly identity: Identity
  /** Numbers of processes and names of containers that hold ports: they pass with them. */
  readonly passing: Identity
  /** The names of the hosts it is compared with, and its own. */
  readonly hosts: ReadonlySet<string>
  /** What it has answered so far. */
  readonly answered: Map<string, string>
}

/** One question, with the host's own names in it as placeholders, so that it can be put to another host. */
export interface Question {
  readonly kind: keyof typeof ways
  readonly about: string
  /** Kind and subject in one text. */
  readonly key: string
}

/** A question of a kind about something: a path, the name of a unit, words of a command. */
export function questionOf(kind: Question['kind'], about: string): Question {
  return { kind, about, key: `${kind} ${about}` }
}

/** The subject of a host: its own names are those given and what tells its processes and containers apart. */
export function subjectOf(
  evidence: Evidence,
  facts: Dict | undefined,
  named: readonly (readonly [string, string])[],
  hosts: ReadonlySet<string>,
): Subject {
  const moment = capturedMoment(evidence)
  return {
    evidence,
    moment,
    facts,
    identity: identityOf(named),
    passing: identityOf(passingOf(moment)),
    hosts,
    answered: new Map(),
  }
}

/** A host under the names of another, whose run it is to be put in the place of. Its processes keep their numbers. */
export function dressedAs({ evidence, facts, identity, passing, hosts }: Subject, other: Identity): Subject {
  // Also what it says of the other: a list of all hosts names both.
  const exchanged = exchange(identity, other)
  const entries = new Map<string, Found<Entry>>()
  const entry = (path: string): Found<Entry> => {
    const before = entries.get(path)
    if (before !== undefined) return before
    const found = evidence.files.entry(exchanged(path))
    const dressed: Found<Entry> =
      found.kind === 'known' ? { kind: 'known', value: dressedEntry(found.value, exchanged) } : found
    entries.set(path, dressed)
    return dressed
  }
  const dressed: Evidence = {
    host: exchanged(evidence.host),
    origin: evidence.origin,
    files: {
      entry,
      list: path => {
        const found = evidence.files.list(exchanged(path))
        return found.kind === 'known' ? { kind: 'known', value: found.value.map(exchanged) } : found
      },
    },
    command: words => {
      const found = evidence.command(words.map(exchanged))
      return found.kind === 'known'
        ? { kind: 'known', value: { ...found.value, stdout: exchanged(found.value.stdout) } }
        : found
    },
  }
  const moment = capturedMoment(dressed)
  return { evidence: dressed, moment, facts, identity: other, passing, hosts, answered: new Map() }
}

function dressedEntry(entry: Entry, theirs: (text: string) => string): Entry {
  const path = theirs(entry.path)
  if (entry.kind === 'link') return { ...entry, path, target: theirs(entry.target) }
  if (entry.kind !== 'file') return { ...entry, path }
  const content = (): Content => {
    const before = entry.content()
    return before.kind === 'text'
      ? { kind: 'text', file: { path: theirs(before.file.path), text: theirs(before.file.text) } }
      : before
  }
  return { ...entry, path, content: once(content) }
}

/** Processes and containers that hold ports: their numbers differ between hosts that are otherwise the same. */
function passingOf({ listeners }: Moment): readonly (readonly [string, string])[] {
  if (listeners.kind !== 'known') return []
  return listeners.value.flatMap(({ port, holder: { pids, container, unit } }) => [
    ...pids.map(
      (pid, index) => [index === 0 ? `PID of port ${port}` : `PID ${index + 1} of port ${port}`, `${pid}`] as const,
    ),
    ...(container?.id === undefined ? [] : [[`container of port ${port}`, container.id] as const]),
    ...(unit !== undefined && /^session-.*\.scope$/.test(unit) ? [[`session of port ${port}`, unit] as const] : []),
  ])
}

/** What a host answers, in a form that is equal for two hosts where nothing of the answer tells them apart but their own names. */
export function answerTo(subject: Subject, { kind, about, key }: Question): string {
  const { mask, unmask } = subject.identity
  const known = subject.answered.get(key)
  if (known !== undefined) return known
  const answer = mask(ways[kind](subject, unmask(about)))
  subject.answered.set(key, answer)
  return answer
}

const ways = {
  entry: ({ evidence }: Subject, path: string): string => found(evidence.files.entry(path), entryText),
  size: ({ evidence }: Subject, path: string): string => found(evidence.files.entry(path), ({ size }) => `${size}`),
  content: (subject: Subject, path: string): string =>
    found(subject.evidence.files.entry(path), entry =>
      entry.kind === 'file' ? contentText(subject, path, entry.content()) : entry.kind,
    ),
  whole: ({ evidence, identity }: Subject, path: string): string =>
    found(evidence.files.entry(path), entry => {
      const content = entry.kind === 'file' ? entry.content() : undefined
      return content?.kind === 'text' ? digest(identity.mask(content.file.text)) : entry.kind
    }),
  list: ({ evidence }: Subject, path: string): string => found(evidence.files.list(path), names => names.join('\n')),
  processes: processesText,
  command: ({ evidence }: Subject, words: string): string =>
    found(
      evidence.command(JSON.parse(words) as readonly string[]),
      ({ status, stdout }) => `${status} ${digest(withoutPassing(words, stdout))}`,
    ),
  sysctl: ({ moment }: Subject, key: string): string => seen(moment.sysctl(key), value => value),
  module: ({ moment }: Subject, name: string): string =>
    found(moment.module(name), value => value) + filesOf(moment.module(name)),
  unit: ({ moment }: Subject, name: string): string => seen(moment.unit(name), value => JSON.stringify(value)),
  swap: ({ moment }: Subject): string => seen(moment.swap, value => JSON.stringify(value)),
  listeners: ({ moment, passing }: Subject): string =>
    found(moment.listeners, value => JSON.stringify(value.map(each => listenerText(each, passing)))) +
    filesOf(moment.listeners),
  fact: ({ facts }: Subject, path: string): string => factText(factAt(facts, JSON.parse(path) as readonly string[])),
  facts: ({ facts }: Subject, path: string): string => {
    const dict = dictAt(facts, JSON.parse(path) as readonly string[])
    if (dict === undefined) return 'none'
    const names = [...dict.keys()].map(String)
    return JSON.stringify([names.length > 30, names.filter(name => !passingFacts.has(name))])
  },
} as const satisfies Record<string, (subject: Subject, about: string) => string>

/** Facts that are there or not by what the host does at the moment: who wants one asks for it by name. */
const passingFacts: ReadonlySet<string> = new Set(['swapfree_mb'])

function found<T>(answer: Found<T>, text: (value: T) => string): string {
  return answer.kind === 'known' ? `= ${text(answer.value)}` : answer.kind === 'absent' ? '-' : `? ${answer.because}`
}

function seen<T>(answer: Seen<T>, text: (value: T) => string): string {
  return `${found(answer, text)} ${JSON.stringify(answer.places)}`
}

/** Where what says so stands in a table of the kernel, its line says nothing. */
function filesOf({ places }: Seen<unknown>): string {
  return [...new Set(places.map(({ file }) => file))].join(' ')
}

function entryText(entry: Entry): string {
  const { kind, mode, uid, gid } = entry
  return `${kind} ${entry.path} ${mode} ${uid} ${gid}${entry.kind === 'link' ? ` ${entry.target}` : ''}`
}

function contentText(subject: Subject, path: string, content: Content): string {
  if (content.kind === 'withheld') return `withheld ${content.because}`
  if (content.kind === 'binary') return `binary ${digest(content.bytes)}`
  const change = partlyAsked.find(({ is }) => is.test(path))?.without
  const { text } = content.file
  return digest(subject.identity.mask(change === undefined ? text : change(text, subject)))
}

/** Files that differ from moment to moment, or from host to host: what is left out of them nothing asks for. */
const partlyAsked: readonly { readonly is: RegExp; readonly without: (text: string, subject: Subject) => string }[] = [
  // Use counts, who uses it, addresses: which modules there are is asked, and in which state.
  {
    is: /^\/proc\/modules$/,
    without: text =>
      text
        .replaceAll(/^(\S+ \d+) \d+ \S+ (\S+) \S+/gm, '$1 $2')
        .split('\n')
        .sort()
        .join('\n'),
  },
  // Where it names all hosts, each has its own place in it.
  { is: /^\/etc\/hosts$/, without: withoutOtherHosts },
  { is: /^\/proc\/cpuinfo$/, without: text => text.replaceAll(/^(cpu MHz|bogomips)\s*:.*$/gim, '') },
]

/** The lines of a hosts file, without those that name nothing but other hosts. */
function withoutOtherHosts(text: string, { evidence: { host }, hosts }: Subject): string {
  const isOwn = (name: string): boolean => shortName(name) === shortName(host)
  const isOther = (name: string): boolean => (hosts.has(name) || hosts.has(shortName(name))) && !isOwn(name)
  const lines = text.split('\n').flatMap((line, index) => {
    const said = hostsLineOf(line)
    if (said === undefined) return line
    if (said.names.every(isOther)) return []
    // Which line names the host by a loopback address is told.
    return said.names.some(isOwn) && isLoopback(said.address) ? `${index + 1}: ${line}` : line
  })
  return lines.join('\n')
}

function listenerText({ port, address, holder }: Listener, { mask }: Identity): unknown {
  const { pids, container, unit, ...rest } = holder
  const id = container?.id === undefined ? undefined : mask(container.id)
  const own = unit === undefined ? undefined : mask(unit)
  return { port, address, rest, pids: pids.map(pid => mask(String(pid))), container: { ...container, id }, unit: own }
}

/** Processes by what they are, whatever their numbers: what holds ports is asked of the listeners. */
function processesText({ evidence: { files } }: Subject): string {
  return found(files.list('/proc'), names =>
    names
      .filter(name => /^[0-9]+$/.test(name) && name !== '1')
      .map(pid => {
        const text = (name: string): string => {
          const entry = files.entry(`/proc/${pid}/${name}`)
          const content = entry.kind === 'known' && entry.value.kind === 'file' ? entry.value.content() : undefined
          return content?.kind === 'text' ? content.file.text.trim() : entry.kind
        }
        return `${text('comm')} ${withoutSessions(text('cgroup'))}`
      })
      .sort()
      .join('\n'),
  )
}

function withoutSessions(text: string): string {
  return text.replaceAll(/[0-9a-f]{32,}/g, 'ID').replaceAll(/session-[a-z]?[0-9]+\.scope/g, 'session.scope')
}

/** Units that come and go: sessions, devices, mounts of containers. Nothing asks for them by name. */
const passingUnit =
  /^[●*\s]*(?:session-|user@|user-|user-runtime-dir@|run-|dev-|sys-|docker-|crio-|cri-|libpod-|netns-)/

function withoutPassing(words: string, stdout: string): string {
  if (!words.includes('list-units')) return stdout
  return stdout
    .split('\n')
    .filter(line => !passingUnit.test(line))
    .map(line => line.trim().split(/\s+/).slice(0, 4).join(' '))
    .sort()
    .join('\n')
}

function digest(content: string | Uint8Array): string {
  return createHash('sha1').update(content).digest('base64')
}

/** The fact at a path of names. */
export function factAt(facts: Dict | undefined, path: readonly string[]): Value | undefined {
  const last = path.at(-1)
  return last === undefined ? undefined : dictAt(facts, path.slice(0, -1))?.get(last)
}

function dictAt(facts: Dict | undefined, path: readonly string[]): Dict | undefined {
  let at = facts
  for (const name of path) {
    const value = at?.get(name)
    at = value?.kind === 'known' && value.data instanceof Map ? value.data : undefined
  }
  return at
}

/** Members of results that seldom anybody reads, and that differ between hosts of which nothing else does. */
export const seldomRead = ['size', 'examined'] as const

/** An answer to a task as a text, equal for equal ones; without the members that nothing reads. */
export function answeredText(answered: Answered | undefined, unread: ReadonlySet<string>): string {
  if (answered === undefined) return 'none'
  const text = (value: Value): string => dataText(value, unread)
  if (answered.kind === 'whole') return `whole ${text(answered.value)}`
  return [...answered.fields]
    .filter(([name]) => !unread.has(name))
    .map(([name, value]) => `${name}: ${text(value)}`)
    .join('\n')
}

/** A mapping is asked for its members. */
function factText(value: Value | undefined): string {
  if (value === undefined) return 'none'
  switch (value.kind) {
    case 'known':
      return value.data instanceof Map ? 'mapping' : dataText(value)
    case 'unknown':
      return `? ${value.causes.map(({ says }) => says).join('; ')} ${value.fields === undefined ? '' : dataText({ kind: 'known', data: value.fields })}`
    default:
      return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
  }
}

function dataText(value: Value, unread: ReadonlySet<string> = noNames): string {
  if (value.kind !== 'known') return factText(value)
  const { data } = value
  if (Array.isArray(data)) return `[${(data as readonly Value[]).map(each => dataText(each, unread)).join(', ')}]`
  if (data instanceof Map) {
    const members = [...(data as Dict)].filter(([key]) => !unread.has(String(key)))
    return `{${members.map(([key, each]) => `${String(key)}: ${dataText(each, unread)}`).join(', ')}}`
  }
  return typeof data === 'bigint' ? `${data}n` : JSON.stringify(data)
}

const noNames: ReadonlySet<string> = new Set()
