import { askText, optionsOf, piecesOf, textOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import type { Value } from '../src/jinja/value.js'
import type { Problem, Rule } from '../src/verdicts/problem.js'
import { standingOf } from '../src/verdicts/standing.js'
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

/** The range a configuration of the API server that the run writes gives it; else the server's own. */
function rangeOf(effects: RunEffects): Range {
  for (const occurrence of effects.occurrences) {
    const { effect } = occurrence
    if (effect.kind !== 'file' || effect.content === undefined) continue
    const found = optionsOf(effect.content).map(({ value }) => rangeIn(value))[0]
    if (found !== undefined && standingOf(occurrence).kind !== 'never') return found
  }
  return DEFAULT
}

const ARGUMENT = /service-node-port-range["']?\s*(?:[:=]|\n\s*value:)\s*["']?(\d+)-(\d+)/

function rangeIn(content: Value): Range | undefined {
  const text = piecesOf(content)
    ?.map(piece => piece ?? '…')
    .join('')
  const [, from, to] = (text?.includes('service-node-port-range') && ARGUMENT.exec(text)) || []
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) }
}

const ranges = new WeakMap<RunEffects, Range>()

function askedRange(effects: RunEffects): Range {
  const before = ranges.get(effects)
  if (before !== undefined) return before
  const range = rangeOf(effects)
  ranges.set(effects, range)
  return range
}

/** The whole of what was reserved has to stay so. */
function rangeOfEffect(effect: Effect): Range {
  const [first] = effect.kind === 'sysctl' ? rangesOf(textOf(effect.value) ?? '') : []
  return first ?? DEFAULT
}

function ofRange(phase: keyof PhaseRules): readonly Rule[] {
  return rulesFor(DEFAULT)[phase].map((rule, index) => ({
    ...rule,
    matches: (effect, occurrence, effects) =>
      rulesFor(askedRange(effects))[phase][index]?.matches(effect, occurrence, effects) ?? { kind: 'no' },
    undoneBy: (settling, later) =>
      rulesFor(rangeOfEffect(settling))[phase][index]?.undoneBy?.(settling, later) ?? { kind: 'false' },
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
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv4.ip_local_reserved_ports = 30000-32767' > /etc/sysctl.d/99-kubernetes-nodeports.conf",
    'sysctl --system',
    'sysctl net.ipv4.ip_local_reserved_ports net.ipv4.ip_local_port_range',
  ],
  notes: alternativeFiles(KEYS),
}
