import type { Task } from '../../src/ansible/statement.js'
import type { Effect } from '../../src/effects/effect.js'
import { type Cause, type Data, FALSE, type Key, known, TRUE, type Truth, type Value } from '../../src/jinja/value.js'
import { undecided } from '../../src/run/ansible-version.js'
import type { AppliedCondition, Invocation, Run, TaskRun } from '../../src/run/task-run.js'
import type { SourceFile, Span } from '../../src/source/text.js'
import type { Node } from '../../src/yaml/node.js'

/** JSON that stands for a Value: plain data is known; `{"unknown": …}` and `{"oneOf": […]}` are what they say. */
export type Plain = null | boolean | number | string | readonly Plain[] | { readonly [key: string]: Plain }

const pages = new Map<string, SourceFile>()

/** A place on a line of a file made up for a test. */
export function placeAt(path: string, line: number): Span {
  const file = pages.get(path) ?? { path, text: '- line\n'.repeat(500) }
  pages.set(path, file)
  const start = (line - 1) * 7
  return { file, start, end: start + 6 }
}

export const HERE = placeAt('roles/x/tasks/main.yml', 1)

function causes(says: Plain | undefined, unread: boolean, name?: Plain): readonly Cause[] {
  return [
    {
      says: typeof says === 'string' ? says : 'only the host knows',
      at: HERE,
      ...(unread ? { unread: true as const } : {}),
      ...(typeof name === 'string' ? { name } : {}),
    },
  ]
}

function isList(plain: Plain): plain is readonly Plain[] {
  return Array.isArray(plain)
}

export function valueFrom(plain: Plain): Value {
  if (plain === null || typeof plain === 'boolean' || typeof plain === 'string') return known(plain)
  if (typeof plain === 'number') return known(Number.isInteger(plain) ? BigInt(plain) : plain)
  if (isList(plain)) return known(plain.map(valueFrom))
  if ('unknown' in plain) {
    const because = causes(plain.unknown, plain.unread === true, plain.name)
    const { text } = plain
    return text !== undefined && isList(text)
      ? { kind: 'unknown', causes: because, text: text.map(piece => (typeof piece === 'string' ? piece : null)) }
      : { kind: 'unknown', causes: because }
  }
  if ('failure' in plain) return { kind: 'failure', says: String(plain.failure), at: HERE, undefined: true }
  if ('oneOf' in plain && isList(plain.oneOf ?? null)) {
    const options = plain.oneOf as readonly Plain[]
    return {
      kind: 'one-of',
      options: options.map((option, index) => {
        const value = valueFrom(option)
        if (value.kind === 'one-of') throw new Error('alternatives are not nested')
        return { value, because: causes(`choice ${index + 1}`, false) }
      }),
    }
  }
  const entries: readonly (readonly [Key, Value])[] = Object.entries(plain).map(([key, member]) => [
    key,
    valueFrom(member),
  ])
  return known(new Map(entries) as Data)
}

/** A Value as JSON: unknown is `{"unknown": pieces}`, alternatives `{"oneOf": […]}`. */
export function plainOf(value: Value): Plain {
  switch (value.kind) {
    case 'known':
      return plainData(value.data)
    case 'unknown':
      return { unknown: value.text ?? null }
    case 'one-of':
      return { oneOf: value.options.map(option => plainOf(option.value)) }
    default:
      return { [value.kind]: value.says }
  }
}

function plainData(data: Data): Plain {
  if (data === null || typeof data === 'boolean' || typeof data === 'string' || typeof data === 'number') return data
  if (typeof data === 'bigint') return Number(data)
  if (Array.isArray(data)) return (data as readonly Value[]).map(plainOf)
  if (data instanceof Map) {
    return Object.fromEntries(
      [...(data as ReadonlyMap<Key, Value>)].map(([key, member]) => [String(key), plainOf(member)]),
    )
  }
  return '(data)'
}

/** An effect as JSON: no place, no fields that are not there, truths as `true`, `false`, `unknown`. */
export function plainEffect(effect: Effect): Plain {
  const entries = Object.entries(effect).flatMap(([name, field]): readonly (readonly [string, Plain])[] => {
    if (name === 'at' || field === undefined) return []
    return [[name, plainField(field)]]
  })
  return Object.fromEntries(entries)
}

function plainField(field: unknown): Plain {
  if (typeof field === 'string' || typeof field === 'boolean' || typeof field === 'number') return field
  if (Array.isArray(field)) return field.map(plainField)
  const value = field as Value | Truth | Effect
  if (value.kind === 'true' || value.kind === 'false') return value.kind
  if ('at' in value && value.kind !== 'undefined' && value.kind !== 'failure') return plainEffect(value as Effect)
  return plainOf(value as Value)
}

/** A task as test data writes it. */
export interface TaskData {
  readonly name?: string
  readonly module: string
  readonly args?: { readonly [name: string]: Plain }
  readonly raw?: Plain
  readonly line?: number
  readonly file?: string
  readonly role?: string
  readonly part?: TaskRun['part']
  /** true (default), false, or why it is not known; `unread: …` for a reason of the program. */
  readonly runs?: boolean | string
  readonly remains?: string
  /** What of `remains` has to hold, one by one. */
  readonly conjuncts?: readonly string[]
  /** The text of the condition that is false. */
  readonly when?: string
  readonly excluded?: string
  readonly items?: readonly Plain[]
  readonly delegateTo?: Plain
  readonly notifiedBy?: readonly number[]
  readonly content?: Plain
  readonly checkMode?: Plain
}

export function truthOf(runs: boolean | string | undefined): Truth {
  if (runs === undefined || runs === true) return TRUE
  if (runs === false) return FALSE
  const unread = runs.startsWith('unread: ')
  return { kind: 'unknown', causes: causes(unread ? runs.slice(8) : runs, unread) }
}

function nodeOf(plain: Plain, span: Span): Node {
  if (isList(plain)) return { kind: 'list', items: plain.map(item => nodeOf(item, span)), span }
  if (typeof plain === 'object' && plain !== null) {
    return {
      kind: 'map',
      entries: Object.entries(plain).map(([key, member]) => ({
        key: { kind: 'scalar', data: key, span },
        value: nodeOf(member, span),
      })),
      span,
    }
  }
  return { kind: 'scalar', data: typeof plain === 'number' ? BigInt(plain) : plain, span }
}

/** A task run with its invocations: with `runs: false` it has none, its arguments stand as written. */
export function taskRun(data: TaskData, order: number, before: readonly TaskRun[] = []): TaskRun {
  const at = placeAt(data.file ?? `roles/${data.role ?? 'x'}/tasks/main.yml`, data.line ?? order * 3 + 1)
  const runs = truthOf(data.runs)
  const remains = data.remains ?? (runs.kind === 'unknown' ? (runs.causes[0]?.says ?? null) : null)
  const named = Object.entries(data.args ?? {})
  const task: Task = {
    kind: 'task',
    name: data.name,
    when: [],
    tags: [],
    vars: [],
    keywords: new Map(),
    at,
    action: data.module.split('.').at(-1) ?? data.module,
    module: data.module,
    arguments: {
      named: new Map(named.map(([name, plain]) => [name, nodeOf(plain, at)])),
      raw: data.raw === undefined ? undefined : nodeOf(data.raw, at),
      template: undefined,
    },
    loop: data.items === undefined || runs.kind !== 'false' ? undefined : { plugin: '', terms: nodeOf(data.items, at) },
  }
  const conditions: readonly AppliedCondition[] =
    data.when === undefined
      ? []
      : [{ text: data.when, at, from: 'task', truth: runs, remains, names: [{ name: 'x', value: known(false) }] }]
  const invocation = (item: Plain | undefined): Invocation => ({
    ...(item === undefined ? {} : { item: valueFrom(item) }),
    runs,
    remains,
    ...(data.conjuncts === undefined ? {} : { conjuncts: data.conjuncts }),
    arguments: new Map(
      named.map(([name, plain]) => [name, valueFrom(plain === '{{ item }}' && item !== undefined ? item : plain)]),
    ),
    raw: data.raw === undefined ? undefined : valueFrom(data.raw),
    environment: new Map(),
    ...(data.delegateTo === undefined ? {} : { delegateTo: valueFrom(data.delegateTo) }),
    ...(data.checkMode === undefined ? {} : { checkMode: valueFrom(data.checkMode) }),
    ...(data.content === undefined ? {} : { content: valueFrom(data.content) }),
  })
  const items: readonly (Plain | undefined)[] = data.items ?? [undefined]
  return {
    order,
    task,
    name: data.name ?? data.module,
    play: 0,
    playName: 'Prepare',
    role: data.role ?? 'x',
    roleName: data.role ?? 'x',
    part: data.part ?? 'tasks',
    tags: [],
    via: [
      { kind: 'playbook', what: 'site.yml', at: placeAt('site.yml', 1) },
      { kind: 'play', what: 'play "Prepare"', at: placeAt('site.yml', 2) },
      { kind: 'role', what: `role ${data.role ?? 'x'}`, at: placeAt('site.yml', 4) },
    ],
    includedBy: undefined,
    runs,
    conditions,
    remains,
    excluded: data.excluded,
    leftOutByTags: false,
    holds: runs,
    alreadyRan: false,
    dependsOnSetFact: false,
    invocations: runs.kind === 'false' || data.excluded !== undefined ? [] : items.map(invocation),
    onceOn: undefined,
    notifiedBy: (data.notifiedBy ?? []).flatMap(index => before[index] ?? []),
    failureIgnored: FALSE,
  }
}

export function runOf(tasks: readonly TaskData[], gaps: readonly string[] = []): Run {
  const built: TaskRun[] = []
  for (const [order, data] of tasks.entries()) built.push(taskRun(data, order, built))
  return {
    host: 'node1',
    playbook: 'site.yml',
    ansible: undecided,
    checks: [],
    inventory: { hosts: new Map(), groups: new Map(), sources: [], refused: [] },
    groupsComplete: true,
    plays: [],
    tasks: built,
    gaps: gaps.map(says => ({ says, at: HERE, via: [], runs: TRUE })),
  }
}
