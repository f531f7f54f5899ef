import type { AppliedCondition, Invocation, Run, TaskRun } from '../run/task-run.js'

/**
 * The run with its conditions as facts only: which names they look at and where they stand, not how they are written.
 * A snapshot holds no role code, so what is judged and reported for it is this run.
 */
export function withoutExpressions(run: Run): Run {
  const done = new Map<TaskRun, TaskRun>()
  const convert = (task: TaskRun): TaskRun => {
    const before = done.get(task)
    if (before) return before
    const converted: TaskRun = {
      ...task,
      conditions: task.conditions.map(conditionFact),
      remains: task.remains === null ? null : namesLeft(task.conditions),
      invocations: task.invocations.map(invocation => invocationFact(invocation, task.conditions)),
      notifiedBy: task.notifiedBy.map(convert),
    }
    done.set(task, converted)
    return converted
  }
  return { ...run, tasks: run.tasks.map(convert) }
}

function conditionFact(condition: AppliedCondition): AppliedCondition {
  const remains = condition.remains === null ? null : namesOf(condition)
  return { ...condition, text: '', remains }
}

function invocationFact(invocation: Invocation, conditions: readonly AppliedCondition[]): Invocation {
  const { remains, asserted } = invocation
  return {
    ...invocation,
    remains: remains === null ? null : namesLeft(conditions),
    ...(asserted === undefined ? {} : { asserted: asserted.map(conditionFact) }),
  }
}

/** What is left to the host, by the names that decide it. */
function namesLeft(conditions: readonly AppliedCondition[]): string {
  const open = conditions.filter(({ truth }) => truth.kind === 'unknown')
  return [...new Set(open.map(namesOf))].join(' and ') || 'the host'
}

function namesOf(condition: AppliedCondition): string {
  const open = condition.names.filter(({ value }) => value.kind === 'unknown' || value.kind === 'one-of')
  const names = (open.length > 0 ? open : condition.names).map(({ name }) => name)
  return `${[...new Set(names)].join(', ') || 'the host'} allows it`
}

/**
 * Sentences of reports quote code in backquotes; of more than a word only the first is kept, the name of the program.
 */
export function withoutQuotes(text: string): string {
  return text.replaceAll(/`([^`\s]+)\s[^`]*`/g, '`$1 …`')
}

/** A sentence about an effect: of a check that stops the run, what it asks for is an expression and stays out. */
export function effectFact(effect: string): string {
  return withoutQuotes(effect.replace(/^(stops the run): .*$/s, '$1 where its check fails'))
}

/** The name of a task's module; `…` where an expression gives it. */
export function moduleFact(module: string): string {
  return module.includes('{{') ? '…' : module
}
