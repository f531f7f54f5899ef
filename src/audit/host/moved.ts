import { posix } from 'node:path'
import { readPlaybook } from '../../ansible/read-plays.js'
import type { Change, ChangedPlace } from '../../reports/audit.js'
import { placeOfSpan } from '../../reports/place.js'
import type { Code } from '../../run/code.js'
import { tagsAsWritten } from '../../run/tags.js'
import { entryOf } from '../../yaml/node.js'
import type { Matching } from '../matching/matching.js'
import type { RoleIndex } from '../role-index.js'
import type { Side } from '../side.js'

/** Roles, playbooks and tasks that stand elsewhere or under another name, and tags that are gone. */
export function movedChanges(old: Side, now: Side, matching: Matching, usedTags: readonly string[]): readonly Change[] {
  return [
    ...roleChanges(old.index, now.index, matching),
    ...playbookChanges(old.index, now, matching),
    ...tagChanges(old, now, usedTags),
    ...taskChanges(old.index, matching),
  ]
}

function roleChanges(old: RoleIndex, now: RoleIndex, matching: Matching): readonly Change[] {
  const there = new Set(now.roles)
  return old.roles.flatMap((directory): readonly Change[] => {
    const moved = matching.roleOf(directory)
    if (moved === undefined || moved === directory) return []
    const [name, to] = [roleName(directory), roleName(moved)]
    const stays = there.has(directory) ? `; a role ${name} is still there, without what it had` : ''
    return [
      {
        kind: 'role-renamed',
        name,
        to,
        action: 'none',
        says: `The role ${name} is called ${to}${stays}`,
        old: firstPlace(old, directory),
        new: firstPlace(now, moved),
        inventory: [],
      },
    ]
  })
}

function roleName(directory: string): string {
  return directory.replace(/^(?:.*\/)?roles\//, '')
}

/** The first task of a role's `main`, else of its first file, else the first thing it defines. */
function firstPlace(index: RoleIndex, directory: string): ChangedPlace | null {
  const statements = index.statements.filter(({ role }) => role === directory)
  const first = statements.find(({ path }) => /\/tasks\/main\.ya?ml$/.test(path)) ?? statements[0]
  if (first !== undefined) return placeOfSpan(first.statement.at)
  for (const definitions of index.definitions.values()) {
    const found = definitions.find(({ role }) => role === directory)
    if (found !== undefined) return placeOfSpan(found.at)
  }
  return null
}

function playbookChanges(old: RoleIndex, now: Side, matching: Matching): readonly Change[] {
  const there = new Set(now.index.playbooks)
  return old.playbooks.flatMap((path): readonly Change[] => {
    const to = matching.pathOf(path)
    if (to === undefined || to === path) return []
    const imports = there.has(path) && importsOf(now.analysis.code, path).has(to)
    const stays = there.has(path) ? `; ${path} is still there${imports ? ' and imports it' : ', without them'}` : ''
    return [
      {
        kind: 'playbook-renamed',
        name: path,
        to,
        action: imports ? 'none' : 'advised',
        says: `The plays of ${path} stand in ${to}${stays}`,
        old: { file: path, line: 1 },
        new: { file: to, line: 1 },
        inventory: [],
      },
    ]
  })
}

/** The playbooks that one imports, and those that they import. */
function importsOf(code: Code, path: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [path]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const node = code.document(each)
    for (const entry of node === undefined ? [] : readPlaybook(node, () => {})) {
      if (entry.kind !== 'import-playbook') continue
      const imported = posix.join(posix.dirname(each), entry.file)
      if (found.has(imported)) continue
      found.add(imported)
      open.push(imported)
    }
  }
  return found
}

/** Every tag that stands anywhere in the role code. */
function writtenTags({ statements, plays, entries }: RoleIndex): ReadonlySet<string> {
  const directives = [...statements.map(({ statement }) => statement), ...plays.map(({ play }) => play), ...entries]
  return new Set(
    directives.flatMap(each => {
      const { tags } = each
      const apply = 'arguments' in each ? each.arguments.named.get('apply') : undefined
      const applied = apply?.kind === 'map' ? entryOf(apply, 'tags')?.value : undefined
      return [...tags, ...(applied === undefined ? [] : [applied])].flatMap(tagsAsWritten)
    }),
  )
}

function tagChanges(old: Side, now: Side, usedTags: readonly string[]): readonly Change[] {
  // A tag of a role this run does not enter, or of an include, is there all the same.
  const there = new Set([...now.analysis.run.tasks.flatMap(task => task.tags), ...writtenTags(now.index)])
  const used = new Set(usedTags.flatMap(tags => tags.split(',')).map(tag => tag.trim()))
  const gone = new Map<string, ChangedPlace>()
  for (const task of old.analysis.run.tasks) {
    for (const tag of task.tags) if (!there.has(tag) && !gone.has(tag)) gone.set(tag, placeOfSpan(task.task.at))
  }
  return [...gone].map(([tag, place]) => ({
    kind: 'tag-removed',
    name: tag,
    action: used.has(tag) ? 'required' : 'none',
    says: `No task has the tag ${tag} any more${used.has(tag) ? '; --tags or --skip-tags names it' : ''}`,
    old: place,
    new: null,
    inventory: [],
  }))
}

/** Tasks whose file or name is another, beyond what their role's name brings with it. */
function taskChanges(old: RoleIndex, matching: Matching): readonly Change[] {
  return old.statements.flatMap((placed): readonly Change[] => {
    const match = matching.statementOf(placed)
    if (match === undefined || placed.statement.kind !== 'task') return []
    const role = placed.role === undefined ? undefined : matching.roleOf(placed.role)
    const expected =
      placed.role === undefined || role === undefined ? placed.path : `${role}${placed.path.slice(placed.role.length)}`
    const [name, to] = [placed.statement.name, match.statement.name]
    const isElsewhere = match.path !== expected
    if (!isElsewhere && name === to) return []
    const shown = name ?? placed.statement.module
    const renamed = name === to ? '' : ` is called ${to === undefined ? 'nothing' : `\`${to}\``}`
    const moved = isElsewhere ? ` stands in ${match.path}` : ''
    return [
      {
        kind: 'task-moved',
        name: shown,
        ...(to === undefined || to === name ? {} : { to }),
        action: 'none',
        says: `The task \`${shown}\`${renamed}${renamed !== '' && moved !== '' ? ' and' : ''}${moved}`,
        old: placeOfSpan(placed.statement.at),
        new: placeOfSpan(match.statement.at),
        inventory: [],
      },
    ]
  })
}
