import type { Problem } from '../verdicts/problem.js'
import { jsonText } from './json-text.js'
import type { ReportedRequirement } from './report.js'
import { outputs } from './schemas.js'

/** The problems of the catalogue. */
export interface RulesJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.rules.schema
  /** All of them, or the one that was asked for. */
  readonly problems: readonly RuleJson[]
}

/** A problem a host can have before Kubernetes runs on it. */
export interface RuleJson {
  /** The problem's name, as in `swap`. */
  readonly id: string
  /** The problem in a few words. */
  readonly title: string
  /** The question that a verdict on it answers. */
  readonly asks: string
  /** What Kubernetes asks of a host here, and where that is said. */
  readonly requirement: ReportedRequirement
  /** What the operator has to do where kubespray does not, a step each. */
  readonly byHand: readonly string[]
}

/** The problems for machines. */
export function renderRulesJson(problems: readonly Problem[]): string {
  const json: RulesJson = {
    schema: outputs.rules.schema,
    problems: problems.map(({ id, title, asks, requirement, byHand }) => ({ id, title, asks, requirement, byHand })),
  }
  return jsonText(json)
}
