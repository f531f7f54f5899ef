import type { FindingLevel, Findings } from './findings.js'
import { renderGitlab } from './gitlab.js'
import { renderJunit } from './junit.js'
import { type Invocation, renderSarif } from './sarif.js'

/** The formats of pipelines: each tells findings, whichever command found them. */
export const findingFormats = ['sarif', 'gitlab', 'junit'] as const

export type FindingFormat = (typeof findingFormats)[number]

/** Whether a format's name is one of a pipeline's. */
export function isFindingFormat(format: string): format is FindingFormat {
  return (findingFormats as readonly string[]).includes(format)
}

/** Findings in a format of a pipeline. `failing`: the levels that make a test case fail, as `--fail-on` has it. */
export function renderFindings(
  format: FindingFormat,
  findings: Findings,
  invocation: Invocation,
  failing?: readonly FindingLevel[],
): string {
  switch (format) {
    case 'sarif':
      return renderSarif(findings, invocation)
    case 'gitlab':
      return renderGitlab(findings, invocation.directory)
    case 'junit':
      return renderJunit(findings, failing)
  }
}
