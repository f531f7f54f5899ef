import type { Task } from '../ansible/statement.js'
import type { Inventory } from '../inventory/inventory.js'
import type { Cause, Truth, Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { OriginPlace } from '../variables/resolved.js'
import type { AnsibleVersion } from './ansible-version.js'

/** One link of the chain that leads to a task: what stands there (`play "Install etcd"`, `role kubernetes/preinstall`). */
export interface Step {
  readonly kind: 'playbook' | 'play' | 'role' | 'import' | 'include' | 'block'
  readonly what: string
  readonly at: Span
}

/** A condition that applies to a task, with where it comes from and how it came out for this host. */
export interface AppliedCondition {
  /** As written. */
  readonly text: string
  readonly at: Span
  readonly from: Step['kind'] | 'task'
  readonly truth: Truth
  /** What only the host can decide, in Ansible's words; null when the condition is decided. */
  readonly remains: string | null
  /** The names it looks at, with their values when it was evaluated. */
  readonly names: readonly LookedAt[]
  /** Evaluating it certainly fails; `truth` says why. */
  readonly fails?: true
}

/** A name a condition looks at (`result.rc`), with its value and the places that gave it, where something defines it. */
export interface LookedAt {
  readonly name: string
  readonly value: Value
  readonly from?: readonly OriginPlace[]
}

/** One execution of the module: the task itself, or one item of its loop. */
export interface Invocation {
  /** The loop's item; absent without a loop. Unknown where the list of items is not known. */
  readonly item?: Value
  /** Whether this invocation runs: the task's conditions with this item. */
  readonly runs: Truth
  readonly remains: string | null
  /** What of `remains` has to hold, one by one; absent where it is one thing. */
  readonly conjuncts?: readonly string[]
  /** The arguments by name, evaluated; an omitted one (`default(omit)`) is not there. */
  readonly arguments: ReadonlyMap<string, Value>
  /** Why there may be other arguments too, where a template that is not known gives them; absent where there are none. */
  readonly openArguments?: readonly Cause[]
  /** The evaluated free-form text (`command: …`); undefined where the task has none. */
  readonly raw: Value | undefined
  /** `environment:` of the task, block, role and play, merged and evaluated. */
  readonly environment: ReadonlyMap<string, Value>
  /** The module's full name where the task names it by a template (`action: "{{ ansible_pkg_mgr }}"`). */
  readonly module?: string
  /** `delegate_to`, evaluated: the host the module runs on instead; absent where it runs on the host itself. */
  readonly delegateTo?: Value
  /** The host that delegates it to this one, where that is another host of the play. */
  readonly sentBy?: string
  /** For `template`, `copy` and `script`: the text as it lands on the host, where the run rendered it. */
  readonly content?: Value
  /** `check_mode`, evaluated: where it is true, the module only reports what it would do. */
  readonly checkMode?: Value
  /** For `assert`: its conditions, up to the first that is false. */
  readonly asserted?: readonly AppliedCondition[]
}

/** A task at its place in the run for one host. */
export interface TaskRun {
  /** Position in run order, from 0. */
  readonly order: number
  readonly task: Task
  /** The name as Ansible prints it, with what is known of templates filled in. */
  readonly name: string
  /** From 0, after imports of playbooks. */
  readonly play: number
  readonly playName: string
  /** Path under `roles/`; undefined outside roles. */
  readonly role: string | undefined
  /** The role's name as its entry wrote it, the way Ansible prints it before the task's name. */
  readonly roleName: string | undefined
  readonly part: 'pre_tasks' | 'tasks' | 'post_tasks' | 'block' | 'rescue' | 'always' | 'handler'
  readonly tags: readonly string[]
  /** Playbook → play → role → import → include → block, outermost first. */
  readonly via: readonly Step[]
  /** The dynamic include this task stands behind (the innermost one). */
  readonly includedBy: Span | undefined
  /** Whether the task's own and inherited conditions hold for this host; with a loop, for at least one item. */
  readonly runs: Truth
  /** Outermost first, up to the first that is false. */
  readonly conditions: readonly AppliedCondition[]
  /** What remains of all conditions together, joined with ` and `; null when decided. */
  readonly remains: string | null
  /** Why it does not run, where that is not a condition: the host is not in the play, tags, a role that already ran. */
  readonly excluded: string | undefined
  /** Whether the conditions hold, also where something else excludes the task. */
  readonly holds: Truth
  /** True in a role that Ansible does not run a second time in the play. */
  readonly alreadyRan: boolean
  /** True when `--tags` or `--skip-tags` leave it out. */
  readonly leftOutByTags: boolean
  readonly dependsOnSetFact: boolean
  /** Empty when the task certainly does not run. */
  readonly invocations: readonly Invocation[]
  /** The host that runs it once for all hosts of the play, where that is another one. */
  readonly onceOn: string | undefined
  /** For a handler: the tasks that notify it. */
  readonly notifiedBy: readonly TaskRun[]
  /** True when a failure of this task does not stop the run (`ignore_errors`, `failed_when: false`). */
  readonly failureIgnored: Truth
}

/**
 * What makes a task a stop: an `assert`, a `fail`, an evaluation that certainly fails, `failed_when` over a result, or a
 * command that only looks, whose exit status nothing else asks for.
 */
export type CheckKind = 'assert' | 'fail' | 'evaluation' | 'failed_when' | 'command'

/** What a check came to for one item of its loop, or as a whole where it has none. */
export interface CheckedItem {
  /** The loop's item; absent without a loop. */
  readonly item?: Value
  /** Before it is known whether something takes its failure. */
  readonly outcome: Check['outcome']
  /** What it asked, up to what fails: of `fail` what it stands under, of `failed_when` what makes it a failure. */
  readonly asked: readonly AppliedCondition[]
}

/** One of the playbook's own stops where the run gets to it; also a task that cannot be evaluated. */
export interface Check {
  readonly kind: CheckKind
  readonly task: TaskRun
  /** `stops`: the run ends here for this host. `passes` also where its failure is ignored or rescued. */
  readonly outcome: 'passes' | 'stops' | 'skipped' | 'unknown'
  /** Of an `assert` the conditions that do not hold, or of which it is not known; of `failed_when` those that make it fail. */
  readonly conditions: readonly AppliedCondition[]
  /** Item by item where it has a loop, else one. */
  readonly items: readonly CheckedItem[]
  /** What it tells the operator. */
  readonly message: string | undefined
  /**
   * Of one that stops: whether nothing behind it is taken to happen. So it is where an evaluation fails, or a check fails
   * that looks at nothing; what a check asks of the host or the inventory is taken to be mended, as it asks for.
   */
  readonly final: boolean
  /** What the operator most likely meant instead. */
  readonly hints: readonly string[]
}

/** Something the run could not read or resolve, so tasks may be missing from it. */
export interface Gap {
  readonly says: string
  readonly at: Span
  readonly via: readonly Step[]
  /** Whether the host gets there at all. */
  readonly runs: Truth
}

/** A play as it stands in the run, also when it has no tasks or the host is not in it. */
export interface PlayRun {
  /** Ansible's name of it: its hosts where it has none of its own. */
  readonly name: string
  /** The host patterns as written. */
  readonly hosts: readonly string[]
  readonly tags: readonly string[]
  readonly inPlay: Truth
  readonly at: Span
}

/** The whole run of a playbook for one host. */
export interface Run {
  readonly host: string
  readonly playbook: string
  /** The Ansible whose rules the run follows. */
  readonly ansible: AnsibleVersion
  /** With every group and host the run makes, certainly or perhaps. */
  readonly inventory: Inventory
  /** False where it may make a group of a name that is not known. */
  readonly groupsComplete: boolean
  readonly plays: readonly PlayRun[]
  readonly tasks: readonly TaskRun[]
  readonly gaps: readonly Gap[]
  /** In run order. */
  readonly checks: readonly Check[]
}
