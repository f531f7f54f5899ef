import { textOf } from '../src/effects/argument.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { servicesOffOnHost } from './on_host.js'
import { serviceOff } from './service_off.js'

const off = serviceOff({ name: 'fapolicyd', unit: 'fapolicyd.service', packages: ['fapolicyd'] })

/** Programs are allowed by name: enough only for those that are named. */
const trusts: Rule = {
  says: 'has fapolicyd trust programs',
  matches: effect => {
    if (effect.kind === 'command' && effect.program === 'fapolicyd-cli')
      return { kind: 'near', why: 'lets only the programs run that it names', closest: true }
    return effect.kind === 'file' && textOf(effect.path)?.startsWith('/etc/fapolicyd/') === true
      ? { kind: 'near', why: 'changes the lists of fapolicyd, which still decides', closest: true }
      : NO_MATCH
  },
}

export const fapolicyd: Problem = {
  id: 'fapolicyd',
  title: 'fapolicyd decides which programs may run',
  asks: 'Who turns fapolicyd off, and who keeps it off after a reboot?',
  requirement: {
    says: 'fapolicyd lets only those programs run that a package has brought or its lists name; the binaries of the node come from neither.',
    source:
      'https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/9/html/security_hardening/assembly_blocking-and-allowing-applications-using-fapolicyd_security-hardening',
  },
  now: [...off.now, trusts],
  afterReboot: off.afterReboot,
  onHost: servicesOffOnHost(['fapolicyd.service']),
  powers: ['stops-units', 'changes-packages'],
  byHand: ['systemctl disable --now fapolicyd'],
}
