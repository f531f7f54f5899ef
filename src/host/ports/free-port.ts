import { type HostFiles, textAt } from '../../evidence/host-files.js'
import type { Holder, OperatorStep } from '../moment.js'
import { quoted } from '../quoted.js'
import { startsAtBoot } from '../units/boot-reach.js'
import { enablementOf } from '../units/enablement.js'
import { triggersOf } from '../units/triggers.js'
import { PERSISTENT, type Unit, unitFilesOf } from '../units/unit-files.js'
import { last, templateOf } from '../units/unit-syntax.js'
import { isKubernetesOwn } from './kubernetes-own.js'

/**
 * The commands, in order, that free a port and keep it free over a reboot, by what the unit files say starts its holder again:
 * a socket, a timer, another unit. What cron, an init script or an agent starts is not known, and said.
 */
export function commandsToFree(holder: Holder, port: number, files: HostFiles): readonly OperatorStep[] {
  const before = isKubernetesOwn(holder, port) ? 'left by a cluster of before: ' : ''
  const steps = stepsFor(holder, port, files)
  const [first, ...rest] = steps
  return first === undefined || before === '' ? steps : [{ ...first, says: `${before}${first.says}` }, ...rest]
}

function stepsFor(holder: Holder, port: number, files: HostFiles): readonly OperatorStep[] {
  const { kind, unit, uid } = holder
  if (kind === 'container') return containerSteps(holder, port, files)
  if (kind === 'unit' && unit !== undefined)
    return uid === undefined ? unitSteps(holder, unit, files) : [userUnitStep(unit, uid, files)]
  if (kind === 'process' && holder.pids.length > 0) return [killStep(holder)]
  return [
    {
      says: `what holds the port is not known${holder.because === undefined ? '' : ` (${holder.because})`}: look, as root`,
      command: `ss -Hltnp 'sport = :${port}'`,
    },
  ]
}

function killStep({ pids, unit, program, because }: Holder): OperatorStep {
  const what = `${program ?? 'the process'}${unit === undefined ? '' : ` of the login ${unit}`}`
  const open = because === undefined ? 'no unit of systemd runs it' : because
  return {
    says: `ends ${what}; ${open}, so that whether cron, an init script or an agent starts it again is not known`,
    command: `kill ${pids.join(' ')}`,
  }
}

function userUnitStep(unit: string, uid: number, files: HostFiles): OperatorStep {
  const user = userName(files, uid)
  return {
    says: `${unit} belongs to the user ${user}, whose own manager starts it`,
    command: `systemctl --user --machine=${quoted(`${user}@`)} disable --now ${quoted(unit)}`,
  }
}

/** The name in /etc/passwd, else the number. */
function userName(files: HostFiles, uid: number): string {
  const text = textAt(files, '/etc/passwd')
  const lines = text.kind === 'known' ? text.value.text.split('\n') : []
  const line = lines.map(each => each.split(':')).find(fields => fields[2] === String(uid))
  return line?.[0] ?? String(uid)
}

function unitSteps(holder: Holder, unit: string, files: HostFiles): readonly OperatorStep[] {
  if (/\.scope$/.test(unit)) {
    const says = `stops ${unit}, a scope: what made it is not known to systemd and may do so again`
    return [{ says, command: `systemctl stop ${quoted(unit)}` }]
  }
  const service = holder.starts ?? unit
  const triggers = triggersOf(files, service, unit)
  const steps = [stopStep(files, unit, holder.starts, triggers)]
  const all = unitFilesOf(files, 'now')
  const accepts = holder.starts !== undefined && /@\.service$/.test(holder.starts)
  if (accepts) {
    const instances = (holder.starts ?? '').replace('@.service', '@*.service')
    steps.push({ says: 'ends the connections it has taken', command: `systemctl stop ${quoted(instances)}` })
  }
  for (const each of [unit, ...(holder.starts === undefined || accepts ? [] : [holder.starts])]) {
    const loaded = all.unit(each)
    if (loaded.kind === 'known') steps.push(...maskSteps(files, loaded.value, each === holder.starts))
  }
  return steps
}

function stopStep(
  files: HostFiles,
  unit: string,
  starts: string | undefined,
  triggers: readonly string[],
): OperatorStep {
  const more = starts === undefined || /@\.service$/.test(starts) ? [] : [starts]
  const units = [unit, ...more, ...triggers]
  const reasons: string[] = []
  if (starts !== undefined)
    reasons.push(
      `systemd listens for ${unit} and starts ${starts} when somebody connects: stopping the service alone frees nothing`,
    )
  else reasons.push(`stops ${unit} now and at boot`)
  if (triggers.length > 0) reasons.push(`${triggers.join(', ')} would start it again`)
  const loaded = unitFilesOf(files, 'now').unit(starts ?? unit)
  const restart = loaded.kind === 'known' ? last(loaded.value.settings, 'Service', 'Restart')?.value : undefined
  if (restart !== undefined && restart !== 'no')
    reasons.push(
      `it has Restart=${restart}, so that killing it would not do; systemd does not restart what it was told to stop`,
    )
  const transient = loaded.kind === 'known' && loaded.value.path.startsWith('/run/systemd/transient/')
  if (transient)
    return {
      says: `${unit} was made while the system ran (systemd-run) and is gone once stopped`,
      command: `systemctl stop ${units.map(quoted).join(' ')}`,
    }
  return { says: reasons.join('; '), command: `systemctl disable --now ${units.map(quoted).join(' ')}` }
}

/**
 * What `disable` leaves: a unit without `[Install]`, one that a generator makes, one that another unit pulls in. It has to be
 * masked; where its file stands in /etc/systemd/system that file has to go out of the way first.
 */
function maskSteps(files: HostFiles, unit: Unit, isTriggered: boolean): readonly OperatorStep[] {
  const state = enablementOf(files, unit.name)
  const stays = state.kind === 'known' && ['static', 'generated', 'indirect', 'linked'].includes(state.value)
  const boot = startsAtBoot(files, unit.name)
  // Links that `disable` takes away stand in /etc; all others stay.
  const [pull] = boot.kind === 'known' && boot.value ? boot.places : []
  // What started a static unit is its socket, where that is stopped too.
  if (isTriggered && !(boot.kind === 'known' && boot.value)) return []
  const byOther = pull !== undefined && !isOwnLink(unit, pull.file)
  if (!stays && !byOther) return []
  const why = byOther
    ? (pull.says ?? `${pull.file} starts it`)
    : `it is ${state.kind === 'known' ? state.value : 'not to be disabled'}`
  const name = quoted(unit.name)
  const says = `masks ${unit.name}: ${why}, which \`disable\` leaves`
  const own = `${PERSISTENT}/${unit.name}`
  const command = `systemctl mask --now ${name}`
  return [{ says, command: unit.path === own ? `mv ${quoted(own)} ${quoted(`${own}.off`)} && ${command}` : command }]
}

/** Whether a place is a link that `systemctl disable` removes: one to this unit in /etc. */
function isOwnLink({ names, name }: Unit, path: string): boolean {
  if (!path.startsWith(`${PERSISTENT}/`)) return false
  const base = path.slice(path.lastIndexOf('/') + 1)
  return /\.(wants|requires|upholds)\//.test(path) && (names.includes(base) || templateOf(name) === base)
}

function containerSteps(holder: Holder, port: number, files: HostFiles): readonly OperatorStep[] {
  const { container, uid } = holder
  const { runtime = '', id, pod = false } = container ?? {}
  const as = uid === undefined ? '' : `sudo -u ${quoted(`#${uid}`)} `
  if (pod) return podSteps(runtime, id)
  if (runtime === 'docker') {
    const which = id === undefined ? `$(docker ps -q --filter publish=${port})` : quoted(id)
    return [
      {
        says: 'takes away the policy by which docker starts the container again, and stops it',
        command: `docker update --restart=no ${which} && docker stop ${which}`,
      },
    ]
  }
  const name = id === undefined ? undefined : quoted(id)
  if (name === undefined)
    return [
      {
        says: `a container of ${runtime} holds it; which one is not known: look`,
        command: `ss -Hltnp 'sport = :${port}'`,
      },
    ]
  if (runtime === 'podman')
    return [
      {
        says: `stops the container; ${podmanRestart(files)}`,
        command: `${as}podman update --restart=no ${name}; ${as}podman stop ${name}`,
      },
    ]
  if (runtime === 'nerdctl')
    return [
      {
        says: 'takes away the policy of restarting and stops the container',
        command: `${as}nerdctl update --restart=no ${name} && ${as}nerdctl stop ${name}`,
      },
    ]
  if (runtime === 'lxc')
    return [
      {
        says: 'stops the container, and keeps it from starting at boot where LXD or Incus runs it',
        command: `lxc-stop -n ${name} || { lxc config set ${name} boot.autostart=false && lxc stop ${name}; }`,
      },
    ]
  if (runtime === 'machine')
    return [
      {
        says: 'ends the machine and keeps it from starting at boot',
        command: `machinectl terminate ${name}; machinectl disable ${name}`,
      },
    ]
  return [{ says: 'stops the container', command: `crictl stop ${name}` }]
}

/** kubelet starts what it finds in /etc/kubernetes/manifests again: it has to be stopped before. */
function podSteps(runtime: string, id: string | undefined): readonly OperatorStep[] {
  const kubelet: OperatorStep = {
    says: 'a pod of kubelet holds it, which kubelet would start again: stops kubelet first',
    command: 'systemctl disable --now kubelet.service',
  }
  const stop = runtime === 'docker' ? 'docker stop' : 'crictl stop'
  if (id === undefined) return [kubelet, { says: 'stops all pods', command: 'crictl stopp $(crictl pods -q)' }]
  return [kubelet, { says: 'stops the container', command: `${stop} ${quoted(id)}` }]
}

function podmanRestart(files: HostFiles): string {
  const boot = startsAtBoot(files, 'podman-restart.service')
  if (boot.kind === 'known' && !boot.value)
    return 'podman-restart.service is off, so that a reboot does not start it; whether a unit of its own does is not known'
  return 'podman-restart.service starts containers at boot by their policy'
}
