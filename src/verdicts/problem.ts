import type { Effect, Power } from '../effects/effect.js'
import type { Occurrence, RunEffects } from '../effects/run-effects.js'
import type { Look } from '../host/look.js'
import type { Cause, Truth } from '../jinja/value.js'
import type { Phrase } from '../markdown/phrases.js'

/**
 * What a rule says about one effect.
 * `settles`: if the effect happens, the problem is gone (under `condition`, where one remains on the host).
 * `part`: it settles one of the cases of `of` only, alone under its condition; effects for every case settle together.
 * `near`: it looks like it, but is not, for this reason; the `closest` are shown first. `could`: it may settle, depending on what is not known.
 */
export type Match =
  | { readonly kind: 'settles'; readonly condition?: string; readonly part?: Part }
  | { readonly kind: 'near'; readonly why: string; readonly closest?: true }
  | { readonly kind: 'could'; readonly says: string; readonly causes: readonly Cause[] }
  | { readonly kind: 'no' }

/**
 * One of a few parts that settle the problem together. Where they are cases the host may be in, `condition` says that it is
 * in this one, and the part settles it alone under that; without one, a part alone settles nothing.
 */
export interface Part {
  readonly name: string
  readonly of: readonly string[]
  readonly condition?: string
}

export const NO_MATCH: Match = { kind: 'no' }
export const SETTLES: Match = { kind: 'settles' }

/** Which effects settle a problem. Rules look at effects, never at the names of tasks or files of role code. */
export interface Rule {
  /** What the effect does for the problem, as a phrase: `turns swap off`. */
  readonly says: string
  readonly matches: (effect: Effect, occurrence: Occurrence, effects: RunEffects) => Match
  /** Whether a later effect takes back what `settling` did; absent: nothing does. `occurrence` is where the later one stands. */
  readonly undoneBy?: (settling: Effect, later: Effect, occurrence: Occurrence, effects: RunEffects) => Truth
}

/** Something to know beside the verdict, with the effect it is about. */
export interface Note {
  readonly says: string
  readonly about: Occurrence | undefined
}

/** Something kubespray's own documentation may say of a problem, and what of it can be compared with role code. */
export interface Claim {
  /** What a sentence with these words says, in words of our own after its place: `leaves … to the operator`. */
  readonly says: string
  /** What one sentence (a heading, a row of a table) has to hold. */
  readonly words: readonly Phrase[]
  /** What a heading or list item has to hold that it stands under. */
  readonly under?: readonly Phrase[]
  readonly claims: Claimed
}

/**
 * `fixed-by`: it makes someone responsible. `least-memory`: it names an amount, and a stop of the run compares with this
 * variable, in MB. `fact`: something that is otherwise, whatever is run.
 */
export type Claimed =
  | { readonly kind: 'fixed-by'; readonly who: 'kubespray' | 'operator' }
  | { readonly kind: 'least-memory'; readonly variable: string }
  | { readonly kind: 'fact'; readonly but: string }

/** A problem a host can have before Kubernetes runs on it. */
export interface Problem {
  /** As in who-fixes.json. */
  readonly id: string
  readonly title: string
  /** The question the verdict answers. */
  readonly asks: string
  readonly requirement: { readonly says: string; readonly source: string }
  /** Any of these settles the problem on the running host. */
  readonly now: readonly Rule[]
  /** Any of these keeps it settled over a reboot. */
  readonly afterReboot: readonly Rule[]
  /** What a command that is not modelled would have to be able to do to change the verdict. */
  readonly powers: readonly Power[]
  /** Files that go settle it: one of which only the host knows the path is told. */
  readonly removals?: true
  /** What the person has to do where kubespray does not. */
  readonly byHand: readonly string[]
  /** What kubespray's documentation says of it. */
  readonly claims?: readonly Claim[]
  /** How a captured host stands to it; absent where nothing of a host tells. */
  readonly onHost?: Look
  /** What to know beside the verdict, from what happens or may happen. */
  readonly notes?: (occurrences: readonly Occurrence[], effects: RunEffects) => readonly Note[]
}
