import { optionsOf, piecesOf } from '../src/effects/argument.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { settingOnHost } from './on_host.js'
import { alternativeFiles, isKey, isNumber, settingRules } from './setting.js'

const KEYS = ['net.ipv4.conf.all.rp_filter']
const FUTURE = ['net.ipv4.conf.default.rp_filter']

const rules = settingRules(KEYS, isNumber(0, 1))

/** Of `all` and the interface's own value the higher one holds (Documentation/networking/ip-sysctl). */
const onlyFuture: Rule = {
  says: 'sets the filter of interfaces that come later',
  matches: effect =>
    effect.kind === 'sysctl' && isKey(effect, FUTURE).kind === 'true'
      ? { kind: 'near', why: 'is about interfaces that come later: the value for all still holds where it is higher' }
      : NO_MATCH,
}

/** Calico is told in a manifest whether to put up with it; the host keeps its value. */
const tellsCalico: Rule = {
  says: 'tells Calico whether to put up with loose filtering',
  matches: effect =>
    effect.kind === 'file' &&
    effect.content !== undefined &&
    optionsOf(effect.content).some(({ value }) =>
      piecesOf(value)?.some(piece => piece?.includes('FELIX_IGNORELOOSERPF')),
    )
      ? {
          kind: 'near',
          why: 'only tells Calico whether to put up with a loose filter: the host keeps its value',
          closest: true,
        }
      : NO_MATCH,
}

export const rpFilter: Problem = {
  id: 'rp_filter',
  title: 'Reverse path filtering is loose',
  asks: 'Who sets net.ipv4.conf.all.rp_filter to 0 or 1, and who keeps it over a reboot?',
  requirement: {
    says: 'Calico wants reverse path filtering strict or off: with 2 (loose) its agent refused to start, unless told to put up with it.',
    source: 'https://docs.projectcalico.org/v3.9/reference/felix/configuration',
  },
  now: [...rules.now, onlyFuture, tellsCalico],
  afterReboot: rules.afterReboot,
  onHost: settingOnHost({
    key: 'net.ipv4.conf.all.rp_filter',
    holds: isNumber(0, 1),
    wanted: '1',
    unneeded: 'only some releases of Calico refuse that',
  }),
  powers: ['changes-sysctl'],
  byHand: [
    "echo 'net.ipv4.conf.all.rp_filter = 1' > /etc/sysctl.d/99-kubernetes-rp-filter.conf",
    'sysctl --system',
    'sysctl net.ipv4.conf.all.rp_filter',
  ],
  notes: alternativeFiles(KEYS),
}
