import {
  bothTrue,
  isOneOfTexts,
  isSet,
  isText,
  joinedPieces,
  optionsOf,
  piecesOf,
  showValue,
  textOf,
} from '../src/effects/argument.js'
import { unitName } from '../src/effects/describe.js'
import type { Effect, Kubeadm } from '../src/effects/effect.js'
import { optionValue } from '../src/effects/programs.js'
import type { Occurrence } from '../src/effects/run-effects.js'
import { endsProcesses } from '../src/effects/signals.js'
import type { Listener } from '../src/host/moment.js'
import { decide, type Value } from '../src/jinja/value.js'
import {
  type Claim,
  type Match,
  NO_MATCH,
  type Note,
  type Problem,
  type Rule,
  SETTLES,
} from '../src/verdicts/problem.js'
import { portOnHost, runWrites } from './on_host.js'

export interface PortFacts {
  readonly port: number
  /** Who listens there once the cluster runs. */
  readonly owner: string
  /** The unit it runs as; absent where it runs in a pod. */
  readonly ownerUnit?: string
  /** What has to be so, in a sentence. */
  readonly says: string
  readonly source: string
  /** Which calls of kubeadm try to bind it first, each with the case in which it does; null: always. */
  readonly checkedBy?: Readonly<Partial<Record<'init' | 'join', string | null>>>
  /** Components that do not listen there, as documentation may have it. */
  readonly notOf?: readonly string[]
  /** The groups of which a host has to be in one to listen there; absent: every host does. */
  readonly groups?: readonly string[]
  /** Those of them that do where the run has etcd outside of kubeadm. */
  readonly outsideKubeadm?: readonly string[]
  /** Which listeners are in the way; absent: each one, whatever address it is bound to. */
  readonly blocks?: (listener: Listener) => boolean
  /** What else comes near. */
  readonly near?: (effect: Effect) => Match
}

function near(why: string): Match {
  return { kind: 'near', why }
}

function ofUnit(unit: Value, { port, owner, ownerUnit }: PortFacts, verb: string): Match {
  const name = showValue(unit)
  const exact = textOf(unit)
  // Only services and sockets have processes that listen.
  if (exact !== undefined && !/\.(service|socket|scope|slice)$/.test(unitName(exact))) return NO_MATCH
  if (exact === undefined && optionsOf(unit).some(({ value }) => piecesOf(value) === undefined)) {
    const causes = optionsOf(unit).flatMap(({ value }) => (value.kind === 'unknown' ? value.causes : []))
    return { kind: 'could', says: `which unit is ${verb} is not known`, causes }
  }
  if (exact !== undefined && unitName(exact) === ownerUnit) {
    const why = `frees port ${port} only if its holder is that very unit (${owner}), not another process`
    return { kind: 'near', why, closest: true }
  }
  return near(`frees port ${port} only if its holder is ${unitName(exact ?? name)}`)
}

/** Frees a port that some process of the host holds, whichever it is. */
function frees(facts: PortFacts): Rule {
  const { port } = facts
  return {
    says: `frees port ${port}`,
    matches: effect => {
      switch (effect.kind) {
        case 'processes-signalled':
          if (endsProcesses(effect.signal).kind === 'false')
            return near(`sends ${showValue(effect.signal)}, which need not end the holder of port ${port}`)
          if (effect.by === 'port') {
            return decide<Match>(bothTrue(isText(effect.target, String(port)), endsProcesses(effect.signal)), {
              true: () => SETTLES,
              false: () => NO_MATCH,
              unknown: causes => ({
                kind: 'could',
                says: 'which port is meant, or which signal, is not known',
                causes,
              }),
            })
          }
          if (effect.by === 'name')
            return near(`frees port ${port} only if its holder is called ${showValue(effect.target)}`)
          if (effect.by === 'unit') return ofUnit(effect.target, facts, 'killed')
          if (effect.by === 'file')
            return near(`ends what uses ${showValue(effect.target)}, which may not be the holder of port ${port}`)
          return effect.target.kind === 'known'
            ? near(`frees port ${port} only if its holder is process ${showValue(effect.target)}`)
            : {
                kind: 'could',
                says: 'which processes it ends is not known',
                causes: effect.target.kind === 'unknown' ? effect.target.causes : [],
              }
        case 'unit':
          return isText(effect.state, 'stopped').kind === 'false' ? NO_MATCH : ofUnit(effect.unit, facts, 'stopped')
        case 'container':
          return effect.action === 'stopped' || effect.action === 'removed'
            ? near(`frees port ${port} only if its holder runs in that container`)
            : NO_MATCH
        case 'kubeadm':
          return effect.subcommand.startsWith('reset')
            ? near(
                `stops the kubelet and the control plane's containers: frees port ${port} only if one of them holds it`,
              )
            : NO_MATCH
        case 'package':
          return isOneOfTexts(effect.state, ['absent', 'removed']).kind === 'false'
            ? NO_MATCH
            : near(`frees port ${port} only if its holder belongs to ${showValue(effect.names)} and is stopped with it`)
        case 'reboot':
          return near('a reboot ends every process, but what starts the holder at boot takes the port again')
        default:
          return facts.near?.(effect) ?? NO_MATCH
      }
    },
  }
}

/** Keeps the port free after a reboot, whichever process took it before. */
function keepsFree(facts: PortFacts): Rule {
  const { port } = facts
  return {
    says: `keeps port ${port} free at boot`,
    matches: effect => {
      if (effect.kind !== 'unit') return NO_MATCH
      const disabled = effect.enabled !== undefined && isSet(effect.enabled, false).kind !== 'true'
      const masked = effect.masked !== undefined && isSet(effect.masked, false).kind !== 'false'
      return disabled || masked ? ofUnit(effect.unit, facts, disabled ? 'disabled' : 'masked') : NO_MATCH
    },
  }
}

/** The preflight errors a call of kubeadm lets pass, in lower case as kubeadm compares them; undefined where not all are known. */
function ignoredErrors({ ignoredPreflightErrors }: Kubeadm): readonly string[] | undefined {
  if (ignoredPreflightErrors === undefined) return []
  const known: string[] = []
  let all = true
  for (const { value } of optionsOf(ignoredPreflightErrors)) {
    const pieces = piecesOf(value) ?? [null]
    if (pieces.includes(null)) all = false
    known.push(...pieces.flatMap(piece => (piece ?? '').split(',')).map(name => name.trim().toLowerCase()))
  }
  return all || known.includes('all') ? known : undefined
}

/** Whether the call leaves out its checks as a whole. */
function skipsChecks(effect: Kubeadm): boolean {
  const phases = textOf(optionValue(effect.arguments, '--skip-phases')) ?? ''
  return phases.split(',').includes('preflight')
}

/**
 * Where kubeadm finds etcd by the configuration file this call is given, as the run writes it (`etcd.external` or `etcd.local`
 * of kubeadm's ClusterConfiguration); undefined where that is not known.
 */
function etcdOf(effect: Kubeadm, occurrences: readonly Occurrence[]): 'external' | 'local' | undefined {
  const path = textOf(optionValue(effect.arguments, '--config'))
  if (path === undefined) return undefined
  const written = occurrences.findLast(
    each => each.effect.kind === 'file' && each.effect.change === 'written' && textOf(each.effect.path) === path,
  )
  if (written?.effect.kind !== 'file' || written.effect.content === undefined) return undefined
  const found = new Set(optionsOf(written.effect.content).map(({ value }) => etcdIn(piecesOf(value))))
  const [only] = found
  return found.size === 1 ? only : undefined
}

/** The first key under `etcd:` in a configuration of which pieces are known. */
function etcdIn(pieces: readonly (string | null)[] | undefined): 'external' | 'local' | undefined {
  const lines = joinedPieces(pieces ?? []).split('\n')
  const next = lines[lines.indexOf('etcd:') + 1]?.trim()
  if (!lines.includes('etcd:')) return undefined
  return next === 'external:' ? 'external' : next === 'local:' ? 'local' : undefined
}

/** What each call of kubeadm makes of the port when it is busy: it stops there, or lets that pass. */
function ofKubeadm({ port, owner, checkedBy }: PortFacts): (occurrences: readonly Occurrence[]) => readonly Note[] {
  const check = `Port-${port}`
  return occurrences => {
    const seen = new Set<Effect['at']>()
    return occurrences.flatMap(occurrence => {
      const { effect, task } = occurrence
      if (effect.kind !== 'kubeadm' || seen.has(effect.at)) return []
      if (effect.subcommand !== 'init' && effect.subcommand !== 'join') return []
      const ignored = ignoredErrors(effect)
      const names = ignored?.includes(check.toLowerCase()) === true
      const unless = checkedBy?.[effect.subcommand]
      // Its configuration may say whether it runs etcd itself.
      const etcd = unless == null || effect.subcommand !== 'init' ? undefined : etcdOf(effect, occurrences)
      const where = etcd === 'local' ? null : unless
      if (where === undefined && !names) return []
      seen.add(effect.at)
      const retry = task.part === 'rescue'
      const name = retry ? `The second \`kubeadm ${effect.subcommand}\`` : `\`kubeadm ${effect.subcommand}\``
      const call = where == null ? name : `${name}, which checks port ${port} only where ${where},`
      const note = (says: string): readonly Note[] => [{ says: `${call} ${says}.`, about: occurrence }]
      if (etcd === 'external') {
        const says = `${name} never checks port ${port}: its configuration has etcd run outside of it. ${owner} cannot listen on a busy port all the same.`
        return [{ says, about: occurrence }]
      }
      if (skipsChecks(effect)) return note('leaves out its checks')
      if (ignored === undefined) return note('lets some preflight errors pass; which is not known')
      const everything = ignored.includes('all')
      if (!everything && !names) return note(`stops with the error ${check} where the port is busy`)
      const lets = everything ? 'lets every preflight error pass' : `lets ${check} pass`
      return note(
        retry
          ? `${lets}: a busy port stands only in the first try's output, and ${owner} cannot listen all the same`
          : `${lets}: a busy port is only a warning there, and ${owner} cannot listen all the same`,
      )
    })
  }
}

/** A row of a table that gives the port to another component. */
function givenTo(component: string, { port, owner }: PortFacts): Claim {
  return {
    says: `gives port ${port} to ${component}`,
    words: ['TCP', String(port), component],
    claims: { kind: 'fact', but: `${owner} listens there` },
  }
}

/** In a configuration of kubeadm. */
const ETCD_OUTSIDE = /^etcd:\n\s+external:/m

/** The problem that something else holds a port Kubernetes needs. */
export function portProblem(facts: PortFacts): Problem {
  const { port, says, source, groups, outsideKubeadm } = facts
  return {
    id: `port_${port}`,
    title: `Something already listens on port ${port}`,
    asks: `Who frees port ${port}, and who keeps it free after a reboot?`,
    requirement: { says, source },
    now: [frees(facts)],
    afterReboot: [keepsFree(facts)],
    onHost: portOnHost({
      ...facts,
      ...(outsideKubeadm === undefined
        ? {}
        : { groupsOf: effects => (runWrites(effects, ETCD_OUTSIDE) ? outsideKubeadm : (groups ?? [])) }),
    }),
    powers: ['stops-units', 'signals-processes', 'manages-containers'],
    byHand: [
      `ss -lntp 'sport = :${port}'`,
      'systemctl disable --now UNIT   # the unit of the process, and its .socket if it has one',
    ],
    claims: (facts.notOf ?? []).map(component => givenTo(component, facts)),
    notes: ofKubeadm(facts),
  }
}
