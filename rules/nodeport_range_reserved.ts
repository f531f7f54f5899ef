import { askText, optionsOf, piecesOf, textOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { type Cause, FALSE, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, settingRules } from './setting.js'
import type { PhaseRules } from './together.js'

const KEYS = ['net.ipv4.ip_local_reserved_ports']

interface Range {
  readonly from: number
  readonly to: number
}

/** What the API server takes where nothing else is said. */
const DEFAULT: Range = { from: 30_000, to: 32_767 }

/** `1,2-4,10-10`, as the kernel reads it. */
function rangesOf(text: string): readonly Range[] {
  return text.split(',').flatMap(part => {
    const [, from, to] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? []
    return from === undefined ? [] : [{ from: Number(from), to: Number(to ?? from) }]
  })
}

function covers(text: string, { from, to }: Range): boolean {
  let next = from
  for (const range of rangesOf(text).toSorted((left, right) => left.from - right.from)) {
    if (range.from <= next && range.to >= next) next = range.to + 1
  }
  return next > to
}

function rulesFor(range: Range): PhaseRules {
  return settingRules(KEYS, value => askText(value, text => covers(text, range)))
}

interface Asked {
  readonly range: Range
  /** Where the run gives the API server a range that is not known. */
  readonly open?: Cause
}

/** The range a configuration of the API server that the run writes gives it; else the server's own. */
function rangeOf(effects: RunEffects): Asked {
  let open: Cause | undefined
  for (const occurrence of effects.occurrences) {
    const { effect } = occurrence
    if (effect.kind !== 'file' || effect.content === undefined) continue
    const texts = optionsOf(effect.content).flatMap(({ value }) => textWith(value) ?? [])
    if (texts.length === 0 || standingOf(occurrence).kind === 'never') continue
    const [, from, to] = texts.map(text => ARGUMENT.exec(text)).find(found => found !== null) ?? []
    if (from !== undefined && to !== undefined) return { range: { from: Number(from), to: Number(to) } }
    open ??= { says: 'which range the API server is given is not known', at: effect.at, unread: true }
  }
  return open === undefined ? { range: DEFAULT } : { range: DEFAULT, open }
}

const ARGUMENT = /service-node-port-range["']?\s*(?:[:=]|\n\s*value:)\s*["']?(\d+)-(\d+)/

function textWith(content: Value): string | undefined {
  const text = piecesOf(content)
    ?.map(piece => piece ?? '…')
    .join('')
  return text?.includes('service-node-port-range') ? text : undefined
}

const known = new WeakMap<RunEffects, Asked>()

function askedRange(effects: RunEffects): Asked {
  const before = known.get(effects)
  if (before !== undefined) return before
  const asked = rangeOf(effects)
  known.set(effects, asked)
  return asked
}

/** The whole of what was reserved has to stay so. */
function rangeOfEffect(effect: Effect): Range {
  const [first] = rangesOf(reserved(effect))
  return first ?? DEFAULT
}

function reserved(effect: Effect): string {
  return effect.kind === 'sysctl' ? (textOf(effect.value) ?? '') : ''
}

function ofRange(phase: keyof PhaseRules): readonly Rule[] {
  return rulesFor(DEFAULT)[phase].map((rule, index) => ({
    ...rule,
    matches: (effect, occurrence, effects): Match => {
      const { range, open } = askedRange(effects)
      const match = rulesFor(range)[phase][index]?.matches(effect, occurrence, effects) ?? NO_MATCH
      return match.kind === 'near' && open !== undefined && rangesOf(reserved(effect)).length > 0
        ? { kind: 'could', says: `reserves ${reserved(effect)}, and may be that range`, causes: [open] }
        : match
    },
    undoneBy: (settling, ...later) =>
      rulesFor(rangeOfEffect(settling))[phase][index]?.undoneBy?.(settling, ...later) ?? FALSE,
  }))
}

export const nodeportRangeReserved: Problem = {
  id: 'nodeport_range_reserved',
  title: 'The ports of NodePort services are not reserved',
  asks: 'Who keeps the kernel from giving ports of the NodePort range to connections, and who does after a reboot?',
  requirement: {
    says: "A port of a NodePort service must not be in use on the node: the kernel has to leave the range out when it picks a connection's own port.",
    source: 'https://kubernetes.io/docs/concepts/services-networking/service/',
  },
  now: ofRange('now'),
  afterReboot: ofRange('afterReboot'),
  onHost: context => {
    const { range } = askedRange(context.effects)
    const holds = (value: Value | undefined) => askText(value, text => covers(text, range))
    return settingOnHost({ key: 'net.ipv4.ip_local_reserved_ports', holds, wanted: `${range.from}-${range.to}` })(
      context,
    )
  },
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv4.ip_local_reserved_ports = 30000-32767' > /etc/sysctl.d/99-kubernetes-nodeports.conf",
    'sysctl --system',
    'sysctl net.ipv4.ip_local_reserved_ports net.ipv4.ip_local_port_range',
  ],
  notes: alternativeFiles(KEYS),
}
