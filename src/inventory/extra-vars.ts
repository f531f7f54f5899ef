import type { Data } from '../jinja/value.js'
import { type Diagnostic, type Report, UsageError } from '../source/diagnostic.js'
import { placeOf, type SourceFile } from '../source/text.js'
import type { Node } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import { splitAssignments } from './arguments.js'
import { dataValue } from './data.js'
import type { Definition } from './inventory.js'
import { openPath } from './opened.js'
import { definitionsOf, nameOf } from './yaml-inventory.js'

/**
 * The variables of `-e`, in order: of one name the last counts. A text is `k=v k2='v w'` (values are texts), JSON or YAML
 * in braces, or `@FILE` (YAML or JSON). Spans point into the file, or into the text as a file named `-e`.
 * Throws UsageError, with place and what was expected, for a text that is none of these.
 * Source of the rule: Ansible's `load_extra_vars`, checked against ansible-core 2.14.
 */
export function readExtraVars(texts: readonly string[], report: Report): readonly Definition[] {
  return texts.flatMap(text => readText(text, report))
}

function readText(text: string, report: Report): readonly Definition[] {
  if (text === '') return []
  if (text.startsWith('@')) return readMapping(readFile(text.slice(1)), report)
  if (text.startsWith('/') || text.startsWith('.')) {
    throw new UsageError(`-e ${text}: expected NAME=VALUE; a file is named with @ before it: -e @${text}`)
  }
  const file: SourceFile = { path: '-e', text }
  if (text.startsWith('{') || text.startsWith('[')) return readMapping(file, report)
  const assignments = splitAssignments(text)
  if (typeof assignments === 'string') throw new UsageError(`-e ${shortened(text)}: ${assignments}`)
  return assignments.map(({ name, value, start, end }) => {
    const at = { file, start, end }
    return { name, node: { kind: 'scalar', data: value, span: at }, at }
  })
}

function readFile(path: string): SourceFile {
  const opened = openPath(path)
  const file = opened?.kind === 'file' ? opened.tree.read(opened.path) : undefined
  if (file) return file
  const refusal = opened?.tree.diagnostics()[0]
  const why = refusal?.message ?? (opened ? 'expected a file, got a directory' : 'no such file')
  throw new UsageError(`-e @${path}: ${why}`)
}

function readMapping(file: SourceFile, report: Report): readonly Definition[] {
  if (file.text.startsWith('$ANSIBLE_VAULT;')) {
    throw new UsageError(`${file.path}: expected YAML or JSON, the file is encrypted with Ansible Vault`)
  }
  const root = readOrThrow(file, report)
  if (root.kind !== 'map') {
    throw new UsageError(`${placeOf(root.span)}: expected a mapping of variables, got ${nameOf(root)}`)
  }
  return definitionsOf(root)
}

function readOrThrow(file: SourceFile, report: Report): Node {
  const told: Diagnostic[] = []
  const root = readYamlFile(file, diagnostic => told.push(diagnostic))
  if (root.kind === 'unreadable') {
    const first = told.find(diagnostic => diagnostic.severity === 'error')
    throw new UsageError(`${placeOf(first?.at ?? root.span)}: ${first?.message ?? root.says}`)
  }
  for (const diagnostic of told) report(diagnostic)
  return root
}

function shortened(text: string): string {
  const line = text.split('\n')[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

/** Something the user takes as given: a fact, variable or registered value, by its dotted path. */
export interface Assumption {
  readonly name: string
  readonly value: Data
}

/** Names as Ansible has them, joined by dots: `ansible_facts.memtotal_mb`, `swapon.stdout`, `disks.results.0.size`. */
const DOTTED_NAME = /^[\p{L}_][\p{L}\p{N}_-]*(?:\.[\p{L}\p{N}_-]+)*$/u

/**
 * The NAME=VALUE texts of `--assume`, in order. VALUE is read as YAML: `true`, `1500`, `text`, `[a, b]`.
 * Throws UsageError for a text of another form.
 */
export function readAssumptions(texts: readonly string[]): readonly Assumption[] {
  return texts.map(text => {
    const equals = text.indexOf('=')
    const name = text.slice(0, Math.max(0, equals)).trim()
    if (!DOTTED_NAME.test(name)) {
      throw new UsageError(`--assume ${shortened(text)}: expected NAME=VALUE, as in ansible_facts.memtotal_mb=2048`)
    }
    const file: SourceFile = { path: `--assume ${name}`, text: text.slice(equals + 1) }
    const value = dataValue(readOrThrow(file, () => {}))
    if (value.kind !== 'known') throw new UsageError(`--assume ${shortened(text)}: expected a plain YAML value`)
    return { name, value: value.data }
  })
}
