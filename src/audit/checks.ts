import type { Task } from '../ansible/statement.js'
import type { Change } from '../reports/audit.js'
import { placeOfSpan, placeText } from '../reports/place.js'
import { shortCondition, stopText } from '../reports/stops.js'
import type { AppliedCondition, Check } from '../run/task-run.js'
import type { Node } from '../yaml/node.js'
import { printNode } from '../yaml/print.js'
import { type Formula, formulaOf, isSameCondition } from './matching/same-condition.js'
import { statementsByPlace } from './role-index.js'
import type { Compared } from './side.js'

/**
 * The playbook's own stops (`assert`, `fail`) of both versions for this inventory and these facts: which are new, which are
 * gone, which ask for something else, and above all which stop the run under NEW, also where OLD stopped as well.
 */
export function checkChanges({ old, new: fresh, matching }: Compared): readonly Change[] {
  const before = worstByTask(old.analysis.run.checks.filter(isCompared))
  const now = worstByTask(fresh.analysis.run.checks.filter(isCompared))
  const [placedOld, placedNew] = [statementsByPlace(old.index), statementsByPlace(fresh.index)]
  const changes: Change[] = []
  const met = new Set<string>()
  for (const check of now.values()) {
    const { task } = check.task
    const placed = placedNew(task.at)
    const counterpart = placed && matching.oldStatementOf(placed)?.statement
    const earlier = counterpart?.kind === 'task' ? before.get(placeKey(counterpart)) : undefined
    if (earlier === undefined) {
      changes.push(addedCheck(check, counterpart !== undefined))
      continue
    }
    met.add(placeKey(earlier.task.task))
    const change = changedCheck(earlier, check)
    if (change !== undefined) changes.push(change)
  }
  for (const check of before.values()) {
    const { task } = check.task
    if (met.has(placeKey(task))) continue
    const place = placeOfSpan(task.at)
    const placed = placedOld(task.at)
    const counterpart = placed && matching.statementOf(placed)?.statement
    // One that did not apply is not missed where it still stands.
    if (counterpart !== undefined && check.outcome === 'skipped') continue
    const says =
      counterpart === undefined
        ? `${quoted(check)} is not checked any more`
        : `${quoted(check)} is not reached any more (it stands in ${placeText(placeOfSpan(counterpart.at))})`
    changes.push({
      kind: 'check-removed',
      name: check.task.name,
      action: 'none',
      says,
      old: place,
      new: null,
      inventory: [],
    })
  }
  return changes
}

/** What only a command's result tells is the host's affair, unless it is already certain. */
function isCompared({ kind, outcome }: Check): boolean {
  return outcome === 'stops' || (kind !== 'failed_when' && kind !== 'command')
}

const severity = ['stops', 'unknown', 'passes', 'skipped'] as const

/** A task may be reached several times: what counts is the worst that happens. */
function worstByTask(checks: readonly Check[]): ReadonlyMap<string, Check> {
  const worst = new Map<string, Check>()
  for (const check of checks) {
    const task = placeKey(check.task.task)
    const known = worst.get(task)
    if (known === undefined || severity.indexOf(check.outcome) < severity.indexOf(known.outcome)) worst.set(task, check)
  }
  return worst
}

function placeKey({ at }: Pick<Task, 'at'>): string {
  return `${at.file.path}:${at.start}`
}

function addedCheck(check: Check, wasThere: boolean): Change {
  const base = {
    kind: 'check-added',
    name: check.task.name,
    old: null,
    new: placeOfSpan(check.task.task.at),
    inventory: [],
  } as const
  switch (check.outcome) {
    case 'stops':
      return { ...base, action: 'required', says: `the run stops at ${quoted(check)}: ${reasonOf(check)}` }
    case 'unknown':
      return {
        ...base,
        action: 'advised',
        says: `${quoted(check)} ${wasThere ? 'is reached now' : 'is a new check'}, and whether it passes is not known: ${openOf(check)}`,
      }
    case 'passes':
      return {
        ...base,
        action: 'none',
        says: `${quoted(check)} ${wasThere ? 'is reached now' : 'is a new check'}, which passes`,
      }
    case 'skipped':
      return {
        ...base,
        action: 'none',
        says: `${quoted(check)} ${wasThere ? 'is reached now' : 'is a new check'}, which does not apply here`,
      }
  }
}

function changedCheck(earlier: Check, check: Check): Change | undefined {
  const base = {
    kind: 'check-changed',
    name: check.task.name,
    old: placeOfSpan(earlier.task.task.at),
    new: placeOfSpan(check.task.task.at),
    inventory: [],
  } as const
  if (check.outcome === 'stops') {
    return earlier.outcome === 'stops'
      ? {
          ...base,
          action: 'required',
          says: `the run stops at ${quoted(check)}, as it did before: ${reasonOf(check)}`,
          stoppedBefore: true,
        }
      : { ...base, action: 'required', says: `the run stops at ${quoted(check)} now: ${reasonOf(check)}` }
  }
  const isOther = !isSameQuestion(earlier.task.task, check.task.task)
  if (!isOther && earlier.outcome === check.outcome) return undefined
  if (check.outcome === 'unknown' && (isOther || earlier.outcome !== 'unknown')) {
    return {
      ...base,
      action: 'advised',
      says: `${quoted(check)} ${isOther ? 'asks for something else, and whether it passes is not known' : 'passed before, and whether it does now is not known'}: ${openOf(check)}`,
    }
  }
  if (isOther) {
    const how =
      check.outcome === 'passes'
        ? 'which passes'
        : check.outcome === 'skipped'
          ? 'which does not apply here'
          : 'which is open as before'
    return { ...base, action: 'none', says: `${quoted(check)} asks for something else, ${how}` }
  }
  return {
    ...base,
    action: 'none',
    says: `${quoted(check)} ${outcomeWords[earlier.outcome]} before and ${nowWords[check.outcome]} now`,
  }
}

const outcomeWords = {
  stops: 'stopped the run',
  unknown: 'was open',
  passes: 'passed',
  skipped: 'did not apply',
} as const

const nowWords = { unknown: 'is open', passes: 'passes', skipped: 'does not apply' } as const

function quoted({ task }: Check): string {
  return `'${task.name}'`
}

/** Whether two checks ask the same, under the same conditions, however that is written. */
function isSameQuestion(left: Task, right: Task): boolean {
  const asks = (nodes: readonly Node[]): Formula =>
    formulaOf([nodes.flatMap(node => (node.kind === 'list' ? node.items : [node])).map(textOfNode)], name => name)
  const that = ({ arguments: { named } }: Task): readonly Node[] => [named.get('that') ?? []].flat()
  return isSameCondition(asks(left.when), asks(right.when)) && isSameCondition(asks(that(left)), asks(that(right)))
}

function textOfNode(node: Node): string {
  return node.kind === 'scalar' ? String(node.data) : printNode(node)
}

function reasonOf(check: Check): string {
  const hints = check.hints.length === 0 ? '' : `; ${check.hints.join('; ')}`
  return `${stopText(check)}${hints}`
}

function openOf({ conditions, task }: Check): string {
  const asked: readonly AppliedCondition[] = conditions.length > 0 ? conditions : task.conditions
  const open = asked.filter(({ truth }) => truth.kind === 'unknown')
  const [first] = open.length > 0 ? open : asked
  return first === undefined ? 'its condition' : `\`${shortCondition(first.text)}\``
}
