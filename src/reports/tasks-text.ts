import type { Check, Run, TaskRun } from '../run/task-run.js'
import { placeOf } from '../source/text.js'
import { ansibleText, reportedAnsible } from './ansible-rules.js'
import { stopText } from './stops.js'

const marks = { true: 'yes', false: 'no ', unknown: '?  ' } as const

/** The task graph for people: a line a task, with what decides it where it does not simply run. */
export function renderTasksText(run: Run): string {
  const lines: string[] = [`${run.playbook} on ${run.host}`, ansibleText(reportedAnsible(run.ansible))]
  const stops = new Map<TaskRun, Check>(
    run.checks.flatMap(check => (check.outcome === 'stops' ? [[check.task, check] as const] : [])),
  )
  for (const [number, play] of run.plays.entries()) {
    lines.push('', `play ${number} · ${play.name} (${play.hosts.join(',')})`)
    let role: string | undefined
    for (const task of run.tasks.filter(each => each.play === number)) {
      if (task.role !== role) lines.push(`  ${task.role ?? '(no role)'}`)
      role = task.role
      lines.push(`    ${marks[task.runs.kind]} ${task.name}  ${placeOf(task.task.at)}${because(task)}`)
      const stop = stops.get(task)
      if (stop !== undefined)
        lines.push(`        the run stops here: ${stopText(stop)}`, ...stop.hints.map(hint => `        ${hint}`))
    }
  }
  for (const gap of run.gaps) lines.push('', `not read: ${placeOf(gap.at)}: ${gap.says}`)
  return `${lines.join('\n')}\n`
}

function because(task: TaskRun): string {
  if (task.excluded !== undefined) return `  (${task.excluded})`
  if (task.remains !== null) return `  when ${task.remains}`
  const no = task.conditions.find(({ truth }) => truth.kind === 'false')
  return no === undefined ? '' : `  (false: ${no.text.replaceAll(/\s+/g, ' ')}, ${placeOf(no.at)})`
}
