import type { EffectKind } from '../effects/effect.js'
import type { EffectsReport, ReportedEffect, ReportedLeft, ResidueReport } from './effects-report.js'
import { jsonText } from './json-text.js'
import type { Count } from './place.js'
import type { ReportedSource } from './report.js'
import { type EvidenceJson, evidenceJson } from './report-json.js'
import { outputs } from './schemas.js'

/** What a run does to a host, or those of its effects that were asked for. */
export interface EffectsJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.effects.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The host the effects happen to, as the inventory names it. */
  readonly host: string
  /** How many task runs were searched. */
  readonly tasks: Count
  /** In run order, those that never happen last. */
  readonly effects: readonly EffectJson[]
}

/** One effect of a task on the host. */
export interface EffectJson extends EvidenceJson {
  /** What kind of effect it is (docs/effects.md). */
  readonly kind: EffectKind
  /** False where what it acts on is not known, and may be what was asked for. */
  readonly certain: boolean
  /** Whether it may happen at all; `why` says why not. */
  readonly happens: boolean
}

/** What a run leaves on a host that another playbook does not take away. */
export interface ResidueJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.residue.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The playbook that is to take things away, relative to the checkout. */
  readonly resetBy: string
  /** The host, as the inventory names it. */
  readonly host: string
  /** What stays, or may stay. */
  readonly left: readonly LeftJson[]
  /** How many lasting things of the run the other playbook certainly takes away. */
  readonly taken: Count
  /** What has a path or name that is not known, so that it cannot be followed. */
  readonly untold: readonly EvidenceJson[]
}

/** One thing that stays on the host. */
export interface LeftJson {
  /** A path, a unit, a package or a setting. */
  readonly what: string
  /** `perhaps`: the other playbook takes it away only under a condition, or it cannot be told. */
  readonly stays: ReportedLeft['stays']
  /** Why it may go; null where it stays. */
  readonly why: string | null
  /** How many tasks leave it. */
  readonly tasks: Count
  /** The first task that leaves it. */
  readonly left: EvidenceJson
}

/** The effects of a run for machines, in run order. */
export function renderEffectsJson({ source, playbook, host, tasks, effects }: EffectsReport): string {
  const json: EffectsJson = {
    schema: outputs.effects.schema,
    source,
    playbook,
    host,
    tasks,
    effects: effects.map(effectJson),
  }
  return jsonText(json)
}

function effectJson({ kind, certain, happens, ...evidence }: ReportedEffect): EffectJson {
  return { kind, certain, happens, ...evidenceJson(evidence) }
}

/** What a run leaves behind, for machines. */
export function renderResidueJson(report: ResidueReport): string {
  const { source, playbook, resetBy, host, left, taken, untold } = report
  const json: ResidueJson = {
    schema: outputs.residue.schema,
    source,
    playbook,
    resetBy,
    host,
    left: left.map(each => ({ ...each, left: evidenceJson(each.left) })),
    taken,
    untold: untold.map(evidenceJson),
  }
  return jsonText(json)
}
