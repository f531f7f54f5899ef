import { addressText, type TaskAddress } from '../addresses/address.js'
import type { Addresses } from '../addresses/addressed.js'
import type { Run, TaskRun } from '../run/task-run.js'
import { type ReportedAnsible, reportedAnsible } from './ansible-rules.js'
import { jsonText } from './json-text.js'
import { type Count, type Place, placeOfSpan } from './place.js'
import type { Runs } from './report.js'
import { outputs } from './schemas.js'

/** The task graph of a playbook for one host. */
export interface TasksJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.tasks.schema
  /** The playbook, relative to the checkout. */
  readonly playbook: string
  /** The host, as the inventory names it. */
  readonly host: string
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** Every task in run order, also those of plays the host is not in; what a dynamic include brings in stands in its place. */
  readonly tasks: readonly TaskJson[]
}

/** One task at its place in the run. `file` and `line` are those of its first key. */
export interface TaskJson extends Place {
  /** Which play it belongs to, from 0, after imports of playbooks. */
  readonly play: Count
  /** The role, as its path under `roles/`; null for a task of the play itself. */
  readonly role: string | null
  /** The name as Ansible prints it, with what is known of templates filled in. */
  readonly name: string
  /** The Ansible module, by the name it is called by. */
  readonly module: string
  /** The task's stable address (docs/citations.md); null where it has none, as tasks that Ansible makes by itself. */
  readonly address: string | null
  /** Its own tags and those it inherits. */
  readonly tags: readonly string[]
  /** In which part of a block it stands (`block` also without one), or that it is a handler. */
  readonly part: 'block' | 'rescue' | 'always' | 'handler'
  /** Whether its own and inherited conditions hold for this host, once the run gets there. */
  readonly runs: Runs
  /** What remains of those conditions for the host to decide, in Ansible's words; null where they are decided. */
  readonly condition: string | null
  /** Why it does not run where that is no condition: the host is not in the play, tags, a role that already ran. */
  readonly excluded: string | null
  /** True only where a fact that was set earlier in the run decided the condition. */
  readonly dependsOnSetFact: boolean
  /** The innermost dynamic include it stands behind; null where it stands behind none. */
  readonly includedBy: Place | null
  /** For a handler: the tasks that notify it. */
  readonly notifiedBy: readonly Place[]
}

/** The task graph for machines: contract, "tasks". */
export function renderTasksJson(run: Run, addresses: Pick<Addresses, 'of'>): string {
  const { playbook, host, ansible, tasks } = run
  const json: TasksJson = {
    schema: outputs.tasks.schema,
    playbook,
    host,
    ansible: reportedAnsible(ansible),
    tasks: tasks.map(task => taskJson(task, addresses.of(task.task))),
  }
  return jsonText(json)
}

const answers = { true: 'yes', false: 'no', unknown: 'unknown' } as const

function taskJson(run: TaskRun, address: TaskAddress | undefined): TaskJson {
  const { task } = run
  return {
    play: run.play,
    role: run.role ?? null,
    name: run.name,
    module: task.module,
    ...placeOfSpan(task.at),
    address: address === undefined ? null : addressText(address),
    tags: run.tags,
    part: partOf(run.part),
    // Whether conditions hold once the run gets there; that it does not get there again is `excluded`.
    runs: answers[(run.alreadyRan ? run.holds : run.runs).kind],
    condition: run.remains,
    excluded: run.excluded ?? null,
    dependsOnSetFact: run.dependsOnSetFact,
    includedBy: run.includedBy === undefined ? null : placeOfSpan(run.includedBy),
    notifiedBy: run.notifiedBy.map(({ task: by }) => placeOfSpan(by.at)),
  }
}

function partOf(part: TaskRun['part']): TaskJson['part'] {
  return part === 'pre_tasks' || part === 'tasks' || part === 'post_tasks' ? 'block' : part
}
