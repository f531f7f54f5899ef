import type { Environment } from '../jinja/environment.js'
import { evaluate } from '../jinja/evaluate.js'
import { type Bound, visitFree } from '../jinja/names.js'
import { type Arguments, childrenOf, type Expression, type Template } from '../jinja/syntax.js'
import { known, type Option, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'

/** A name that an expression asks for, and the offset in its text. */
export interface AskedName {
  readonly name: string
  readonly start: number
  /** The whole expression it stands in. */
  readonly whole: Expression
}

/** A name that is not written out: its known pieces, null for the others; of one that is looked for by a pattern, that. */
export interface OpenName {
  readonly pieces: readonly (string | null)[]
  readonly regex?: string
}

/** What an expression or template asks of variables and groups from outside itself. */
export interface Asked {
  readonly names: readonly AskedName[]
  readonly groups: readonly AskedName[]
  /** Groups of which the name is put together at run time: `groups['x_' ~ item]`. */
  readonly dynamicGroups: readonly (OpenName & { readonly start: number })[]
  /** Names put together at run time: `vars['x_' ~ item]`, `lookup('vars', name)`; null stands for what is not written out. */
  readonly dynamic: readonly { readonly pieces: readonly (string | null)[]; readonly start: number }[]
}

/**
 * The variables and groups an expression asks for: plain names, `vars.x`, `hostvars[host].x`, `lookup('vars', 'x')`; and
 * `groups.x`, `groups['x']`, `'x' in groups`, `'x' in group_names`, `group_names | intersect(['x'])`, also of another host. Where
 * all variables of hosts go through filters, every word of their arguments counts as a name. `items` are names that stand for
 * one of a few constants (`item` of a written loop).
 */
export function askedIn(read: Expression | Template, items: Bound = new Map()): Asked {
  const names: AskedName[] = []
  const groups: AskedName[] = []
  const dynamic: { pieces: readonly (string | null)[]; start: number }[] = []
  const dynamicGroups: (OpenName & { start: number })[] = []
  const group = (named: Expression, start: number, bound: Bound, whole: Expression): void => {
    for (const pieces of textsOf(named, bound)) {
      const [only, ...more] = pieces
      if (typeof only === 'string' && more.length === 0) groups.push({ name: only, start, whole })
      else dynamicGroups.push({ pieces, start })
    }
  }
  const variable = (named: Expression, start: number, bound: Bound, whole: Expression): void => {
    for (const pieces of textsOf(named, bound.size === 0 ? items : new Map([...items, ...bound]))) {
      const [only, ...more] = pieces
      if (typeof only === 'string' && more.length === 0) names.push({ name: only, start, whole })
      else dynamic.push({ pieces, start })
    }
  }
  const member = (part: Expression & { kind: 'attribute' | 'item' }, bound: Bound, whole: Expression): void => {
    const { of, start } = part
    const named: Expression =
      part.kind === 'item' ? part.index : { kind: 'constant', data: part.name, start, end: start, depth: 0 }
    if (isName(of, 'groups')) {
      if (part.kind === 'attribute' && dictMethods.has(part.name)) return
      group(named, start, bound, whole)
    } else if (isName(of, 'vars') || isHostVars(of)) variable(named, start, bound, whole)
  }
  visitFree(read, (part, bound, whole) => {
    switch (part.kind) {
      case 'name':
        names.push({ name: part.name, start: part.start, whole })
        break
      case 'attribute':
      case 'item':
        member(part, bound, whole)
        break
      case 'comparison': {
        let left = part.first
        for (const { comparator, right } of part.links) {
          if (comparator.endsWith('in') && holdsGroupNames(right)) group(left, left.start, bound, whole)
          left = right
        }
        break
      }
      case 'filter':
      case 'test': {
        // `map('extract', hostvars, 'x')`, `hostvars | json_query('*.x')`, `… | selectattr('value.x')`
        if (part.kind === 'filter' && isOverAllHosts(part)) {
          for (const word of wordsIn(part.args)) names.push({ name: word, start: part.start, whole })
        }
        const operands = [...(part.of === null ? [] : [part.of]), ...part.args.positional]
        if (!operands.some(holdsGroupNames)) break
        const regex = regexSelected(part, operands)
        if (regex !== undefined) dynamicGroups.push({ pieces: [null], regex, start: part.start })
        else for (const named of namedBeside(part, operands)) group(named, named.start, bound, whole)
        break
      }
      case 'call': {
        const { of: called } = part
        const isGet = called.kind === 'attribute' && called.name === 'get'
        if (isGet && (isName(called.of, 'vars') || isHostVars(called.of))) {
          const [key] = part.args.positional
          if (key !== undefined) variable(key, part.start, bound, whole)
        }
        if (called.kind === 'attribute' && called.name === 'get' && isName(called.of, 'groups')) {
          const [key] = part.args.positional
          if (key !== undefined) group(key, part.start, bound, whole)
        }
        const [plugin, ...terms] = part.args.positional
        const isLookup = part.of.kind === 'name' && /^(?:lookup|query|q)$/.test(part.of.name)
        if (isLookup && plugin?.kind === 'constant' && /^(?:ansible\.builtin\.)?varnames$/.test(String(plugin.data))) {
          for (const term of terms) {
            const pieces = piecesOfPattern(term)
            if (pieces !== undefined) dynamic.push({ pieces, start: term.start })
          }
        }
        if (isLookup && plugin?.kind === 'constant' && /^(?:ansible\.builtin\.)?vars$/.test(String(plugin.data))) {
          for (const term of terms) variable(term, term.start, bound, whole)
        }
        break
      }
      default:
        break
    }
  })
  return { names, groups, dynamicGroups, dynamic }
}

/** Whether a filter works on the variables of hosts, as its input or an argument. */
function isOverAllHosts({ of, args }: Expression & { kind: 'filter' }): boolean {
  const holds = (expression: Expression): boolean =>
    (expression.kind === 'name' && (expression.name === 'hostvars' || expression.name === 'vars')) ||
    childrenOf(expression).some(holds)
  return (of !== null && holds(of)) || args.positional.some(holds)
}

/** The words of the constants among the arguments. */
function wordsIn({ positional, named }: Arguments): readonly string[] {
  return [...positional, ...named.map(({ value }) => value)].flatMap(each =>
    each.kind === 'constant' && typeof each.data === 'string' ? (each.data.match(/[A-Za-z_]\w*/g) ?? []) : [],
  )
}

/** The names that a pattern of `varnames` fits, by the word it begins with; one that is put together only asks what there is. */
function piecesOfPattern(term: Expression): readonly (string | null)[] | undefined {
  const text = term.kind === 'constant' ? String(term.data) : ''
  const [, start = '', word] = /^(\^?)([A-Za-z_]\w*)/.exec(text) ?? []
  if (word === undefined) return undefined
  return start === '' ? [null, word, null] : [word, null]
}

const dictMethods = new Set(['get', 'keys', 'values', 'items'])

function isName(expression: Expression, name: string): boolean {
  return expression.kind === 'name' && expression.name === name
}

/** Filters behind which names of groups are still names of groups. */
const keepNames = new Set(['default', 'd', 'list', 'sort', 'unique', 'intersect', 'difference', 'union'])

/** Filters and tests that hold names against another list, or against one name. */
const compareNames = new Set(['intersect', 'difference', 'union', 'symmetric_difference', 'in', 'contains'])

/** The names of a host's groups (`group_names`, `hostvars[host].group_names`), or of all groups. */
function holdsGroupNames(expression: Expression): boolean {
  switch (expression.kind) {
    case 'name':
      return expression.name === 'group_names' || expression.name === 'groups'
    case 'attribute':
      return expression.name === 'group_names' && isHostVars(expression.of)
    case 'item':
      return (
        expression.index.kind === 'constant' && expression.index.data === 'group_names' && isHostVars(expression.of)
      )
    case 'call':
      return expression.of.kind === 'attribute' && expression.of.name === 'keys' && isName(expression.of.of, 'groups')
    case 'filter':
      return expression.of !== null && keepNames.has(shortName(expression.name)) && holdsGroupNames(expression.of)
    default:
      return false
  }
}

/** What a filter or test holds against names of groups: the items of a list that is written out, else the whole. */
function namedBeside({ name }: { readonly name: string }, operands: readonly Expression[]): readonly Expression[] {
  return operands.flatMap(operand => {
    if (holdsGroupNames(operand)) return []
    if (operand.kind === 'list' || operand.kind === 'tuple') return operand.items
    return compareNames.has(shortName(name)) ? [operand] : []
  })
}

/** The pattern of `group_names | select('match', '^x')`. */
function regexSelected({ name }: { readonly name: string }, operands: readonly Expression[]): string | undefined {
  const [, test, pattern] = operands
  if (!/^(?:select|reject)$/.test(name) || test?.kind !== 'constant' || pattern?.kind !== 'constant') return undefined
  if (typeof pattern.data !== 'string') return undefined
  const kind = shortName(String(test.data))
  if (kind === 'match') return `^(?:${pattern.data})`
  return kind === 'search' || kind === 'regex' ? pattern.data : undefined
}

function shortName(name: string): string {
  return name.replace(/^ansible\.builtin\./, '')
}

/** `hostvars[x]`, also behind filters that keep what it is (`default({})`). */
function isHostVars(expression: Expression): boolean {
  if (expression.kind === 'filter' && expression.of !== null) return isHostVars(expression.of)
  return (expression.kind === 'item' || expression.kind === 'attribute') && isName(expression.of, 'hostvars')
}

/** The texts an expression can be, as pieces: null stands for what is not written out. Written loops are gone through. */
function textsOf(expression: Expression, bound: Bound): readonly (readonly (string | null)[])[] {
  const environment: Environment = {
    variable: name => writtenValue(bound.get(name) ?? null),
    variableNames: () => [],
    lookup: () => undefined,
    template: text => known(text),
    readYaml: () => open,
  }
  const value = evaluate(expression, environment)
  return (value.kind === 'one-of' ? value.options.map(option => option.value) : [value]).map(piecesOf)
}

const nowhere: Span = { file: { path: '', text: '' }, start: 0, end: 0 }
const open: Value = unknown([{ says: 'not written out', at: nowhere }])

function writtenValue(items: NonNullable<ReturnType<Bound['get']>> | null): Value {
  const options = (items ?? []).map((item): Option => ({ value: known(item.data), because: [] }))
  const [only, ...more] = options
  if (only === undefined) return open
  return more.length === 0 ? only.value : { kind: 'one-of', options }
}

function piecesOf(value: Value): readonly (string | null)[] {
  if (value.kind === 'known' && typeof value.data === 'string') return [value.data]
  return value.kind === 'unknown' && value.text !== undefined ? value.text : [null]
}
