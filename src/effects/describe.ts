import { decide, type Truth, type Value } from '../jinja/value.js'
import { askText, isSet, piecesCanBe, showValue, textOf } from './argument.js'
import type { Effect, Unit } from './effect.js'

/** An effect in words for people: one short phrase that names what it acts on. */
export function describeEffect(effect: Effect): string {
  switch (effect.kind) {
    case 'fstab-entries-removed':
      return `removes lines with mount point \`${showValue(effect.mountPoint)}\` from ${showValue(effect.file)}`
    case 'fstab-entry-written':
      return `writes a line for mount point \`${showValue(effect.mountPoint)}\` to ${showValue(effect.file)}`
    case 'mount':
      return `${showValue(effect.path)} is ${effect.state}`
    case 'unit':
      return describeUnit(effect)
    case 'unit-file':
      return `writes the unit file of ${effect.unit} (${showValue(effect.path)})`
    case 'kernel-module': {
      const verb = effect.state === 'loaded' ? 'loads' : 'unloads'
      const where = effect.when === 'now' ? 'now' : `at each boot (${showValue(effect.file)})`
      return `${verb} the kernel module ${showValue(effect.module)} ${where}`
    }
    case 'sysctl': {
      const value = effect.value === undefined ? 'removed from' : `= ${showValue(effect.value)}`
      const now = decide(effect.now, { true: () => 'now', false: () => '', unknown: () => 'now, perhaps' })
      const file = effect.file === undefined ? '' : showValue(effect.file)
      const kept = decide(effect.persisted, {
        true: () => `in ${file}`,
        false: () => '',
        unknown: () => `perhaps in ${file}`,
      })
      const where = [now, kept].filter(part => part !== '').join(' and ')
      return effect.value === undefined
        ? `${showValue(effect.key)} ${value} ${file}`
        : `sets ${showValue(effect.key)} ${value} ${where}`.trim()
    }
    case 'file': {
      const verbs = {
        written: 'writes',
        line: 'edits',
        removed: 'removes',
        directory: 'makes the directory',
        link: 'makes the link',
        attributes: 'touches',
        unpacked: 'unpacks into',
      }
      return `${verbs[effect.change]} ${showValue(effect.path)}`
    }
    case 'package':
      return `packages ${showValue(effect.names)}: ${showValue(effect.state)}`
    case 'package-source':
      return `changes where packages come from: ${showValue(effect.says)}`
    case 'boot-parameters':
      return `boot parameters ${showValue(effect.parameters)}: ${effect.change}`
    case 'swap':
      return `turns ${effect.which === 'all' ? 'all swap' : `swap on ${showValue(effect.device)}`} ${effect.state}`
    case 'processes-signalled':
      return effect.signal === undefined
        ? `signals the processes of ${effect.by} ${showValue(effect.target)}`
        : `sends ${showValue(effect.signal)} to the processes of ${effect.by} ${showValue(effect.target)}`
    case 'container':
      return `${effect.runtime}: container ${effect.action} (${effect.arguments.map(showValue).join(' ')})`
    case 'command':
      return `runs \`${[effect.program ?? '…', ...effect.arguments.map(showValue)].join(' ')}\``
    case 'kubeadm':
      return `runs kubeadm ${effect.subcommand}`
    case 'firewall':
      return `${effect.tool}: ${showValue(effect.says)}`
    case 'network':
      return `network: ${showValue(effect.says)}`
    case 'selinux':
      return `SELinux: ${showValue(effect.state)}${effect.persisted ? '' : ', until the next boot'}`
    case 'hostname':
      return `sets the host name to ${showValue(effect.name)}${effect.persisted ? '' : ', until the next boot'}`
    case 'clock':
    case 'account':
    case 'schedule':
    case 'storage':
    case 'cluster-object':
      return showValue(effect.says)
    case 'reboot':
      return 'reboots the host'
    case 'stop-if':
      return `stops the run: ${showValue(effect.says)}`
    case 'unreadable-command':
      return `a command that cannot be read: ${effect.says}`
    case 'unmodelled-module':
      return `the module ${effect.module}, which is not modelled`
  }
}

function describeUnit(effect: Unit): string {
  const parts: string[] = []
  if (effect.state !== undefined) parts.push(showValue(effect.state))
  const flag = (value: Unit['enabled'], yes: string, no: string): void => {
    if (value === undefined) return
    parts.push(decide(isSet(value, false), { true: () => yes, false: () => no, unknown: () => `perhaps ${yes}` }))
  }
  flag(effect.enabled, 'enabled', 'disabled')
  flag(effect.masked, 'masked', 'unmasked')
  return `unit ${unitName(textOf(effect.unit) ?? showValue(effect.unit))}: ${parts.join(', ')}`
}

const SUFFIX = /\.(service|socket|target|device|mount|automount|swap|timer|path|slice|scope)$/

/** A unit under its full name: one without a suffix is a service, as systemctl and the service modules take it. */
export function unitName(name: string): string {
  return SUFFIX.test(name) || name.includes('…') ? name : `${name}.service`
}

/** Whether a unit is one of these, each given under its full name. */
export function isOneOfUnits(unit: Value, names: readonly string[]): Truth {
  const fits = (pieces: readonly (string | null)[], name: string): boolean =>
    piecesCanBe(pieces, name) || (name.endsWith('.service') && piecesCanBe(pieces, name.slice(0, -'.service'.length)))
  return askText(
    unit,
    text => names.includes(unitName(text)),
    pieces => (names.some(name => fits(pieces, name)) ? undefined : false),
  )
}
