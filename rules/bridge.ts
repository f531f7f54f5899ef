import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { isModule } from './module.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, isNumber, settingRules } from './setting.js'

/** The module brings the settings into being; which value they have then is for kernel and files to say. */
const bringsSettings: Rule = {
  says: 'loads br_netfilter, with which the setting comes',
  matches: effect =>
    effect.kind === 'kernel-module' &&
    effect.state === 'loaded' &&
    isModule(effect.module, 'br_netfilter').kind === 'true'
      ? { kind: 'near', why: 'brings the setting into being, and does not set it: distributions differ in its value' }
      : NO_MATCH,
}

/** One of the settings that come with br_netfilter, for packets of one protocol. */
export function bridgeProblem(id: string, key: string, protocol: string, filter: string): Problem {
  const rules = settingRules([key], isNumber(1))
  return {
    id,
    title: `Bridged ${protocol} traffic passes ${filter} by`,
    asks: `Who sets ${key} to 1, and who has it set again after a reboot?`,
    requirement: {
      says: `${protocol} packets that cross a bridge have to pass ${filter}, else services do not reach pods of the same node.`,
      source: 'https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins/',
    },
    now: [...rules.now, bringsSettings],
    afterReboot: rules.afterReboot,
    onHost: settingOnHost({ key, holds: isNumber(1), wanted: '1', module: 'br_netfilter' }),
    powers: ['changes-sysctl'],
    byHand: [
      'modprobe br_netfilter',
      `echo '${key} = 1' > /etc/sysctl.d/99-kubernetes-bridge.conf`,
      'sysctl --system',
      `sysctl ${key}`,
    ],
    notes: alternativeFiles([key]),
  }
}
