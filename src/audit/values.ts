import type { RoleStart } from '../analyze.js'
import { hasTemplate } from '../jinja/parser.js'
import { type Json, jsonOf, valueText } from '../reports/value-text.js'
import type { Role } from '../run/role.js'
import type { ResolvedVariable } from '../variables/resolved.js'
import type { Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'

/**
 * Which variables to resolve where a role begins, so that each is looked at once: those it defines itself, and those no
 * role before it has shown. One call gives the function for one analysis.
 */
export function eachVariableOnce(): (role: Role, scope: Scope) => readonly string[] {
  const seen = new Set<string>()
  return ({ code }, scope) => {
    const own = [...code.defaults, ...code.vars].map(({ name }) => name)
    const names = [
      ...new Set([...scope.namesAt(['role defaults', 'role vars']).filter(name => !seen.has(name)), ...own]),
    ]
    for (const name of names) seen.add(name)
    return names
  }
}

/** A variable as one role sees it. */
export interface SeenValue {
  /** The role's directory. */
  readonly role: string
  readonly variable: ResolvedVariable
}

/** How the roles of a run see each variable, in run order. */
export function seenValues(roles: readonly RoleStart[]): ReadonlyMap<string, readonly SeenValue[]> {
  const seen = new Map<string, SeenValue[]>()
  for (const { role, variables } of roles) {
    for (const [name, variable] of variables) {
      if (variable.winner === undefined) continue
      const known = seen.get(name)
      const value = { role: role.code.directory, variable }
      if (known === undefined) seen.set(name, [value])
      else known.push(value)
    }
  }
  return seen
}

/** What kind of data a value is, as far as a loop or a member of it would notice; undefined where that is not known. */
export type Shape = 'none' | 'single' | 'list' | 'mapping'

/** The shape of a value in JSON; undefined where it is not known. An empty text and null have none. */
export function shapeOf(value: Json | undefined): Shape | undefined {
  if (value === undefined) return undefined
  if (value === null || value === '') return 'none'
  if (Array.isArray(value)) return 'list'
  if (typeof value !== 'object') return 'single'
  return 'unknown' in value || 'oneOf' in value ? undefined : 'mapping'
}

/** The shape of a value as it is written; undefined where a template or a reader's limit decides. */
export function shapeOfNode(node: Node): Shape | undefined {
  switch (node.kind) {
    case 'map':
      return 'mapping'
    case 'list':
      return 'list'
    case 'unreadable':
      return undefined
    case 'scalar':
      if (node.tag !== undefined || (typeof node.data === 'string' && hasTemplate(node.data))) return undefined
      return node.data === null || node.data === '' ? 'none' : 'single'
  }
}

/** A value as JSON, undefined where any of it is not known. */
export function knownJson(variable: ResolvedVariable): Json | undefined {
  const json = jsonOf(variable.value)
  return variable.value.kind === 'known' && isWhole(json) ? json : undefined
}

function isWhole(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  if ('unknown' in value || 'oneOf' in value) return false
  return Object.values(value).every(isWhole)
}

/** How the value of a default changed; undefined where it did not, or one of the two is not known. */
export function changedDefaultSays(name: string, before: Json | undefined, now: Json | undefined): string | undefined {
  if (before === undefined || now === undefined || identityOf(before) === identityOf(now)) return undefined
  const [from, to] = [shapeOf(before), shapeOf(now)]
  if (from === 'mapping' && to === 'mapping') {
    const [was, is] = [Object.keys(before as object), Object.keys(now as object)]
    const [more, less] = [is.filter(key => !was.includes(key)), was.filter(key => !is.includes(key))]
    const said = [
      ...(more.length > 0 ? [`${some(more)} came`] : []),
      ...(less.length > 0 ? [`${some(less)} went`] : []),
    ]
    return `the default of ${name} changed: ${said.length > 0 ? said.join(', ') : 'the same keys have other values'}`
  }
  return `the default of ${name} was ${valueText(before, 80)} and is ${valueText(now, 80)}`
}

function some(keys: readonly string[]): string {
  return keys.length <= 3 ? keys.join(', ') : `${keys.slice(0, 2).join(', ')} and ${keys.length - 2} more`
}

/** Equal for values that no task tells apart: a number and the text of it are the same. */
export function identityOf(value: Json): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'number' ? String(member) : member))
}
