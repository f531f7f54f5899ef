import { askText, isOneOfTexts, isSet, membersOf } from '../src/effects/argument.js'
import { decide, FALSE } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { anyServiceOnHost } from './on_host.js'
import { isAmongUnits, runningRules } from './running.js'

/** The services that keep the clock, as the distributions call them. */
const UNITS = [
  'chronyd.service',
  'chrony.service',
  'ntpd.service',
  'ntp.service',
  'ntpsec.service',
  'openntpd.service',
  'systemd-timesyncd.service',
]
const PACKAGES = ['chrony', 'ntp', 'ntpsec', 'openntpd', 'systemd-timesyncd']

const units = runningRules(UNITS, 'a service that keeps the clock')

const set: Rule = {
  says: 'turns the synchronisation of the clock on',
  matches: effect => {
    if (effect.kind === 'clock') {
      if (effect.synchronised === undefined)
        return { kind: 'near', why: 'sets the clock or its zone once and keeps nothing in step', closest: true }
      return decide<Match>(isSet(effect.synchronised, false), {
        true: () => SETTLES,
        false: () => ({ kind: 'near', why: 'turns the synchronisation off' }),
        unknown: causes => ({ kind: 'could', says: 'whether it is turned on or off is not known', causes }),
      })
    }
    if (effect.kind === 'unit' && isAmongUnits(effect.unit, UNITS).kind === 'true') {
      return askText(effect.state, text => text === 'stopped').kind === 'true'
        ? { kind: 'near', why: 'stops one of the services that keep the clock' }
        : NO_MATCH
    }
    if (effect.kind !== 'package' || effect.manager === 'pip' || !membersOf(effect.names).some(isClockPackage))
      return NO_MATCH
    if (isOneOfTexts(effect.state, ['absent', 'removed']).kind === 'true') {
      return { kind: 'near', why: 'takes one of the services that keep the clock away' }
    }
    return { kind: 'near', why: 'installs it; whether its service runs is left to the package' }
  },
  undoneBy: (_, later) =>
    later.kind === 'clock' && later.synchronised !== undefined
      ? askText(later.synchronised, text => ['false', 'no', '0', 'off'].includes(text.toLowerCase()))
      : FALSE,
}

function isClockPackage(name: Parameters<typeof askText>[0]): boolean {
  return askText(name, text => PACKAGES.includes(text)).kind === 'true'
}

export const timeSync: Problem = {
  id: 'time_sync',
  title: 'Nothing keeps the clock in step',
  asks: 'Who starts a service that keeps the clock, and who has it started at each boot?',
  requirement: {
    says: 'Nodes have to agree on the time: certificates are valid from one moment to another, and etcd warns of clocks that differ.',
    source: 'https://github.com/kubernetes-sigs/kubespray/blob/master/docs/advanced/ntp.md',
  },
  now: [...units.now, set],
  afterReboot: [...units.afterReboot, { ...set, matches: (...args) => withoutNear(set.matches(...args)) }],
  onHost: anyServiceOnHost(UNITS, 'no service that keeps the clock', [
    { says: 'have a service keep the clock', command: 'systemctl enable --now chronyd' },
  ]),
  powers: ['starts-units', 'changes-clock'],
  byHand: ['timedatectl', 'apt-get install chrony || dnf install chrony', 'systemctl enable --now chronyd'],
}

/** What came near is said once, for the running host. */
function withoutNear(match: Match): Match {
  return match.kind === 'near' ? NO_MATCH : match
}
