import type { ReportedAnsible } from './ansible-rules.js'
import type { ReportedDefinition, ReportedVariable } from './report.js'

/** The places that define one name, and whether they all say the same. */
export interface ReportedDefinitions {
  /** Whether all of them say the same; what tasks set during the run does not count. */
  readonly agree: boolean
  /** Every place that defines the name in any role, each once. */
  readonly places: readonly ReportedDefinition[]
}

/** What variables resolve to, per role; `definitions` only where names were asked for. */
export interface VariablesReport {
  readonly ansible: ReportedAnsible
  readonly roles: ReadonlyMap<string, ReadonlyMap<string, ReportedVariable>>
  readonly definitions?: ReadonlyMap<string, ReportedDefinitions>
}

/**
 * All places that define one of the names in any role, each once, and whether their values agree; `unreached` are those
 * of roles the playbook does not get to.
 */
export function definitionsOf(
  names: readonly string[],
  roles: VariablesReport['roles'],
  unreached: readonly (ReportedDefinition & { readonly name: string })[] = [],
): ReadonlyMap<string, ReportedDefinitions> {
  return new Map(
    names.map(name => {
      const places = new Map<string, ReportedDefinition>()
      const add = (place: ReportedDefinition): void => {
        places.set(`${place.file}\0${place.line}\0${place.origin}`, place)
      }
      for (const variables of roles.values()) {
        const variable = variables.get(name)
        if (variable === undefined) continue
        const { origin, file, line, value, overridden } = variable
        if (origin !== null && file !== null && line !== null) add({ origin, file, line, value })
        for (const each of overridden) add(each)
      }
      for (const { name: defined, ...place } of unreached) if (defined === name) add(place)
      const all = [...places.values()]
      // What tasks set while running changes the value on purpose; that is no disagreement between definitions.
      const written = all.filter(({ origin }) => origin !== 'set_fact' && origin !== 'registered vars')
      const values = new Set(written.map(place => JSON.stringify(place.value)))
      return [name, { agree: values.size <= 1, places: all }] as const
    }),
  )
}
