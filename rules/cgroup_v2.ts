import { askText, piecesOf, textOf } from '../src/effects/argument.js'
import type { Effect, FileChange } from '../src/effects/effect.js'
import type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { type HostFiles, textAt } from '../src/evidence/host-files.js'
import { linesOf } from '../src/host/boot/conf-files.js'
import { replaceLine, stepOf } from '../src/host/boot/mends.js'
import { type CgroupVersion, cgroupsAskedFor, cgroupsNow } from '../src/host/cgroups.js'
import type { HostContext, Look } from '../src/host/look.js'
import type { OperatorStep, Seen } from '../src/host/moment.js'
import { FALSE, type Truth } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Note, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { mayChangeCommandLine, onceRebooted, parametersOf } from './boot.js'
import { minorOfKubernetes, writtenValues } from './kubernetes_version.js'
import { distributionIds, unknownAnswer } from './on_host.js'

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

/**
 * The version the host runs on: what it runs on now says how systemd takes the command line it has; another one only where the
 * run changes that line, once the host is booted.
 */
function versionOf({ moment, before, phase, effects }: HostContext): Seen<CgroupVersion> {
  const now = cgroupsNow(before.files)
  if (phase === 'now' || (phase === 'afterRun' && !reboots(effects))) return now
  const line = textAt(moment.files, '/proc/cmdline')
  const old = textAt(before.files, '/proc/cmdline')
  if (line.kind === 'known' && old.kind === 'known' && line.value.text === old.value.text) return now
  if (line.kind === 'unknown' && old.kind !== 'unknown') return { ...line, places: [] }
  const asked = cgroupsAskedFor(moment.files)
  if (asked !== undefined) return { kind: 'known', value: asked.version, places: [asked.place] }
  if (cgroupsAskedFor(before.files) === undefined) return now
  return { kind: 'unknown', because: 'which one systemd takes by itself is not known', places: [] }
}

function reboots({ occurrences }: RunEffects): boolean {
  return occurrences.some(
    occurrence =>
      occurrence.effect.kind === 'reboot' && !occurrence.asWritten && standingOf(occurrence).kind !== 'never',
  )
}

/** Whether the kubelet that the run sets up starts on cgroup v1; undefined where that is not known. */
function startsOnV1(effects: RunEffects): boolean | undefined {
  const told = [...writtenValues(effects, /^failCgroupV1: (\S+)/m)]
  if (told.length > 0)
    return told.every(each => each?.toLowerCase() === 'false')
      ? true
      : told.every(each => each?.toLowerCase() === 'true')
        ? false
        : undefined
  // It refuses by itself from 1.35 on.
  const minor = minorOfKubernetes(effects)
  return minor === undefined ? undefined : minor < 35
}

const GRUB = '/etc/default/grub'
const UNIFIED = 'systemd.unified_cgroup_hierarchy'

/** What has the host boot with cgroup v2: the parameter in the line of GRUB's settings, else by the tool of the distribution. */
function stepsFor({ before: { files } }: HostContext): readonly OperatorStep[] {
  const boot: OperatorStep = { says: 'boot it', command: 'reboot' }
  const ids = distributionIds(files)
  const says = 'have the next boot take cgroup v2'
  const edited = /\b(ubuntu|debian)\b/.test(ids) ? grubStep(files, says) : undefined
  if (edited !== undefined)
    return [edited, { says: "make the boot loader's own file of it", command: 'update-grub' }, boot]
  return [{ says, command: `grubby --update-kernel=ALL --remove-args=${UNIFIED} --args=${UNIFIED}=1` }, boot]
}

function grubStep(files: HostFiles, says: string): OperatorStep | undefined {
  const text = textAt(files, GRUB)
  const lines = text.kind === 'known' ? [...linesOf(text.value.text)] : []
  const setting = /^GRUB_CMDLINE_LINUX(_DEFAULT)?="/
  const found =
    lines.findLast(({ text: raw }) => setting.test(raw) && raw.includes(UNIFIED)) ??
    lines.findLast(({ text: raw }) => /^GRUB_CMDLINE_LINUX="[^"]*"\s*$/.test(raw))
  if (found === undefined || /[\\/&]/.test(found.text)) return undefined
  const without = found.text.replaceAll(new RegExp(`\\s*${UNIFIED.replaceAll('.', '\\.')}(=[^\\s"]*)?`, 'g'), '')
  const by = without.replace(/"\s*$/, ` ${UNIFIED}=1"`).replace('=" ', '="')
  const mend = replaceLine(files, { file: GRUB, line: found.line }, by, says)
  return mend === undefined ? undefined : stepOf(mend, files)
}

/** Whether the host runs on cgroup v2, and whether the kubelet minds where it does not. */
const cgroupsOnHost: Look = context => {
  const seen = versionOf(context)
  const { places } = seen
  if (seen.kind === 'unknown')
    return unknownAnswer(`which version of control groups the host has is not known: ${seen.because}`, places)
  const verb = context.phase === 'afterReboot' ? 'boots with' : 'runs on'
  const says = `the host ${verb} cgroup ${seen.kind === 'known' ? seen.value : 'v1'}`
  if (seen.kind === 'known' && seen.value === 'v2') return { state: 'ok', says, places, steps: [] }
  const asked = cgroupsAskedFor(context.before.files)
  const all = asked?.version === 'v1' ? [...places, asked.place] : places
  const starts = startsOnV1(context.effects)
  if (starts === true)
    return { state: 'unneeded', says: `${says}; the kubelet of this run starts on it`, places: all, steps: [] }
  if (starts === undefined)
    return {
      ...unknownAnswer(`${says}; whether the kubelet starts on it is not known`, all),
      steps: stepsFor(context),
    }
  return { state: 'problem', says: `${says}, and the kubelet refuses it`, places: all, steps: stepsFor(context) }
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
  onHost: cgroupsOnHost,
  powers: ['changes-boot'],
  byHand: [
    'stat -fc %T /sys/fs/cgroup/   # cgroup2fs is v2, tmpfs is v1',
    'grubby --update-kernel=ALL --args=systemd.unified_cgroup_hierarchy=1 && reboot',
  ],
  notes: refusal,
}
