import { ansibleText } from './ansible-rules.js'
import { answers, fromText, lineCount, moreNear } from './explain-text.js'
import { placeText } from './place.js'
import type { Report, ReportedEvidence, ReportedPhase, ReportedVerdict } from './report.js'
import { contradictionsAbout, sourceText } from './report-text.js'
import { searchedText } from './searched.js'
import { isNotKnown, valueText } from './value-text.js'

/** The proof as Markdown, with links to the lines where the commit is known. */
export function renderExplainMarkdown(report: Report, verdict: ReportedVerdict): string {
  const lines = [
    `# ${verdict.id}: ${escaped(verdict.title)}`,
    '',
    `${escaped(sourceText(report.source))}, ${code(report.playbook)}, host ${code(report.host)}. ${escaped(ansibleText(report.ansible))}.`,
    '',
    `${escaped(verdict.requirement.says)} <${verdict.requirement.source}>`,
    '',
    `**${verdict.fixedBy}**${verdict.condition === null ? '' : `, if ${code(verdict.condition)}`}: ${escaped(verdict.asks)}`,
    ...phaseMarkdown('Now', verdict.now),
    ...phaseMarkdown('After a reboot', verdict.afterReboot),
  ]
  if (verdict.nearMisses.length > 0) {
    lines.push('', '## What came near', '')
    for (const each of verdict.nearMisses)
      lines.push(`- ${escaped(each.effect)}: ${escaped(each.why ?? '')} (${link(each)})`)
    const more = moreNear(verdict)
    if (more !== undefined) lines.push(`- ${more}`)
  }
  const { unresolved } = verdict.searched
  lines.push('', '## What was searched', '', `${searchedText(verdict)}.`)
  if (unresolved.length > 0) lines.push('')
  for (const each of unresolved) {
    lines.push(
      `- not read: ${escaped(each.says)} (${code(placeText(each))}): ${escaped(each.why)}${each.couldChange ? '; **could change this answer**' : ''}`,
    )
  }
  for (const note of verdict.notes) {
    lines.push('', `> ${escaped(note.says)}${note.file === null ? '' : ` ${code(`${note.file}:${note.line}`)}`}`)
  }
  for (const each of contradictionsAbout(report, verdict)) {
    lines.push('', `> ${code(placeText(each))} ${escaped(each.says)}.`)
  }
  if (verdict.fixedBy !== 'kubespray') lines.push('', '## By hand', '', '```sh', ...verdict.byHand, '```')
  return `${lines.join('\n')}\n`
}

function phaseMarkdown(label: string, phase: ReportedPhase): readonly string[] {
  const lines = ['', `## ${label}: ${phase.fixedBy}${phase.condition === null ? '' : `, if ${code(phase.condition)}`}`]
  for (const each of [...phase.evidence, ...phase.open]) {
    lines.push('', `- ${escaped(each.effect)}${each.why === undefined ? '' : `: ${escaped(each.why)}`}`)
    let depth = 1
    for (const step of each.via) {
      lines.push(`${'  '.repeat(depth)}- ${escaped(step.what)} (${code(placeText(step))})`)
      depth++
    }
    lines.push(
      `${'  '.repeat(depth)}- task **${escaped(each.task)}** (${link(each)}), runs: ${each.runs}${each.address === null ? '' : `, address ${code(each.address)}`}`,
    )
    for (const condition of each.conditions ?? []) {
      lines.push(
        `${'  '.repeat(depth + 1)}- when ${code(condition.text)}: ${answers[condition.runs]} (${code(placeText(condition))})`,
      )
      for (const looked of condition.names) {
        const { name, value, because } = looked
        const shown = isNotKnown(value) ? `not known: ${escaped(because ?? '')}` : code(valueText(value, 60))
        const from = fromText(looked).map(code)
        const where = from.length === 0 ? '' : ` (${from.join(', ')})`
        lines.push(`${'  '.repeat(depth + 2)}- ${code(name)} = ${shown}${where}`)
      }
    }
    lines.push(...excerptMarkdown(each, '  '.repeat(depth + 1)))
  }
  return lines
}

/** The task's lines in a fence that no line of theirs can end. */
function excerptMarkdown({ excerpt }: ReportedEvidence, indent: string): readonly string[] {
  if (excerpt === undefined) return []
  const { first, lines, more } = excerpt
  const runs = lines.flatMap(line => line.match(/`+/g) ?? [])
  const fence = '`'.repeat(Math.max(2, ...runs.map(run => run.length)) + 1)
  const title = `lines ${first} to ${first + lines.length - 1}${more === 0 ? '' : `, ${lineCount(more)} more`}:`
  return ['', title, '', `${fence}yaml`, ...lines, fence].map(line => (line === '' ? '' : indent + line))
}

function link(evidence: ReportedEvidence): string {
  const place = code(placeText(evidence))
  return evidence.permalink === null ? place : `[${place}](${evidence.permalink})`
}

function escaped(text: string): string {
  return text.replace(/[\\*_[\]<>#|]/g, char => `\\${char}`).replaceAll('\n', ' ')
}

/** A code span whose fence is longer than any run of backticks inside. */
function code(text: string): string {
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(Math.max(0, ...runs.map(run => run.length)) + 1)
  const padded = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text
  return `${fence}${padded.replaceAll('\n', ' ')}${fence}`
}
