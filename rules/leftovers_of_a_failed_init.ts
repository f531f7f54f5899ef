import { askText, optionsOf, piecesOf } from '../src/effects/argument.js'
import type { Effect, FileChange } from '../src/effects/effect.js'
import { decide } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { nothingLeftOnHost } from './on_host.js'
import { type PhaseRules, together } from './together.js'

/** What a try leaves, and where. */
const LEFT: Readonly<Record<string, { readonly path: string; readonly resetCondition?: string }>> = {
  'static pods': { path: '/etc/kubernetes/manifests' },
  "the kubelet's state": { path: '/var/lib/kubelet' },
  "etcd's data": { path: '/var/lib/etcd', resetCondition: 'kubeadm ran etcd itself' },
}

/** Whether what is removed is the directory, one above it, or all that is in it. */
function covers(removed: string, directory: string): boolean {
  const path = removed.replace(/\/+$/, '').replace(/\/\*$/, '')
  return path === directory || (path.startsWith('/') && directory.startsWith(`${path}/`))
}

function removes(
  effect: Effect,
  { path: directory, resetCondition }: { path: string; resetCondition?: string },
): Match {
  if (effect.kind === 'kubeadm') {
    // The phases of reset do one part each.
    if (effect.subcommand !== 'reset') return NO_MATCH
    return resetCondition === undefined ? SETTLES : { kind: 'settles', condition: resetCondition }
  }
  if (effect.kind !== 'file' || effect.change !== 'removed') return NO_MATCH
  const all = askText(
    effect.path,
    text => covers(text, directory),
    pieces => (mayCover(pieces, directory) ? undefined : false),
  )
  return decide<Match>(all, {
    true: () => SETTLES,
    false: () => {
      const part = askText(effect.path, text => text.startsWith(`${directory}/`))
      return part.kind === 'true' ? { kind: 'near', why: `takes away only part of ${directory}` } : NO_MATCH
    },
    unknown: causes =>
      isPartlyKnown(effect) ? { kind: 'could', says: 'which directory goes is not known', causes } : NO_MATCH,
  })
}

/** Of a path with unknown pieces only one whose beginning fits is suspected. */
function mayCover([first]: readonly (string | null)[], directory: string): boolean {
  return typeof first === 'string' && first.length > 1 && directory.startsWith(first)
}

/** A path of which nothing is known is no reason to suspect every removal. */
function isPartlyKnown({ path }: FileChange): boolean {
  return optionsOf(path).every(({ value }) => piecesOf(value)?.some(piece => piece !== null) === true)
}

function rulesFor(name: string, left: { path: string; resetCondition?: string }): PhaseRules {
  const rule = (says: string): Rule => ({ says, matches: effect => removes(effect, left) })
  return { now: [rule(`removes ${name}`)], afterReboot: [rule(`removes ${name} for good`)] }
}

const rules = together(Object.fromEntries(Object.entries(LEFT).map(([name, left]) => [name, rulesFor(name, left)])))

export const leftoversOfAFailedInit: Problem = {
  id: 'leftovers_of_a_failed_init',
  title: 'An earlier try to make the cluster left its files',
  asks: 'Who removes what a failed kubeadm init left, so that a new run starts clean?',
  requirement: {
    says: 'kubeadm init starts on a host without static pods, etcd data and a configured kubelet; kubeadm reset takes away what an earlier try left.',
    source: 'https://kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-reset/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  // Programs that write files of their own take no foreign directories away; what cleans a node ends its containers too.
  onHost: nothingLeftOnHost(['/etc/kubernetes/manifests', '/var/lib/etcd'], {
    says: 'take away what an earlier try left',
    command: 'kubeadm reset',
  }),
  powers: ['manages-containers'],
  removals: true,
  byHand: ['kubeadm reset -f', 'rm -rf /etc/kubernetes/manifests /var/lib/etcd /var/lib/kubelet /etc/cni/net.d'],
}
