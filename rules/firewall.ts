import { askText, textOf } from '../src/effects/argument.js'
import type { Firewall } from '../src/effects/effect.js'
import { decide, FALSE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { servicesOffOnHost } from './on_host.js'
import { serviceOff } from './service_off.js'

/** What manages the packet filter of a host, by its unit; a host has one of them or none. */
const managers = ['firewalld', 'ufw', 'nftables'].map(name =>
  serviceOff({
    name,
    unit: `${name}.service`,
    packages: [name],
    condition: `the firewall of the host is ${name}`,
  }),
)

/** `ufw disable` takes its rules out and keeps it off at boot; `reset` does so as well. */
function disablesUfw({ turns }: Firewall): Truth {
  return askText(turns, text => ['disabled', 'disable', 'reset'].includes(text))
}

const turnsUfwOff: Rule = {
  says: 'turns ufw off with its own command',
  matches: effect =>
    effect.kind === 'firewall'
      ? decide<Match>(disablesUfw(effect), {
          true: () => ({ kind: 'settles', condition: 'the firewall of the host is ufw' }),
          false: () => NO_MATCH,
          unknown: causes => ({ kind: 'could', says: 'whether ufw is turned on or off is not known', causes }),
        })
      : NO_MATCH,
  undoneBy: (_, later) =>
    later.kind === 'firewall' ? askText(later.turns, text => ['enabled', 'enable'].includes(text)) : FALSE,
}

const OPENS =
  /(^|[\s=])(--?add-(port|service|rich-rule|source|interface)|port|service|allow|--set-target|jump=ACCEPT|-j ACCEPT)\b/

const changesRules: Rule = {
  says: 'changes rules of the packet filter',
  matches: effect => {
    if (effect.kind !== 'firewall' || ['ipvsadm', 'ipset'].includes(effect.tool)) return NO_MATCH
    if (disablesUfw(effect).kind !== 'false') return NO_MATCH
    const text = textOf(effect.says) ?? ''
    if (/(^|\s)(flush=|-F\b|--flush\b|flush ruleset)/.test(text)) {
      return {
        kind: 'near',
        why: 'empties a table now: what manages the firewall fills it again when it is loaded anew',
        closest: true,
      }
    }
    if (/(^|\s)(policy=|-P\s|--policy\s)/.test(text))
      return { kind: 'near', why: 'decides only about what no rule is about: the rules that refuse stay' }
    return OPENS.test(text)
      ? { kind: 'near', why: 'opens only what it names, and a node needs more than one port', closest: true }
      : { kind: 'near', why: 'changes one rule and leaves the firewall on' }
  },
}

export const firewall: Problem = {
  id: 'firewall',
  title: 'A firewall is on',
  asks: 'Who turns the firewall off, and who keeps it off after a reboot?',
  requirement: {
    says: 'Nodes have to reach each other on the ports of the control plane, the kubelet and the network plugin; a firewall with its defaults lets through none of them.',
    source:
      'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/#check-required-ports',
  },
  now: [...managers.flatMap(({ now }) => now), turnsUfwOff, changesRules],
  afterReboot: [...managers.flatMap(({ afterReboot }) => afterReboot), turnsUfwOff],
  claims: [
    {
      says: 'leaves firewalls to the operator',
      words: [['firewall', 'firewalls'], 'not managed'],
      claims: { kind: 'fixed-by', who: 'operator' },
    },
  ],
  onHost: servicesOffOnHost(['firewalld.service', 'ufw.service', 'nftables.service']),
  powers: ['stops-units', 'changes-firewall', 'changes-packages'],
  byHand: [
    'systemctl disable --now firewalld   # or: ufw disable',
    "ss -lntu                            # to keep it, open what the nodes' own processes listen on",
  ],
}
