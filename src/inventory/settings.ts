import type { SourceTree } from '../source/tree.js'

/** What ansible.cfg says about inventory directories. */
export interface InventorySettings {
  /** Files whose names end in one of these are no inventory. */
  readonly ignoreExtensions: readonly string[]
  /** Python regular expressions; what they find in a name makes the file or directory ignored. */
  readonly ignorePatterns: readonly string[]
}

/** Ansible's own settings, without an ansible.cfg. */
export const DEFAULT_SETTINGS: InventorySettings = {
  ignoreExtensions: [
    '.pyc',
    '.pyo',
    '.swp',
    '.bak',
    '~',
    '.rpm',
    '.md',
    '.txt',
    '.rst',
    '.orig',
    '.ini',
    '.cfg',
    '.retry',
  ],
  ignorePatterns: [],
}

/** Where each setting may stand; the last that is given counts. */
const EXTENSIONS_AT = ['defaults.inventory_ignore_extensions', 'inventory.ignore_extensions']
const PATTERNS_AT = ['defaults.inventory_ignore_patterns', 'inventory.ignore_patterns']

/**
 * The settings of the ansible.cfg in the root of a tree, Ansible's defaults where it says nothing.
 * Source of the rule: Ansible's configuration reference (INVENTORY_IGNORE_EXTS, INVENTORY_IGNORE_PATTERNS).
 */
export function readInventorySettings(tree: SourceTree): InventorySettings {
  const values = readConfiguration(tree.read('ansible.cfg')?.text ?? '')
  const listOf = (places: readonly string[]): readonly string[] | undefined =>
    places
      .flatMap(place => values.get(place) ?? [])
      .at(-1)
      ?.split(',')
      .map(item => item.trim())
      .filter(item => item !== '')
  return {
    ignoreExtensions: listOf(EXTENSIONS_AT) ?? DEFAULT_SETTINGS.ignoreExtensions,
    ignorePatterns: listOf(PATTERNS_AT) ?? DEFAULT_SETTINGS.ignorePatterns,
  }
}

/** Whether mappings of several levels are merged: `hash_behaviour` of ansible.cfg, or the environment variable before it. */
export function readMergesMappings(tree: SourceTree, environment: string | undefined): boolean {
  const configured = () => readConfiguration(tree.read('ansible.cfg')?.text ?? '').get('defaults.hash_behaviour')
  return (environment ?? configured()) === 'merge'
}

/** The values of a configuration file by `section.key`, as Python's configparser reads it with `;` comments. */
function readConfiguration(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  let section = ''
  let last: string | undefined
  for (const raw of text.split(/\r?\n/)) {
    const line = /^\s*[#;]/.test(raw) ? '' : raw.replace(/\s;.*$/, '')
    if (line.trim() === '') continue
    if (/^\s/.test(line) && last !== undefined) {
      values.set(last, `${values.get(last) ?? ''}\n${line.trim()}`)
      continue
    }
    const header = /^\[([^\]]*)\]/.exec(line.trim())
    if (header?.[1] !== undefined) {
      section = header[1]
      last = undefined
      continue
    }
    const separator = line.search(/[=:]/)
    if (separator === -1) continue
    last = `${section}.${line.slice(0, separator).trim().toLowerCase()}`
    values.set(last, line.slice(separator + 1).trim())
  }
  return values
}
