import { FALSE, type Value } from '../jinja/value.js'
import { optionsOf, piecesOf, showValue, textOf } from './argument.js'
import { type Effect, onlyIf } from './effect.js'

/** The same effects, of which this program cannot tell whether they are this host's. */
export function unread(effects: readonly Effect[], why: string): readonly Effect[] {
  return effects.map(effect => (effect.kind === 'command' ? effect : { ...effect, unread: why }))
}

/** Whether a root file system named by an option is the host's own. */
export function isOwnRoot(root: Value): boolean {
  return optionsOf(root).every(({ value }) => /^\/+\.?$/.test(textOf(value) ?? ''))
}

function isKnown(value: Value): boolean {
  return optionsOf(value).every(({ value: single }) => textOf(single) !== undefined)
}

/**
 * What commands do inside another root file system: files, packages and units are that one's. The kernel is the host's all
 * the same, as far as it can be reached from in there.
 */
export function inRoot(effects: readonly Effect[], root: Value): readonly Effect[] {
  if (isOwnRoot(root)) return effects
  if (!isKnown(root)) return unread(effects, 'which root file system that is in is not known')
  const reaches = `${showValue(root)} has the /proc of the host`
  return effects.flatMap((effect): readonly Effect[] => {
    switch (effect.kind) {
      case 'command':
      case 'unreadable-command':
      case 'processes-signalled':
      case 'network':
      case 'firewall':
      case 'clock':
      case 'reboot':
        return [effect]
      case 'selinux':
      case 'hostname':
        return [{ ...effect, persisted: false }]
      case 'swap':
        return [onlyIf(effect, reaches)]
      case 'kernel-module':
        return effect.when === 'now' ? [onlyIf(effect, reaches)] : []
      case 'sysctl':
        return effect.now.kind === 'false' ? [] : [onlyIf({ ...effect, file: undefined, persisted: FALSE }, reaches)]
      default:
        return []
    }
  })
}

/** What commands do inside a network namespace: settings of the network, its packet filter and its ports are its own. */
export function inNetwork(effects: readonly Effect[], namespace: string): readonly Effect[] {
  return effects.flatMap((effect): readonly Effect[] => {
    switch (effect.kind) {
      case 'network':
      case 'firewall':
        return []
      case 'processes-signalled':
        return effect.by === 'port' ? [] : [effect]
      case 'sysctl': {
        const start = piecesOf(effect.key)?.[0]
        if (typeof start !== 'string') return unread([effect], `it is set in the network namespace ${namespace}`)
        return start.startsWith('net.') || start.startsWith('net/') || 'net.'.startsWith(start) ? [] : [effect]
      }
      default:
        return [effect]
    }
  })
}
