import { ansibleText } from './ansible-rules.js'
import type { ReportedVariable } from './report.js'
import { plain, type Style, wrap } from './style.js'
import { valueText } from './value-text.js'
import type { VariablesReport } from './variables-report.js'

/** What variables resolve to, for people: by name where names were asked for, else role by role. */
export function renderVarsText(report: VariablesReport, style: Style = plain): string {
  const lines = report.definitions === undefined ? linesByRole(report, style) : linesByName(report, style)
  return lines.length === 0
    ? 'no such variable in any role\n'
    : `${[...lines, '', ...wrap(ansibleText(report.ansible), '', '  ')].join('\n')}\n`
}

function linesByRole(report: VariablesReport, style: Style): readonly string[] {
  const lines: string[] = []
  for (const [role, variables] of report.roles) {
    if (variables.size === 0) continue
    if (lines.length > 0) lines.push('')
    lines.push(style.strong(role))
    for (const [name, variable] of variables) lines.push(...variableLines(name, variable, style))
  }
  return lines
}

/** Each name once for all roles that see the same: most roles do. */
function linesByName(report: VariablesReport, style: Style): readonly string[] {
  const lines: string[] = []
  for (const [name, { agree, places }] of report.definitions ?? []) {
    const answers = new Map<string, { variable: ReportedVariable; roles: string[] }>()
    for (const [role, variables] of report.roles) {
      const variable = variables.get(name)
      if (variable === undefined) continue
      const key = JSON.stringify([variable.value, variable.status, variable.file, variable.line])
      const before = answers.get(key)
      if (before) before.roles.push(role)
      else answers.set(key, { variable, roles: [role] })
    }
    for (const { variable, roles } of answers.values()) {
      if (lines.length > 0) lines.push('')
      lines.push(...variableLines(name, variable, style), ...wrap(`in ${rolesText(roles)}`, '    ', '      '))
    }
    if (agree) continue
    lines.push('', style.unsure(`${name}: its definitions disagree`))
    for (const place of places) {
      lines.push(`  ${valueText(place.value, 40)}  ${place.origin}  ${style.faint(`${place.file}:${place.line}`)}`)
    }
  }
  return lines
}

/** A few roles by name, many by their number. */
function rolesText(roles: readonly string[]): string {
  const named = roles.slice(0, 4).join(', ')
  return roles.length <= 5 ? roles.join(', ') : `${named} and ${roles.length - 4} more roles`
}

/** A variable with its place, and the definitions it wins over. */
export function variableLines(name: string, variable: ReportedVariable, style: Style): readonly string[] {
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
