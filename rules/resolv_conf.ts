import { textOf } from '../src/effects/argument.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { type Found, textAt } from '../src/evidence/host-files.js'
import type { HostAnswer, HostContext, Look } from '../src/host/look.js'
import type { HostPlace, OperatorStep } from '../src/host/moment.js'
import {
  nameServersIn,
  nmLeavesResolvConf,
  RESOLV_CONF,
  type ResolverKind,
  resolverOf,
  type SearchedDomains,
  searchedIn,
  type Told,
  toldToDhclient,
  toldToNm,
  toldToResolved,
} from '../src/host/resolver.js'
import { type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { runsAt, unknownAnswer } from './on_host.js'
import { type FileText, textRule } from './text.js'
import { whenReadBy, whenStarts } from './unit.js'
import { putsLine } from './written.js'

/** Once a service has read the file: the run restarts it. */
function onceRead(unit: string): NonNullable<FileText['beside']> {
  return (_effect, { task }, effects) => {
    const condition = whenReadBy(unit, task, effects)
    if (condition === undefined)
      return { kind: 'near', why: `counts once ${unit} reads it, and this run does not restart it` }
    return condition === null ? SETTLES : { kind: 'settles', condition }
  }
}

const resolved: FileText = {
  says: 'tells systemd-resolved the name servers or search domains',
  places: ['/etc/systemd/resolved.conf', '/etc/systemd/resolved.conf.d/'],
  line: text => /^(DNS|FallbackDNS|Domains)\s*=\s*\S/.test(text),
}
const manager: FileText = {
  says: 'tells NetworkManager the name servers or search domains',
  places: ['/etc/NetworkManager/NetworkManager.conf', '/etc/NetworkManager/conf.d/'],
  line: text => /^(servers|searches)\s*=\s*\S/.test(text),
}
const plain: FileText = {
  says: 'writes the name servers or search domains to /etc/resolv.conf',
  places: ['/etc/resolv.conf'],
  line: text => /^(nameserver|search|domain)\s+\S/.test(text),
}
const dhclient: Rule = textRule({
  says: 'has dhclient keep the name servers or search domains',
  places: ['/etc/dhcp/dhclient.conf', '/etc/dhclient.conf'],
  line: text => /^(supersede|prepend|append)\s+(domain-name-servers|domain-search|domain-name)\s+\S/.test(text),
})

const NOW: readonly Rule[] = [
  textRule({ ...resolved, beside: onceRead('systemd-resolved.service') }),
  textRule({ ...manager, beside: onceRead('NetworkManager.service') }),
  textRule(plain),
]

/** A domain of the cluster's services: `svc.cluster.local`, `default.svc.cluster.local`. */
function isOfCluster(domain: string): boolean {
  return /(^|\.)svc\./.test(domain.replace(/^~/, ''))
}

function clusterIn(searched: readonly SearchedDomains[]): SearchedDomains | undefined {
  return searched.find(({ domains }) => domains.some(isOfCluster))
}

/** Whether the run tells some resolver of the cluster: a host may do without. */
function isAsked(effects: RunEffects): boolean {
  return effects.occurrences.some(
    occurrence =>
      !occurrence.asWritten &&
      standingOf(occurrence).kind !== 'never' &&
      [...NOW, dhclient].some(rule =>
        ['settles', 'could', 'near'].includes(rule.matches(occurrence.effect, occurrence, effects).kind),
      ),
  )
}

/** A line that has the cluster's domains searched: of resolv.conf, of resolved.conf, of NetworkManager, of dhclient. */
const CLUSTER_LINE = /^(?:(?:search|domain)\s|Domains\s*=|searches\s*=|supersede\s+domain-search\s).*\bsvc\./m

/** The files the run puts where a service looks; what stands in them is perhaps not known whole. */
function filesIn(directory: string, { occurrences }: RunEffects): readonly string[] {
  const paths = occurrences.flatMap(({ effect }) => (effect.kind === 'file' ? (textOf(effect.path) ?? []) : []))
  return [...new Set(paths)].filter(path => path.startsWith(directory) && path.endsWith('.conf'))
}

const DIRECTORIES: Partial<Record<ResolverKind, string>> = {
  'systemd-resolved': '/etc/systemd/resolved.conf.d/',
  NetworkManager: '/etc/NetworkManager/conf.d/',
}

/** The file by which the run certainly tells a service of the cluster's domains. */
function putFor(kind: ResolverKind, effects: RunEffects): string | undefined {
  const directory = DIRECTORIES[kind]
  if (directory === undefined) return undefined
  return filesIn(directory, effects).find(path => putsLine([path], CLUSTER_LINE, effects))
}

/** What one way of resolving comes to: the cluster is known by it, or not, or that is open. */
type Finding =
  | { readonly kind: 'told'; readonly place: HostPlace }
  | {
      readonly kind: 'not'
      readonly says: string
      readonly places: readonly HostPlace[]
      readonly steps?: readonly OperatorStep[]
    }
  | {
      readonly kind: 'open'
      readonly says: string
      readonly places: readonly HostPlace[]
      readonly steps?: readonly OperatorStep[]
    }

const UNITS: Partial<Record<ResolverKind, string>> = {
  'systemd-resolved': 'systemd-resolved.service',
  NetworkManager: 'NetworkManager.service',
}

const TELL: Partial<Record<ResolverKind, (files: HostContext['moment']['files']) => Told>> = {
  'systemd-resolved': toldToResolved,
  NetworkManager: toldToNm,
}

/** What a service that makes /etc/resolv.conf is told. */
function ofService(kind: ResolverKind, place: HostPlace, context: HostContext): Finding {
  const { moment, before, phase, effects } = context
  const [unit, tell] = [UNITS[kind], TELL[kind]]
  if (unit === undefined || tell === undefined)
    return {
      kind: 'open',
      says: `${kind} makes /etc/resolv.conf, and what it is told is not worked out`,
      places: [place],
    }
  if (phase === 'afterReboot') {
    const starts = runsAt(unit, context)
    const enable: OperatorStep = { says: `have ${kind} start at boot`, command: `systemctl enable --now ${unit}` }
    if (starts.kind === 'unknown')
      return {
        kind: 'open',
        says: `whether ${unit}, which makes /etc/resolv.conf, is started at boot is not known: ${starts.because}`,
        places: [place],
      }
    if (starts.kind === 'absent' || !starts.value)
      return {
        kind: 'not',
        says: `nothing starts ${unit} at boot, and /etc/resolv.conf is what it makes`,
        places: [place],
        steps: [enable],
      }
  }
  const { searched, unknown } = tell(moment.files)
  const put = phase === 'now' || moment.files === before.files ? undefined : putFor(kind, effects)
  const told = clusterIn(searched)?.place ?? (put === undefined ? undefined : { file: put })
  if (told === undefined) {
    const [because] = unknown
    return because === undefined
      ? {
          kind: 'not',
          says: `the host resolves by ${kind}, which knows nothing of the cluster's domains`,
          places: [place],
        }
      : { kind: 'open', says: `what ${kind} is told is not known: ${because}`, places: [place] }
  }
  const wasTold = clusterIn(tell(before.files).searched) !== undefined
  if (phase === 'afterRun' && !wasTold && whenStarts(unit, 'now', effects) === undefined)
    return {
      kind: 'not',
      says: `${kind} is told of the cluster's domains, and the run does not restart it`,
      places: [told],
      steps: [{ says: 'have it read them', command: `systemctl restart ${unit}` }],
    }
  return { kind: 'told', place: told }
}

/** What /etc/resolv.conf says as a file of its own; at boot others may write it anew. */
function ofFile(place: HostPlace, context: HostContext): Finding {
  const { moment, phase, effects } = context
  const { files } = moment
  if (phase === 'afterReboot') {
    const starts = runsAt('NetworkManager.service', context)
    const mayStart = starts.kind === 'unknown' || (starts.kind === 'known' && starts.value)
    if (mayStart && !nmLeavesResolvConf(files)) {
      const told = clusterIn(toldToNm(files).searched)
      if (told === undefined)
        return {
          kind: 'open',
          says:
            starts.kind === 'unknown'
              ? `whether NetworkManager, which writes /etc/resolv.conf anew, is started at boot is not known: ${starts.because}`
              : "NetworkManager is started at boot and writes /etc/resolv.conf anew; it is not told of the cluster's domains",
          places: [place],
        }
    }
    const dhcp: Found<readonly SearchedDomains[]> = toldToDhclient(files)
    if (dhcp.kind === 'unknown' && !putsLine(['/etc/dhcp/dhclient.conf', '/etc/dhclient.conf'], CLUSTER_LINE, effects))
      return {
        kind: 'open',
        says: `whether dhclient writes /etc/resolv.conf anew at boot is not known: ${dhcp.because}`,
        places: [place],
      }
    if (dhcp.kind === 'known' && clusterIn(dhcp.value) === undefined)
      return {
        kind: 'open',
        says: 'dhclient writes /etc/resolv.conf anew at boot where an interface asks DHCP, and whether one does is not known',
        places: [place],
      }
  }
  const text = textAt(files, RESOLV_CONF)
  if (text.kind === 'known') {
    const told = clusterIn(searchedIn(text.value.text, RESOLV_CONF))
    if (told !== undefined) return { kind: 'told', place: told.place }
    const isPast =
      clusterIn(toldToResolved(files).searched) !== undefined ||
      (phase !== 'now' && putFor('systemd-resolved', effects) !== undefined)
    const leads: OperatorStep = {
      says: 'have it lead to what systemd-resolved makes',
      command: 'ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf',
    }
    return isPast
      ? {
          kind: 'not',
          says: "systemd-resolved is told of the cluster's domains, and /etc/resolv.conf does not lead to it",
          places: [place],
          steps: [leads],
        }
      : { kind: 'not', says: "/etc/resolv.conf has none of the cluster's domains", places: [place] }
  }
  if (phase !== 'now' && putsLine([RESOLV_CONF], CLUSTER_LINE, effects)) return { kind: 'told', place }
  return {
    kind: 'open',
    says: text.kind === 'unknown' ? text.because : 'there is no /etc/resolv.conf',
    places: [place],
  }
}

/** Whether the host's resolver knows of the cluster, by what makes /etc/resolv.conf; a host that is not asked to may do without. */
const resolverOnHost: Look = context => {
  const { moment, before, phase, effects } = context
  const found = resolverOf(moment.files)
  if (found.kind === 'absent') {
    const step: OperatorStep = {
      says: 'give the host a name server (ADDRESS), or have upstream_dns_servers name one',
      command: "echo 'nameserver ADDRESS' >> /etc/resolv.conf",
    }
    return { state: 'problem', says: 'there is no /etc/resolv.conf', places: [{ file: RESOLV_CONF }], steps: [step] }
  }
  // Where the run leaves its text open, who makes it is known from before.
  const known = found.kind === 'known' || phase === 'now' ? found : resolverOf(before.files)
  if (known.kind !== 'known') {
    const because = found.kind === 'unknown' ? found.because : 'there was no /etc/resolv.conf'
    return unknownAnswer(`what the host resolves names by is not known: ${because}`)
  }
  const { kind, place } = known.value
  const empty = withoutServers(context)
  if (empty !== undefined) return empty
  const finding = kind === 'file' ? ofFile(place, context) : ofService(kind, place, context)
  if (finding.kind === 'told')
    return {
      state: 'ok',
      says: `the host is told of the cluster's domains (${kind === 'file' ? '/etc/resolv.conf' : kind})`,
      places: [finding.place],
      steps: [],
    }
  const { says, places, steps = [] } = finding
  if (!isAsked(effects))
    return {
      state: 'unneeded',
      says: `${says}; the run does not ask for them, and Kubernetes does without`,
      places,
      steps: [],
    }
  return finding.kind === 'not' ? { state: 'problem', says, places, steps } : { ...unknownAnswer(says, places), steps }
}

/** A file without any name server: a run that takes the cluster's upstream from it stops there. */
function withoutServers({ moment, phase }: HostContext): HostAnswer | undefined {
  const text = textAt(moment.files, RESOLV_CONF)
  // What is made at boot is not there yet.
  if (phase === 'afterReboot' || text.kind !== 'known' || nameServersIn(text.value.text).length > 0) return undefined
  return {
    state: 'problem',
    says: 'there is no name server in /etc/resolv.conf',
    places: [{ file: RESOLV_CONF }],
    steps: [
      {
        says: 'give the host a name server (ADDRESS), or have upstream_dns_servers name one',
        command: "echo 'nameserver ADDRESS' >> /etc/resolv.conf",
      },
    ],
  }
}

export const resolvConf: Problem = {
  id: 'resolv_conf',
  title: 'The host does not resolve names of the cluster',
  asks: "Who tells the host's resolver of the cluster's name servers and domains, and who keeps it so?",
  requirement: {
    says: "What runs on the host's network, and each pod with the DNS policy Default, resolves names as the host does.",
    source: 'https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/',
  },
  now: NOW,
  afterReboot: [
    textRule(resolved),
    textRule(manager),
    dhclient,
    textRule({
      ...plain,
      beside: () => ({ kind: 'settles', condition: 'nothing on the host writes /etc/resolv.conf anew at boot' }),
    }),
  ],
  onHost: resolverOnHost,
  powers: ['changes-network'],
  byHand: [
    'resolvectl status || cat /etc/resolv.conf',
    "printf '[Resolve]\\nDNS=169.254.25.10\\nDomains=default.svc.cluster.local svc.cluster.local\\n' > /etc/systemd/resolved.conf.d/cluster.conf",
    'systemctl restart systemd-resolved',
  ],
}
