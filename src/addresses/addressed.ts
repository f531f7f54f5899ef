import { readPlaybook } from '../ansible/read-plays.js'
import type { Statement, Task } from '../ansible/statement.js'
import { type Code, filesUnder } from '../run/code.js'
import { playbooksIn } from '../run/playbooks.js'
import { innermost, roleDirectories } from '../run/role.js'
import { once } from '../source/once.js'
import { contentOf, moduleWord, type TaskAddress, wordsOf } from './address.js'

/** A task where it is written, with its address. */
export interface AddressedTask {
  readonly task: Task
  readonly address: TaskAddress
  /** The file it stands in, as the role reads it. */
  readonly path: string
}

/** The addresses of one tree's tasks; the files of an owner are read when it is first asked about. */
export interface Addresses {
  /** Undefined for a task that stands in none of the files of its owner. */
  readonly of: (task: Task) => TaskAddress | undefined
  /** Every task of a role (path under `roles/`) or of a file outside of roles, in the order ordinals count. */
  readonly ownedBy: (owner: string) => readonly AddressedTask[]
  /** Every task of every role and playbook, whether a run reaches it or not. */
  readonly all: () => readonly AddressedTask[]
}

/** The addresses of the tasks of a tree. */
export function addressesIn(code: Code): Addresses {
  const directories = once(() => {
    const found = roleDirectories(code).filter(directory => !directory.includes('/molecule/'))
    return new Map(found.map(directory => [directory.replace(/^(?:.*\/)?roles\//, ''), directory]))
  })
  const owners = once(() => new Map([...directories()].map(([role, directory]) => [directory, role])))
  const ownerOf = (path: string): string => innermost(path, directory => owners().get(directory)) ?? path
  const known = new Map<string, readonly AddressedTask[]>()
  const ownedBy = (owner: string): readonly AddressedTask[] => {
    const before = known.get(owner)
    if (before !== undefined) return before
    const directory = directories().get(owner)
    const paths =
      directory === undefined
        ? [owner]
        : ['tasks', 'handlers'].flatMap(folder => filesUnder(code.tree, `${directory}/${folder}`))
    const found = addressed(
      owner,
      paths.map(path => [path, directory === undefined ? tasksOfPlays(code, path) : tasksIn(code, path)]),
    )
    known.set(owner, found)
    return found
  }
  const byPlace = new Map<string, ReadonlyMap<string, TaskAddress>>()
  const placesOf = (owner: string): ReadonlyMap<string, TaskAddress> => {
    const before = byPlace.get(owner)
    if (before !== undefined) return before
    const places = new Map(ownedBy(owner).map(({ task, address }) => [placeKey(task), address]))
    byPlace.set(owner, places)
    return places
  }
  const all = once(() => [...directories().keys(), ...playbooksIn(code)].flatMap(ownedBy))
  return { of: task => placesOf(ownerOf(task.at.file.path)).get(placeKey(task)), ownedBy, all }
}

function placeKey({ at }: Task): string {
  return `${at.file.path}\0${at.start}`
}

/** Ordinals count in this order: files by their path, tasks and handlers of a file from top to bottom. */
function addressed(
  owner: string,
  files: readonly (readonly [path: string, tasks: readonly Task[]])[],
): readonly AddressedTask[] {
  const counts = new Map<string, number>()
  return files.flatMap(([path, tasks]) =>
    tasks.map(task => {
      const name = wordsOf(task.name ?? '')
      const module = moduleWord(task)
      const key = `${name}:${module}`
      const ordinal = (counts.get(key) ?? 0) + 1
      counts.set(key, ordinal)
      return { task, path, address: { owner, name, module, ordinal, content: contentOf(task) } }
    }),
  )
}

/** The tasks of a file outside of roles: of its plays, or its own where it holds none. */
function tasksOfPlays(code: Code, path: string): readonly Task[] {
  const document = code.document(path)
  if (document === undefined) return []
  const entries = readPlaybook(document, () => {})
  const plays = entries.flatMap(entry => (entry.kind === 'play' ? [entry] : []))
  // An entry that includes another file may stand in either.
  const isPlaybook =
    plays.some(({ hosts }) => hosts !== undefined) || entries.every(({ kind }) => kind === 'import-playbook')
  if (!isPlaybook) return tasksIn(code, path)
  return plays.flatMap(play => [play.preTasks, play.tasks, play.postTasks, play.handlers].flat().flatMap(tasksOf))
}

/** The tasks of a file, those in blocks where the block stands. */
function tasksIn(code: Code, path: string): readonly Task[] {
  return (code.statements(path) ?? []).flatMap(tasksOf)
}

function tasksOf(statement: Statement): readonly Task[] {
  if (statement.kind === 'task') return [statement]
  if (statement.kind === 'unreadable') return []
  return [statement.block, statement.rescue, statement.always].flatMap(part => part.flatMap(tasksOf))
}
