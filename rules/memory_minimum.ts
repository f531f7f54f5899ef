import { askText, piecesOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import { type Claim, NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { mayChangeCommandLine, onceRebooted, parametersOf } from './boot.js'
import { stopsUnless } from './check.js'
import { checkedOnHost } from './on_host.js'

const limits = (text: string): boolean => parametersOf(text).some(each => /^mem(=|$)/.test(each))

const ENOUGH = 'what it brings is enough'

/** `chmem --enable` brings memory online that the machine has and the kernel does not use. */
function bringsOnline(effect: Effect): boolean {
  return (
    effect.kind === 'command' &&
    effect.program === 'chmem' &&
    effect.arguments.some(word => /^(-e|--enable)/.test(piecesOf(word)?.[0] ?? ''))
  )
}

const online: Rule = {
  says: 'brings memory online',
  matches: effect => (bringsOnline(effect) ? { kind: 'settles', condition: ENOUGH } : NO_MATCH),
}

const lifts: Rule = {
  says: 'takes away the limit mem= of the boot parameters',
  matches: effect => {
    if (effect.kind !== 'boot-parameters') return mayChangeCommandLine(effect, text => /\bmem=/.test(text))
    if (effect.change === 'added') return NO_MATCH
    const truth = askText(effect.parameters, limits)
    if (truth.kind === 'false') return NO_MATCH
    if (truth.kind === 'unknown')
      return { kind: 'could', says: 'which parameters go is not known', causes: truth.causes }
    return { kind: 'settles', condition: `mem= held the memory back, and ${ENOUGH}` }
  },
}

const checks = stopsUnless('the memory of the host is at least the minimum', ['ansible_facts.memtotal_mb'])

/** An amount of memory under the hardware requirements of a kind of node. */
function safeguarded(node: string, under: readonly string[], variable: string): Claim {
  return {
    says: `gives another minimum for the memory of ${node}`,
    words: ['memory', ['MB', 'GB']],
    under: ['requirements', under],
    claims: { kind: 'least-memory', variable },
  }
}

export const memoryMinimum: Problem = {
  id: 'memory_minimum',
  title: 'The host has less memory than a node needs',
  asks: 'Who gives the host the memory that a node needs?',
  requirement: {
    says: 'A node needs memory for Kubernetes itself; a control plane needs more than a worker.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/',
  },
  now: [online, onceRebooted(lifts), checks],
  afterReboot: [lifts, checks],
  onHost: checkedOnHost(['ansible_facts.memtotal_mb'], {
    says: 'give the host more memory, or lower the minimum if you know that less is enough',
    command: 'free -m',
  }),
  powers: ['changes-boot'],
  byHand: ['free -m', 'lsmem'],
  claims: [
    safeguarded('a control plane', ['control plane', 'master'], 'minimal_master_memory_mb'),
    safeguarded('a worker', ['worker node', 'worker', 'node'], 'minimal_node_memory_mb'),
  ],
}
