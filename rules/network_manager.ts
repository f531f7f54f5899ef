import { type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { stoppedRules } from './running.js'
import { isReadLater, textRule } from './text.js'
import { whenReadBy } from './unit.js'

/** Whether a line keeps NetworkManager off the interfaces of pods (`cali…` of Calico) or off all it is not told to manage. */
function leavesPods(text: string): boolean {
  const given = /^unmanaged-devices\s*\+?=(.*)$/.exec(text)?.[1]
  if (given === undefined) return false
  return given.split(/[;,]/).some(device => /^(\*|(interface-name:)?=?(cali\*|cali|\*))$/.test(device.trim()))
}

const file = {
  says: 'leaves the interfaces of pods to the network plugin',
  places: ['/etc/NetworkManager/NetworkManager.conf', '/etc/NetworkManager/conf.d/'],
  line: leavesPods,
  // Without `+` the value takes the place of those before.
  against: {
    line: (text: string) => /^unmanaged-devices\s*=/.test(text) && !leavesPods(text),
    wins: isReadLater('before'),
  },
}

const now: Rule = textRule({
  ...file,
  near: { line: text => /^unmanaged-devices\b/.test(text), why: 'is about other interfaces than those of pods' },
  beside: (_effect, { task }, effects) => {
    const condition = whenReadBy('NetworkManager.service', task, effects)
    if (condition === undefined)
      return { kind: 'near', why: 'counts once NetworkManager reads it, and this run does not restart it' }
    return condition === null ? SETTLES : { kind: 'settles', condition }
  },
})

const off = stoppedRules(['NetworkManager.service'], 'NetworkManager')

export const networkManager: Problem = {
  id: 'network_manager',
  title: 'NetworkManager manages the interfaces of pods',
  asks: 'Who keeps NetworkManager off the interfaces of pods, and who keeps it so after a reboot?',
  requirement: {
    says: 'Where NetworkManager runs and Calico is the network plugin, it has to leave the interfaces and routes of pods alone.',
    source: 'https://docs.tigera.io/calico/latest/operations/troubleshoot/troubleshooting',
  },
  now: [now, ...off.now],
  afterReboot: [textRule(file), ...off.afterReboot],
  powers: ['stops-units', 'changes-network'],
  byHand: [
    "printf '[keyfile]\\nunmanaged-devices+=interface-name:cali*;interface-name:tunl*;interface-name:vxlan.calico\\n' > /etc/NetworkManager/conf.d/calico.conf",
    'systemctl reload NetworkManager',
    'nmcli device status',
  ],
}
