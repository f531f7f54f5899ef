import { type Cause, mergeCauses, type Value } from '../jinja/value.js'
import type { Run, TaskRun } from '../run/task-run.js'
import { type Place, placeOfSpan } from './place.js'

/** Something that is not known before the run, and how a person can find it out. */
export interface Question extends Place {
  /** The name whose value decides (`modinfo_br_netfilter.rc`); null where it has none. */
  readonly name: string | null
  /** Where the value comes from: a fact of the host, the result of a task, or something else. */
  readonly kind: 'fact' | 'result' | 'other'
  /** What is not known, in plain words. */
  readonly says: string
  /** A command that tells it when run on the host; null where none is known. */
  readonly command: string | null
  /** The option that gives it to this program; null where there is none. */
  readonly option: string | null
}

/** What would decide something that is not known: each cause once, with the command and the option that tell. */
export function questionsOf(causes: readonly Cause[], run: Run): readonly Question[] {
  const questions = tellingCauses(causes).map(cause => questionOf(cause, run))
  const distinct = new Map(
    questions.map(each => [
      each.name === null || each.kind === 'other' ? each.says : `${each.name}\0${each.file}\0${each.line}`,
      each,
    ]),
  )
  // What a person can find out comes first.
  const ease = ({ command, option }: Question): number => (command !== null ? 0 : option !== null ? 1 : 2)
  return [...distinct.values()].toSorted((left, right) => ease(left) - ease(right))
}

/** Causes without those that only hold in a case that may not come about, as long as there are others. */
export function tellingCauses(causes: readonly Cause[]): readonly Cause[] {
  const all = mergeCauses(causes)
  const telling = all.filter(({ says }) => !says.startsWith('evaluation fails: '))
  return telling.length > 0 ? telling : all
}

function questionOf({ says, at, name }: Cause, run: Run): Question {
  const place = placeOfSpan(at)
  const root = /^\w+/.exec(name ?? '')?.[0]
  const registering = root === undefined ? undefined : registrations(run).get(root)
  // The item of a loop is no name outside it.
  const assume = name === undefined || root === 'item' || !/^[\w.]+$/.test(name) ? null : `--assume ${name}=…`
  if (name !== undefined && registering === undefined && /^ansible_/.test(name)) {
    const command = run.host === '' ? null : `ansible ${run.host} -m ansible.builtin.setup`
    return { ...place, name, kind: 'fact', says, command, option: '--facts FILE' }
  }
  const task = registering?.findLast(({ task: { at: made } }) => made === at) ?? registering?.at(-1)
  if (task === undefined) return { ...place, name: name ?? null, kind: 'other', says, command: null, option: assume }
  return { ...place, name: name ?? null, kind: 'result', says, command: commandOf(task), option: assume }
}

const known = new WeakMap<Run, ReadonlyMap<string, readonly TaskRun[]>>()

/** The tasks of a run by the name they register their result as. */
function registrations(run: Run): ReadonlyMap<string, readonly TaskRun[]> {
  const before = known.get(run)
  if (before !== undefined) return before
  const byName = new Map<string, TaskRun[]>()
  for (const task of run.tasks) {
    const name = task.task.keywords.get('register')?.value
    if (name?.kind !== 'scalar' || typeof name.data !== 'string') continue
    const others = byName.get(name.data)
    if (others === undefined) byName.set(name.data, [task])
    else others.push(task)
  }
  known.set(run, byName)
  return byName
}

/** What a person runs to see what a task would see; null for what only looks by a module without such a command. */
export function commandOf({ task, invocations }: TaskRun): string | null {
  const [first, second] = invocations
  if (first === undefined || second !== undefined) return null
  const path = textOf(first.arguments.get('path')) ?? textOf(first.arguments.get('src'))
  switch (task.module) {
    case 'ansible.builtin.command':
    case 'ansible.builtin.shell':
    case 'ansible.builtin.raw':
      return textOf(first.raw) ?? textOf(first.arguments.get('cmd')) ?? null
    case 'ansible.builtin.stat':
      return path === undefined ? null : `stat ${path}`
    case 'ansible.builtin.slurp':
      return path === undefined ? null : `cat ${path}`
    default:
      return null
  }
}

function textOf(value: Value | undefined): string | undefined {
  return value?.kind === 'known' && typeof value.data === 'string' ? value.data.trim() : undefined
}
