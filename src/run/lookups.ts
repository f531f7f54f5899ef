import { matchHosts } from '../inventory/patterns.js'
import type { Environment } from '../jinja/environment.js'
import { renderTemplateFile } from '../jinja/template.js'
import { type Cause, failure, known, unknown, type Value } from '../jinja/value.js'
import { type Span, wholeFile } from '../source/text.js'
import type { Scope } from '../variables/scope.js'
import type { Frame } from './frame.js'
import { findFiles, firstFound, searchDirectories } from './search.js'
import type { RunState } from './state.js'

interface Call {
  readonly state: RunState
  readonly frame: Frame
  readonly scope: Scope
  readonly terms: readonly Value[]
  readonly options: ReadonlyMap<string, Value>
  readonly at: Span
}

/** Lookups that need the checkout, the inventory or the control host. A lookup's result is a list, as plugins give it. */
const lookups: Readonly<Record<string, (call: Call) => Value>> = {
  env: ({ state, terms, options, at }) => {
    const names = terms.flatMap(term => (term.kind === 'known' && typeof term.data === 'string' ? term.data : []))
    if (names.length < terms.length) return unknown([{ says: 'the name of an environment variable is not known', at }])
    const fallback = options.get('default') ?? known('')
    return known(
      names.map(name =>
        state.options.environment.has(name) ? known(state.options.environment.get(name) ?? '') : fallback,
      ),
    )
  },
  password: onControlHost('a password file on the control host'),
  pipe: onControlHost('a command on the control host'),
  url: onControlHost('what a web server answers'),
  ini: onControlHost('a file on the control host'),
  csvfile: onControlHost('a file on the control host'),
  random_choice: call => (call.terms.length < 2 ? known(call.terms) : onControlHost('chance')(call)),
  file: call => eachFile(call, 'files', file => known(file.text.trimEnd())),
  template: call =>
    eachFile(call, 'templates', file => {
      const text = renderTemplateFile(file.text, wholeFile(file), call.scope)
      const converts = call.options.get('convert_data')
      const isKept = converts?.kind === 'known' && converts.data === false && text.kind === 'known'
      return isKept ? { ...text, protected: true } : text
    }),
  first_found: call => {
    const { files, skip } = searched(call.terms, call.options)
    const found = firstFound(call.state.code, files, searchDirectories(call.frame, 'files'))
    if (found !== undefined) return known([found])
    return skip ? known([]) : failure('no file was found by first_found', call.at)
  },
  fileglob: ({ state, frame, terms, at }) => {
    const found = terms.map(term => findFiles(state.code, globbed(term), searchDirectories(frame, 'files')))
    const uncertain = found.flatMap(({ otherwise }) => otherwise)
    if (terms.some(term => term.kind !== 'known'))
      return unknown(uncertain.length > 0 ? uncertain : [{ says: 'a glob that is not known', at }])
    return known(found.flatMap(({ candidates }) => candidates.map(({ path }) => known(path))))
  },
  inventory_hostnames: ({ state, terms, at }) => {
    const patterns = terms.flatMap(term => (term.kind === 'known' && typeof term.data === 'string' ? term.data : []))
    if (patterns.length < terms.length) return unknown([{ says: 'a host pattern that is not known', at }])
    return known(matchHosts(patterns, state.inventory).map(host => known(host)))
  },
}

/** The lookups an expression in this frame can use; undefined for a plugin that is not modelled here. */
export function lookupFor(state: RunState, frame: Frame, scope: Scope): Environment['lookup'] {
  return (plugin, terms, options, at) => lookups[plugin]?.({ state, frame, scope, terms, options, at })
}

/** The lookups of this table, for the coverage list. */
export function hostLookupNames(): readonly string[] {
  return Object.keys(lookups)
}

function onControlHost(what: string): (call: Call) => Value {
  return ({ at }) => unknown([{ says: `${what} decides this`, at }])
}

function eachFile(
  call: Call,
  kind: 'files' | 'templates',
  read: (file: { path: string; text: string }) => Value,
): Value {
  const values: Value[] = []
  for (const term of call.terms) {
    const { candidates, otherwise, absent } = findFiles(call.state.code, term, searchDirectories(call.frame, kind))
    const [only, second] = candidates
    const file =
      only === undefined || second !== undefined || otherwise.length > 0
        ? undefined
        : call.state.code.tree.read(only.path)
    if (file === undefined) {
      const says = absent ? 'a file that is not in the checkout' : 'which file it is cannot be told before the run'
      const causes: Cause[] = [{ says, at: call.at }]
      values.push(unknown([...causes, ...otherwise]))
    } else values.push(read(file))
  }
  return known(values)
}

/** The names `first_found` tries, in order: plain terms, or `files` × `paths` of a mapping. */
export function searched(
  terms: readonly Value[],
  options: ReadonlyMap<string, Value>,
): { readonly files: readonly Value[]; readonly skip: boolean } {
  const files: Value[] = []
  let skip = isTrue(options.get('skip')) || isText(options.get('errors'), 'ignore')
  for (const term of terms.flatMap(flat)) {
    if (term.kind === 'known' && term.data instanceof Map) {
      const names = listIn(term.data.get('files'))
      const paths = listIn(term.data.get('paths'))
      skip ||= isTrue(term.data.get('skip'))
      if (paths.length === 0) files.push(...names)
      else for (const path of paths) files.push(...names.map(name => below(path, name)))
    } else files.push(term)
  }
  const paths = listIn(options.get('paths'))
  const named = listIn(options.get('files'))
  const all = [...files, ...named]
  return { files: paths.length === 0 ? all : paths.flatMap(path => all.map(name => below(path, name))), skip }
}

function flat(value: Value): readonly Value[] {
  return value.kind === 'known' && Array.isArray(value.data) ? value.data.flatMap(flat) : [value]
}

function listIn(value: Value | undefined): readonly Value[] {
  if (value === undefined) return []
  if (value.kind === 'known' && typeof value.data === 'string') {
    return value.data.split(/[,;]/).map(part => known(part.trim()))
  }
  return flat(value)
}

function below(directory: Value, name: Value): Value {
  const left = piecesOf(directory)
  const right = piecesOf(name)
  if (left === undefined || right === undefined) return left === undefined ? directory : name
  if (directory.kind === 'known' && name.kind === 'known')
    return known(`${left.join('').replace(/\/$/, '')}/${right.join('')}`)
  const causes = [directory, name].flatMap(value => (value.kind === 'unknown' ? value.causes : []))
  const pieces = [...left, '/', ...right].reduce<(string | null)[]>((all, piece) => {
    const last = all.at(-1)
    if (piece !== null && typeof last === 'string')
      all[all.length - 1] = last.endsWith('/') && piece === '/' ? last : last + piece
    else all.push(piece)
    return all
  }, [])
  return unknown(causes, pieces)
}

function piecesOf(value: Value): readonly (string | null)[] | undefined {
  if (value.kind === 'known') return typeof value.data === 'string' ? [value.data] : undefined
  return value.kind === 'unknown' ? (value.text ?? [null]) : undefined
}

/** `*` of a glob as an unknown piece: the same search serves both. */
function globbed(term: Value): Value {
  if (term.kind !== 'known' || typeof term.data !== 'string' || !term.data.includes('*')) return term
  return unknown(
    [],
    term.data
      .split('*')
      .flatMap((part, index) => (index === 0 ? [part] : [null, part]))
      .filter(part => part !== ''),
  )
}

function isTrue(value: Value | undefined): boolean {
  return value?.kind === 'known' && (value.data === true || value.data === 'yes' || value.data === 'true')
}

function isText(value: Value | undefined, text: string): boolean {
  return value?.kind === 'known' && value.data === text
}
