import { isOneOfTexts, isSet, membersOf, optionsOf, piecesOf, textOf } from '../../effects/argument.js'
import { describeEffect, unitName } from '../../effects/describe.js'
import type { Effect, FileChange } from '../../effects/effect.js'
import { sysctlKey } from '../../effects/settings-files.js'
import { known, type Value } from '../../jinja/value.js'

/** One thing that is done to the host: what to what. Two of the same key are the same deed. */
export interface Deed {
  /** What is done, and to which kind of thing: `file written`, `package absent`. */
  readonly sort: string
  /** What it is done to; undefined where nothing of it is known. */
  readonly target: string | undefined
  /** In words, starting with a verb or a noun. */
  readonly says: string
  /** How it is afterwards, where it can be more than there: a setting's value, a package's version. */
  readonly value?: string
  /** False where the same is done for so many reasons that their conditions say nothing: a program that is run. */
  readonly isPlain: boolean
}

/** What an effect does to the host; nothing for what is not on the host, and for what is told in another way (units). */
export function deedsOf(effect: Effect): readonly Deed[] {
  switch (effect.kind) {
    case 'file':
      return deedsOfFile(effect)
    case 'sysctl': {
      const says = (key: string): string => (effect.value === undefined ? `takes ${key} out` : `sets ${key}`)
      const sort = effect.value === undefined ? 'sysctl removed' : 'sysctl'
      const value = textOf(effect.value)
      return targetsOf(effect.key).map(key => ({
        ...deed(sort, key === undefined ? undefined : sysctlKey(key), says(key ?? 'a kernel setting')),
        ...(value === undefined ? {} : { value: value.trim() }),
      }))
    }
    case 'kernel-module':
      return targetsOf(effect.module).map(name => {
        const verb = effect.state === 'loaded' ? 'loads' : 'unloads'
        const when = effect.when === 'now' ? 'now' : 'at each boot'
        const target = name?.replaceAll('-', '_')
        return deed(`kernel module ${effect.state} ${when}`, target, `${verb} the kernel module ${name ?? '…'} ${when}`)
      })
    case 'package':
      return deedsOfPackages(effect.names, effect.state)
    case 'swap':
      return targetsOf(effect.device ?? known('all')).map(target =>
        deed(`swap ${effect.state}`, target, describeEffect(effect)),
      )
    case 'mount':
      return targetsOf(effect.path).map(target =>
        deed(`mount ${effect.state}`, target, `${mountVerbs[effect.state]} ${target ?? 'a file system'}`),
      )
    case 'fstab-entries-removed':
    case 'fstab-entry-written':
      return targetsOf(effect.mountPoint).map(target => deed(effect.kind, target, describeEffect(effect)))
    case 'boot-parameters':
      return targetsOf(effect.parameters).map(target =>
        deed(
          `boot parameters ${effect.change}`,
          target,
          `${effect.change === 'added' ? 'adds' : 'takes out'} the boot parameters ${target ?? '…'}`,
        ),
      )
    case 'processes-signalled':
      return targetsOf(effect.target).map(target => deed(`signals by ${effect.by}`, target, describeEffect(effect)))
    case 'container':
      return [loose(`container ${effect.action}`, effect.runtime, containerSays(effect.runtime, effect.action))]
    case 'kubeadm':
      return [loose('kubeadm', effect.subcommand, `runs kubeadm ${effect.subcommand}`)]
    case 'command':
      if (effect.powers.length === 0) return []
      return [loose('command', effect.program, `runs ${effect.program ?? 'a program that is not known'}`)]
    case 'unmodelled-module': {
      const module = effect.module.replace(/ \(.*$/s, '')
      return [loose('module', module, `runs the module ${module}, which could do anything`)]
    }
    case 'selinux':
      return targetsOf(effect.state).map(target =>
        deed(`SELinux ${effect.sets}`, target, `sets SELinux to ${target ?? 'a mode that is not known'}`),
      )
    case 'hostname':
      return [deed('host name', 'host name', describeEffect(effect))]
    case 'reboot':
      return [deed('reboot', 'host', 'reboots the host')]
    case 'firewall':
    case 'network':
    case 'account':
    case 'schedule':
    case 'storage':
    case 'clock':
    case 'package-source':
      return targetsOf(effect.says).map(target => {
        const tool = effect.kind === 'firewall' ? ` ${effect.tool}` : ''
        // An argument that is not known is left out: more than one task may read the same.
        const isWhole = target !== undefined && !/…|=(?:\s|$)/.test(target)
        const says = `${changing[effect.kind]}${tool && ` with${tool}`}: ${target ?? '…'}`
        return { ...deed(`${effect.kind}${tool}`, target, says), isPlain: isWhole }
      })
    case 'unit':
    case 'unit-file':
    case 'cluster-object':
    case 'stop-if':
    case 'unreadable-command':
      return []
  }
}

const mountVerbs = { mounted: 'mounts', unmounted: 'unmounts', remounted: 'remounts' } as const

const changing = {
  firewall: 'changes the firewall',
  network: 'changes the network',
  account: 'changes accounts',
  schedule: 'changes scheduled jobs',
  storage: 'changes storage',
  clock: 'changes the clock',
  'package-source': 'changes where packages come from',
} as const

function deed(sort: string, target: string | undefined, says: string): Deed {
  return { sort, target: target === undefined ? undefined : withoutVersions(target), says, isPlain: true }
}

function loose(sort: string, target: string | undefined, says: string): Deed {
  return { sort, target, says, isPlain: false }
}

function containerSays(runtime: string, action: (Effect & { kind: 'container' })['action']): string {
  const verb = { started: 'starts', stopped: 'stops', removed: 'removes', image: 'loads images of', other: 'works on' }[
    action
  ]
  return `${verb} containers with ${runtime}`
}

const verbs: Readonly<Record<FileChange['change'], readonly [sort: string, says: string]>> = {
  written: ['file written', 'writes'],
  line: ['file written', 'edits'],
  link: ['file written', 'makes the link'],
  unpacked: ['file written', 'unpacks into'],
  directory: ['directory', 'makes the directory'],
  removed: ['file removed', 'removes'],
  attributes: ['attributes', 'sets owner or mode of'],
}

function deedsOfFile({ path, change }: FileChange): readonly Deed[] {
  const [sort, verb] = verbs[change]
  return targetsOf(path).flatMap(target => {
    // Where a script stands when it writes `x` is not followed.
    if (target !== undefined && !/^[/~…]/.test(target)) return []
    const clean = target?.replace(/(?<=.)\/+$/, '').replaceAll(/\/{2,}/g, '/')
    return [{ ...deed(sort, clean, `${verb} ${clean ?? 'a file'}`), isPlain: sort.startsWith('file') }]
  })
}

const goneStates = ['absent', 'removed', 'purged']

function deedsOfPackages(names: Value, state: Value): readonly Deed[] {
  const isGone = isOneOfTexts(state, goneStates).kind === 'true'
  const sort = isGone ? 'package removed' : 'package installed'
  return membersOf(names).flatMap(member =>
    targetsOf(member).flatMap(text => {
      if (text === undefined) return [deed(sort, undefined, `${isGone ? 'removes' : 'installs'} packages`)]
      return text.split(/\s+/).map(word => {
        const [name = word, version] = word.split(/[=<>]+/, 2)
        const value = version === undefined || version.includes('…') ? undefined : version
        return {
          ...deed(sort, name, `${isGone ? 'removes' : 'installs'} the package ${name}`),
          ...(value === undefined || isGone ? {} : { value }),
        }
      })
    }),
  )
}

/** The texts a value can be; `…` stands for a piece that is not known, undefined for one of which nothing is. */
function targetsOf(value: Value): readonly (string | undefined)[] {
  return [...new Set(optionsOf(value).map(option => targetOf(option.value)))]
}

function targetOf(value: Value): string | undefined {
  const pieces = piecesOf(value)
  if (pieces === undefined || pieces.every(piece => piece === null || /^[\s/.…]*$/.test(piece))) return undefined
  return pieces.map(piece => piece ?? '…').join('')
}

/** A version in a path is not another thing that is done: `tool-1.2.3.tar` and `tool-1.3.0.tar`. */
function withoutVersions(text: string): string {
  return text
    .replaceAll(/v?\d+\.\d+(?:\.\d+)*(?:[-+][0-9A-Za-z.]+)?/g, '<version>')
    .replaceAll(/\b[0-9a-f]{32,}\b/g, '<hash>')
}

/** A unit's names under which an effect acts on it; undefined for one of which nothing is known. */
export function unitsOf(unit: Value): readonly (string | undefined)[] {
  return targetsOf(unit).map(name => (name === undefined ? undefined : unitName(name)))
}

/** What an effect asks of a unit, one by one: `started`, `enabled`, `masked`. A restart leaves it started. */
export function askedOfUnit(effect: Effect & { kind: 'unit' }): readonly string[] {
  const asked: string[] = []
  for (const { value } of effect.state === undefined ? [] : optionsOf(effect.state)) {
    const state = textOf(value)
    if (state === 'started' || state === 'restarted') asked.push('started')
    if (state === 'stopped') asked.push('stopped')
  }
  const flag = (value: Value | undefined, yes: string, no: string): void => {
    if (value === undefined) return
    const truth = isSet(value, false)
    if (truth.kind !== 'unknown') asked.push(truth.kind === 'true' ? yes : no)
  }
  flag(effect.enabled, 'enabled', 'disabled')
  flag(effect.masked, 'masked', 'unmasked')
  return asked
}
