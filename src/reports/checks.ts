import { addressText, type TaskAddress } from '../addresses/address.js'
import type { Task } from '../ansible/statement.js'
import { isFullyKnown } from '../jinja/python.js'
import type { Cause, Value } from '../jinja/value.js'
import type { AppliedCondition, Check, CheckedItem, LookedAt, Run, TaskRun } from '../run/task-run.js'
import { type ReportedAnsible, reportedAnsible } from './ansible-rules.js'
import { type Count, type Place, placeOfSpan } from './place.js'
import { type Question, questionsOf, tellingCauses } from './questions.js'
import { type ReportedName, type ReportedSource, reportedName } from './report.js'
import { jsonOf, valueText } from './value-text.js'

/** What a check comes to, in the order of how much it asks of the reader. */
export const checkOutcomes = ['stops', 'unknown', 'passes', 'skipped'] as const
export type CheckOutcome = (typeof checkOutcomes)[number]

/** One item of a check's loop. */
export interface ReportedCheckItem {
  /** The item, on one line; long ones are cut. */
  readonly item: string
  /** What the check came to for it, before it is known whether something takes its failure. */
  readonly outcome: CheckOutcome
  /** The values that decided it. */
  readonly because: string
}

/** One of the playbook's own stops at its place in the run. `file` and `line` are those of the task's first key. */
export interface ReportedCheck extends Place {
  /** Which play it belongs to, from 0, after imports of playbooks. */
  readonly play: Count
  /** The role, as its path under `roles/`; null for a task of the play itself. */
  readonly role: string | null
  /** The name as Ansible prints it, with what is known of templates filled in. */
  readonly task: string
  /** The task's stable address (docs/citations.md); null where it has none. */
  readonly address: string | null
  /**
   * What makes it a stop: an `assert`, a `fail`, `failed_when` over a result, a command that only looks and whose exit status
   * nothing else asks for, or an evaluation that certainly fails.
   */
  readonly kind: Check['kind']
  /**
   * `stops`: the run ends here for the host. `passes`: also where its failure is ignored or rescued. `skipped`: a condition
   * switches it off, or the run does not get there. `unknown`: `decidedBy` says what would tell.
   */
  readonly outcome: CheckOutcome
  /** What it asks, as written, as far as it decides; where it is skipped the condition that switches it off; null where nothing is asked. */
  readonly condition: string | null
  /** What remains of its conditions for the host to decide, in Ansible's words; null where nothing does. */
  readonly remains: string | null
  /** Which values decided it, as in `ansible_facts.memtotal_mb is 1400, minimal_master_memory_mb is 1500`. */
  readonly because: string
  /** Those values, with the places that give them. */
  readonly values: readonly ReportedName[]
  /** What would decide it where it is unknown; empty elsewhere. */
  readonly decidedBy: readonly Question[]
  /** What the playbook itself says there; null where it says nothing. */
  readonly message: string | null
  /** What was most likely meant. */
  readonly hints: readonly string[]
  /** For one that stops: true where nothing behind it is taken to happen; false for a demand that is taken to be met. */
  readonly final: boolean
  /** Whether `ignore_assert_errors: true` switches it off. */
  readonly ignorable: boolean
  /** Its items, where they came to different ends; empty elsewhere. */
  readonly items: readonly ReportedCheckItem[]
}

/** What the run could not read, so that checks may be missing. */
export interface ReportedGap extends Place {
  /** What could not be read. */
  readonly says: string
}

/** How many checks came to each end. */
export interface CheckTotals {
  /** End the run for the host. */
  readonly stops: Count
  /** May end it. */
  readonly unknown: Count
  /** Do not end it. */
  readonly passes: Count
  /** Are switched off, or not reached. */
  readonly skipped: Count
}

/** Every stop of a run. */
export interface ChecksReport {
  /** Where the role code came from. */
  readonly source: ReportedSource
  /** The playbook, relative to the checkout. */
  readonly playbook: string
  /** The host, as the inventory names it. */
  readonly host: string
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** How many checks came to each end, also those that are not shown. */
  readonly totals: CheckTotals
  /** The checks in run order. */
  readonly checks: readonly ReportedCheck[]
  /** What the run could not read, so that checks may be missing. */
  readonly unread: readonly ReportedGap[]
}

/** What a report of checks is made from. */
export interface ChecksSubject {
  readonly run: Run
  readonly source: ReportedSource
  readonly addressOf: (task: Task) => TaskAddress | undefined
  /** Whether a task only looks at the host. */
  readonly onlyLooks: (task: TaskRun) => boolean
}

/** The variable by which kubespray lets the operator go on past some of its checks. */
const IGNORING = 'ignore_assert_errors'

/**
 * The stops of a run with their outcome for its host. A result is a check's only where its task just looks: that a command
 * that does something may fail is no demand of the playbook.
 */
export function reportedChecks(subject: ChecksSubject): ChecksReport {
  const { run, source, onlyLooks } = subject
  const checks = run.checks
    .filter(({ kind, outcome, task }) =>
      kind === 'failed_when' || kind === 'command' ? outcome === 'stops' || onlyLooks(task) : true,
    )
    .map(check => reportedCheck(check, subject))
  const count = (outcome: CheckOutcome): number => checks.filter(each => each.outcome === outcome).length
  return {
    source,
    playbook: run.playbook,
    host: run.host,
    ansible: reportedAnsible(run.ansible),
    totals: { stops: count('stops'), unknown: count('unknown'), passes: count('passes'), skipped: count('skipped') },
    checks,
    unread: run.gaps.filter(({ runs }) => runs.kind !== 'false').map(({ says, at }) => ({ says, ...placeOfSpan(at) })),
  }
}

function reportedCheck(check: Check, { run, addressOf }: ChecksSubject): ReportedCheck {
  const { task, outcome, kind } = check
  const address = addressOf(task.task)
  const deciding = decidingConditions(check)
  const names = distinctNames(deciding)
  return {
    play: task.play,
    role: task.role ?? null,
    task: task.name,
    ...placeOfSpan(task.task.at),
    address: address === undefined ? null : addressText(address),
    kind,
    outcome,
    condition: deciding.length === 0 ? null : distinct(deciding.map(({ text }) => oneLine(text))).join(' and '),
    remains: outcome === 'unknown' ? remainsOf(check) : null,
    because: becauseOf(check, deciding, names),
    values: names.map(reportedName),
    decidedBy: outcome === 'unknown' ? questionsOf(causesOf(check), run).map(each => withCommand(each, check)) : [],
    message: check.message === undefined || check.message === task.name ? null : check.message,
    hints: check.hints,
    final: check.final,
    ignorable: looksAt(task, IGNORING),
    items: itemsOf(check),
  }
}

/** The conditions that the outcome rests on. */
function decidingConditions(check: Check): readonly AppliedCondition[] {
  const { kind, outcome, task, items, conditions } = check
  switch (outcome) {
    case 'skipped':
      return task.excluded === undefined ? switchingOff(check) : []
    case 'stops':
      // A `fail` asks nothing itself: what it stands under brought the run there.
      return kind === 'fail' ? task.conditions.filter(({ names }) => names.length > 0) : conditions.slice(0, 1)
    case 'unknown': {
      const asked = kind === 'fail' ? [] : conditions
      const open = asked.filter(({ truth }) => truth.kind !== 'true' || kind === 'failed_when')
      return open.length > 0 ? open : task.conditions.filter(({ truth }) => truth.kind === 'unknown')
    }
    case 'passes': {
      const [first] = items.filter(each => each.outcome !== 'skipped')
      const failed = items.find(each => each.outcome === 'stops')
      return (failed ?? first)?.asked ?? []
    }
  }
}

function switchingOff({ task, items }: Check): readonly AppliedCondition[] {
  const own = task.conditions.filter(({ truth }) => truth.kind === 'false')
  return own.length > 0
    ? own.slice(0, 1)
    : (items[0]?.asked ?? []).filter(({ truth }) => truth.kind === 'false').slice(0, 1)
}

function becauseOf(check: Check, deciding: readonly AppliedCondition[], names: readonly LookedAt[]): string {
  const { kind, outcome, task, items, message } = check
  if (outcome === 'skipped' && task.excluded !== undefined) return task.excluded
  const values = names.map(lookedText).join(', ')
  const [first] = deciding
  switch (outcome) {
    case 'skipped':
      if (first === undefined) return items.length === 0 ? 'its loop has no items' : 'nothing of it runs'
      return values || `\`${oneLine(first.text)}\` is false`
    case 'stops': {
      const cause = first?.truth.kind === 'unknown' ? first.truth.causes[0]?.says : undefined
      if (first === undefined) return kind === 'fail' ? 'it fails wherever the run gets there' : (message ?? 'it fails')
      return (
        [...(values ? [values] : []), ...(cause === undefined ? [] : [cause])].join('; ') || textOfLiteral(check, first)
      )
    }
    case 'unknown':
      if (kind === 'command') return causesOf(check).map(({ says }) => says)[0] ?? 'its result is not known'
      return values || distinct(tellingCauses(causesOf(check)).map(({ says }) => says)).join('; ') || 'it is not known'
    case 'passes': {
      if (items.some(each => each.outcome === 'stops')) return `${values || 'it fails'}; its failure is taken`
      const done = items.filter(each => each.outcome !== 'skipped')
      if (done.length > 1) return `it passes for each of ${done.length} items`
      return values || (first === undefined ? 'there is nothing to check' : textOfLiteral(check, first))
    }
  }
}

/** Of a condition without names, as in `1 == 2`. */
function textOfLiteral({ kind, outcome }: Check, { text }: AppliedCondition): string {
  return `\`${oneLine(text)}\` is ${(outcome === 'stops') === (kind === 'failed_when') ? 'true' : 'false'}`
}

/** Why it is not known: of what is asked, else of what it stands under. */
function causesOf({ kind, conditions, task }: Check): readonly Cause[] {
  const open = [...task.conditions, ...(kind === 'fail' ? [] : conditions)].flatMap(({ truth }) =>
    truth.kind === 'unknown' ? truth.causes : [],
  )
  return open.length > 0 ? open : task.runs.kind === 'unknown' ? task.runs.causes : rescueCause(task)
}

function rescueCause({ part, task }: TaskRun): readonly Cause[] {
  return part === 'rescue' ? [{ says: 'it runs only after a task of its block failed', at: task.at }] : []
}

function remainsOf({ kind, task, conditions }: Check): string | null {
  const own = kind === 'fail' ? [] : conditions.flatMap(({ remains }) => remains ?? [])
  const all = distinct([...(task.remains === null ? [] : [task.remains]), ...own].map(oneLine))
  return all.length === 0 ? null : all.map(text => (all.length > 1 ? `(${text})` : text)).join(' and ')
}

/** A command's own exit status is found out by running it. */
function withCommand(question: Question, { kind, task }: Check): Question {
  if (kind !== 'command' || question.kind !== 'other') return question
  const [first] = task.invocations
  const line = first?.raw ?? first?.arguments.get('cmd')
  const command = line?.kind === 'known' && typeof line.data === 'string' ? line.data.trim() : null
  return { ...question, kind: 'result', command }
}

function itemsOf({ items }: Check): readonly ReportedCheckItem[] {
  if (new Set(items.map(({ outcome }) => outcome)).size < 2) return []
  return items.flatMap(({ item, outcome, asked }: CheckedItem) =>
    item === undefined
      ? []
      : {
          item: valueText(jsonOf(item), 80),
          outcome,
          because:
            distinctNames(asked.filter(({ truth }) => outcome === 'passes' || truth.kind !== 'true'))
              .map(lookedText)
              .join(', ') || distinct(asked.map(({ text }) => oneLine(text))).join(' and '),
        },
  )
}

/** Whether the task stands under a condition that asks a variable: one that was evaluated, or any of its own. */
function looksAt({ task, conditions }: TaskRun, name: string): boolean {
  const word = new RegExp(`\\b${name}\\b`)
  const own = task.when.flatMap(node => (node.kind === 'scalar' ? String(node.data ?? '') : []))
  return [...own, ...conditions.map(({ text }) => text)].some(text => word.test(text))
}

/** The names of some conditions, each once, facts by the name Ansible gathers them under. */
function distinctNames(conditions: readonly AppliedCondition[]): readonly LookedAt[] {
  const names = conditions.flatMap(condition => condition.names.map(asFact))
  return [...new Map(names.map(each => [each.name, each])).values()]
}

/**
 * One name for a fact, however it is written: `ansible_memtotal_mb` is what Ansible injects of `ansible_facts.memtotal_mb`
 * where nothing else defines it, `ansible_facts['memtotal_mb']` is the same.
 */
function asFact(looked: LookedAt): LookedAt {
  const { value, from = [] } = looked
  const name = looked.name.replaceAll(/\[(['"])([A-Za-z_]\w*)\1\]/g, '.$2')
  const injected = /^ansible_(?!facts\b|local\b)(\w.*)$/.exec(name)?.[1]
  const isFact = value.kind !== 'undefined' && from.every(({ origin }) => origin === 'host facts')
  return { ...looked, name: injected !== undefined && isFact ? `ansible_facts.${injected}` : name }
}

function lookedText({ name, value }: LookedAt): string {
  return `${name} ${valueWords(value)}`
}

function valueWords(value: Value): string {
  if (value.kind === 'undefined') return 'is not defined'
  return isFullyKnown(value) ? `is ${valueText(jsonOf(value), 60)}` : 'is not known'
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
