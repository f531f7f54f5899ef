import type { FixedBy } from '../verdicts/judge.js'
import { jsonText } from './json-text.js'
import { type Count, type Place, placeText } from './place.js'
import type { ReportedEvidence, ReportedVerdict } from './report.js'
import { inColour } from './report-text.js'
import { outputs } from './schemas.js'
import { plain, type Style, wrap } from './style.js'

/** What one release says of the problem. */
export interface HistoryEntry {
  readonly release: string
  readonly commit: string
  /** `recorded`: from the snapshot of that very commit. */
  readonly from: 'code' | 'recorded'
  readonly verdict: ReportedVerdict
}

/** What a release says otherwise than the one before it. */
export interface HistoryChange {
  /** The release, as in `v2.31.0`. */
  readonly release: string
  /** The commit of its tag. */
  readonly commit: string
  /** The release before; null for the first. */
  readonly before: string | null
  /** What is otherwise; `place`: the same effect, by a task in another file. The first release has `verdict`. */
  readonly changed: readonly ('verdict' | 'condition' | 'task' | 'place' | 'note')[]
  /** Who has to fix it for good. */
  readonly fixedBy: FixedBy
  /** Who fixes it on the running host. */
  readonly now: HistoryPhase
  /** Who keeps it fixed when the host has booted again. */
  readonly afterReboot: HistoryPhase
  /** The tasks whose effects decide it. */
  readonly tasks: readonly DecidingTask[]
  /** Tasks that decided in the release before and do not any more. */
  readonly gone: readonly DecidingTask[]
  /** What is to be known beside the verdict and was not in the release before; empty for the first. */
  readonly notes: readonly string[]
  /** What was, and is not any more. */
  readonly notesGone: readonly string[]
  /** The commits between the two that made the change, newest first, as far as the lines tell. */
  readonly commits: readonly string[]
}

/** Who fixes a problem at one time, now or after a reboot. */
export interface HistoryPhase {
  /** Who fixes it at that time. */
  readonly fixedBy: FixedBy
  /** Under which condition, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
}

/** A task whose effect decides the verdict. */
export interface DecidingTask extends Place {
  /** The name of the task. */
  readonly task: string
  /** The Ansible module, by the name it is called by. */
  readonly module: string
  /** What the task does to the host, in plain words. */
  readonly effect: string
}

function decidingTasks({ now, afterReboot }: ReportedVerdict): readonly DecidingTask[] {
  const tasks = new Map<string, DecidingTask>()
  const add = ({ task, module, file, line, effect }: ReportedEvidence): void => {
    tasks.set(`${effect} ${file}:${line}`, { task, module, file, line, effect })
  }
  for (const evidence of [...now.evidence, ...afterReboot.evidence]) add(evidence)
  return [...tasks.values()]
}

/** Where the verdict, its condition, its deciding task, that task's file or what is noted beside it changed from one release to the next. */
export function changesOf(entries: readonly HistoryEntry[]): readonly HistoryChange[] {
  return entries.flatMap((entry, index): readonly HistoryChange[] => {
    const before = entries[index - 1]
    const { release, commit, verdict } = entry
    const tasks = decidingTasks(verdict)
    const told = before === undefined ? [] : decidingTasks(before.verdict)
    const changed = before === undefined ? (['verdict'] as const) : whatChanged(before.verdict, verdict, told, tasks)
    if (changed.length === 0) return []
    const effects = new Set(tasks.map(({ effect }) => effect))
    return [
      {
        release,
        commit,
        before: before?.release ?? null,
        changed,
        fixedBy: verdict.fixedBy,
        now: { fixedBy: verdict.now.fixedBy, condition: verdict.now.condition },
        afterReboot: { fixedBy: verdict.afterReboot.fixedBy, condition: verdict.afterReboot.condition },
        tasks,
        gone: told.filter(({ effect }) => !effects.has(effect)),
        notes: before === undefined ? [] : notesBeside(before.verdict, verdict),
        notesGone: before === undefined ? [] : notesBeside(verdict, before.verdict),
        commits: [],
      },
    ]
  })
}

/** What `after` notes and `before` does not. */
function notesBeside(before: ReportedVerdict, after: ReportedVerdict): readonly string[] {
  // A place that only moved to another line says nothing new.
  const unplaced = (says: string): string => says.replaceAll(/(\.\w+):\d+/g, '$1')
  const told = new Set(before.notes.map(({ says }) => unplaced(says)))
  return [...new Set(after.notes.map(({ says }) => says))].filter(says => !told.has(unplaced(says)))
}

function whatChanged(
  before: ReportedVerdict,
  after: ReportedVerdict,
  told: readonly DecidingTask[],
  tasks: readonly DecidingTask[],
): HistoryChange['changed'] {
  const changed: HistoryChange['changed'][number][] = []
  const answers = ({ fixedBy, now, afterReboot }: ReportedVerdict): string =>
    [fixedBy, now.fixedBy, afterReboot.fixedBy].join()
  const conditions = ({ now, afterReboot }: ReportedVerdict): string =>
    JSON.stringify([now.condition, afterReboot.condition])
  const texts = (of: readonly DecidingTask[], show: (task: DecidingTask) => string): string =>
    [...new Set(of.map(show))].toSorted().join('\n')
  if (answers(before) !== answers(after)) changed.push('verdict')
  if (conditions(before) !== conditions(after)) changed.push('condition')
  if (texts(told, ({ effect }) => effect) !== texts(tasks, ({ effect }) => effect)) changed.push('task')
  else if (texts(told, ({ file }) => file) !== texts(tasks, ({ file }) => file)) changed.push('place')
  if (notesBeside(before, after).length + notesBeside(after, before).length > 0) changed.push('note')
  return changed
}

export interface History {
  /** The problem's name in the catalogue, as in `swap`. */
  readonly problem: string
  /** The problem in a few words. */
  readonly title: string
  /** The git repository whose release tags were asked. */
  readonly repository: string
  /** How many releases were asked. */
  readonly releases: Count
  /** How many of them were answered from their snapshots. */
  readonly recorded: Count
  /** The first release, and each that says otherwise than the one before it; oldest first. */
  readonly changes: readonly HistoryChange[]
}

/** Over the releases, where the answer to one problem changed. */
export interface HistoryJson extends History {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.history.schema
}

/** The history for machines. */
export function renderHistoryJson(history: History): string {
  const { problem, title, repository, releases, recorded, changes } = history
  const json: HistoryJson = {
    schema: outputs.history.schema,
    problem,
    title,
    repository,
    releases,
    recorded,
    changes,
  }
  return jsonText(json)
}

/** The history for people: one paragraph a release that says otherwise than the one before. */
export function renderHistoryText(history: History, style: Style = plain): string {
  const { problem, title, releases, recorded, changes } = history
  const lines = [
    style.strong(`${problem}: ${title}`),
    `${releases} releases, ${recorded} of them as recorded; ${Math.max(0, changes.length - 1)} say otherwise than the one before`,
  ]
  for (const change of changes) {
    const what = change.before === null ? 'first release asked' : `${change.changed.join(', ')} changed`
    lines.push('', `${style.strong(change.release)}  ${what}`)
    lines.push(...phase('now', change.now, style), ...phase('after a reboot', change.afterReboot, style))
    for (const task of change.tasks) lines.push(...taskLines('  by ', task, style))
    for (const task of change.gone) lines.push(...taskLines('  no more ', task, style))
    for (const note of change.notes) lines.push(...wrap(note, '  note: ', '    '))
    for (const note of change.notesGone) lines.push(...wrap(note, '  no more: ', '    '))
    for (const commit of change.commits) lines.push(`  commit ${commit}`)
  }
  return `${lines.join('\n')}\n`
}

function phase(label: string, { fixedBy, condition }: HistoryPhase, style: Style): readonly string[] {
  const lines = wrap(condition === null ? fixedBy : `${fixedBy}, if ${condition}`, `  ${label}: `, '    ')
  return lines.map((line, index) => (index === 0 ? line.replace(fixedBy, inColour(fixedBy, fixedBy, style)) : line))
}

function taskLines(first: string, task: DecidingTask, style: Style): readonly string[] {
  return [...wrap(task.effect, first, '    '), `    ${style.faint(placeText(task))}`]
}
