import { askText } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import { hostnameAtBoot } from '../src/host/hostname.js'
import type { HostContext, Look } from '../src/host/look.js'
import type { OperatorStep, Seen } from '../src/host/moment.js'
import { quoted } from '../src/host/quoted.js'
import { decide, FALSE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { unknownAnswer } from './on_host.js'
import { textRule } from './text.js'

/** The kubelet takes the host name in small letters; a node's name is a DNS subdomain. */
function isNodeName(text: string): boolean {
  const name = text.trim().toLowerCase()
  const isSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
  return isSubdomain && name.length <= 64 && !/^localhost(\.|$)/.test(name)
}

function isGood(name: Value): Truth {
  return askText(name, isNodeName)
}

function named(effect: Effect, lasts: boolean): Match {
  if (effect.kind !== 'hostname') {
    // An assert about the inventory name alone is a check of it.
    return effect.kind === 'stop-if' && effect.reads.length === 1 && effect.reads[0] === 'inventory_hostname' && !lasts
      ? { kind: 'near', why: 'only stops the run unless the inventory name is one a node can have', closest: true }
      : NO_MATCH
  }
  return decide<Match>(isGood(effect.name), {
    true: () => {
      if (lasts ? effect.persisted : effect.now) return SETTLES
      return { kind: 'near', why: lasts ? 'lasts only until the next boot' : 'counts only from the next boot on' }
    },
    false: () => ({ kind: 'near', why: 'is a name no node can have' }),
    unknown: causes => ({ kind: 'could', says: 'which name it is is not known', causes }),
  })
}

function spoils(later: Effect, lasts: boolean): Truth {
  if (later.kind !== 'hostname' || !(lasts ? later.persisted : later.now)) return FALSE
  const good = isGood(later.name)
  return good.kind === 'true' ? FALSE : good.kind === 'false' ? { kind: 'true' } : good
}

const names: Rule = {
  says: 'gives the host its name',
  matches: effect => named(effect, false),
  undoneBy: (_, later) => spoils(later, false),
}

const keeps: Rule = {
  says: 'gives the host its name at each boot',
  matches: effect => named(effect, true),
  undoneBy: (_, later) => spoils(later, true),
}

const written = textRule({
  says: 'gives the host its name in /etc/hostname',
  places: ['/etc/hostname'],
  line: text => isNodeName(text),
})

/** The name the host has, or boots with: a setting of sysctl.d comes after /etc/hostname. */
function nameOf({ moment, phase }: HostContext): Seen<string> {
  const live = moment.sysctl('kernel.hostname')
  return phase === 'afterReboot' && live.decidedBy === undefined ? hostnameAtBoot(moment.files) : live
}

/** Units by which cloud-init gives the host the name it has from its cloud. */
const CLOUD_INIT = ['cloud-init.service', 'cloud-init-network.service', 'cloud-init-local.service']

const KEEP: OperatorStep = {
  says: 'have cloud-init leave the name alone',
  command: "echo 'preserve_hostname: true' > /etc/cloud/cloud.cfg.d/99-hostname.cfg",
}

/** Why cloud-init may give the host the name back that it had before the run. */
function mayBeGivenBack(name: string, { moment, before }: HostContext): string | undefined {
  const old = hostnameAtBoot(before.files)
  if (old.kind === 'known' && old.value === name) return undefined
  for (const unit of CLOUD_INIT) {
    const seen = moment.unit(unit)
    if (seen.kind === 'unknown') return `whether cloud-init is there is not known: ${seen.because}`
    if (
      seen.kind === 'known' &&
      !/^(masked|disabled)/.test(seen.value.enabled ?? '') &&
      seen.value.enabled !== undefined
    )
      return 'cloud-init may give it its old name again: whether its settings keep it from that was not captured'
  }
  return undefined
}

/** Whether the host has a name that a node can have; after a reboot: whether it boots with one. */
const hostnameOnHost: Look = context => {
  const { phase, before, effects } = context
  const seen = nameOf(context)
  const node = effects.run.host
  const step: OperatorStep = {
    says: `give the host a name of its own that a node can have: small letters, digits, hyphens, dots`,
    command: `hostnamectl set-hostname ${isNodeName(node) ? quoted(node) : 'NODE'}`,
  }
  const { places } = seen
  if (seen.kind === 'unknown')
    return unknownAnswer(
      `the name the host ${phase === 'afterReboot' ? 'boots with' : 'has'} is not known: ${seen.because}`,
      places,
    )
  if (seen.kind === 'absent') {
    const says = 'nothing gives the host a name at boot: it has the one of DHCP, or of its distribution'
    return { ...unknownAnswer(says, places), steps: [step] }
  }
  const name = seen.value.trim()
  const says = `the host ${phase === 'afterReboot' ? 'boots as' : 'is called'} ${name === '' ? 'nothing' : name}`
  if (!isNodeName(name)) return { state: 'problem', says: `${says}, a name no node can have`, places, steps: [step] }
  const open =
    phase === 'afterReboot' && before.files !== context.moment.files ? mayBeGivenBack(name, context) : undefined
  if (open !== undefined) return { ...unknownAnswer(`${says}, but ${open}`, places), steps: [KEEP] }
  return { state: 'ok', says, places, steps: [] }
}

export const hostname: Problem = {
  id: 'hostname',
  title: 'The host name is not the name of the node',
  asks: 'Who gives the host its name, and who has it again after a reboot?',
  requirement: {
    says: 'Each node has a host name of its own, one that can be the name of a node: small letters, digits, hyphens, dots.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/',
  },
  now: [names],
  afterReboot: [keeps, written],
  onHost: hostnameOnHost,
  powers: ['changes-hostname'],
  byHand: ['hostnamectl set-hostname node1', "echo 'preserve_hostname: true' > /etc/cloud/cloud.cfg.d/99-hostname.cfg"],
}
