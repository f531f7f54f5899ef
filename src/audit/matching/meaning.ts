import type { Block, Statement, Task } from '../../ansible/statement.js'
import type { Node } from '../../yaml/node.js'
import { printNode } from '../../yaml/print.js'

/**
 * What a statement does, in a form that two versions can be compared by: how it is written down (quotes, order of
 * arguments, short or full module names, `with_items` or `loop`) is gone, and so is its name.
 */
export interface Meaning {
  /** Module and arguments; of a block, those of everything in it. A number for each different text. */
  readonly does: number
  /** The module, one name for those that do the same (`service` and `systemd`). */
  readonly module: string
  /** What it acts on (`dest`, `path`, `name`, `src`), where one of its arguments says so. */
  readonly target: string | undefined
  /** A number for each different text. */
  readonly loop: number
  readonly when: number
  readonly register: string
  /** Its name without regard to case, blanks and signs. */
  readonly name: string
  /** False for what stands in many places and says little: flushing handlers, an include, a message. */
  readonly isTelling: boolean
}

/** Modules that do the same, or that are a later name of the same. */
const families: Readonly<Record<string, string>> = {
  'ansible.builtin.systemd': 'service',
  'ansible.builtin.systemd_service': 'service',
  'ansible.builtin.service': 'service',
  'ansible.builtin.command': 'command',
  'ansible.builtin.shell': 'command',
  'ansible.builtin.include': 'tasks',
  'ansible.builtin.include_tasks': 'tasks',
  'ansible.builtin.import_tasks': 'tasks',
  'ansible.builtin.include_role': 'role',
  'ansible.builtin.import_role': 'role',
}

const sayingLittle = new Set(['tasks', 'role', 'ansible.builtin.meta', 'ansible.builtin.debug', 'ansible.builtin.fail'])

/** Arguments that name what a module acts on, the most telling first. */
const targets = ['dest', 'path', 'key', 'file', 'src', 'url', 'name', 'cmd', 'that', 'msg', 'var']

/** Other names of the same argument. */
const aliases: Readonly<Record<string, string>> = { _raw_params: 'cmd', pkg: 'name', service: 'name', unit: 'name' }

/** Works out meanings, each statement once. */
export function meanings(): (statement: Task | Block) => Meaning {
  const known = new Map<Statement, Meaning>()
  const numbers = new Map<string, number>()
  const numberOf = (text: string): number => {
    const before = numbers.get(text)
    if (before !== undefined) return before
    numbers.set(text, numbers.size)
    return numbers.size - 1
  }
  const directivesOf = (statement: Task | Block): Pick<Meaning, 'when' | 'register' | 'name'> => {
    const register = statement.keywords.get('register')?.value
    return {
      when: numberOf(
        statement.when
          .map(node => printNode(node))
          .toSorted()
          .join(' and '),
      ),
      register: register === undefined ? '' : printNode(register),
      name: comparableName(statement.name ?? ''),
    }
  }
  const meaningOf = (statement: Task | Block): Meaning => {
    const before = known.get(statement)
    if (before !== undefined) return before
    const meaning = statement.kind === 'task' ? meaningOfTask(statement) : meaningOfBlock(statement)
    known.set(statement, meaning)
    return meaning
  }
  const meaningOfBlock = (block: Block): Meaning => {
    const part = (statements: readonly Statement[]): string =>
      statements
        .map(each => (each.kind === 'unreadable' ? '?' : `${meaningOf(each).does}/${meaningOf(each).when}`))
        .join(',')
    const does = `block [${part(block.block)}] rescue [${part(block.rescue)}] always [${part(block.always)}]`
    return {
      ...directivesOf(block),
      does: numberOf(does),
      module: 'block',
      target: undefined,
      loop: numberOf(''),
      isTelling: block.block.length > 0,
    }
  }
  const meaningOfTask = (task: Task): Meaning => {
    const module = families[task.module] ?? task.module
    const { named, raw, template } = task.arguments
    const given = new Map<string, string>()
    for (const [key, node] of named) given.set(argumentName(module, key), printArgument(module, key, node))
    if (raw !== undefined) given.set(argumentName(module, '_raw_params'), printArgument(module, '_raw_params', raw))
    if (template !== undefined) given.set('*', printNode(template))
    const keys = [...given.keys()].toSorted()
    const all = keys.map(key => `${key}=${given.get(key)}`).join(' ')
    const target = targets.find(key => given.has(key))
    return {
      ...directivesOf(task),
      does: numberOf(`${module} ${all}`),
      module,
      target: target === undefined ? undefined : `${target}=${given.get(target)}`,
      loop: numberOf(task.loop === undefined ? '' : printNode(task.loop.terms)),
      isTelling: !sayingLittle.has(module) && all.length > 12,
    }
  }
  return meaningOf
}

/** Whether what a task does says which task it is: `isTelling` of its meaning. */
export function isTellingTask(task: Task): boolean {
  return meanings()(task).isTelling
}

/** A name as far as it tells statements apart: case, blanks and signs do not. */
export function comparableName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}{}]+/gu, ' ')
    .trim()
}

function argumentName(module: string, key: string): string {
  if (module === 'tasks') return 'file'
  return aliases[key] ?? key
}

function printArgument(module: string, key: string, node: Node): string {
  if (key === 'mode' && node.kind === 'scalar' && typeof node.data === 'bigint') return `0${node.data.toString(8)}`
  const text = printNode(node)
  // A renumbered file, a role under its name with the other sign.
  if (module === 'tasks') return unnumbered(text)
  return module === 'role' && key === 'name' ? text.replaceAll('-', '_') : text
}

/** A file's path without the number its name begins with: `tasks/0040-verify.yml` is `tasks/verify.yml`. */
export function unnumbered(path: string): string {
  return path.replace(/(^|\/)\d+[-_]/, '$1')
}
