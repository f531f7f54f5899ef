import { askText, piecesOf, textOf } from '../src/effects/argument.js'
import type { Effect, FileChange } from '../src/effects/effect.js'
import type { Occurrence } from '../src/effects/run-effects.js'
import { FALSE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { mayChangeCommandLine, onceRebooted, parametersOf } from './boot.js'

const PARAMETER = /^systemd\.unified_cgroup_hierarchy(?:=(.*))?$/

/** Whether a parameter asks systemd for cgroup v2 (alone it means yes) or for v1; undefined where it is another one. */
function asksForV2(parameter: string): boolean | undefined {
  const match = PARAMETER.exec(parameter)
  return match === null ? undefined : match[1] === undefined || /^(1|y|yes|t|true|on)$/i.test(match[1])
}

const asks = (text: string, forV2: boolean): boolean => parametersOf(text).some(each => asksForV2(each) === forV2)

const boots: Rule = {
  says: 'boots with cgroup v2',
  matches: effect => {
    if (effect.kind !== 'boot-parameters')
      return mayChangeCommandLine(effect, text => text.includes('unified_cgroup_hierarchy'))
    return effect.change === 'added' ? ofAdded(effect.parameters) : ofRemoved(effect.parameters)
  },
  undoneBy: (_, later) => (later.kind === 'boot-parameters' ? takesBack(later) : FALSE),
}

type Parameters = Extract<Effect, { kind: 'boot-parameters' }>['parameters']

function ofAdded(parameters: Parameters): Match {
  const on = askText(parameters, text => asks(text, true))
  const off = askText(parameters, text => asks(text, false))
  if (on.kind === 'true') return SETTLES
  if (on.kind === 'unknown') return { kind: 'could', says: 'which parameters come is not known', causes: on.causes }
  return off.kind === 'true' ? { kind: 'near', why: 'asks for cgroup v1, the opposite', closest: true } : NO_MATCH
}

function ofRemoved(parameters: Parameters): Match {
  const truth = askText(parameters, text => parametersOf(text).some(each => PARAMETER.test(each)))
  if (truth.kind === 'false') return NO_MATCH
  if (truth.kind === 'unknown') return { kind: 'could', says: 'which parameters go is not known', causes: truth.causes }
  return { kind: 'settles', condition: 'systemd takes cgroup v2 where nothing asks for v1' }
}

function takesBack({ change, parameters }: Extract<Effect, { kind: 'boot-parameters' }>): Truth {
  return askText(parameters, text => asks(text, change === 'removed'))
}

const looks: Rule = {
  says: 'looks at the control groups of the host',
  matches: effect => {
    if (effect.kind === 'mount' && /^\/sys\/fs\/cgroup/.test(textOf(effect.path) ?? ''))
      return { kind: 'near', why: 'mounts a hierarchy beside; which one systemd manages is decided at boot' }
    if (effect.kind !== 'command' || !effect.arguments.some(word => isCgroupPath(piecesOf(word)?.[0] ?? '')))
      return NO_MATCH
    const why = 'only looks at the control groups, and at most stops the run: it mends nothing'
    return { kind: 'near', why, closest: true }
  },
}

function isCgroupPath(text: string): boolean {
  return /^\/sys\/fs\/cgroup(\/|$)|^\/proc\/cgroups$/.test(text)
}

/** What the kubelet is told about cgroup v1: it refuses to start there, or only warns. */
function refusal(occurrences: readonly Occurrence[]): readonly Note[] {
  const seen = new Set<FileChange['at']>()
  return occurrences.flatMap(about => {
    const { effect } = about
    if (effect.kind !== 'file' || effect.change !== 'written' || seen.has(effect.at)) return []
    const content = effect.content === undefined ? undefined : piecesOf(effect.content)
    const told = content
      ?.map(piece => piece ?? '…')
      .join('')
      .match(/^failCgroupV1: (\S+)/m)?.[1]
    if (told === undefined) return []
    seen.add(effect.at)
    const does = told === 'false' ? 'starts on cgroup v1 all the same' : 'refuses to start on cgroup v1'
    return [
      {
        says:
          told === '…'
            ? 'This file tells the kubelet whether to refuse cgroup v1 (failCgroupV1).'
            : `The kubelet ${does} (failCgroupV1: ${told}).`,
        about,
      },
    ]
  })
}

export const cgroupV2: Problem = {
  id: 'cgroup_v2',
  title: 'The host runs on cgroup v1',
  asks: 'Who has the host boot with cgroup v2?',
  requirement: {
    says: 'cgroup v1 is in maintenance from Kubernetes 1.31 on, and the kubelet of 1.35 refuses to start on it by default.',
    source: 'https://kubernetes.io/docs/concepts/architecture/cgroups/',
  },
  now: [onceRebooted(boots), looks],
  afterReboot: [boots, looks],
  powers: ['changes-boot'],
  byHand: [
    'stat -fc %T /sys/fs/cgroup/   # cgroup2fs is v2, tmpfs is v1',
    'grubby --update-kernel=ALL --args=systemd.unified_cgroup_hierarchy=1 && reboot',
  ],
  notes: refusal,
}
