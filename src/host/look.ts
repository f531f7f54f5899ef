import type { RunEffects } from '../effects/run-effects.js'
import type { HostPlace, Moment, OperatorStep } from './moment.js'

/** Before the run, after it, and after the boot that follows. */
export type Phase = 'now' | 'afterRun' | 'afterReboot'

/**
 * How a host stands to a problem at one moment. `unneeded` is one that is there but that this host need not mind, for the
 * reason in `says`.
 */
export interface HostAnswer {
  readonly state: 'ok' | 'problem' | 'unneeded' | 'unknown'
  /** A sentence without its full stop: `net.ipv4.ip_forward is 0`. */
  readonly says: string
  readonly places: readonly HostPlace[]
  /** What the operator does about it, in order; empty where nothing is to be done. */
  readonly steps: readonly OperatorStep[]
}

export interface HostContext {
  readonly moment: Moment
  readonly phase: Phase
  /** The host before the run. */
  readonly before: Moment
  readonly effects: RunEffects
  /** The groups of the host; empty where the inventory is the default one of a single host. */
  readonly groups: ReadonlySet<string>
}

/** Looks at a host for one problem. */
export type Look = (context: HostContext) => HostAnswer
