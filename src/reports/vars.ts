import type { Origin } from '../variables/resolved.js'
import type { ReportedVariable } from './report.js'
import { plain, type Style, wrap } from './style.js'
import { type Json, valueText } from './value-text.js'

/** One place that defines a variable, and for which roles. */
export interface ReportedDefinition {
  readonly origin: Origin
  readonly file: string
  readonly line: number
  readonly value: Json
}

/** The places that define one name, and whether they all say the same. */
export interface ReportedDefinitions {
  readonly agree: boolean
  readonly places: readonly ReportedDefinition[]
}

/** What variables resolve to, per role; `definitions` only where names were asked for. */
export interface VariablesReport {
  readonly roles: ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>
  readonly definitions?: ReadonlyMap<string, ReportedDefinitions>
}

/** All places that define one of the names in any role, each once, and whether their values agree. */
export function definitionsOf(
  names: readonly string[],
  roles: VariablesReport['roles'],
): ReadonlyMap<string, ReportedDefinitions> {
  return new Map(
    names.map(name => {
      const places = new Map<string, ReportedDefinition>()
      const add = (place: ReportedDefinition): void => {
        places.set(`${place.file}\0${place.line}\0${place.origin}`, place)
      }
      for (const variables of roles.values()) {
        const variable = variables.get(name)
        if (variable === undefined) continue
        const { origin, file, line, value, overridden } = variable
        if (origin !== null && file !== null && line !== null) add({ origin, file, line, value })
        for (const each of overridden) add(each)
      }
      const all = [...places.values()]
      const values = new Set(all.map(place => JSON.stringify(place.value)))
      return [name, { agree: values.size <= 1, places: all }] as const
    }),
  )
}

/** `vars --format json` (contract). */
export function renderVarsJson(report: VariablesReport): string {
  const roles = Object.fromEntries([...report.roles].map(([role, variables]) => [role, Object.fromEntries(variables)]))
  const definitions = report.definitions === undefined ? {} : { definitions: Object.fromEntries(report.definitions) }
  return `${JSON.stringify({ roles, ...definitions }, null, 2)}\n`
}

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
