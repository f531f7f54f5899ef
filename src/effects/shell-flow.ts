import type { Value } from '../jinja/value.js'

/** What a jump of a script leaves: `exit` the shell (a subshell is one), `return` the function, `break` the loop, `continue` its turn. */
export interface Scope {
  readonly kind: 'shell' | 'function' | 'loop' | 'turn'
  /** Where the log of changes stood when it was entered. */
  readonly mark: number
  /** Variables that are local to the function, with what they were outside. */
  readonly locals: Map<string, Value | undefined>
}

interface Exit {
  readonly scope: Scope
  readonly condition: string
}

interface Change {
  /** The variable; undefined for a function. */
  readonly name: string | undefined
  readonly undo: () => void
}

/** What a walk through a script knows at the place it has come to. */
export interface Flow<Body> {
  /** Variables of the script whose text is known here. */
  readonly variables: Map<string, Value>
  /** Functions by name; more than one body where conditions decide which it is. */
  readonly functions: Map<string, readonly Body[]>
  readonly scopes: Scope[]
  readonly log: Change[]
  /** The scope that is certainly left: nothing more of it is reached. */
  ended: Scope | undefined
  /** Conditions under which a scope was left before this place. */
  exits: readonly Exit[]
}

/** The flow a script begins with: everything is reached, and nothing has been defined. */
export function newFlow<Body>(): Flow<Body> {
  const flow: Flow<Body> = {
    variables: new Map(),
    functions: new Map(),
    scopes: [],
    log: [],
    ended: undefined,
    exits: [],
  }
  enter(flow, 'shell')
  return flow
}

/** Both conditions hold; undefined is no condition. */
export function and(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || outer === inner) return inner
  return inner === undefined ? outer : `${outer} and ${inner}`
}

const OPPOSITES: readonly (readonly [RegExp, string])[] = [
  [/^(`[^`]*`) succeeds$/, '$1 fails'],
  [/^(`[^`]*`) fails$/, '$1 succeeds'],
  [/^(`[^`]*`) is none of (`[^`]*`)$/, '$1 is one of $2'],
  [/^(`[^`]*`) is (`[^`]*`)$/, '$1 is not $2'],
]

function negated(condition: string): string {
  const opposite = OPPOSITES.find(([shape]) => shape.test(condition))
  return opposite === undefined ? `not (${condition})` : condition.replace(opposite[0], opposite[1])
}

/** What has to hold for this place to be reached, beside `onlyIf`: that no jump before has left it out. */
export function reached(flow: Flow<unknown>, onlyIf: string | undefined): string | undefined {
  const stayed = [...new Set(flow.exits.map(({ condition }) => negated(condition)))]
  return stayed.reduce<string | undefined>(and, onlyIf)
}

/** A variable has this text from here on; undefined: it is no longer known. */
export function setVariable(flow: Flow<unknown>, name: string, value: Value | undefined): void {
  const { variables } = flow
  const before = variables.get(name)
  flow.log.push({
    name,
    undo: () => {
      if (before === undefined) variables.delete(name)
      else variables.set(name, before)
    },
  })
  if (value === undefined) variables.delete(name)
  else variables.set(name, value)
}

/** No variable is known any more: something that cannot be read may have set any. */
export function forgetVariables(flow: Flow<unknown>): void {
  for (const name of [...flow.variables.keys()]) setVariable(flow, name, undefined)
}

/** A function gets a body, in place of those before where nothing decides whether. */
export function defineFunction<Body>(flow: Flow<Body>, name: string, body: Body, certain: boolean): void {
  const { functions } = flow
  const before = functions.get(name)
  flow.log.push({
    name: undefined,
    undo: () => {
      if (before === undefined) functions.delete(name)
      else functions.set(name, before)
    },
  })
  functions.set(name, certain ? [body] : [...(before ?? []), body])
}

function enter(flow: Flow<unknown>, kind: Scope['kind']): Scope {
  const scope: Scope = { kind, mark: flow.log.length, locals: new Map() }
  flow.scopes.push(scope)
  return scope
}

function changedSince(flow: Flow<unknown>, mark: number): ReadonlySet<string> {
  return new Set(flow.log.slice(mark).flatMap(({ name }) => name ?? []))
}

/** Walks what a scope holds. What a subshell sets is gone with it. */
export function inScope<T>(flow: Flow<unknown>, kind: Scope['kind'], walk: () => T): T {
  const scope = enter(flow, kind)
  const out = walk()
  flow.scopes.pop()
  const left = flow.exits.some(exit => exit.scope === scope)
  if (left) flow.exits = flow.exits.filter(exit => exit.scope !== scope)
  if (flow.ended === scope) flow.ended = undefined
  if (kind === 'shell') {
    for (const change of flow.log.splice(scope.mark).reverse()) change.undo()
    return out
  }
  // Where it may have been left before its end, what it sets may not be set.
  if (left) for (const name of changedSince(flow, scope.mark)) setVariable(flow, name, undefined)
  for (const [name, value] of scope.locals) setVariable(flow, name, value)
  return out
}

const JUMPS: Readonly<Record<string, Scope['kind']>> = {
  exit: 'shell',
  return: 'function',
  break: 'loop',
  continue: 'turn',
}

/** `exit`, `return`, `break` and `continue`, with how many loops they go up; another word is no jump. */
export function jump(flow: Flow<unknown>, name: string, levels: number): void {
  const kind = Object.hasOwn(JUMPS, name) ? JUMPS[name] : undefined
  if (kind === undefined) return
  let wanted = levels
  for (const scope of flow.scopes.toReversed()) {
    const found = scope.kind === kind && --wanted <= 0
    if (!found && scope.kind !== 'shell') continue
    // In a subshell each of them ends the subshell; outside of a function and a loop only `return` may do anything.
    if (found || flow.scopes[0] !== scope) flow.ended = scope
    else if (name === 'return')
      flow.exits = [...flow.exits, { scope, condition: '`return` outside of a function ends the script' }]
    return
  }
}

const MAX_EXITS = 12

/** One more way out of a scope; where there are many, those that follow are not told apart. */
function withExit(exits: readonly Exit[], exit: Exit): readonly Exit[] {
  const full = exits.filter(({ scope }) => scope === exit.scope).length >= MAX_EXITS
  const added = full ? { scope: exit.scope, condition: 'it was left before at one of many places' } : exit
  const isThere = exits.some(({ scope, condition }) => scope === added.scope && condition === added.condition)
  return isThere ? exits : [...exits, added]
}

export interface Branch {
  readonly condition: string
  readonly walk: () => void
}

/**
 * Walks branches of which at most one is taken (`exhaustive`: exactly one). Afterwards a variable that one of them sets is
 * not known, and what one of them leaves is left under its condition; it is left for certain where each of them does.
 */
export function walkBranches(flow: Flow<unknown>, branches: readonly Branch[], exhaustive: boolean): void {
  const { ended, exits } = flow
  const mark = flow.log.length
  const changed = new Set<string>()
  const left: { readonly condition: string; readonly scope: Scope }[] = []
  const perhaps: Exit[] = []
  for (const { condition, walk } of branches) {
    walk()
    for (const exit of flow.exits.slice(exits.length))
      perhaps.push({ scope: exit.scope, condition: and(condition, exit.condition) ?? condition })
    if (flow.ended !== undefined && flow.ended !== ended) left.push({ condition, scope: flow.ended })
    else for (const name of changedSince(flow, mark)) changed.add(name)
    const changes = flow.log.splice(mark)
    for (const change of changes.toReversed()) if (change.name !== undefined) change.undo()
    flow.log.push(...changes.filter(change => change.name === undefined))
    flow.ended = ended
    flow.exits = exits
  }
  for (const name of changed) setVariable(flow, name, undefined)
  // All are left: at least the innermost of what they leave, and more under the conditions of those that go further.
  const innermost =
    exhaustive && left.length === branches.length
      ? flow.scopes.findLast(scope => left.some(each => each.scope === scope))
      : undefined
  flow.ended = innermost ?? ended
  flow.exits = [...perhaps, ...left.filter(({ scope }) => scope !== innermost)].reduce(withExit, exits)
}
