import type { FixedBy } from '../verdicts/judge.js'
import { jsonText } from './json-text.js'
import type { Report, ReportedVariable } from './report.js'

/** The lab's who-fixes.json: who fixes each of its problems. Its keys and their order are fixed. */
export interface AnswerJson {
  /** Who turns swap off, now and after a reboot. */
  readonly swap: FixedBy
  /** Who loads the kernel module br_netfilter, now and at boot. */
  readonly br_netfilter: FixedBy
  /** Who switches IPv4 forwarding on, now and after a reboot. */
  readonly ip_forward: FixedBy
  /** Who frees the kubelet's port 10250 where something else holds it. */
  readonly port_10250: FixedBy
  /** The file that kernel settings are written to; `unknown` where that cannot be told. */
  readonly sysctl_file: string
}

const PROBLEMS = ['swap', 'br_netfilter', 'ip_forward', 'port_10250'] as const

/** The lab's who-fixes.json: exactly these keys in this order; `unknown` where it truly cannot be told. */
export function renderAnswerJson(report: Report): string {
  return jsonText(answerJson(report.problems, report.variables.get('sysctl_file_path')))
}

/** The answer in its outside form, from the problems of a report and its variable `sysctl_file_path`. */
export function answerJson(
  problems: readonly { readonly id: string; readonly fixedBy: FixedBy }[],
  variable: ReportedVariable | undefined,
): AnswerJson {
  const by = (id: (typeof PROBLEMS)[number]): FixedBy => problems.find(each => each.id === id)?.fixedBy ?? 'unknown'
  return {
    swap: by('swap'),
    br_netfilter: by('br_netfilter'),
    ip_forward: by('ip_forward'),
    port_10250: by('port_10250'),
    sysctl_file: sysctlFile(variable),
  }
}

/** The file kernel settings are written to, as the role's variables say it before the host is looked at. */
function sysctlFile(variable: ReportedVariable | undefined): string {
  return variable?.status === 'known' && typeof variable.value === 'string' ? variable.value : 'unknown'
}

/** Which keys of the answer are unknown, each with what would decide it, one line a reason. */
export function undecided(report: Report): readonly string[] {
  const lines = PROBLEMS.flatMap(id => {
    const problem = report.problems.find(each => each.id === id)
    if (problem === undefined) return [`${id}: it was not judged`]
    if (problem.fixedBy !== 'unknown') return []
    const open = [...problem.now.open, ...problem.afterReboot.open].map(
      each => `${id}: ${each.effect} (${each.file}:${each.line}): ${each.why ?? 'not known'}`,
    )
    const unresolved = problem.searched.unresolved
      .filter(each => each.couldChange)
      .map(each => `${id}: ${each.says} (${each.file}:${each.line}): ${each.why}`)
    return [...new Set([...open, ...unresolved])]
  })
  const variable = report.variables.get('sysctl_file_path')
  if (sysctlFile(variable) !== 'unknown') return lines
  const because = variable?.because ?? 'sysctl_file_path is defined nowhere'
  return [...lines, `sysctl_file: ${because}`]
}
