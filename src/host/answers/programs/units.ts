import { unitName } from '../../../effects/describe.js'
import { ownEntry } from '../../../source/own-entry.js'
import { readWords } from './options.js'
import type { Call, Outcome, Program } from './outcome.js'
import { complains, ends, notKnown, oneOf, prints } from './outcome.js'

/** What `systemctl is-enabled` ends with, by the word it prints (systemctl(1)). */
const ENABLED: Readonly<Record<string, 0 | 1>> = {
  alias: 0,
  disabled: 1,
  enabled: 0,
  'enabled-runtime': 0,
  generated: 0,
  indirect: 0,
  linked: 1,
  'linked-runtime': 1,
  masked: 1,
  'masked-runtime': 1,
  static: 0,
  transient: 1,
}

const VERSION = ['systemctl', '--version']

const systemctl: Program = call => {
  if (call.words.length === 1 && call.words[0] === '--version') return versionOf(call)
  const read = readWords(call.words, {
    flags: 'q',
    values: 'pP',
    long: { quiet: 'q', 'no-pager': 'l', value: 'v', system: 'l' },
    longValues: { property: 'p' },
  })
  if (read === undefined) return undefined
  const [verb, unit, ...more] = read.operands
  if (unit === undefined || more.length > 0 || /[*?[/]/.test(unit)) return undefined
  const name = unitName(unit)
  const isQuiet = read.flags.has('q')
  switch (verb) {
    case 'is-active':
      return isActive(call, name, isQuiet)
    case 'is-enabled':
      return isEnabled(call, name, isQuiet)
    case 'status':
      return statusOf(call, name)
    case 'show': {
      const bare = read.values.get('P')
      const property = bare ?? read.values.get('p')
      if (property === undefined) return undefined
      return shown(call, name, property, bare !== undefined || read.flags.has('v'))
    }
    default:
      return undefined
  }
}

function versionOf({ evidence }: Call): Outcome {
  const printed = evidence.command(VERSION)
  if (printed.kind !== 'known' || printed.value.status !== 0) return notKnown('`systemctl --version` was not captured')
  return prints(`${printed.value.stdout.replace(/\n$/, '')}\n`)
}

const INACTIVE = 'whether it is inactive or failed was not captured'

function isActive({ moment }: Call, name: string, isQuiet: boolean): Outcome {
  const unit = moment.unit(name)
  if (unit.kind === 'unknown') return notKnown(unit.because)
  // Of a unit that systemd has not loaded newer versions end with 4.
  if (unit.kind === 'absent') return { ...ends(oneOf([3, 4], 'systemd')), stdout: isQuiet ? '' : 'inactive\n' }
  const { active } = unit.value
  if (active.kind === 'unknown') return notKnown(active.because)
  if (active.kind === 'known' && active.value) return prints(isQuiet ? '' : 'active\n')
  return { ...ends(oneOf([3, 4], 'systemd')), stdout: isQuiet ? '' : { because: INACTIVE } }
}

function isEnabled({ moment }: Call, name: string, isQuiet: boolean): Outcome {
  const unit = moment.unit(name)
  if (unit.kind === 'unknown') return notKnown(unit.because)
  if (unit.kind === 'absent') {
    const stdout = isQuiet
      ? ''
      : { because: 'what systemctl prints of a unit that is not there depends on its version' }
    return complains(oneOf([1, 4], 'systemd'), stdout)
  }
  const { enabled } = unit.value
  const status = enabled === undefined ? undefined : ownEntry(ENABLED, enabled)
  if (enabled === undefined || status === undefined) return notKnown(`whether ${name} is enabled was not captured`)
  return { ...ends(status), stdout: isQuiet ? '' : `${enabled}\n` }
}

function statusOf({ moment }: Call, name: string): Outcome {
  const unit = moment.unit(name)
  const stdout = { because: 'what systemctl status prints is not worked out' }
  if (unit.kind === 'unknown') return notKnown(unit.because)
  if (unit.kind === 'absent') return complains(oneOf([3, 4], 'systemd'), '')
  const { active } = unit.value
  if (active.kind === 'unknown') return notKnown(active.because)
  return { ...ends(active.kind === 'known' && active.value ? 0 : 3), stdout }
}

/** One property of a unit, as far as its state says it. */
function shown({ moment }: Call, name: string, property: string, isBare: boolean): Outcome | undefined {
  const unit = moment.unit(name)
  if (unit.kind === 'unknown') return notKnown(unit.because)
  const line = (value: string): Outcome => prints(`${isBare ? '' : `${property}=`}${value}\n`)
  if (unit.kind === 'absent') {
    if (property === 'LoadState') return line('not-found')
    if (property === 'ActiveState') return line('inactive')
    return property === 'UnitFileState' ? line('') : undefined
  }
  const { active, enabled } = unit.value
  switch (property) {
    case 'ActiveState':
      if (active.kind === 'unknown') return notKnown(active.because)
      return active.kind === 'known' && active.value ? line('active') : notKnown(INACTIVE)
    case 'LoadState':
      if (enabled === 'masked' || enabled === 'masked-runtime') return line('masked')
      return notKnown(`whether ${name} is loaded was not captured`)
    case 'UnitFileState':
      return enabled === undefined ? notKnown(`whether ${name} is enabled was not captured`) : line(enabled)
    default:
      return undefined
  }
}

/** Programs that ask systemd. */
export const unitPrograms: Readonly<Record<string, Program>> = { systemctl }
