import type { ReportedVariable } from './report.js'
import { plain, type Style, wrap } from './style.js'
import { valueText } from './value-text.js'
import type { VariablesReport } from './variables-report.js'

/** What variables resolve to, for people. */
export function renderVarsText(report: VariablesReport, style: Style = plain): string {
  const lines: string[] = []
  for (const [role, variables] of report.roles) {
    if (variables.size === 0) continue
    if (lines.length > 0) lines.push('')
    lines.push(style.strong(role))
    for (const [name, variable] of variables) lines.push(...variableLines(name, variable, style))
  }
  for (const [name, { agree, places }] of report.definitions ?? []) {
    if (agree) continue
    lines.push('', style.unsure(`${name}: its definitions disagree`))
    for (const place of places) {
      lines.push(`  ${valueText(place.value, 40)}  ${place.origin}  ${style.faint(`${place.file}:${place.line}`)}`)
    }
  }
  return lines.length === 0 ? 'no such variable in any role\n' : `${lines.join('\n')}\n`
}

function variableLines(name: string, variable: ReportedVariable, style: Style): readonly string[] {
  const { status, value, origin, file, line, overridden, because } = variable
  const shown =
    status === 'undefined' ? 'not defined' : status === 'unknown' && value === null ? 'not known' : valueText(value, 70)
  const lines = [...wrap(`${name} = ${shown}`, '  ', '    ')]
  if (origin !== null) lines.push(`    ${origin}  ${style.faint(`${file ?? ''}:${line ?? ''}`)}`)
  if (status === 'unknown' && because !== null) lines.push(...wrap(`because: ${because}`, '    ', '      '))
  for (const each of overridden) {
    lines.push(
      `    instead of ${valueText(each.value, 40)}  ${each.origin}  ${style.faint(`${each.file}:${each.line}`)}`,
    )
  }
  return lines
}
