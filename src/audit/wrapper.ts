import type { Definition } from '../ansible/statement.js'
import { hasTemplate, parseTemplate } from '../jinja/parser.js'
import type { Change, ChangeKind } from '../reports/audit.js'
import { type Place, placeOfSpan, placeText } from '../reports/place.js'
import { directoryOf, firstFile } from '../run/code.js'
import { once } from '../source/once.js'
import { type Span, wholeFile } from '../source/text.js'
import type { EntryKind, SourceTree } from '../source/tree.js'
import { readYamlFile } from '../yaml/read.js'
import { askedIn } from './asked.js'
import { namesReadIn } from './given.js'
import type { Matching } from './matching/matching.js'
import type { Side } from './side.js'
import { joined, type PathReference, type RoleReference, readWrapper, type Wrapper } from './wrapper-files.js'

/** How many of a file's tasks have to stand in another one for that to be its successor. */
const enough = 0.4

/**
 * What the user's own playbooks and roles name of OLD (playbooks, roles, files of roles by path) that does not stand under
 * that name in NEW. A successor is told where the content is found again. The run fails at each of them, so all of it is
 * `required`, except for a role whose old name NEW keeps as one that runs the new role.
 */
export function wrapperChanges(tree: SourceTree, old: Side, next: Side, matching: Matching): readonly Change[] {
  const wrapper = readWrapper(tree)
  const found: Change[] = []
  const owned = once(() => ownedSuffixes(wrapper))
  for (const reference of wrapper.files) {
    if (isOwn(reference, 'file', wrapper, owned)) continue
    const path = kubesprayFile(reference, old)
    if (path === undefined || next.analysis.code.tree.entryKind(path) === 'file') continue
    found.push(fileChange(path, reference.at, old, matching))
  }
  for (const reference of wrapper.roles) {
    const role = isOwn(reference, 'directory', wrapper, owned) ? undefined : kubesprayRole(reference, old)
    if (role !== undefined) found.push(...roleChanges(role, reference, old, next, matching))
  }
  return merged(found)
}

/** The variables that the wrapper's plays, tasks and files of variables set: they count as set by the user. */
export function wrapperDefinitions(tree: SourceTree): readonly Definition[] {
  return readWrapper(tree).definitions
}

/** The names that the wrapper's own files ask for. */
export function wrapperReads(tree: SourceTree): ReadonlySet<string> {
  const { paths } = readWrapper(tree)
  const names = new Set<string>()
  for (const path of paths) {
    const file = tree.read(path)
    if (file === undefined) continue
    if (/\.(?:ya?ml|json)$/.test(path)) {
      for (const name of namesReadIn(
        readYamlFile(file, () => {}),
        'all',
      ))
        names.add(name)
      continue
    }
    const parsed = hasTemplate(file.text) ? parseTemplate(file.text, wholeFile(file), { file: true }) : undefined
    if (parsed?.kind === 'template') for (const { name } of askedIn(parsed).names) names.add(name)
  }
  return names
}

/** One change for each thing that is gone, with all the places that name it. */
function merged(changes: readonly Change[]): readonly Change[] {
  const found = new Map<string, Change>()
  for (const change of changes) {
    const key = `${change.kind} ${change.name}`
    const before = found.get(key)
    const places = new Map([...(before?.inventory ?? []), ...change.inventory].map(place => [placeText(place), place]))
    found.set(key, { ...(before ?? change), inventory: [...places.values()] })
  }
  return [...found.values()]
}

/** Every end of a path of the wrapper's own: what a relative path can mean. */
interface Owned {
  readonly files: ReadonlySet<string>
  readonly roles: ReadonlySet<string>
}

function ownedSuffixes({ paths }: Wrapper): Owned {
  const files = new Set<string>()
  const roles = new Set<string>()
  for (const path of paths) {
    for (const end of endsOf(path)) files.add(end)
    const role = /^(.*?)\/(?:tasks|handlers|defaults|vars|meta|templates|files)\//.exec(path)?.[1]
    if (role !== undefined && !roles.has(role)) for (const end of endsOf(role)) roles.add(end)
  }
  return { files, roles }
}

/** `a/b/c`, `b/c`, `c`. */
function endsOf(path: string): readonly string[] {
  const segments = path.split('/')
  return segments.map((_, from) => segments.slice(from).join('/'))
}

/** Path segments without `.`, and without the `..` in front. */
function segmentsOf(path: string): readonly string[] {
  return joined('', path)
    .split('/')
    .filter(segment => segment !== '' && segment !== '.' && segment !== '..')
}

/** Whether a name means a file or a role of the wrapper itself. */
function isOwn(
  { name, isTemplated, path }: PathReference | RoleReference,
  kind: EntryKind,
  wrapper: Wrapper,
  owned: () => Owned,
): boolean {
  if (!isTemplated) {
    const target = joined(directoryOf(path), name)
    if (isInCheckout(target, wrapper)) return false
    if (wrapper.tree.entryKind(target) === kind) return true
    if (target.startsWith('../') || name.startsWith('/')) return false
  }
  const ends = kind === 'file' ? owned().files : owned().roles
  return ends.has(segmentsOf(name).join('/'))
}

function isInCheckout(path: string, { checkouts }: Wrapper): boolean {
  return checkouts.some(checkout => path.startsWith(`${checkout}/`))
}

/** The file of kubespray that a path ends in, as OLD has it: the longest such end. */
function kubesprayFile(
  { name, isTemplated, isPlaybook }: PathReference,
  { analysis, index }: Side,
): string | undefined {
  const collection = isPlaybook && !isTemplated ? collectionPlaybook(name, index.playbooks) : undefined
  if (collection !== undefined) return collection
  const ends = endsOf(segmentsOf(name).slice(-12).join('/'))
  return ends.find((end, from) => {
    const isPath = end.includes('/') ? !end.startsWith('docs/') : isPlaybook || from > 0 || isTemplated
    if (!isPath || analysis.code.tree.entryKind(end) !== 'file') return false
    return end.includes('/') || index.playbooks.includes(end)
  })
}

/** `kubernetes_sigs.kubespray.cluster`: the playbook of that name in the collection. */
function collectionPlaybook(name: string, playbooks: readonly string[]): string | undefined {
  const [, collection, file, ...more] = name.split('.')
  if (collection !== 'kubespray' || file === undefined || more.length > 0) return undefined
  return playbooks.find(path => path === `playbooks/${file}.yml` || path === `playbooks/${file}.yaml`)
}

/** The directory of the role of OLD that a name means: by itself, with a path in front, or with that of a collection. */
function kubesprayRole({ name }: RoleReference, { index }: Side): string | undefined {
  const segments = segmentsOf(name)
  const plain = segments.join('/')
  if (segments.includes('roles')) return endsOf(plain).find(end => index.roles.includes(end))
  return [plain, ...withoutCollection(plain)]
    .map(each => `roles/${each}`)
    .find(directory => index.roles.includes(directory))
}

/** `kubernetes_sigs.kubespray.etcd`: dots behind the collection may stand for the slashes of a role's path. */
function withoutCollection(name: string): readonly string[] {
  const parts = name.split('.')
  const at = parts.slice(0, 2).indexOf('kubespray')
  if (at === -1) return []
  return [at + 1, 2].flatMap(from => [parts.slice(from).join('/'), parts.slice(from).join('.')])
}

function fileChange(path: string, at: Span, old: Side, matching: Matching): Change {
  const isPlaybook = old.index.playbooks.includes(path)
  const to = successorOf(path, old, matching)
  const what = isPlaybook ? `the playbook ${path}` : path
  const says = to === undefined ? `${what} is gone, and what names it fails` : `${what} stands in ${to} now`
  return change(isPlaybook ? 'playbook-renamed' : 'task-moved', path, to, says, path, to, at)
}

function change(
  kind: ChangeKind,
  name: string,
  to: string | undefined,
  says: string,
  oldFile: string,
  newFile: string | undefined,
  at: Span,
): Change {
  return {
    kind,
    name,
    ...(to === undefined ? {} : { to }),
    action: 'required',
    says,
    old: startOf(oldFile),
    new: newFile === undefined ? null : startOf(newFile),
    inventory: [placeOfSpan(at)],
  }
}

function startOf(file: string): Place {
  return { file, line: 1 }
}

function roleChanges(
  role: string,
  reference: RoleReference,
  old: Side,
  next: Side,
  matching: Matching,
): readonly Change[] {
  const standsIn = next.index.roles.includes(role) ? runOnlyBy(next, role) : undefined
  const isNewlyOld = standsIn !== undefined && runOnlyBy(old, role) !== standsIn
  const isGone = !next.index.roles.includes(role)
  const to = isGone ? matching.roleOf(role) : standsIn
  const found: Change[] = []
  if (isGone || isNewlyOld) {
    const what = `the role ${nameOf(role)}`
    const says =
      to === undefined
        ? `${what} is gone, and what names it fails`
        : `${what} is called ${nameOf(to)} now${isGone ? '' : '; the old name still runs it, as long as it is kept'}`
    const target = to === undefined ? undefined : mainFile(next, to)
    found.push({
      ...change('role-renamed', nameOf(role), to && nameOf(to), says, mainFile(old, role), target, reference.at),
      action: isGone ? 'required' : 'advised',
    })
  }
  for (const { folder, file, at } of reference.from) {
    const path = roleFile(old, `${role}/${folder}`, file)
    if (path === undefined || roleFile(next, `${role}/${folder}`, file) !== undefined) continue
    const inNew = to === undefined ? undefined : roleFile(next, `${to}/${folder}`, file)
    // With the role's new name the file is found where it was.
    if (isGone && inNew !== undefined) continue
    const target = inNew ?? successorOf(path, old, matching)
    const says = target === undefined ? `${path} is gone, and what names it fails` : `${path} stands in ${target} now`
    found.push(change('task-moved', path, target, says, path, target, at))
  }
  return found
}

function nameOf(directory: string): string {
  return directory.replace(/^roles\//, '')
}

/** A file of a role as `tasks_from` and its like name it. */
function roleFile({ analysis }: Side, folder: string, name: string): string | undefined {
  return firstFile(analysis.code.tree, [folder], [name, `${name}.yml`, `${name}.yaml`, `${name}.json`])
}

/** The file that shows a role: its tasks, else its meta, else any. */
function mainFile(side: Side, role: string): string {
  const { tree } = side.analysis.code
  const main = ['tasks', 'meta', 'defaults', 'vars', 'handlers'].flatMap(
    folder => roleFile(side, `${role}/${folder}`, 'main') ?? roleFile(side, `${role}/${folder}/main`, 'main') ?? [],
  )
  return main[0] ?? filesBelow(tree, role)[0] ?? role
}

/** Modules that only say something. */
const speaking = new Set(['ansible.builtin.fail', 'ansible.builtin.debug', 'ansible.builtin.assert'])

/** For a role that does nothing but say something and run one other role: that role's directory. */
function runOnlyBy(side: Side, role: string): string | undefined {
  const main = roleFile(side, `${role}/tasks`, 'main')
  const statements = main === undefined ? [] : (side.analysis.code.statements(main) ?? [])
  const targets: string[] = []
  for (const statement of statements) {
    if (statement.kind !== 'task') return undefined
    const { module } = statement
    if (speaking.has(module)) continue
    const name = statement.arguments.named.get('name') ?? statement.arguments.named.get('role')
    const runsRole = module === 'ansible.builtin.import_role' || module === 'ansible.builtin.include_role'
    if (!runsRole || name?.kind !== 'scalar' || typeof name.data !== 'string') return undefined
    targets.push(`roles/${name.data}`)
  }
  const [target, ...more] = targets
  return target !== undefined && more.length === 0 && target !== role && side.index.roles.includes(target)
    ? target
    : undefined
}

/** Where the content of a file of OLD is found in NEW: the file as a whole, else where most of its tasks stand. */
function successorOf(path: string, old: Side, matching: Matching): string | undefined {
  const whole = matching.pathOf(path)
  if (whole !== undefined) return whole === path ? undefined : whole
  const counts = new Map<string, number>()
  const own = old.index.statements.filter(placed => placed.path === path)
  for (const placed of own) {
    const now = matching.statementOf(placed)?.path
    if (now !== undefined && now !== path) counts.set(now, (counts.get(now) ?? 0) + 1)
  }
  const [best] = [...counts].sort((left, right) => right[1] - left[1])
  return best !== undefined && best[1] >= own.length * enough ? best[0] : undefined
}

function filesBelow(tree: SourceTree, directory: string): readonly string[] {
  return tree.list(directory).flatMap(name => {
    const path = `${directory}/${name}`
    if (name.startsWith('.') || name === 'molecule') return []
    return tree.entryKind(path) === 'directory' ? filesBelow(tree, path) : [path]
  })
}
