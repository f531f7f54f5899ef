import { visibleText } from '../source/visible.js'
import { abridged, asksForSomething, type Finding, type Findings, pathBelow } from './findings.js'
import { jsonText } from './json-text.js'

/** One entry of GitLab's code quality report (docs.gitlab.com, "Code Quality report format"). */
interface Degradation {
  readonly description: string
  readonly check_name: string
  readonly fingerprint: string
  readonly severity: 'info' | 'minor' | 'major' | 'critical' | 'blocker'
  readonly location: {
    readonly path: string
    readonly lines: { readonly begin: number; readonly end?: number }
  }
}

const severities = { error: 'critical', warning: 'major', note: 'info', none: 'minor' } as const

/** Longest text of an entry; the widget shows it on one line. */
const LONGEST = 500

/**
 * What asks somebody to act or to look as GitLab's code quality report: an error is critical, a warning major, what could not
 * be told minor. Paths are relative to where the program was called; those of role code from elsewhere as they are in kubespray.
 */
export function renderGitlab(findings: Findings, directory: string): string {
  const entries = findings.findings.filter(asksForSomething).map(finding => degradation(finding, findings, directory))
  return jsonText(entries)
}

function degradation(finding: Finding, findings: Findings, directory: string): Degradation {
  const { rule, level, place, message, commands, fingerprint } = finding
  const toDo = commands.length === 0 ? '' : ` What you have to do: ${commands.join('; ')}`
  return {
    description: abridged(visibleText(message + toDo), LONGEST),
    check_name: rule.id,
    fingerprint,
    severity: severities[level],
    location: {
      path: pathBelow(place, findings, directory) ?? place.file,
      lines: { begin: place.line, ...(place.endLine === undefined ? {} : { end: place.endLine }) },
    },
  }
}
