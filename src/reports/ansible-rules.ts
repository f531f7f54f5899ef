import type { AnsibleVersion } from '../run/ansible-version.js'
import { type Place, placeOfSpan, placeText } from './place.js'

/** Which Ansible an answer is for, and where that is said (contract: every answer says which rules were used). */
export interface ReportedAnsible {
  /** Of ansible-core; null where the role code says nothing of it. */
  readonly version: string | null
  /** The versions whose rules were followed. */
  readonly rules: string
  /** The line of a requirements file that pins it; null where none does. */
  readonly from: Place | null
  /** What stands on that line. */
  readonly requirement: string | null
  /** The task that checks the version; null where none does. */
  readonly window: Place | null
  /** Whether this version passes that check. */
  readonly accepted: boolean
  /** How that version came about, in one line. */
  readonly because: string
}

/** The Ansible of a run, with places instead of spans. */
export function reportedAnsible({
  version,
  rules,
  requirement,
  window,
  accepted,
  asked,
}: AnsibleVersion): ReportedAnsible {
  const facts = {
    version: version ?? null,
    rules: rules.name,
    from: requirement === undefined ? null : placeOfSpan(requirement.at),
    requirement: requirement?.text ?? null,
    window: window === undefined ? null : placeOfSpan(window),
    accepted,
  }
  return { ...facts, because: asked ? `it was asked for${checkText(facts)}` : becauseOf(facts) }
}

/** How a version that was not asked for came about. */
export function becauseOf(facts: Omit<ReportedAnsible, 'because'>): string {
  const { version, from, requirement, window } = facts
  if (version === null) {
    return window === null
      ? 'the role code pins no version and checks none'
      : `no version that is known passes the check at ${placeText(window)}`
  }
  if (from === null || requirement === null) return `the role code pins none${checkText(facts)}`
  return `${placeText(from)} asks for ${requirement}${checkText(facts)}`
}

function checkText({ window, accepted }: Pick<ReportedAnsible, 'window' | 'accepted'>): string {
  if (window === null) return ''
  return accepted ? `, and ${placeText(window)} takes it` : `, but ${placeText(window)} does not take it`
}

/** The line that says it in reports for people. */
export function ansibleText({ version, rules, because }: ReportedAnsible): string {
  return version === null
    ? `By the rules of ansible-core ${rules}: ${because}`
    : `For ansible-core ${version} (rules of ${rules}): ${because}`
}
