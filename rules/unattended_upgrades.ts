import { isOneOfTexts, membersOf, textOf } from '../src/effects/argument.js'
import { NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { servicesOffOnHost } from './on_host.js'
import { isAmongUnits, stoppedRules } from './running.js'
import { isReadLater, textRule } from './text.js'

/** The timer runs the upgrades; `unattended-upgrades.service` only waits for the host to shut down. */
const TIMERS = ['apt-daily-upgrade.timer']
const timer = stoppedRules(TIMERS, 'the timer of unattended upgrades')

const removes: Rule = {
  says: 'removes unattended-upgrades',
  matches: effect =>
    effect.kind === 'package' &&
    effect.manager !== 'pip' &&
    isOneOfTexts(effect.state, ['absent', 'removed', 'purged', 'remove', 'purge']).kind === 'true' &&
    membersOf(effect.names).some(name => textOf(name) === 'unattended-upgrades')
      ? SETTLES
      : NO_MATCH,
}

const configures = textRule({
  says: 'turns unattended upgrades off in the configuration of apt',
  places: ['/etc/apt/apt.conf.d/', '/etc/apt/apt.conf'],
  line: text => /^APT::Periodic::(Unattended-Upgrade|Enable)\s+"?0"?\s*;/.test(text),
  // apt reads the directory first, and apt.conf behind it.
  against: {
    line: text => /^APT::Periodic::(Unattended-Upgrade|Enable)\s+"?[1-9]\d*"?\s*;/.test(text),
    wins: isReadLater('behind'),
  },
})

const comesNear: Rule = {
  says: 'touches unattended upgrades',
  matches: effect => {
    if (effect.kind === 'unit' && isAmongUnits(effect.unit, ['unattended-upgrades.service']).kind === 'true') {
      const why =
        'stops the service that waits for the host to shut down; apt-daily-upgrade.timer runs the upgrades all the same'
      return { kind: 'near', why, closest: true }
    }
    if (effect.kind !== 'file' || textOf(effect.path) !== '/etc/apt/apt.conf.d/50unattended-upgrades') return NO_MATCH
    return { kind: 'near', why: 'changes which packages are upgraded, not whether' }
  },
}

export const unattendedUpgrades: Problem = {
  id: 'unattended_upgrades',
  title: 'Packages are upgraded unattended',
  asks: 'Who stops unattended upgrades, and who keeps them off after a reboot?',
  requirement: {
    says: 'Kubernetes and the container runtime are upgraded in an order of their own, not by the package manager in the night.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/',
  },
  now: [...timer.now, removes, configures, comesNear],
  afterReboot: [...timer.afterReboot, removes, configures],
  onHost: servicesOffOnHost(TIMERS),
  powers: ['stops-units', 'changes-packages'],
  byHand: [
    'systemctl disable --now apt-daily.timer apt-daily-upgrade.timer',
    'systemctl mask apt-daily-upgrade.service',
    'systemctl list-timers',
  ],
}
