import { dirname, join } from 'node:path'
import { type Diagnostic, type Report, UsageError } from '../source/diagnostic.js'
import { placeOf, type SourceFile, type Span, wholeFile } from '../source/text.js'
import { copyOf, type Draft, draftHost, emptyDraft, type Fault, fault } from './draft.js'
import { parseAddress } from './host-range.js'
import { portDefinition, readIni } from './ini.js'
import { type Inventory, type InventorySource, type RefusedSource, settle } from './inventory.js'
import { extensionOf, type Opened, openPath } from './opened.js'
import { compileRegex } from './regex.js'
import { DEFAULT_SETTINGS, type InventorySettings } from './settings.js'
import { readYamlInventory, type YamlFault } from './yaml-inventory.js'

/** A directory inside a directory inside …: links can make it endless. */
export const DEEPEST_DIRECTORY = 20

/** Everything one readInventory has read so far. */
interface Reading {
  draft: Draft
  readonly refused: RefusedSource[]
  readonly report: Report
  readonly ignored: (name: string) => boolean
}

/**
 * Reads the inventory of one or more `-i`: each an INI, YAML or JSON file, a directory of such files, or a list of hosts
 * with a comma (`a,b,`). A file that cannot be read is left out as a whole, as Ansible does: it is reported
 * (inventory-syntax) and named in `refused`. Scripts and plugin configurations are not run, and are refused likewise.
 * Throws UsageError for a path where there is nothing.
 * Source of the rules: Ansible's inventory manager and its host_list, yaml and ini plugins (2.14 to 2.18).
 */
export function readInventory(
  paths: readonly string[],
  report: Report,
  settings: InventorySettings = DEFAULT_SETTINGS,
): Inventory {
  const reading: Reading = { draft: emptyDraft(), refused: [], report, ignored: ignoredBy(settings, report) }
  const sources = paths.map(path => readSource(reading, path))
  for (const name of reading.draft.hosts.keys()) {
    if (!reading.draft.groups.has(name)) continue
    report({
      code: 'inventory-group',
      severity: 'warning',
      message: `'${name}' is the name of a host and of a group, which Ansible mixes up`,
      at: wholeFile({ path: paths.join(','), text: '' }),
    })
  }
  return settle(reading.draft, sources, reading.refused)
}

function readSource(reading: Reading, path: string): InventorySource {
  const opened = openPath(path)
  if (opened?.kind === 'directory') {
    readDirectory(reading, opened, '', 0)
    tellTree(reading, opened)
    return { path, directory: path }
  }
  if (opened) {
    readFile(reading, opened, opened.path, path)
    tellTree(reading, opened)
    return { path, directory: dirname(path) }
  }
  if (!path.includes(',')) throw new UsageError(`${path}: expected an inventory file or directory, found none`)
  readHostList(reading.draft, path)
  return { path }
}

function tellTree(reading: Reading, opened: Opened): void {
  for (const diagnostic of opened.tree.diagnostics()) reading.report(diagnostic)
}

function readHostList(draft: Draft, list: string): void {
  const file: SourceFile = { path: '-i', text: list }
  let start = 0
  for (const piece of list.split(',')) {
    const text = piece.trim()
    const from = start + piece.indexOf(text)
    const at: Span = { file, start: from, end: from + text.length }
    start += piece.length + 1
    if (text === '') continue
    // Ranges are not expanded here; Ansible takes such a text as the name it is.
    const address = parseAddress(text)
    const host = address && !address.host.includes('[') ? address.host : text
    const port = host === text ? undefined : portDefinition(address?.port, at)
    if (!draft.hosts.has(host)) draftHost(draft, host, 'ungrouped', list, port)
  }
}

/** Ansible's rule which names in an inventory directory are no inventories. */
export function ignoredBy(settings: InventorySettings, report: Report): (name: string) => boolean {
  const patterns: RegExp[] = []
  for (const pattern of settings.ignorePatterns) {
    const regex = compileRegex(pattern, 'u')
    if (typeof regex !== 'string') patterns.push(regex)
    else {
      report({
        code: 'inventory-syntax',
        severity: 'warning',
        message: `ignore_patterns of ansible.cfg: '${pattern}' ${regex}`,
        at: wholeFile({ path: 'ansible.cfg', text: '' }),
      })
    }
  }
  return name =>
    name.startsWith('.') ||
    name === 'host_vars' ||
    name === 'group_vars' ||
    name === 'vars_plugins' ||
    settings.ignoreExtensions.some(extension => name.endsWith(extension)) ||
    patterns.some(pattern => pattern.test(name))
}

function readDirectory(reading: Reading, opened: Opened, path: string, depth: number): void {
  for (const name of opened.tree.list(path)) {
    if (reading.ignored(name)) continue
    const inner = path === '' ? name : `${path}/${name}`
    const kind = opened.tree.entryKind(inner)
    if (kind === 'file') readFile(reading, opened, inner, undefined)
    else if (kind === 'directory' && depth < DEEPEST_DIRECTORY) readDirectory(reading, opened, inner, depth + 1)
  }
}

function readFile(reading: Reading, opened: Opened, path: string, given: string | undefined): void {
  const file = opened.tree.read(path)
  if (file === undefined) {
    // Why, the tree reports.
    reading.refused.push({ path: given ?? path, says: 'the file cannot be read' })
    return
  }
  const absolute = opened.kind === 'directory' ? join(opened.absolute, path) : opened.absolute
  const problem = readContent(reading, file, absolute)
  if (problem === undefined) return
  reading.refused.push({ path: file.path, says: `${placeOf(problem.at)}: ${problem.says}` })
  reading.report({
    code: 'inventory-syntax',
    severity: 'error',
    message: `${problem.says}; the whole file is left out`,
    at: problem.at,
  })
}

function readContent(reading: Reading, file: SourceFile, source: string): Fault | undefined {
  const top: Span = { file, start: 0, end: 0 }
  if (file.text.startsWith('#!')) {
    return fault('this is an inventory script, which is not run: expected an INI or YAML inventory', top)
  }
  if (file.text.startsWith('$ANSIBLE_VAULT;')) {
    return fault('the file is encrypted with Ansible Vault: expected an INI or YAML inventory', top)
  }
  const extension = extensionOf(file.path)
  let yamlFault: YamlFault | undefined
  if (extension === '' || isYamlExtension(extension)) {
    const attempt = copyOf(reading.draft)
    const told: Diagnostic[] = []
    yamlFault = readYamlInventory(attempt, file, source, diagnostic => told.push(diagnostic))
    if (yamlFault === undefined) {
      reading.draft = attempt
      for (const diagnostic of told) reading.report(diagnostic)
      return undefined
    }
    // Ansible would try such a file as INI all the same; what that makes of a mapping is never meant.
    if (yamlFault.looksLikeYaml) return yamlFault
  }
  const attempt = copyOf(reading.draft)
  const iniFault = readIni(attempt, file, source)
  if (iniFault === undefined) {
    reading.draft = attempt
    return undefined
  }
  if (extension === '.toml') return fault('TOML inventories are not read: expected an INI or YAML inventory', top)
  return yamlFault && isYamlExtension(extension) ? yamlFault : iniFault
}

/** Whether a file may be YAML or JSON by its extension. */
export function isYamlExtension(extension: string): boolean {
  return extension === '.yml' || extension === '.yaml' || extension === '.json'
}
