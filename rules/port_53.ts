import { askText } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import { type Match, NO_MATCH } from '../src/verdicts/problem.js'
import { portProblem } from './port.js'

/** What systemd-resolved is told about the listener it has on the loopback addresses. */
function turnsStubOff(effect: Effect): Match {
  if (effect.kind !== 'file' || (effect.change !== 'written' && effect.change !== 'line')) return NO_MATCH
  const there = askText(effect.path, text => /\/resolved\.conf(\.d\/|$)/.test(text))
  const says = askText(
    effect.content,
    text => /^\s*DNSStubListener\s*=\s*(no|0|false|off)\s*$/im.test(text),
    pieces => (pieces.some(piece => piece === null || piece.includes('DNSStubListener')) ? undefined : false),
  )
  if (there.kind !== 'true' || says.kind === 'false') return NO_MATCH
  const turns = says.kind === 'true' && effect.contentUnsure === undefined ? 'turns' : 'may turn'
  return {
    kind: 'near',
    why: `${turns} off the stub of systemd-resolved, which listens on 127.0.0.53 and 127.0.0.54 only`,
    closest: true,
  }
}

export const port53 = portProblem({
  port: 53,
  owner: 'the DNS cache of the node',
  says: 'The DNS cache of the node (enable_nodelocaldns) has to bind port 53 of its link-local address, which it cannot while another listens on port 53 of every address.',
  source: 'https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/',
  // The cache binds an address of its own: only who listens on every address is in its way.
  blocks: ({ address }) => ['0.0.0.0', '::'].includes(address),
  near: turnsStubOff,
})
