import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { floatText } from '../../src/jinja/python.js'
import { evaluateTemplate, renderTemplateFile } from '../../src/jinja/template.js'
import type { Data, Value } from '../../src/jinja/value.js'
import { environmentOf, here } from './environment-of.js'

/** A template to ask Ansible about: a YAML value, or with `file` the text of a template file. */
export interface Case {
  readonly template: string
  readonly vars: Readonly<Record<string, unknown>>
  readonly file?: true
}

export type Answer = { readonly value: unknown } | { readonly error: 'error' | 'undefined'; readonly says: string }

/** A file beside the tests of this folder. */
export function fileOf(name: string): string {
  return fileURLToPath(new URL(`../../../test/jinja/${name}`, import.meta.url))
}

/** Statements an ansible.cfg can add; the program knows them without being told. */
const extensions = 'jinja2.ext.do,jinja2.ext.loopcontrols'

/** Ansible's answers, or null where it is not installed. */
export function askAnsible(cases: readonly Case[]): readonly Answer[] | null {
  const python = process.env.ANSIBLE_PYTHON ?? '/usr/bin/python3'
  const present = spawnSync(python, ['-c', 'import ansible'])
  if (present.status !== 0) return null
  const run = spawnSync(python, [fileOf('templar.py')], {
    input: cases.map(one => JSON.stringify(one)).join('\n'),
    encoding: 'utf8',
    maxBuffer: 64_000_000,
    env: { ...process.env, ANSIBLE_LOCALHOST_WARNING: '0', ANSIBLE_JINJA2_EXTENSIONS: extensions, PYTHONHASHSEED: '0' },
  })
  assert.equal(run.status, 0, run.stderr)
  return run.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Answer)
}

function tagged(data: Data): unknown {
  if (typeof data === 'bigint') return { int: String(data) }
  if (typeof data === 'number') return { float: floatText(data) }
  if (typeof data !== 'object' || data === null) return data
  const inner = (value: Value): unknown => (value.kind === 'known' ? tagged(value.data) : { open: value.kind })
  if (Array.isArray(data)) return data.map(inner)
  if (data instanceof Map) return { dict: [...data].map(([key, value]) => [tagged(key), inner(value)]) }
  return 'items' in data ? { tuple: (data.items as readonly Value[]).map(inner) } : { other: 'function' }
}

/** What the program makes of a case. */
export function answerOf({ template, vars, file }: Case): Value {
  const environment = environmentOf(vars)
  return file === true ? renderTemplateFile(template, here, environment) : evaluateTemplate(template, here, environment)
}

/** Filters whose order is left open by Ansible, compared without it. */
const withoutOrder = /\b(?:intersect|difference|symmetric_difference|union)\b/

export function comparable(value: unknown, template: string): unknown {
  return withoutOrder.test(template) && Array.isArray(value) ? value.map(item => JSON.stringify(item)).sort() : value
}

/**
 * How the program's value differs from Ansible's answer; undefined where it does not. Not modelled is allowed to be
 * unknown, never to be wrong.
 */
export function differenceOf(value: Value, answer: Answer, template: string): string | undefined {
  if (value.kind === 'unknown') return undefined
  const shown = value.kind === 'known' ? JSON.stringify(tagged(value.data)) : value.kind === 'failure' ? value.says : ''
  if ('error' in answer) {
    // A filter name with a dot could be of a collection that is not installed where Ansible was asked.
    if (answer.says.includes('Could not load')) return undefined
    if (value.kind === 'known' && isOpen(tagged(value.data))) return undefined
    if (value.kind === 'one-of' && value.options.some(option => !['known', 'undefined'].includes(option.value.kind)))
      return undefined
    if (value.kind !== 'failure') return `${value.kind} ${shown}, but Ansible fails: ${answer.says}`
    const isUndefined = answer.error === 'undefined'
    // With several pieces it is left open which of two errors comes first.
    if (template.split(/\{\{|\{%/).length > 2) return undefined
    return value.undefined === isUndefined
      ? undefined
      : `fails with ${shown}, Ansible with (${answer.error}) ${answer.says}`
  }
  const wanted = comparable(answer.value, template)
  if (value.kind === 'one-of') {
    const given = value.options.map(option => differenceOf(option.value, answer, template))
    return given.includes(undefined) ? undefined : given.join('; ')
  }
  if (value.kind !== 'known') return `${value.kind} ${shown}, but Ansible gives ${JSON.stringify(wanted)}`
  const given = comparable(tagged(value.data), template)
  return fits(given, wanted) ? undefined : `${JSON.stringify(given)} is not ${JSON.stringify(wanted)}`
}

/** Equal, but for members that are open here. */
function fits(given: unknown, wanted: unknown): boolean {
  if (typeof given !== 'object' || given === null) return given === wanted
  if ('open' in given) return true
  if (typeof wanted !== 'object' || wanted === null) return false
  const [left, right] = [Object.entries(given), Object.entries(wanted)]
  return (
    Array.isArray(given) === Array.isArray(wanted) &&
    left.length === right.length &&
    left.every(([key, value], index) => right[index]?.[0] === key && fits(value, right[index][1]))
  )
}

function isOpen(given: unknown): boolean {
  return typeof given === 'object' && given !== null && ('open' in given || Object.values(given).some(isOpen))
}
