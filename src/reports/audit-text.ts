import { type Audit, type Change, type PartId, partOf, parts, summaryOf } from './audit.js'
import { type Place, placeText } from './place.js'
import type { ReportedSource } from './report.js'
import { plain, type Style, wrap } from './style.js'

/** Parts of which a person wants to know how many there are, and the rest when asked. */
const counted: readonly PartId[] = ['names', 'moved']

/** The audit for people. With `all` also each name that came or went and asks for nothing. */
export function renderAuditText(
  audit: Audit,
  { all = false, style = plain }: { all?: boolean; style?: Style } = {},
): string {
  const { changes, notCompared, playbook, host } = audit
  const { required, advised, none } = summaryOf(changes)
  const lines = [
    style.strong(`From ${sourceName(audit.old)} to ${sourceName(audit.new)}: ${playbook}, host ${host}`),
    `${required} required, ${advised} advised, ${none} for your information`,
  ]
  for (const { id, title } of parts) {
    const ofPart = changes.filter(change => partOf(change) === id)
    if (ofPart.length === 0) continue
    const shown = all || !counted.includes(id) ? ofPart : ofPart.filter(({ action }) => action !== 'none')
    lines.push('', style.strong(`${title} (${ofPart.length})`))
    for (const change of shown) lines.push(...changeLines(change, style))
    const rest = ofPart.filter(change => !shown.includes(change))
    if (rest.length > 0) lines.push(`  ${countsText(rest)}; --all lists them`)
  }
  if (changes.length === 0) lines.push('', 'Nothing changes.')
  for (const each of notCompared) lines.push('', ...wrap(`Not compared: ${each}`, '', '  '))
  return `${lines.join('\n')}\n`
}

/** `a release`, `a directory` in a word. */
export function sourceName({ release, commit, path }: ReportedSource): string {
  return release ?? (commit === null ? (path ?? 'a directory') : `${path} (${commit.slice(0, 9)})`)
}

function changeLines(change: Change, style: Style): readonly string[] {
  const mark = { required: style.bad('!'), advised: style.unsure('?'), none: '·' }[change.action]
  const [first = '', ...rest] = wrap(`${change.kind}: ${change.says}`, '  * ', '    ')
  const lines = [first.replace('  * ', `  ${mark} `), ...rest]
  for (const place of change.inventory.slice(0, 3)) lines.push(style.faint(`      yours: ${placeText(place)}`))
  if (change.inventory.length > 3) lines.push(style.faint(`      yours: ${change.inventory.length - 3} places more`))
  const places = placesText(change)
  if (places !== '') lines.push(style.faint(`      ${places}`))
  for (const { old, new: now } of (change.evidence ?? []).slice(0, 2)) {
    lines.push(style.faint(`      read at ${placeText(old)}, now ${placeText(now)}`))
  }
  return lines
}

/** Where it stood and stands: one place where both are the same. */
export function placesText({ old, new: now }: { readonly old: Place | null; readonly new: Place | null }): string {
  const [was, is] = [old === null ? undefined : placeText(old), now === null ? undefined : placeText(now)]
  if (was === undefined) return is ?? ''
  if (is === undefined) return `was ${was}`
  return was === is ? was : `was ${was}, is ${is}`
}

/** `84 variable-removed, 17 variable-added`. */
export function countsText(changes: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ')
}
