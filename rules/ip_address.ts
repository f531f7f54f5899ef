import { causesOf, optionsOf, piecesOf, showValue } from '../src/effects/argument.js'
import type { FileChange } from '../src/effects/effect.js'
import type { Occurrence } from '../src/effects/run-effects.js'
import { mergeCauses, type Value } from '../src/jinja/value.js'
import type { Run } from '../src/run/task-run.js'
import { placeOf } from '../src/source/text.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule } from '../src/verdicts/problem.js'
import { stopsUnless } from './check.js'
import { checkedOnHost } from './on_host.js'

const RIGHT = 'that address is the one the cluster is meant to use'

/** `ip address add …` and its like: the host has an address more (until the next boot). */
const adds: Rule = {
  says: 'gives the host an address',
  matches: effect => {
    if (effect.kind !== 'network') return NO_MATCH
    const words = showValue(effect.says).split(/\s+/)
    const about = words.findIndex(word => /^a(d(d(r(e(ss?)?)?)?)?)?$/.test(word))
    return about !== -1 && /^(add|replace|change)$/.test(words[about + 1] ?? '')
      ? { kind: 'settles', condition: RIGHT }
      : NO_MATCH
  },
}

const NETWORK_FILES =
  /^\/etc\/(netplan\/[^/]+\.ya?ml|systemd\/network\/[^/]+\.network|NetworkManager\/system-connections\/[^/]+|sysconfig\/network-scripts\/ifcfg-[^/]+|sysconfig\/network\/ifcfg-[^/]+|network\/interfaces(\.d\/[^/]+)?)$/

const configures: Rule = {
  says: 'has the host configure an address at each boot',
  matches: effect => {
    if (effect.kind !== 'file' || (effect.change !== 'written' && effect.change !== 'line')) return NO_MATCH
    const path = piecesOf(effect.path)
      ?.map(piece => piece ?? '…')
      .join('')
    if (path === undefined || !NETWORK_FILES.test(path)) return NO_MATCH
    const text = effect.content === undefined ? undefined : piecesOf(effect.content)
    if (text === undefined || effect.contentUnsure !== undefined) {
      const causes = effect.content === undefined ? [] : causesOf(effect.content)
      return { kind: 'could', says: 'which address the file names is not known', causes }
    }
    // A file for its sake without an address of its own asks DHCP, as before.
    return /^\s*(-\s*)?(IPADDR\d*|addresses|address\d*)\b/im.test(text.map(piece => piece ?? '…').join(''))
      ? { kind: 'settles', condition: RIGHT }
      : NO_MATCH
  },
}

/** Settings that say which address a daemon listens on or gives out as its own, by the daemon. */
const BINDINGS: readonly (readonly [daemon: string, setting: RegExp])[] = [
  ['etcd', /^ETCD_LISTEN_CLIENT_URLS=https?:\/\/$/],
  ['the API server', /^\s*advertiseAddress: "?$/],
]

interface Binding {
  readonly daemon: string
  /** What stands for the address: its text, or undefined where it is not known. */
  readonly address: string | undefined
}

/** Which daemons a file has listen on which address. */
function bindingsOf({ change, content }: FileChange): readonly Binding[] {
  if (change !== 'written' || content === undefined) return []
  return optionsOf(content).flatMap(({ value }) => bindingsIn(piecesOf(value) ?? []))
}

function bindingsIn(pieces: readonly (string | null)[]): readonly Binding[] {
  return BINDINGS.flatMap(([daemon, setting]) => {
    for (const [index, piece] of pieces.entries()) {
      if (piece === null) continue
      const lines = piece.split('\n')
      const open = pieces[index + 1] === null && setting.test(lines.at(-1) ?? '')
      if (open) return [{ daemon, address: undefined }]
      for (const line of lines) {
        const parts = /^(.*?(?:https?:\/\/|: "?))(\[[^\]]+\]|[\d.]+|[\da-fA-F:]+:[\da-fA-F:]+)/.exec(line)
        if (parts?.[1] !== undefined && setting.test(parts[1])) return [{ daemon, address: parts[2] }]
      }
    }
    return []
  })
}

/** Where the content comes from: names that only the host decides. */
function deciding(content: Value): readonly string[] {
  const names = mergeCauses(causesOf(content)).flatMap(({ name }) => (name === undefined ? [] : [name]))
  return [...new Set(names)].filter(name => /(^|\.|_)(ip|ips|ipv4|ipv6|address|addresses)(\b|_)/.test(name))
}

const listens: Rule = {
  says: 'has Kubernetes listen on an address of the host',
  matches: (effect): Match => {
    if (effect.kind !== 'file') return NO_MATCH
    const [binding] = bindingsOf(effect)
    if (binding === undefined) return NO_MATCH
    const why = `has ${binding.daemon} use an address the host already has: it gives the host none`
    return { kind: 'near', why, closest: true }
  },
}

/** Facts that the playbook sets by these names are addresses it works out for the host. */
const WORKED_OUT = /^(main_(access_)?ips?|fallback_ips?)$/

/** The tasks that work an address out of `ip`, `access_ip` and the default route, and what comes of it. */
function workedOut(run: Run): readonly string[] {
  const names = new Map<string, Set<string>>()
  for (const task of run.tasks) {
    if (!/(^|\.)set_fact$/.test(task.task.module)) continue
    for (const [name, value] of task.invocations.flatMap(each => [...each.arguments])) {
      if (!WORKED_OUT.test(name)) continue
      const outcome = `${inShort(value)} (${placeOf(task.task.at)})`
      names.set(outcome, (names.get(outcome) ?? new Set()).add(`\`${name}\``))
    }
  }
  return [...names].map(([outcome, set]) => `${[...set].join(', ')}: ${outcome}`)
}

function inShort(value: Value): string {
  const shown = showValue(value).replaceAll(/\s+/g, ' ').trim()
  const names = deciding(value)
  return shown.includes('…') && names.length > 0 ? `made of ${names.join(' and ')}` : shown
}

function notesOn(occurrences: readonly Occurrence[]): readonly Note[] {
  const seen = new Set<string>()
  const bound = occurrences.flatMap(about => {
    const { effect } = about
    if (effect.kind !== 'file') return []
    return bindingsOf(effect).flatMap(({ daemon, address }) => {
      const from = address ?? (effect.content === undefined ? [] : deciding(effect.content)).join(' or ')
      const says = `${daemonAtStart(daemon)} uses ${from}.`
      if (from === '') return []
      if (seen.has(says)) return []
      seen.add(says)
      return [{ says, about }]
    })
  })
  const run = occurrences[0]?.run
  const ways = run === undefined ? [] : workedOut(run)
  if (bound.length === 0 || ways.length === 0) return bound
  const says = `What the run works the address out to be: ${ways.join('; ')}.`
  return [...bound, { says, about: undefined }]
}

function daemonAtStart(daemon: string): string {
  return daemon === 'etcd' ? daemon : daemon.replace(/^t/, 'T')
}

const checks = stopsUnless('`ip` is an address of the host', [
  'ip',
  'ansible_facts.all_ipv4_addresses',
  'ansible_facts.all_ipv6_addresses',
])

export const ipAddress: Problem = {
  id: 'ip_address',
  title: 'The host has no address, or not the right one, for the API server and etcd',
  asks: 'Who gives the host its address, and who decides which one the API server and etcd listen on?',
  requirement: {
    says: 'The API server and etcd listen on an address of the host that every other node reaches and that stays the same.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/create-cluster-kubeadm/',
  },
  now: [adds, listens, checks],
  afterReboot: [configures, listens, checks],
  onHost: checkedOnHost(['ansible_facts.all_ipv4_addresses', 'ansible_facts.all_ipv6_addresses'], {
    says: 'give ip an address the host has, and the public one to access_ip',
    command: 'ip -brief address',
  }),
  powers: ['changes-network'],
  byHand: [
    'ip -brief address',
    'ip route get 1.1.1.1   # src is the address of the default route',
    'ansible-inventory --host HOST   # ip, access_ip, ip6',
  ],
  notes: notesOn,
}
