import { piecesOf } from '../src/effects/argument.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import { replaceLine, stepOf } from '../src/host/boot/mends.js'
import type { HostContext, Look } from '../src/host/look.js'
import type { OperatorStep } from '../src/host/moment.js'
import { type LeftAlone, leftAlone, nmSettings } from '../src/host/nm-settings.js'
import { compareBytes } from '../src/source/store.js'
import { type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { runsAt, unknownAnswer } from './on_host.js'
import { stoppedRules } from './running.js'
import { isReadLater, textRule } from './text.js'
import { whenReadBy, whenStarts } from './unit.js'
import { putsNo } from './written.js'

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

const UNIT = 'NetworkManager.service'
/** As Calico calls the end of a pod's interface that the host has. */
const OF_A_POD = 'cali0a1b2c3d4e5'
const OWN_FILE = '/etc/NetworkManager/conf.d/calico.conf'

/** Whether the run sets Calico up: it puts its program or its directories on the host. */
function setsUpCalico({ occurrences }: RunEffects): boolean {
  return occurrences.some(occurrence => {
    const { effect, asWritten } = occurrence
    if (asWritten || effect.kind !== 'file' || effect.change === 'removed') return false
    const path = piecesOf(effect.path)
      ?.map(piece => piece ?? '…')
      .join('')
    return path !== undefined && /\/calico(ctl)?(\/|$)/.test(path) && standingOf(occurrence).kind !== 'never'
  })
}

const WRITE: OperatorStep = {
  says: 'keep NetworkManager off the interfaces of pods',
  command: `printf '[keyfile]\\nunmanaged-devices+=interface-name:cali*;interface-name:tunl*;interface-name:vxlan.calico\\n' > ${OWN_FILE}`,
}
const READ: OperatorStep = { says: 'have NetworkManager read it', command: 'systemctl reload NetworkManager' }

/** What has it leave them alone: a line that begins the list anew behind the others only adds to it instead. */
function stepsFor({ reset, isNamed }: LeftAlone, { moment, before }: HostContext): readonly OperatorStep[] {
  const name = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
  const isBehind =
    reset?.file.startsWith('/etc/NetworkManager/conf.d/') === true && compareBytes(name(reset.file), name(OWN_FILE)) > 0
  if (!isBehind) return [WRITE, READ]
  const by = reset.says?.replace(/\s*=/, '+=')
  const mend =
    by === undefined || /[\\/&]/.test(by)
      ? undefined
      : replaceLine(moment.files, reset, by, 'add to the list, and do not begin it anew')
  const add: OperatorStep =
    mend === undefined
      ? { says: `make it unmanaged-devices+= in ${reset.file}`, command: `grep -n unmanaged-devices ${reset.file}` }
      : stepOf(mend, before.files)
  return isNamed ? [add, READ] : [add, WRITE, READ]
}

/** Whether NetworkManager is off, or leaves the interfaces of pods alone; only where the run sets Calico up. */
const managerOnHost: Look = context => {
  const { moment, before, phase, effects } = context
  const running = runsAt(UNIT, context)
  const when = phase === 'afterReboot' ? 'is started at boot' : 'runs'
  if (running.kind === 'absent' || (running.kind === 'known' && !running.value))
    return {
      state: 'ok',
      says:
        running.kind === 'absent'
          ? 'there is no NetworkManager'
          : `NetworkManager ${phase === 'afterReboot' ? 'is not started at boot' : 'does not run'}`,
      places: running.places,
      steps: [],
    }
  if (!setsUpCalico(effects)) {
    const says = 'the run sets up no Calico, whose interfaces NetworkManager would take for its own'
    return { state: 'unneeded', says, places: running.places, steps: [] }
  }
  const read = nmSettings(moment.files)
  const left = leftAlone(read, OF_A_POD)
  const places = left.place === undefined ? (left.reset === undefined ? [] : [left.reset]) : [left.place]
  // What the run puts into a file of which the rest is not known is about other things.
  const because = read.unknown.find(({ path }) => phase === 'now' || !putsNo(path, /managed/, effects))?.because
  if (left.isLeft === undefined || because !== undefined) {
    const why = because ?? 'whether its list has them depends on its release'
    return {
      ...unknownAnswer(`whether NetworkManager leaves the interfaces of pods alone is not known: ${why}`, places),
      steps: left.isLeft === true ? [] : [WRITE, READ],
    }
  }
  if (!left.isLeft) {
    const over = left.isNamed && left.reset !== undefined ? `: ${left.reset.file} begins the list anew` : ''
    const state = running.kind === 'unknown' ? 'unknown' : 'problem'
    const says =
      running.kind === 'unknown'
        ? `whether NetworkManager ${when} is not known (${running.because}), and it manages the interfaces of pods`
        : `NetworkManager ${when}, and manages the interfaces of pods${over}`
    return { state, says, places, steps: stepsFor(left, context) }
  }
  const says = 'NetworkManager leaves the interfaces of pods alone'
  const wasLeft = leftAlone(nmSettings(before.files), OF_A_POD).isLeft === true
  if (phase === 'afterRun' && !wasLeft && whenStarts(UNIT, 'now', effects) === undefined)
    return {
      state: 'problem',
      says: `${says} once it has read that, and the run does not restart it`,
      places,
      steps: [READ],
    }
  return { state: 'ok', says, places, steps: [] }
}

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
  onHost: managerOnHost,
  powers: ['stops-units', 'changes-network'],
  byHand: [
    "printf '[keyfile]\\nunmanaged-devices+=interface-name:cali*;interface-name:tunl*;interface-name:vxlan.calico\\n' > /etc/NetworkManager/conf.d/calico.conf",
    'systemctl reload NetworkManager',
    'nmcli device status',
  ],
}
