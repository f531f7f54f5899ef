import type { Problem } from '../src/verdicts/problem.js'
import { textRule } from './text.js'

/** Whether a line of a hosts file gives a name to an address: the name stands behind the address. */
function namesHost(text: string, host: string): boolean {
  const [address, ...rest] = text.split('#')[0]?.trim().split(/\s+/) ?? []
  // A loopback address is no way to a node.
  if (address === undefined || /^(127\.|::1$)/.test(address)) return false
  return rest.some(name => name === host || name.startsWith(`${host}.`) || (host === '' && name !== ''))
}

const rule = textRule({
  says: 'names the node in /etc/hosts',
  places: ['/etc/hosts'],
  line: namesHost,
  open: {
    line: text =>
      text
        .split(/\s+/)
        .slice(1)
        .some(name => name === '…' || name.startsWith('….')),
    condition: 'the name written there is the one the node has',
  },
  near: { line: text => /^\S+\s+\S/.test(text), why: 'names other hosts than this node' },
})

export const etcHosts: Problem = {
  id: 'etc_hosts',
  title: 'The names of the nodes do not resolve',
  asks: 'Who makes the names of the nodes known on each node, and who keeps them known?',
  requirement: {
    says: 'kubeadm looks up the name of its node and warns where it does not resolve; tools that reach nodes by name need it too.',
    source: 'https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/',
  },
  now: [rule],
  // The file is kept as it is over a reboot.
  afterReboot: [rule],
  powers: ['changes-hostname'],
  byHand: ['getent hosts node1', "echo '10.0.0.11 node1.cluster.local node1' >> /etc/hosts"],
}
