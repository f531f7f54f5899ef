import { HOSTS, hostsLineOf, hostsLines, isLoopback, isOwnAddress } from '../src/host/hosts-file.js'
import type { HostContext, Look } from '../src/host/look.js'
import type { HostPlace } from '../src/host/moment.js'
import { quoted } from '../src/host/quoted.js'
import type { Problem } from '../src/verdicts/problem.js'
import { unknownAnswer } from './on_host.js'
import { textRule } from './text.js'

/** Whether a line of a hosts file gives a name to an address: the name stands behind the address. */
function namesHost(text: string, host: string): boolean {
  const said = hostsLineOf(text)
  // A loopback address is no way to a node.
  if (said === undefined || isLoopback(said.address)) return false
  return said.names.some(name => name === host || name.startsWith(`${host}.`) || (host === '' && name !== ''))
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

/** The name of the node: that of the inventory; where none was given, what the host calls itself. */
function nodeOf({ effects, groups, before }: HostContext): string {
  const own = before.sysctl('kernel.hostname')
  return groups.size === 0 && own.kind === 'known' ? own.value.trim() : effects.run.host
}

/** Why a name that does not resolve holds nothing up. */
const GOES_ON = 'kubeadm warns where it does not, and goes on'

/** Whether /etc/hosts gives the node's own name an address. What DNS knows no file of a host tells. */
const etcHostsOnHost: Look = context => {
  const { files } = context.moment
  const name = nodeOf(context)
  const lines = hostsLines(files)
  if (lines.kind === 'unknown') return unknownAnswer(`what /etc/hosts says of ${name} is not known: ${lines.because}`)
  const own = (lines.kind === 'known' ? lines.value : []).filter(({ names }) =>
    names.some(each => each.toLowerCase() === name.toLowerCase()),
  )
  const place = ({ line, address }: (typeof own)[number]): HostPlace => ({
    file: HOSTS,
    line,
    says: `${address} is ${name}`,
  })
  const [reached] = own.filter(({ address }) => !isLoopback(address))
  if (reached === undefined) {
    const [loopback] = own
    const says =
      loopback === undefined
        ? `no line of /etc/hosts names ${name}; whether DNS does is not known: ${GOES_ON}`
        : `/etc/hosts:${loopback.line} names ${name} by a loopback address (${loopback.address}): it resolves here, and to nothing others reach`
    return { state: 'unneeded', says, places: own.length === 0 ? [{ file: HOSTS }] : own.map(place), steps: [] }
  }
  const says = `/etc/hosts names ${name}: ${reached.address}`
  // Without its line: where the host stands in a list of all it is another one on each.
  const places = [{ file: HOSTS, says: `${reached.address} is ${name}` }]
  if (isOwnAddress(files, reached.address) !== false) return { state: 'ok', says, places, steps: [] }
  return {
    ...unknownAnswer(`${says}, which is none of the host's addresses: whether it leads here is not known`, places),
    steps: [{ says: 'see where the name leads, and mend the line', command: `getent ahosts ${quoted(name)}` }],
  }
}

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
  onHost: etcHostsOnHost,
  powers: ['changes-hostname'],
  byHand: ['getent hosts node1', "echo '10.0.0.11 node1.cluster.local node1' >> /etc/hosts"],
}
