import { dirname, join, relative, resolve } from 'node:path'
import { formatPatch, structuredPatch } from 'diff'
import type { RunAnalysis } from '../analyze.js'
import { type GroupPlace, inventoryFiles } from '../inventory/group-places.js'
import type { Definition } from '../inventory/inventory.js'
import { openPath } from '../inventory/opened.js'
import { readInventorySettings } from '../inventory/settings.js'
import { hasTemplate, parseTemplate } from '../jinja/parser.js'
import type { Change } from '../reports/audit.js'
import { type Place, placeOfSpan, placeText } from '../reports/place.js'
import { pathToOpen, placeOf, type SourceFile, type Span } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Node, ScalarNode } from '../yaml/node.js'
import { readYaml } from '../yaml/read.js'
import { askedIn } from './asked.js'

/** Whose inventory it is: what the audit of OLD was made from. */
export type PatchedInventory = Pick<RunAnalysis, 'inventory' | 'variableFiles' | 'code'>

/**
 * A unified diff, as `git apply` and `patch -p1` take it, that gives the inventory the new names of variables and groups:
 * the name alone is exchanged where the inventory defines it, and files of group_vars are renamed. What cannot be exchanged
 * by itself (the value would have to change, both names are there, an expression asks for it) stands in `#` lines before
 * it. Empty where there is nothing to say. Paths are seen from `root` (the top of the repository the inventory is in, as git
 * reads them), else from the working directory; where files stand outside of it, a line says from where. Nothing is written.
 */
export function renderInventoryPatch(changes: readonly Change[], inventory: PatchedInventory, root?: string): string {
  const draft: Draft = { files: new Map(), notes: new Set(), groups: new Set() }
  const places = placesIn(inventory)
  const retyped = new Set(changes.flatMap(({ kind, name }) => (kind === 'type-changed' ? [name] : [])))
  for (const change of changes) {
    const { kind, to } = change
    if (to === undefined || change.inventory.length === 0) continue
    if (kind === 'variable-renamed') renameVariable({ ...change, to }, places, retyped, draft)
    else if (kind === 'group-renamed') renameGroup({ ...change, to }, places, draft)
  }
  return render(draft, root)
}

type Rename = Change & { readonly to: string }

/** The files as they are to become. */
interface Draft {
  readonly files: Map<
    string,
    { readonly file: SourceFile; readonly edits: Map<number, Edit>; renamedTo: string | undefined }
  >
  readonly notes: Set<string>
  /** New names of groups. */
  readonly groups: Set<string>
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A definition, and whose it is: of two in one scope only one counts. */
interface Scoped {
  readonly scope: string
  readonly definition: Definition
}

interface Places {
  readonly definitions: readonly Scoped[]
  readonly groups: readonly GroupPlace[]
  /** The directories with group_vars, as the user named them. */
  readonly groupVars: readonly GroupVars[]
}

interface GroupVars {
  readonly tree: SourceTree
  readonly path: string
  readonly directory: string
}

function placesIn({ inventory, variableFiles, code }: PatchedInventory): Places {
  const definitions: Scoped[] = []
  const add = (scope: string, given: readonly Definition[]): void => {
    for (const definition of given) definitions.push({ scope, definition })
  }
  for (const { name, variables } of inventory.groups.values()) add(`group ${name}`, variables)
  for (const { name, variables } of inventory.hosts.values()) add(`host ${name}`, variables)
  for (const { group, host, definitions: given } of variableFiles) {
    add(group === undefined ? `host ${host}` : `group ${group}`, given)
  }
  const groups = inventoryFiles(inventory, readInventorySettings(code.tree)).flatMap(each => each.groups)
  const seen = new Set<string>()
  const groupVars = inventory.sources.flatMap(({ directory }) => {
    const opened = directory === undefined ? undefined : openPath(directory)
    if (directory === undefined || opened?.kind !== 'directory' || seen.has(opened.absolute)) return []
    seen.add(opened.absolute)
    return [{ tree: opened.tree, path: 'group_vars', directory }]
  })
  return { definitions, groups, groupVars }
}

function renameVariable(change: Rename, places: Places, retyped: ReadonlySet<string>, draft: Draft): void {
  const { name, to } = change
  const leaveOut = (where: string, why: string): void => {
    draft.notes.add(`${where}: ${name} -> ${to} is left out: ${why}`)
  }
  const otherValue = retyped.has(name) || retyped.has(to) ? 'the new variable takes another type' : valueChange(change)
  for (const place of change.inventory) {
    const where = placeText(place)
    const found = places.definitions.filter(
      ({ definition }) => definition.name === name && samePlace(placeOfSpan(definition.at), place),
    )
    const [first] = found
    if (first === undefined) {
      leaveOut(where, 'no file of the inventory defines it there')
      continue
    }
    const { file } = first.definition.at
    const defined = places.definitions.find(
      ({ scope, definition }) =>
        definition.name === to && (definition.at.file.path === file.path || found.some(each => each.scope === scope)),
    )
    const spans = found.map(({ definition }) => nameSpan(definition))
    const wrong =
      otherValue ?? found.map(each => typeProblem(change, each.definition.node)).find(each => each !== undefined)
    if (wrong !== undefined) leaveOut(where, `${wrong}, so its value has to change too`)
    else if (defined !== undefined) leaveOut(where, `${placeOf(defined.definition.at)} sets ${to} as well`)
    else if (spans.includes(undefined)) leaveOut(where, 'its name is not written plainly')
    else if (repeats(file, name)) leaveOut(where, 'a mapping of the file has it twice, and only the last one counts')
    else if (becomes(draft, file, to, name)) leaveOut(where, `another variable of this file becomes ${to}`)
    else for (const span of spans) if (span !== undefined) edit(draft, span, to)
  }
  tellReaders(
    places,
    name,
    'names',
    `asks for ${name} in an expression, which this diff leaves as it is: it is ${to} now`,
    draft,
  )
}

/** Why the value would not mean the same under the new name, as far as the defaults tell. */
function valueChange({ old, new: next }: Change): string | undefined {
  const before = old?.value
  const now = next?.value
  if (before === undefined || now === undefined || before === null || now === null) return undefined
  if (typeof before === 'boolean' && typeof now === 'boolean') {
    return before === now ? undefined : `the default went from ${before} to ${now} and it may mean the opposite`
  }
  const isOpen = [before, now].some(value => typeof value === 'string' && hasTemplate(value))
  return isOpen || typeName(before) === typeName(now)
    ? undefined
    : `it was ${typeName(before)} and is ${typeName(now)} now`
}

function typeProblem({ new: next }: Change, node: Node): string | undefined {
  const now = next?.value
  if (
    now === undefined ||
    now === null ||
    (node.kind === 'scalar' && typeof node.data === 'string' && hasTemplate(node.data))
  ) {
    return undefined
  }
  const wanted = typeName(now)
  const given = node.kind === 'list' ? 'a list' : node.kind === 'map' ? 'a mapping' : 'a single value'
  const isCollection = wanted === 'a list' || wanted === 'a mapping'
  if (typeof now === 'string' && hasTemplate(now)) return undefined
  return (isCollection || given !== 'a single value') && wanted !== given ? `it is ${wanted} now` : undefined
}

function typeName(value: NonNullable<unknown>): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a text' : typeof value === 'boolean' ? 'a truth value' : 'a number'
}

function samePlace(left: Place, right: Place): boolean {
  return left.file === right.file && left.line === right.line
}

/** The characters of a definition's name: its place begins with them, or with a quote before them. */
function nameSpan({ name, at: { file, start } }: Definition): Span | undefined {
  const quote = file.text[start]
  const isQuoted = quote === '"' || quote === "'"
  const from = isQuoted ? start + 1 : start
  const end = from + name.length
  if (!file.text.startsWith(name, from)) return undefined
  const after = file.text[end] ?? ''
  return (isQuoted ? after === quote : /^[\s:=]?$/.test(after)) ? { file, start: from, end } : undefined
}

function renameGroup(change: Rename, places: Places, draft: Draft): void {
  const { name, to } = change
  const found = places.groups.filter(each => each.name === name)
  const moved = places.groupVars.map(each => ({ ...each, ...filesOfGroup(each, name, to) }))
  const why = groupObstacle(
    found,
    places.groups.find(each => each.name === to),
    moved.find(({ occupied }) => occupied !== undefined)?.occupied,
    draft.groups.has(to),
    to,
  )
  if (why !== undefined) {
    const where = change.inventory.slice(0, 1).map(placeText).join()
    draft.notes.add(`${where}: ${name} -> ${to} is left out: ${why}`)
    return
  }
  draft.groups.add(to)
  for (const { at } of found) edit(draft, at, to)
  for (const { tree, directory, files } of moved) {
    for (const { path, target } of files) {
      // What cannot be read is renamed as it is.
      const file = tree.read(path)
      const shown = { path: join(directory, path), text: file?.text ?? '' }
      entryFor(draft, shown).renamedTo = join(directory, target)
    }
  }
  const says = `asks for the group ${name} in an expression, which this diff leaves as it is: it is ${to} now`
  tellReaders(places, name, 'groups', says, draft)
}

/** Why a group cannot take another name by the name alone. */
function groupObstacle(
  found: readonly GroupPlace[],
  other: GroupPlace | undefined,
  occupied: string | undefined,
  isTaken: boolean,
  to: string,
): string | undefined {
  if (other !== undefined) return `${placeOf(other.at)} names ${to} as well, so the two have to be joined`
  if (isTaken) return `another group becomes ${to}`
  if (occupied !== undefined) return `${occupied} is there already`
  const unplain = found.find(({ name, at }) => at.file.text.slice(at.start, at.end) !== name)
  if (unplain !== undefined) return `${placeOf(unplain.at)} does not write its name plainly`
  const twice = found.find(({ name, at }) => repeats(at.file, name))
  return twice && `a mapping of ${pathToOpen(twice.at.file)} has it twice, and only the last one counts`
}

/** Whether a mapping of a YAML file has a key twice: the one that does not count would come to life beside a new name. */
function repeats(file: SourceFile, name: string): boolean {
  let isRepeated = false
  readYaml(file, ({ code, at }) => {
    const key = file.text.slice(at.start, at.end).replace(/^(["'])(.*)\1$/, '$2')
    if (code === 'yaml-duplicate-key' && key === name) isRepeated = true
  })
  return isRepeated
}

interface MovedFiles {
  readonly files: readonly { readonly path: string; readonly target: string }[]
  /** What stands where a file would go. */
  readonly occupied: string | undefined
}

/** The files of group_vars that go with a group by their name, and how they are called under its new one. */
function filesOfGroup({ tree, path: directory, directory: given }: GroupVars, name: string, to: string): MovedFiles {
  const endings = ['', '.yml', '.yaml', '.json']
  const present = endings.filter(ending => tree.entryKind(`${directory}/${name}${ending}`) !== undefined)
  const occupied =
    present.length === 0
      ? undefined
      : endings.map(ending => `${directory}/${to}${ending}`).find(path => tree.entryKind(path) !== undefined)
  const files = present.flatMap(ending => {
    const from = `${directory}/${name}${ending}`
    return below(tree, from, 0).map(path => ({ path, target: `${directory}/${to}${ending}${path.slice(from.length)}` }))
  })
  return { files, occupied: occupied && join(given, occupied) }
}

const deepest = 20

function below(tree: SourceTree, path: string, depth: number): readonly string[] {
  if (tree.entryKind(path) === 'file') return [path]
  return depth >= deepest ? [] : tree.list(path).flatMap(name => below(tree, `${path}/${name}`, depth + 1))
}

/** Values of the inventory that ask for a name in an expression: told, since no place of theirs is exchanged. */
function tellReaders(
  { definitions }: Places,
  name: string,
  asked: 'names' | 'groups',
  says: string,
  draft: Draft,
): void {
  for (const { definition } of definitions) {
    eachTemplate(definition.node, new Set(), text => {
      const parsed = typeof text.data === 'string' ? parseTemplate(text.data, text.span) : undefined
      if (parsed === undefined || parsed.kind === 'syntax-problem') return
      if (askedIn(parsed)[asked].some(each => each.name === name)) draft.notes.add(`${placeOf(text.span)}: ${says}`)
    })
  }
}

function eachTemplate(node: Node, seen: Set<Node>, visit: (text: ScalarNode) => void): void {
  // Aliases may repeat a node very often.
  if (seen.has(node)) return
  seen.add(node)
  if (node.kind === 'scalar') {
    if (typeof node.data === 'string' && node.tag === undefined && hasTemplate(node.data)) visit(node)
  } else if (node.kind === 'list') for (const item of node.items) eachTemplate(item, seen, visit)
  else if (node.kind === 'map') for (const { value } of node.entries) eachTemplate(value, seen, visit)
}

function entryFor({ files }: Draft, file: SourceFile): { edits: Map<number, Edit>; renamedTo: string | undefined } {
  const known = files.get(file.path)
  if (known !== undefined) return known
  const entry = { file, edits: new Map<number, Edit>(), renamedTo: undefined }
  files.set(file.path, entry)
  return entry
}

function edit(draft: Draft, { file, start, end }: Span, text: string): void {
  entryFor(draft, file).edits.set(start, { start, end, text })
}

/** Whether another name of the file becomes this one already. */
function becomes({ files }: Draft, file: SourceFile, to: string, name: string): boolean {
  return [...(files.get(file.path)?.edits.values() ?? [])].some(
    ({ text, start, end }) => text === to && file.text.slice(start, end) !== name,
  )
}

function render({ files, notes }: Draft, root: string | undefined): string {
  const changed = [...files.values()].map(({ file, edits, renamedTo }) => ({
    file,
    text: edited(file.text, [...edits.values()]),
    from: resolve(file.path),
    to: resolve(renamedTo ?? file.path),
  }))
  const base = baseOf(
    changed.map(({ from }) => from),
    root,
  )
  const comments = [
    ...(base === resolve('.') || changed.length === 0 ? [] : [`paths are seen from ${base}`]),
    ...notes,
  ].map(note => `# ${note.replaceAll(/[\r\n]+/g, ' ')}\n`)
  const patches = changed
    .sort((left, right) => (left.from < right.from ? -1 : 1))
    .map(({ file, text, from, to }) => {
      const [oldPath, newPath] = [relative(base, from), relative(base, to)]
      const patch = structuredPatch(`a/${oldPath}`, `b/${newPath}`, file.text, text, undefined, undefined, {
        context: 3,
      })
      return withTabs(formatPatch({ ...patch, isGit: true, isRename: oldPath !== newPath }))
    })
  return comments.join('') + patches.join('')
}

/** A tab ends a file name with blanks, as git writes it: `patch` would take the name to end at the first blank. */
function withTabs(patch: string): string {
  const body = patch.indexOf('\n@@ ')
  if (body === -1) return patch
  return patch.slice(0, body).replaceAll(/^(?:---|\+\+\+) [ab]\/.* .*$/gm, '$&\t') + patch.slice(body)
}

function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: put } of [...edits].sort((left, right) => left.start - right.start)) {
    result += text.slice(at, start) + put
    at = end
  }
  return result + text.slice(at)
}

/** The root that was asked for or the working directory, where all the files are below it, else the deepest directory that holds them all. */
function baseOf(paths: readonly string[], root: string | undefined): string {
  const isBelow = (directory: string): boolean => paths.every(path => !relative(directory, path).startsWith('..'))
  const here = resolve(root ?? '.')
  let base = isBelow(here) ? here : dirname(paths[0] ?? here)
  while (!isBelow(base) && dirname(base) !== base) base = dirname(base)
  return base
}
