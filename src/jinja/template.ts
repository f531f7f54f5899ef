import type { Span } from '../source/text.js'
import { alternatives, apply, type Single } from './apply.js'
import { bind } from './call.js'
import type { Environment } from './environment.js'
import {
  evaluateFilter,
  evaluateIn,
  inEachWorld,
  judge,
  openly,
  type Scope,
  scopeOf,
  unlessSpoiled,
} from './evaluate.js'
import { isNamespace, recursions } from './globals.js'
import { ownCopy } from './in-place.js'
import { parseLiteral } from './literal.js'
import { namesIn } from './names.js'
import { joinTexts } from './operators.js'
import { hasTemplate, parseTemplate } from './parser.js'
import { dataOf, equal, giveUp, isDict, isList, isTuple, membersOf, raise, strOf, Unresolved } from './python.js'
import type { Body, Expression, ForLoop, Macro, Parameter, Statement, Target, Template } from './syntax.js'
import type { Cause, Data, Dict, Key, Known, Option, Unknown, Value } from './value.js'
import { failure, known, unknown } from './value.js'

type Trace = Scope['trace']

/** Python's `$` also matches before a newline at the end. */
const singleVariable = /^\{\{\s*(\w*)\s*\}\}\n?$/

/**
 * A YAML string value as Ansible 2.14–2.18 templates it (jinja2_native off): text without a template stays, `{{ name }}`
 * of a stored number, bool or null is that object, everything else becomes text, and text that reads as a Python list,
 * dict or bool becomes one (rules 131, 133–137). Syntax errors and runtime errors are Failures.
 */
export function evaluateTemplate(text: string, at: Span, environment: Environment): Value {
  return evaluateTemplateTraced(text, at, environment, null)
}

/** `evaluateTemplate` that tells which variables were looked at. */
export function evaluateTemplateTraced(text: string, at: Span, environment: Environment, trace: Trace): Value {
  if (!hasTemplate(text)) return known(text)
  const header = readHeader(text, at)
  if ('causes' in header) return header
  const template = parseTemplate(header.body, at, header)
  if (template.kind === 'syntax-problem') return syntaxFailure(template.says, at)
  return settle(
    inEachWorld(environment, world => {
      const scope = scopeOf(world, at, trace, template)
      if (environment.rules?.nativeResults) return nativeResult(text, template, scope)
      const only = singleVariable.exec(text)?.[1]
      const [statement] = template.body
      if (only !== undefined && statement?.kind === 'output' && statement.expression.kind === 'name') {
        const value = evaluateIn(statement.expression, scope)
        return apply(
          [value],
          at,
          ([single]) => storedScalar(single as Single) ?? finish(text, [finalize(single as Single, at)], at),
        )
      }
      return renderAll(template, scope, true, pieces => finish(text, pieces, at))
    }),
  )
}

/**
 * From 2.19 on: one expression gives its value, several pieces their text, which stays text (`AnsibleEnvironment.concat`).
 */
function nativeResult(text: string, template: Template, scope: Scope): Value {
  const { at } = scope
  const [statement, second] = template.body
  if (statement?.kind !== 'output' || second !== undefined) {
    return renderAll(template, scope, true, pieces => keepNewlines(text, joinTexts(pieces.map(asPiece), at)))
  }
  return apply([evaluateIn(statement.expression, scope)], at, ([single]) => {
    const value = single as Single
    return value.kind === 'known' && value.data === null ? known(null) : keepNewlines(text, finalize(value, at))
  })
}

/**
 * A template file as the template module renders it: always text, backslashes as Jinja2 has them, the file's trailing
 * newlines kept. Parts that are not known give an Unknown with the known text pieces.
 */
export function renderTemplateFile(text: string, at: Span, environment: Environment): Value {
  const header = readHeader(text, at)
  if ('causes' in header) return header
  const template = parseTemplate(header.body, at, { file: true, ...header })
  if (template.kind === 'syntax-problem') return syntaxFailure(template.says, at)
  const worlds = inEachWorld(environment, world =>
    renderAll(template, scopeOf(world, at, null, template), false, pieces =>
      keepNewlines(text, joinTexts(pieces.map(asPiece), at)),
    ),
  )
  const settled = settle(worlds)
  if (settled.kind !== 'unknown' || settled.text !== undefined) return settled
  // Texts that are open somewhere in each world: alternatives all the same, where something is known of each.
  const options = worlds.flatMap(({ result, because }): readonly Option[] =>
    result.kind === 'unknown' && result.text !== undefined ? [{ value: result, because }] : [],
  )
  return options.length > 1 && options.length === worlds.length && options.length <= 8
    ? { kind: 'one-of', options }
    : settled
}

interface Header {
  readonly body: string
  readonly trimBlocks: boolean
  readonly lstripBlocks: boolean
}

/** The first line `#jinja2: …` of a template, which changes how the rest is read; Unknown for other overrides. */
function readHeader(text: string, at: Span): Header | Unknown {
  const header = /^#jinja2:([^\n]*)\n/.exec(text)
  const style = { lstripBlocks: false, trimBlocks: true }
  for (const pair of header?.[1]?.split(',') ?? []) {
    const [key = '', value = ''] = pair.split(':').map(part => part.trim())
    const isSwitch = (key === 'lstrip_blocks' || key === 'trim_blocks') && (value === 'True' || value === 'False')
    if (!isSwitch) {
      return unknown([{ says: `the override ${key} in the first line of a template is not modelled`, at }])
    }
    style[key === 'trim_blocks' ? 'trimBlocks' : 'lstripBlocks'] = value === 'True'
  }
  return { body: header === null ? text : text.slice(header[0].length), ...style }
}

function syntaxFailure(says: string, at: Span): Value {
  return failure(`template error while templating string: ${says}`, at)
}

function settle(worlds: readonly { result: Value; because: readonly Cause[] }[]): Value {
  return alternatives(worlds.map(({ result, because }) => ({ value: result, because })))
}

/** A file with many open spots would have too many alternatives: each spot is then unknown by itself. */
function asPiece(value: Value): Single {
  if (value.kind !== 'one-of') return value
  return unknown(
    value.options.flatMap(option =>
      option.value.kind === 'unknown' ? [...option.because, ...option.value.causes] : option.because,
    ),
  )
}

/** What `{{ name }}` alone gives without printing; undefined where printing decides. */
function storedScalar(value: Single): Value | undefined {
  if (value.kind !== 'known' || value.templated === true) return undefined
  const { data } = value
  if (typeof data === 'boolean') return known(data)
  return data === null || typeof data === 'bigint' || typeof data === 'number' ? templated(data) : undefined
}

function templated(data: Data): Known {
  return { kind: 'known', data, templated: true }
}

/** A value that is stored as it is (by `set_fact`, `register` or a loop), no longer the result of a template. */
export function asStored(value: Value): Value {
  if (value.kind === 'known' && value.templated === true) return known(value.data)
  if (value.kind !== 'one-of') return value
  return alternatives(value.options.map(option => ({ value: asStored(option.value), because: option.because })))
}

/** None prints as nothing, views and ranges print as lists. */
function finalize(value: Single, at: Span): Single {
  if (value.kind === 'undefined') return value.lenient === true ? known('') : failure(value.says, at, true)
  if (value.kind !== 'known') return value
  if (value.data === null) return known('')
  return isTuple(value.data) && value.data.view !== undefined ? known(value.data.items) : value
}

/** The pieces a template printed, as the value Ansible makes of them. */
function finish(text: string, pieces: readonly Value[], at: Span): Value {
  return apply(pieces, at, singles => {
    const [only] = singles
    if (only === undefined) return keepNewlines(text, known(''))
    if (singles.length > 1) return keepNewlines(text, converted(joinTexts(singles, at)))
    if (only.kind !== 'known' || only.protected === true) return keepNewlines(text, converted(only))
    return keepNewlines(text, convertData(only))
  })
}

/**
 * Text that looks like a list, dict or bool becomes one, unless a filter protected it. The known pieces of an open text
 * are kept where they do not begin a list; text that begins with an unknown piece could still turn out to read as one.
 */
function converted(value: Value): Value {
  if (value.kind === 'unknown' && /^[[{]/.test(value.text?.[0] ?? '')) return unknown(value.causes)
  if (value.kind !== 'known' || value.protected === true || typeof value.data !== 'string') return value
  const text = value.data
  if (!/^[[{]/.test(text) && text !== 'True' && text !== 'False') return value
  const data = parseLiteral(text)
  return data === undefined ? value : known(data)
}

/** The same as printing the data and reading it back, without doing so. */
function convertData(value: Known): Value {
  const { data } = value
  if (typeof data === 'string') return converted(value)
  if (typeof data === 'boolean') return known(data)
  if (isList(data) || isDict(data)) {
    const read = readBack(value)
    if (read !== null) return read
  }
  return known(strOf(data))
}

/** A container as `literal_eval` of its `repr` gives it; null where that fails and the text stays. */
function readBack(value: Value): Value | null {
  if (value.kind === 'unknown') return knownInside(value)
  if (value.kind === 'one-of') {
    // It fails only where it comes to that alternative.
    if (value.options.some(option => option.value.kind === 'undefined' || option.value.kind === 'failure')) {
      giveUp('one of the alternatives is not defined')
    }
    const options = value.options.map(option => ({ value: readBack(option.value), because: option.because }))
    if (options.some(option => option.value === null)) return giveUp('only some alternatives read back as data')
    return alternatives(options as { value: Value; because: readonly Cause[] }[])
  }
  if (value.kind === 'undefined' && value.lenient === true) return null
  const data = dataOf(value)
  if (typeof data === 'number') return Number.isFinite(data) ? known(data) : null
  if (typeof data !== 'object' || data === null) return known(data)
  if (isList(data)) {
    const items = data.map(readBack)
    return items.includes(null) ? null : known(items as Value[])
  }
  if (isDict(data)) {
    const entries = [...data].map(([key, member]) => [key, readBack(member)] as const)
    if (entries.some(([key, member]) => member === null || (typeof key === 'number' && !Number.isFinite(key))))
      return null
    return known(new Map(entries as [Key, Value][]))
  }
  if (!isTuple(data) || data.view !== undefined) return null
  const items = data.items.map(readBack)
  return items.includes(null) ? null : known({ kind: 'tuple', items: items as Value[] })
}

/** A mapping of which only some members are known (a result in a list of results) keeps those. */
function knownInside({ causes, fields }: Unknown): Value {
  if (fields === undefined) return unknown(causes)
  const kept = [...fields].flatMap(([name, member]): [string, Value][] => {
    const read = member.kind === 'undefined' ? member : readBack(member)
    return read === null ? [] : [[name, read]]
  })
  return { ...unknown(causes), fields: new Map(kept) }
}

function trailingNewlines(text: string): number {
  let count = 0
  while (count < text.length && text[text.length - 1 - count] === '\n') count++
  return count
}

/** Jinja2 drops a newline at the end of the source; Ansible puts back as many as are missing. */
function keepNewlines(source: string, value: Value): Value {
  const wanted = trailingNewlines(source)
  if (wanted === 0) return value
  if (value.kind === 'known' && typeof value.data === 'string') {
    const missing = wanted - trailingNewlines(value.data)
    return missing > 0 ? { ...value, data: value.data + '\n'.repeat(missing) } : value
  }
  if (value.kind === 'unknown' && value.text !== undefined) {
    const last = value.text.at(-1)
    if (typeof last !== 'string') return unknown(value.causes, [...value.text, '\n'.repeat(wanted)])
    const missing = Math.max(wanted - trailingNewlines(last), 0)
    return unknown(value.causes, [...value.text.slice(0, -1), last + '\n'.repeat(missing)])
  }
  return value
}

interface Frame {
  readonly locals: Map<string, Value>
  readonly parent: Frame | null
}

/** One rendering: where names are looked up, where pieces go, and whether results convert (YAML values) or stay text. */
interface Rendering {
  readonly scope: Scope
  readonly frame: Frame
  readonly out: Value[]
  readonly converts: boolean
  /** Inside a macro, a filter block or a captured text, whose pieces become text only at the end. */
  readonly isBuffered: boolean
}

type Signal = 'break' | 'continue' | null

function renderAll(
  template: Template,
  scope: Scope,
  converts: boolean,
  end: (pieces: readonly Value[]) => Value,
): Value {
  return apply([], scope.at, () => {
    const out: Value[] = []
    renderBody(
      template.body,
      enter({ scope, frame: { locals: new Map(), parent: null }, out, converts, isBuffered: false }, out, null),
    )
    return unlessSpoiled(scope, end(out))
  })
}

/** A rendering in a new frame (or in the same one where `parent` is null), with names resolved through it. */
function enter(rendering: Rendering, out: Value[], parent: Frame | null): Rendering {
  const frame: Frame = parent === null ? rendering.frame : { locals: new Map(), parent }
  const scope: Scope = {
    ...rendering.scope,
    local: name => {
      for (let at: Frame | null = frame; at !== null; at = at.parent) {
        const value = at.locals.get(name)
        if (value !== undefined) return value
      }
      return undefined
    },
  }
  return { ...rendering, scope, frame, out }
}

function inner(rendering: Rendering, out: Value[] = rendering.out): Rendering {
  return enter(rendering, out, rendering.frame)
}

/** Stops the rendering with a failure: Ansible would. */
function checked(value: Value): Value {
  return value.kind === 'failure' ? raise(value.says, value.undefined) : value
}

function print(rendering: Rendering, value: Value): void {
  const { at } = rendering.scope
  const piece = apply([checked(value)], at, ([single]) => finalize(single as Single, at))
  if (piece.kind === 'one-of' && piece.options.every(option => option.value.kind === 'failure')) {
    const [first] = piece.options
    if (first !== undefined) checked(first.value)
  }
  emit(rendering, checked(piece))
}

/**
 * Adds a piece. It becomes text at once, so that a later change in place does not show in it; only of a YAML value
 * Ansible takes the first two pieces before it makes text of them.
 */
function emit({ out, scope: { changes }, converts, isBuffered }: Rendering, piece: Value): void {
  if (!changes.isPossible || isBuffered || (converts && out.length === 0)) {
    out.push(piece)
    return
  }
  out.push(ownCopy(piece, changes))
  if (converts && out.length === 2) out[0] = ownCopy(out[0] as Value, changes)
}

function renderBody(body: Body, rendering: Rendering): Signal {
  for (const statement of body) {
    if (--rendering.scope.budget.left < 0) giveUp('the template is too much work to evaluate')
    const signal = renderStatement(statement, rendering)
    if (signal !== null) return signal
  }
  return null
}

function renderStatement(statement: Statement, rendering: Rendering): Signal {
  const { scope, out } = rendering
  switch (statement.kind) {
    case 'text':
      emit(rendering, known(statement.text))
      return null
    case 'output':
      print(rendering, evaluateIn(statement.expression, scope))
      return null
    case 'do':
      checked(evaluateIn(statement.expression, scope))
      return null
    case 'if':
      return renderIf(statement, rendering)
    case 'for':
      renderFor(statement, rendering)
      return null
    case 'set':
      if (statement.target.kind === 'member') namespaceOf(statement.target.of, rendering)
      assign(statement.target, checked(evaluateIn(statement.value, scope)), rendering)
      return null
    case 'set-block': {
      const text = capture(statement.body, rendering)
      const value = statement.filter === null ? text : filterBody(statement.filter, text, rendering)
      assign(statement.target, value, rendering)
      return null
    }
    case 'with': {
      const within = inner(rendering)
      const values = statement.bindings.map(binding => checked(evaluateIn(binding.value, scope)))
      statement.bindings.forEach((binding, index) => {
        assign(binding.target, values[index] as Value, within)
      })
      return renderBody(statement.body, within)
    }
    case 'filter-block':
      print(rendering, filterBody(statement.filter, capture(statement.body, rendering), rendering))
      return null
    case 'macro':
      rendering.frame.locals.set(statement.name, macroValue(statement, rendering, null))
      return null
    case 'call-block':
      renderCallBlock(statement.call, statement.parameters, statement.body, rendering)
      return null
    case 'block':
      renderBody(statement.body, inner(rendering))
      return null
    case 'other-file': {
      const open = unknown([{ says: `the template's ${statement.tag} of another file is not followed`, at: scope.at }])
      if (statement.tag === 'extends') throw new Unresolved(open.causes)
      if (statement.tag === 'include') out.push(open)
      for (const name of statement.binds) rendering.frame.locals.set(name, open)
      return null
    }
    case 'break':
    case 'continue':
      return statement.kind
  }
}

/** The text a body prints, as one value. */
function capture(body: Body, rendering: Rendering): Value {
  const out: Value[] = []
  renderBody(body, inner({ ...rendering, isBuffered: true }, out))
  return textOfPieces(out, rendering)
}

function textOfPieces(pieces: readonly Value[], rendering: Rendering): Value {
  const { at } = rendering.scope
  const text = rendering.converts
    ? apply(pieces, at, singles => joinTexts(singles, at))
    : joinTexts(pieces.map(asPiece), at)
  return rendering.converts ? apply([text], at, ([single]) => converted(single as Single)) : text
}

function filterBody(filter: Expression, text: Value, rendering: Rendering): Value {
  if (filter.kind !== 'filter') throw new Error('a filter block without a filter')
  const input = filter.of === null ? text : filterBody(filter.of, text, rendering)
  return checked(evaluateFilter(filter, checked(input), rendering.scope))
}

function assign(target: Target, value: Value, rendering: Rendering): void {
  switch (target.kind) {
    case 'name':
      rendering.frame.locals.set(target.name, value)
      return
    case 'member': {
      const namespace = namespaceOf(target.of, rendering)
      namespace.set(target.name, value)
      return
    }
    case 'tuple': {
      if (value.kind === 'unknown') {
        for (const item of target.items) assign(item, value, rendering)
        return
      }
      if (value.kind === 'one-of') {
        const open = asPiece(value)
        for (const item of target.items) assign(item, open, rendering)
        return
      }
      const members = membersOf(dataOf(value))
      if (members.length > target.items.length) raise(`too many values to unpack (expected ${target.items.length})`)
      if (members.length < target.items.length) {
        raise(`not enough values to unpack (expected ${target.items.length}, got ${members.length})`)
      }
      target.items.forEach((item, index) => {
        assign(item, members[index] as Value, rendering)
      })
    }
  }
}

/** A namespace is the one thing that may be changed; it was made by this rendering, so nobody else holds it. */
function namespaceOf(name: string, rendering: Rendering): Map<Key, Value> {
  const value = rendering.scope.local(name)
  const data = value?.kind === 'known' ? value.data : null
  if (data === null || !isDict(data) || !isNamespace(data))
    return raise('cannot assign attribute on non-namespace object')
  return data as Map<Key, Value>
}

function renderIf(statement: Statement & { kind: 'if' }, rendering: Rendering): Signal {
  const open: { body: Body; because: readonly Cause[] }[] = []
  const because: Cause[] = []
  let decided: Body | null = null
  for (const branch of statement.branches) {
    const { truth, failure: failed } = judge(branch.test, rendering.scope)
    if (failed !== null) {
      if (open.length === 0) checked(failed)
      because.push({ says: `evaluation fails: ${failed.says}`, at: failed.at })
      open.push({ body: [], because: [...because] })
      decided = []
      break
    }
    if (truth.kind === 'false') continue
    if (truth.kind === 'true') {
      decided = branch.body
      break
    }
    because.push(...truth.causes)
    open.push({ body: branch.body, because: [...because] })
  }
  const rest = decided ?? statement.otherwise
  if (open.length === 0) return renderBody(rest, rendering)
  return renderBranches([...open, { body: rest, because }], rendering)
}

/** Renders each branch that may be taken on a copy of the names, and joins text and names afterwards. */
function renderBranches(branches: readonly { body: Body; because: readonly Cause[] }[], rendering: Rendering): Signal {
  const { at } = rendering.scope
  const { locals } = rendering.frame
  const before = new Map(locals)
  const namespaces = changedNamespaces(
    branches.flatMap(branch => branch.body),
    rendering,
  )
  const kept = namespaces.map(namespace => new Map(namespace))
  const restore = (to: Map<Key | string, Value>, from: ReadonlyMap<Key | string, Value>): void => {
    to.clear()
    for (const [key, value] of from) to.set(key, value)
  }
  const results = branches.map(({ body, because }) => {
    restore(locals, before)
    namespaces.forEach((namespace, index) => {
      restore(namespace, kept[index] as Map<Key, Value>)
    })
    const out: Value[] = []
    const text = apply([], at, () => {
      const signal = openly(rendering.scope, () => renderBody(body, enter(rendering, out, null)))
      if (signal !== null) giveUp('a loop that is left under an open condition')
      return rendering.converts && out.length === 1 ? (out[0] as Value) : textOfBranch(out, rendering)
    })
    return { text, because, locals: new Map(locals), namespaces: namespaces.map(namespace => new Map(namespace)) }
  })
  const merge = (pick: (index: number) => Value): Value =>
    alternatives(results.map(({ because }, index) => ({ value: pick(index), because })))
  const missing: Value = { kind: 'undefined', says: 'the name is set only under an open condition', at }
  restore(locals, new Map())
  for (const name of new Set(results.flatMap(result => [...result.locals.keys()]))) {
    locals.set(
      name,
      merge(index => results[index]?.locals.get(name) ?? missing),
    )
  }
  namespaces.forEach((namespace, position) => {
    const keys = new Set(results.flatMap(result => [...(result.namespaces[position]?.keys() ?? [])]))
    restore(namespace, new Map())
    for (const key of keys)
      namespace.set(
        key,
        merge(index => results[index]?.namespaces[position]?.get(key) ?? missing),
      )
  })
  const text = merge(index => results[index]?.text as Value)
  if (text.kind === 'failure') checked(text)
  if (!(text.kind === 'known' && text.data === '')) rendering.out.push(rendering.converts ? text : openPiece(text))
  return null
}

function textOfBranch(out: readonly Value[], rendering: Rendering): Value {
  const { at } = rendering.scope
  return rendering.converts ? apply(out, at, singles => joinTexts(singles, at)) : joinTexts(out.map(asPiece), at)
}

function openPiece(value: Value): Value {
  return value.kind === 'one-of' ? asPiece(value) : value
}

/** The namespaces that some `{% set name.x = … %}` in a body changes. */
function changedNamespaces(body: Body, rendering: Rendering): readonly Map<Key, Value>[] {
  const found = new Set<Map<Key, Value>>()
  for (const name of memberTargets(body)) {
    const value = rendering.scope.local(name)
    if (value?.kind === 'known' && isDict(value.data) && isNamespace(value.data))
      found.add(value.data as Map<Key, Value>)
  }
  return [...found]
}

function memberTargets(body: Body): readonly string[] {
  return body.flatMap(statement => {
    switch (statement.kind) {
      case 'set':
      case 'set-block': {
        const own = statement.target.kind === 'member' ? [statement.target.of] : []
        return statement.kind === 'set-block' ? [...own, ...memberTargets(statement.body)] : own
      }
      case 'if':
        return [
          ...statement.branches.flatMap(branch => memberTargets(branch.body)),
          ...memberTargets(statement.otherwise),
        ]
      case 'for':
        return [...memberTargets(statement.body), ...memberTargets(statement.otherwise)]
      case 'with':
      case 'filter-block':
      case 'call-block':
      case 'block':
      case 'macro':
        return memberTargets(statement.body)
      default:
        return []
    }
  })
}

function renderFor(loop: ForLoop, rendering: Rendering): void {
  renderLoop(loop, checked(evaluateIn(loop.over, rendering.scope)), rendering, 1)
}

/** A loop over a value; `depth` counts how often a recursive one was entered. */
function renderLoop(loop: ForLoop, over: Value, rendering: Rendering, depth: number): void {
  const { at } = rendering.scope
  if (over.kind === 'undefined' && over.lenient === true) {
    renderBody(loop.otherwise, inner(rendering))
    return
  }
  if (over.kind === 'unknown' || over.kind === 'one-of') {
    renderOpenLoop(loop, asPiece(over), rendering)
    return
  }
  const members = chosenMembers(loop, membersOf(dataOf(over)), rendering)
  if (!Array.isArray(members)) {
    renderOpenLoop(loop, members as Single, rendering)
    return
  }
  if (members.length === 0) {
    renderBody(loop.otherwise, inner(rendering))
    return
  }
  const seen: { last: readonly Value[] | null } = { last: null }
  for (let index = 0; index < members.length; index++) {
    const within = inner(rendering)
    const variable = loopVariable(members, index, depth, at, seen)
    within.frame.locals.set('loop', known(variable))
    if (loop.recursive) setRecursion(variable, loop, rendering, depth)
    assign(loop.target, members[index] as Value, within)
    if (renderBody(loop.body, within) === 'break') break
  }
}

/** The members a `for … if` keeps, or an unknown where that is open. */
function chosenMembers(loop: ForLoop, members: readonly Value[], rendering: Rendering): readonly Value[] | Value {
  const { only } = loop
  if (only === null) return members
  const { changes, at } = rendering.scope
  // Python asks for each member right before its turn, so what the body changes could matter.
  if (changes.isPossible) changes.spoiled.push({ says: 'a loop with a condition and changes in place', at })
  const causes: Cause[] = []
  const kept = members.filter(member => {
    const within = inner(rendering)
    assign(loop.target, member, within)
    const { truth, failure: failed } = judge(only, within.scope)
    if (failed !== null && causes.length === 0) checked(failed)
    if (truth.kind === 'unknown') causes.push(...truth.causes)
    return truth.kind === 'true'
  })
  return causes.length > 0 ? unknown(causes) : kept
}

/** A loop over what is not known: its text is unknown, and so is whatever it may change. */
function renderOpenLoop(loop: ForLoop, over: Single, rendering: Rendering): void {
  const causes = over.kind === 'unknown' ? over.causes : []
  rendering.out.push(unknown(causes))
  if (rendering.scope.changes.isPossible) rendering.scope.changes.spoiled.push(...causes)
  for (const namespace of changedNamespaces([...loop.body, ...loop.otherwise], rendering)) {
    for (const key of namespace.keys()) namespace.set(key, unknown(causes))
  }
}

/** `loop(…)` of a recursive loop: the text of the same loop over something else. */
function setRecursion(variable: Dict, loop: ForLoop, rendering: Rendering, depth: number): void {
  recursions.set(variable, over => {
    const { budget } = rendering.scope
    if (budget.calls >= deepestCall) return giveUp('loops that recurse this deeply are not followed')
    budget.calls++
    try {
      const out: Value[] = []
      renderLoop(loop, checked(over), inner({ ...rendering, isBuffered: true }, out), depth + 1)
      return textOfPieces(out, rendering)
    } finally {
      budget.calls--
    }
  })
}

function loopVariable(
  members: readonly Value[],
  index: number,
  depth: number,
  at: Span,
  seen: { last: readonly Value[] | null },
): Dict {
  const count = members.length
  const integer = (value: number): Value => known(BigInt(value))
  const beside = (position: number): Value =>
    members[position] ?? {
      kind: 'undefined',
      says: position < 0 ? 'there is no previous item' : 'there is no next item',
      at,
    }
  return new Map<Key, Value>([
    ['index', integer(index + 1)],
    ['index0', integer(index)],
    ['revindex', integer(count - index)],
    ['revindex0', integer(count - index - 1)],
    ['first', known(index === 0)],
    ['last', known(index === count - 1)],
    ['length', integer(count)],
    ['depth', integer(depth)],
    ['depth0', integer(depth - 1)],
    ['previtem', beside(index - 1)],
    ['nextitem', beside(index + 1)],
    [
      'cycle',
      known({
        kind: 'callable',
        name: 'cycle',
        call: positional => positional[index % positional.length] ?? raise('no items for cycling given'),
      }),
    ],
    [
      'changed',
      known({
        kind: 'callable',
        name: 'changed',
        call: positional => {
          const { last } = seen
          seen.last = positional
          if (last === null || last.length !== positional.length) return known(true)
          return known(!last.every((value, place) => equal(dataOf(value), dataOf(positional[place] as Value))))
        },
      }),
    ],
  ])
}

const deepestCall = 40

function macroValue(macro: Macro, rendering: Rendering, caller: Value | null): Value {
  return bodyFunction(macro.name, macro.parameters, macro.body, rendering, caller)
}

/** A macro, or the `caller` of a call block: called, it gives the text its body prints. */
function bodyFunction(
  name: string,
  parameters: readonly Parameter[],
  body: Body,
  rendering: Rendering,
  caller: Value | null,
): Value {
  // Python's `*args` and `**kwargs` and the caller are there where the body speaks of them.
  const used = new Set(namesIn({ kind: 'template', text: '', body }))
  return known({
    kind: 'callable',
    name,
    call: (positional, named, at) => {
      const { budget } = rendering.scope
      if (budget.calls >= deepestCall) return giveUp('macros that call each other this deeply are not followed')
      const out: Value[] = []
      const within = enter({ ...rendering, isBuffered: true }, out, rendering.frame)
      const given = new Map(named)
      const from = given.get('caller') ?? caller
      const takesCaller = parameters.some(parameter => parameter.name === 'caller')
      if (!takesCaller) {
        if (given.has('caller') && !used.has('caller'))
          raise(`macro '${name}' was invoked with two values for the special caller argument`)
        given.delete('caller')
      }
      const extra = positional.slice(parameters.length)
      const other = new Map([...given].filter(([key]) => !parameters.some(parameter => parameter.name === key)))
      if (extra.length > 0 && !used.has('varargs'))
        raise(`macro '${name}' takes not more than ${parameters.length} argument(s)`)
      const [unexpected] = other.keys()
      if (unexpected !== undefined && !used.has('kwargs'))
        raise(`macro '${name}' takes no keyword argument '${unexpected}'`)
      const specs = parameters.map(parameter => [parameter.name, null] as const)
      const values = bind(name, specs, {
        positional: positional.slice(0, parameters.length),
        named: new Map([...given].filter(([key]) => !other.has(key))),
      })
      parameters.forEach((parameter, index) => {
        const isGiven = index < positional.length || given.has(parameter.name)
        const value = isGiven
          ? (values[index] as Value)
          : parameter.fallback === null
            ? ({ kind: 'undefined', says: `parameter '${parameter.name}' was not provided`, at } as const)
            : checked(evaluateIn(parameter.fallback, within.scope))
        within.frame.locals.set(parameter.name, value)
      })
      if (used.has('varargs')) within.frame.locals.set('varargs', known({ kind: 'tuple', items: extra }))
      if (used.has('kwargs')) within.frame.locals.set('kwargs', known(new Map<Key, Value>(other)))
      if (!takesCaller && used.has('caller')) {
        const nobody: Value = { kind: 'undefined', says: 'No caller defined', at }
        within.frame.locals.set('caller', from ?? nobody)
      }
      budget.calls++
      try {
        renderBody(body, within)
      } catch (error) {
        const { changes, at: here } = rendering.scope
        if (changes.isPossible) changes.spoiled.push({ says: `the macro ${name} was left half way`, at: here })
        throw error
      } finally {
        budget.calls--
      }
      return textOfPieces(out, within)
    },
  })
}

function renderCallBlock(call: Expression, parameters: readonly Parameter[], body: Body, rendering: Rendering): void {
  if (call.kind !== 'call') throw new Error('a call block without a call')
  const within = inner(rendering)
  // Not a name an expression can contain, so nothing of the template is hidden.
  const hidden = 'caller of this block'
  within.frame.locals.set(hidden, bodyFunction('caller', parameters, body, rendering, null))
  const passed: Expression = { kind: 'name', name: hidden, start: call.start, end: call.end, depth: 1 }
  const args = { ...call.args, named: [...call.args.named, { name: 'caller', value: passed }] }
  print(rendering, evaluateIn({ ...call, args }, within.scope))
}
