import type { Span } from '../source/text.js'
import type { MapEntry, Node } from '../yaml/node.js'

/** The name of what a place defines that could not be read: it may define any name. */
export const ANY_NAME = '*'

/** A variable as some place defines it: templated only when it is used. With ANY_NAME the node is unreadable. */
export interface Definition {
  readonly name: string
  readonly node: Node
  /** From the name to the end of the value. */
  readonly at: Span
}

/** What plays, roles, blocks and tasks have in common (Ansible's "playbook keywords"). */
export interface Directives {
  /** As written, untemplated. */
  readonly name: string | undefined
  /** The conditions in order; a list in the file is one condition an item. */
  readonly when: readonly Node[]
  readonly tags: readonly Node[]
  readonly vars: readonly Definition[]
  /** Every other keyword as it stands (`become`, `loop`, `register`, `notify`, …), by name. */
  readonly keywords: ReadonlyMap<string, MapEntry>
  /** The whole statement; it starts at its first key. */
  readonly at: Span
}

/** The arguments of a module, from whichever form they were written in. */
export interface ModuleArguments {
  readonly named: ReadonlyMap<string, Node>
  /** Free-form text (`command: /bin/true`): Ansible's `_raw_params`. */
  readonly raw: Node | undefined
  /** `args: "{{ … }}"`: a template that gives more arguments at run time. */
  readonly template: Node | undefined
}

export interface Task extends Directives {
  readonly kind: 'task'
  /** The module as written: `mount`, `ansible.posix.mount`. */
  readonly action: string
  /** The module under its full name: `ansible.posix.mount`, `ansible.builtin.command`; as written where it is not known. */
  readonly module: string
  readonly arguments: ModuleArguments
  /** `with_items` and the like: the lookup plugin's name and its terms; `loop` has the plugin `''`. */
  readonly loop: { readonly plugin: string; readonly terms: Node } | undefined
}

export interface Block extends Directives {
  readonly kind: 'block'
  readonly block: readonly Statement[]
  readonly rescue: readonly Statement[]
  readonly always: readonly Statement[]
}

/** A piece of a task list that could not be read; what rests on it is unknown. */
export interface Unreadable {
  readonly kind: 'unreadable'
  readonly says: string
  readonly at: Span
}

export type Statement = Task | Block | Unreadable

/** An entry of `roles:` or of a role's `dependencies:`. */
export interface RoleEntry extends Directives {
  readonly role: string
  /** Keys of the entry that are no keywords: role parameters. */
  readonly parameters: readonly Definition[]
}

export interface Play extends Directives {
  readonly kind: 'play'
  readonly hosts: Node | undefined
  readonly roles: readonly (RoleEntry | Unreadable)[]
  readonly preTasks: readonly Statement[]
  readonly tasks: readonly Statement[]
  readonly postTasks: readonly Statement[]
  readonly handlers: readonly Statement[]
}
