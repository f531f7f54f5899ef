import { type Analysis, analyze, analyzeListing, defaultRequest } from '../../src/analyze.js'
import { known, type Value } from '../../src/jinja/value.js'
import { renderTasksList } from '../../src/reports/tasks-list.js'
import { jsonOf } from '../../src/reports/value-text.js'
import { pathInCheckout } from '../../src/run/search.js'
import type { Invocation, Run, TaskRun } from '../../src/run/task-run.js'
import { openDirectory } from '../../src/source/directory.js'
import { placeOf } from '../../src/source/text.js'
import { jsonText, type Outcome } from './outcome.js'
import type { PlacedTree } from './trees.js'

export interface OwnAnswer {
  /** Whether something is found that keeps Ansible from starting. */
  readonly refused: boolean
  /** What is found before the run that keeps Ansible from starting. */
  readonly errors: readonly string[]
  readonly outcomes: readonly Outcome[]
  readonly list: string
}

/** What whofixes makes of a tree for one host, by the same pipeline as its commands. */
export function askWhofixes(
  { tree, directory, playbook, inventory, extraVars }: PlacedTree,
  host: string,
  ansible?: string,
): OwnAnswer {
  const { tags = [], skipTags = [] } = tree
  const request = {
    ...defaultRequest,
    playbook,
    inventory,
    host,
    extraVars,
    tags,
    skipTags,
    ...(ansible && { ansible }),
  }
  const { run, diagnostics }: Analysis = analyze(openDirectory(directory), request)
  const listing = analyzeListing(openDirectory(directory), request)
  return {
    refused: diagnostics.some(({ severity }) => severity === 'error'),
    outcomes: run.tasks.flatMap(task => outcomesOf(task, run)),
    errors: listing.diagnostics.flatMap(({ severity, message, at }) =>
      severity === 'error' ? [`${placeOf(at)}: ${message}`] : [],
    ),
    list: renderTasksList(listing.listing),
  }
}

const includes = new Set(['ansible.builtin.include_tasks', 'ansible.builtin.include_role'])

/** Ansible stops at a loop that cannot be evaluated. What its task would do, and for which items, is then told as unknown. */
const failingLoop = /^(?:a loop needs a list|evaluating the loop fails: )/

function outcomesOf(task: TaskRun, run: Run): readonly Outcome[] {
  const { name, runs } = task
  // Ansible says something of a task for the host that sends it.
  if (task.onceOn !== undefined) return []
  const invocations = task.invocations.filter(({ sentBy }) => sentBy === undefined)
  const place = placeOf(task.task.at)
  const outcome = (what: string): Outcome => ({ place, name, what })
  if (task.task.module === 'ansible.builtin.meta') return []
  const failed = run.checks.find(check => check.task === task && check.final)
  if (failed !== undefined && task.excluded !== undefined) return [outcome('failed')]
  if (runs.kind === 'unknown') return [outcome('?')]
  if (runs.kind === 'false' || invocations.length === 0) return [outcome('skipped')]
  if (includes.has(task.task.module)) {
    return run.gaps.some(({ at }) => placeOf(at) === place) ? [outcome('failed')] : []
  }
  return invocations.map(invocation => {
    const what = saidBy(task, invocation)
    if (what === '?' || invocation.runs.kind === 'unknown' || invocation.item === undefined) return outcome(what)
    const item = fromTop(invocation.item)
    return outcome(isKnown(item) ? `${jsonText(jsonOf(item))} ${what}` : '?')
  })
}

function saidBy({ task }: TaskRun, { runs, arguments: given }: Invocation): string {
  if (runs.kind === 'unknown') return runs.causes.some(({ says }) => failingLoop.test(says)) ? 'failed' : '?'
  if (runs.kind === 'false') return 'skipped'
  if (task.module === 'ansible.builtin.fail') return 'failed'
  if ([...given.values()].some(value => value.kind === 'failure' || value.kind === 'undefined')) return 'failed'
  if (task.module !== 'ansible.builtin.debug') return 'ran'
  const msg = given.has('msg') ? fromTop(given.get('msg')) : undefined
  if (msg === undefined) return '= "Hello world!"'
  return isKnown(msg) ? `= ${jsonText(jsonOf(msg))}` : '?'
}

/** Paths as Ansible's side tells them: from the top of the tree, wherever it lies. */
function fromTop(value: Value | undefined): Value {
  if (value === undefined) return known(null)
  if (value.kind === 'known' && Array.isArray(value.data)) return known((value.data as readonly Value[]).map(fromTop))
  const path = pathInCheckout(value)
  return path === undefined ? value : known(path)
}

function isKnown(value: Value): boolean {
  if (value.kind !== 'known') return false
  const { data } = value
  if (Array.isArray(data)) return (data as readonly Value[]).every(isKnown)
  return data instanceof Map ? [...data.values()].every(isKnown) : true
}
