import { askText, textOf } from '../src/effects/argument.js'
import type { Effect } from '../src/effects/effect.js'
import { decide, FALSE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { mayChangeCommandLine, onceRebooted, parametersOf } from './boot.js'
import { selinuxOnHost } from './on_host.js'
import { textRule } from './text.js'

/** `disabled` is permissive until the next boot and gone after it; setenforce takes `0` and `Permissive`. */
const LENIENT = ['permissive', 'disabled', '0']

function isLenient(effect: Effect): Truth {
  return effect.kind === 'selinux' && effect.sets === 'mode'
    ? askText(effect.state, text => LENIENT.includes(text.toLowerCase()))
    : FALSE
}

function isEnforced(effect: Effect): Truth {
  return effect.kind === 'selinux' && effect.sets === 'mode'
    ? askText(effect.state, text => ['enforcing', '1'].includes(text.toLowerCase()))
    : FALSE
}

function lenient(effect: Effect, lasts: boolean): Match {
  if (effect.kind !== 'selinux') return NO_MATCH
  if (effect.sets === 'boolean') return { kind: 'near', why: 'sets one switch of the policy; the mode stays' }
  const truth = isLenient(effect)
  if (truth.kind === 'unknown') return { kind: 'could', says: 'which mode it sets is not known', causes: truth.causes }
  if (truth.kind === 'false') return { kind: 'near', why: 'sets the mode that refuses' }
  if (!lasts || effect.persisted) return SETTLES
  return { kind: 'near', why: 'lasts only until the next boot' }
}

const relaxes: Rule = {
  says: 'makes SELinux permissive',
  matches: effect => lenient(effect, false),
  undoneBy: (_, later) => isEnforced(later),
}

const keeps: Rule = {
  says: 'keeps SELinux permissive in its configuration',
  matches: effect => lenient(effect, true),
  undoneBy: (_, later) => (later.kind === 'selinux' && later.persisted ? isEnforced(later) : FALSE),
}

/** Only a file written as a whole: in one that is edited the first line of its kind decides, and where that is is not known. */
const configures: Rule = textRule({
  says: 'makes SELinux permissive in /etc/selinux/config',
  places: ['/etc/selinux/config', '/etc/sysconfig/selinux'],
  line: text => /^SELINUX=\s*(permissive|disabled)/i.test(text),
  beside: effect =>
    effect.change === 'written'
      ? SETTLES
      : {
          kind: 'could',
          says: 'which line decides after the edit is not worked out',
          causes: [{ says: 'the edit of the file is not worked out', at: effect.at, unread: true }],
        },
})

/** Parameters of the kernel that leave SELinux out, or permissive, whatever its configuration says. */
const LENIENT_BOOT = ['selinux=0', 'enforcing=0']
const STRICT_BOOT = ['selinux=1', 'enforcing=1']

const boots: Rule = {
  says: 'boots without SELinux, or with it permissive',
  matches: effect => {
    if (effect.kind !== 'boot-parameters')
      return mayChangeCommandLine(effect, text => /\b(selinux|enforcing)=/.test(text))
    if (effect.change === 'removed') return NO_MATCH
    return decide<Match>(
      askText(effect.parameters, text => parametersOf(text).some(each => LENIENT_BOOT.includes(each))),
      {
        true: () => SETTLES,
        false: () => NO_MATCH,
        unknown: causes => ({ kind: 'could', says: 'which parameters come is not known', causes }),
      },
    )
  },
  undoneBy: (settling, later) => {
    if (later.kind !== 'boot-parameters' || settling.kind !== 'boot-parameters') return FALSE
    const given = parametersOf(textOf(settling.parameters) ?? '').filter(each => LENIENT_BOOT.includes(each))
    const names = given.map(each => each.replace(/=.*/, ''))
    return askText(later.parameters, text =>
      parametersOf(text).some(each =>
        later.change === 'removed'
          ? given.includes(each) || names.includes(each)
          : STRICT_BOOT.includes(each) && names.includes(each.replace(/=.*/, '')),
      ),
    )
  },
}

export const selinux: Problem = {
  id: 'selinux',
  title: 'SELinux is enforcing',
  asks: 'Who makes SELinux permissive, and who keeps it so after a reboot?',
  requirement: {
    says: 'Containers have to reach files of the host, which SELinux in enforcing mode refuses without policies made for them.',
    source: 'https://kubernetes.io/docs/setup/production-environment/tools/kubeadm/install-kubeadm/',
  },
  now: [relaxes, onceRebooted(boots)],
  afterReboot: [keeps, configures, boots],
  onHost: selinuxOnHost,
  powers: ['changes-selinux', 'changes-boot'],
  byHand: ['setenforce 0', "sed -i 's/^SELINUX=enforcing$/SELINUX=permissive/' /etc/selinux/config", 'getenforce'],
}
