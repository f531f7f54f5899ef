import { type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { type FileText, textRule } from './text.js'
import { whenReadBy } from './unit.js'

/** Once a service has read the file: the run restarts it. */
function onceRead(unit: string): NonNullable<FileText['beside']> {
  return (_effect, { task }, effects) => {
    const condition = whenReadBy(unit, task, effects)
    if (condition === undefined)
      return { kind: 'near', why: `counts once ${unit} reads it, and this run does not restart it` }
    return condition === null ? SETTLES : { kind: 'settles', condition }
  }
}

const resolved: FileText = {
  says: 'tells systemd-resolved the name servers or search domains',
  places: ['/etc/systemd/resolved.conf', '/etc/systemd/resolved.conf.d/'],
  line: text => /^(DNS|FallbackDNS|Domains)\s*=\s*\S/.test(text),
}
const manager: FileText = {
  says: 'tells NetworkManager the name servers or search domains',
  places: ['/etc/NetworkManager/NetworkManager.conf', '/etc/NetworkManager/conf.d/'],
  line: text => /^(servers|searches)\s*=\s*\S/.test(text),
}
const plain: FileText = {
  says: 'writes the name servers or search domains to /etc/resolv.conf',
  places: ['/etc/resolv.conf'],
  line: text => /^(nameserver|search|domain)\s+\S/.test(text),
}
const dhclient: Rule = textRule({
  says: 'has dhclient keep the name servers or search domains',
  places: ['/etc/dhcp/dhclient.conf', '/etc/dhclient.conf'],
  line: text => /^(supersede|prepend|append)\s+(domain-name-servers|domain-search|domain-name)\s+\S/.test(text),
})

export const resolvConf: Problem = {
  id: 'resolv_conf',
  title: 'The host does not resolve names of the cluster',
  asks: "Who tells the host's resolver of the cluster's name servers and domains, and who keeps it so?",
  requirement: {
    says: "What runs on the host's network, and each pod with the DNS policy Default, resolves names as the host does.",
    source: 'https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/',
  },
  now: [
    textRule({ ...resolved, beside: onceRead('systemd-resolved.service') }),
    textRule({ ...manager, beside: onceRead('NetworkManager.service') }),
    textRule(plain),
  ],
  afterReboot: [
    textRule(resolved),
    textRule(manager),
    dhclient,
    textRule({
      ...plain,
      beside: () => ({ kind: 'settles', condition: 'nothing on the host writes /etc/resolv.conf anew at boot' }),
    }),
  ],
  powers: ['changes-network'],
  byHand: [
    'resolvectl status || cat /etc/resolv.conf',
    "printf '[Resolve]\\nDNS=169.254.25.10\\nDomains=default.svc.cluster.local svc.cluster.local\\n' > /etc/systemd/resolved.conf.d/cluster.conf",
    'systemctl restart systemd-resolved',
  ],
}
