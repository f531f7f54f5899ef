import { askText } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import { decide, FALSE, type Truth, type Value } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
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
  powers: ['changes-hostname'],
  byHand: ['hostnamectl set-hostname node1', "echo 'preserve_hostname: true' > /etc/cloud/cloud.cfg.d/99-hostname.cfg"],
}
