import { joinAnd } from '../effects/standing.js'

/** A condition under which something settles, and what has to hold together for it. */
export interface Clause {
  readonly text: string
  readonly conjuncts: readonly string[]
}

/** Conditions that have to hold together, as one. */
export function bothClauses(clauses: readonly Clause[]): Clause {
  const conjuncts = [...new Set(clauses.flatMap(each => each.conjuncts))]
  return { text: joinAnd([...new Set(clauses.map(({ text }) => text))]), conjuncts }
}

/** Of conditions of which any is enough, those that say something of their own: `A` leaves nothing of `B and A`. */
export function absorbed(clauses: readonly Clause[]): readonly Clause[] {
  return clauses.filter(
    (clause, index) =>
      !clauses.some(
        (other, at) =>
          at !== index && asksNoMore(other, clause) && (at < index || other.conjuncts.length < clause.conjuncts.length),
      ),
  )
}

/** Any of the conditions, in words. */
export function anyClause(clauses: readonly Clause[]): string {
  return [...new Set(absorbed(clauses).map(({ text }) => text))].join(' or ')
}

/** Whether one of `given` holding means that one of `asked` does. */
export function implies(given: readonly Clause[], asked: readonly Clause[]): boolean {
  return given.length > 0 && given.every(each => asked.some(other => asksNoMore(other, each)))
}

function asksNoMore(less: Clause, more: Clause): boolean {
  return less.conjuncts.every(each => more.conjuncts.includes(each))
}
