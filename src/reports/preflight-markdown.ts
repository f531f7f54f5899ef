import { inWordsOfAll } from './own-words.js'
import { type Block, code, heading, type Line, paragraph, sentence, strong } from './page.js'
import { renderMarkdown } from './page-markdown.js'
import { shortPlaceText } from './place.js'
import type { PreflightReport, ReportedHost, ReportedHostAnswer, ReportedHostProblem } from './preflight.js'
import { sourceText } from './report-text.js'

/** The report as a page: for a ticket, or the lab. */
export function renderPreflightMarkdown(report: PreflightReport): string {
  const { source, playbook, hosts } = report
  return renderMarkdown([
    heading(1, 'Preflight'),
    paragraph(`${sourceText(source)}, `, code(playbook)),
    ...hosts.flatMap(hostBlocks),
  ])
}

function hostBlocks(group: ReportedHost): readonly Block[] {
  const host = inWordsOfAll(group)
  const { hosts, stops, problems, changes } = host
  const names = hosts.map(({ host: name }) => name)
  const operator = problems.filter(({ acts }) => acts.includes('operator'))
  const blocks: Block[] = [
    heading(2, names.length > 6 ? `${names.slice(0, 6).join(', ')} and ${names.length - 6} more` : names.join(', ')),
  ]
  blocks.push({
    kind: 'table',
    head: ['Problem', 'Now', 'After the run', 'After a reboot', 'Who acts'],
    rows: problems.map((problem): readonly Line[] => [
      [code(problem.id)],
      ...[problem.now, problem.afterRun, problem.afterReboot].map(({ state }) =>
        state === 'problem' ? [strong(state)] : [state],
      ),
      [problem.acts.join(', ') || '–'],
    ]),
  })
  if (stops.length > 0) {
    blocks.push(heading(3, 'The run stops here'), {
      kind: 'list',
      items: stops.map(({ task, because, ...place }) => ({
        line: [task, ' (', code(shortPlaceText(place)), '): ', because],
      })),
    })
  }
  if (operator.length > 0)
    blocks.push(heading(3, 'For the operator, before the run'), ...operator.flatMap(operatorBlocks))
  const patches = changes.flatMap(({ patch }) => patch ?? [])
  if (patches.length > 0) {
    blocks.push(heading(3, 'Files kubespray changes'))
    blocks.push({
      kind: 'listing',
      language: 'diff',
      lines: patches.flatMap(patch => patch.replace(/\n$/, '').split('\n')),
    })
  }
  return blocks
}

function operatorBlocks({ id, afterRun, afterReboot, steps }: ReportedHostProblem): readonly Block[] {
  const tell = ({ state, says }: ReportedHostAnswer, when: string): string[] =>
    state === 'problem' ? [`${when}: ${says}.`] : []
  const says = [...tell(afterRun, 'After the run'), ...tell(afterReboot, 'After a reboot')].join(' ')
  return [
    paragraph(code(id), ': ', ...sentence(says)),
    { kind: 'listing', language: 'sh', lines: steps.flatMap(({ says: why, command }) => [`# ${why}`, command]) },
  ]
}
