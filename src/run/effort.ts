import type { Report } from '../source/diagnostic.js'
import type { Span } from '../source/text.js'

/**
 * What a run may cost. Files that import files that import files, each ten times, are a short text and an endless run;
 * a release comes to a few thousand.
 */
const most = 30_000

/** Counts one kind of steps: statements put in place, or invocations of modules. */
export interface Effort {
  readonly spend: (amount: number) => void
  /** Why the run goes no further from this place; undefined as long as it may. Reported where it is first met. */
  readonly exhausted: (at: Span) => string | undefined
}

/** A budget of its own; used up, it is reported once. */
export function createEffort(report: Report): Effort {
  let spent = 0
  let told = false
  return {
    spend: amount => {
      spent += amount
    },
    exhausted: at => {
      if (spent < most) return undefined
      const says = `the run is longer than ${most} steps; what follows is not read`
      if (!told) report({ code: 'run-limit', severity: 'error', message: says, at })
      told = true
      return says
    },
  }
}
