import { readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { problems } from '../../rules/index.js'
import * as kit from '../../rules/kit.js'
import { EVERY_POWER } from '../effects/effect.js'
import { UsageError } from '../source/diagnostic.js'
import type { Problem, Rule } from '../verdicts/problem.js'

/**
 * The problems in a directory's JavaScript and TypeScript files, in the order of their names. A file exports one as
 * `default`, or a list of them; it is written against `whofixes/rules`. Throws UsageError, with the file and the field, for
 * what cannot be loaded or is no problem.
 */
export function readOwnProblems(directory: string): readonly Problem[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`--rules ${directory}: not a directory; expected one of problem files (*.ts, *.js)`)
  }
  const files = readdirSync(directory).filter(name => /(?<!\.d)(?<!\.test)\.(?:[cm]?js|[cm]?ts)$/.test(name))
  if (files.length === 0) throw new UsageError(`--rules ${directory}: no problem file (*.ts, *.js) in it`)
  const taken = new Map(problems.map(({ id }) => [id, 'the catalogue']))
  return files.toSorted().flatMap(name => {
    const path = join(directory, name)
    const found = load(path)
    return (Array.isArray(found) ? found : [found]).map((problem: unknown) => {
      const own = checked(problem, path)
      const before = taken.get(own.id)
      if (before !== undefined) throw new UsageError(`${path}: id: '${own.id}' is taken by ${before}`)
      taken.set(own.id, path)
      return own
    })
  })
}

/** jiti takes types out and loads ES modules at once, on every Node there is. */
function load(path: string): unknown {
  // Only who brings problems along pays for the package.
  const { createJiti }: typeof import('jiti') = createRequire(import.meta.url)('jiti')
  const jiti = createJiti(import.meta.url, { virtualModules: { 'whofixes/rules': kit }, fsCache: false })
  try {
    const module: unknown = jiti(resolve(path))
    return isRecord(module) && 'default' in module ? module.default : module
  } catch (error) {
    const [why] = String(error instanceof Error ? error.message : error).split('\n')
    throw new UsageError(`${path}: cannot be loaded: ${why}`)
  }
}

type Check = readonly [expected: string, holds: (value: unknown) => boolean]

const text: Check = ['a text', value => typeof value === 'string' && value.trim() !== '']
const texts: Check = ['a list of texts', value => Array.isArray(value) && value.every(each => typeof each === 'string')]
const rules: Check = ['a list of rules', value => Array.isArray(value)]

const fields: Readonly<Record<string, Check>> = {
  id: [
    'lower-case letters, digits and _, as in who-fixes.json',
    value => typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value),
  ],
  title: text,
  asks: text,
  requirement: ['an object with says and source', isRecord],
  now: rules,
  afterReboot: rules,
  powers: [
    `a list of ${EVERY_POWER.join(', ')}`,
    value => Array.isArray(value) && value.every(each => EVERY_POWER.some(power => power === each)),
  ],
  byHand: texts,
}

function checked(problem: unknown, path: string): Problem {
  const refuse = (field: string, expected: string, got: unknown): never => {
    throw new UsageError(`${path}: ${field}: expected ${expected}, got ${shown(got)}`)
  }
  if (!isRecord(problem)) return refuse('default export', 'a problem, or a list of problems', problem)
  for (const [field, [expected, holds]] of Object.entries(fields)) {
    if (!holds(problem[field])) refuse(field, expected, problem[field])
  }
  const { requirement } = problem
  for (const field of ['says', 'source'] as const) {
    const value = isRecord(requirement) ? requirement[field] : undefined
    if (!text[1](value)) refuse(`requirement.${field}`, text[0], value)
  }
  for (const phase of ['now', 'afterReboot'] as const) {
    for (const [index, rule] of (problem[phase] as readonly unknown[]).entries()) checkRule(rule, `${phase}[${index}]`)
  }
  if (problem.notes !== undefined && typeof problem.notes !== 'function') refuse('notes', 'a function', problem.notes)
  const { claims = [] } = problem
  if (!Array.isArray(claims)) return refuse('claims', 'a list of claims', claims)
  for (const [index, claim] of claims.entries()) checkClaim(claim, `claims[${index}]`)
  return guarded(problem as unknown as Problem, path)

  function checkClaim(claim: unknown, field: string): void {
    const part = (name: string): unknown => (isRecord(claim) ? claim[name] : undefined)
    if (!isRecord(claim)) refuse(field, 'a claim with says, words and claims', claim)
    if (!text[1](part('says'))) refuse(`${field}.says`, text[0], part('says'))
    for (const name of ['words', 'under']) {
      if (name === 'under' && part(name) === undefined) continue
      if (!isPhrases(part(name))) refuse(`${field}.${name}`, 'a list of texts, or of lists of texts', part(name))
    }
    if (isClaimed(part('claims'))) return
    refuse(`${field}.claims`, 'fixed-by with who, least-memory with variable, or fact with but', part('claims'))
  }

  function checkRule(rule: unknown, field: string): void {
    const part = (name: string): unknown => (isRecord(rule) ? rule[name] : undefined)
    if (!isRecord(rule)) refuse(field, 'a rule with says and matches', rule)
    if (!text[1](part('says'))) refuse(`${field}.says`, text[0], part('says'))
    if (typeof part('matches') !== 'function') refuse(`${field}.matches`, 'a function', part('matches'))
    const undoneBy = part('undoneBy')
    if (undoneBy !== undefined && typeof undoneBy !== 'function') refuse(`${field}.undoneBy`, 'a function', undoneBy)
  }
}

/** The problem with its functions watched: one that throws, or answers something else than it should, is told by its place. */
function guarded(problem: Problem, path: string): Problem {
  const asked = <T>(field: string, [expected, holds]: Check, answer: () => T): T => {
    let given: T
    try {
      given = answer()
    } catch (error) {
      const [why] = String(error instanceof Error ? error.message : error).split('\n')
      throw new UsageError(`${path}: ${problem.id}: ${field} fails: ${why}`)
    }
    if (!holds(given))
      throw new UsageError(`${path}: ${problem.id}: ${field}: expected ${expected}, got ${shown(given)}`)
    return given
  }
  const watched = (rule: Rule, field: string): Rule => {
    const { matches, undoneBy } = rule
    return {
      ...rule,
      matches: (...about) => asked(`${field}.matches`, match, () => matches.call(rule, ...about)),
      ...(undoneBy === undefined
        ? {}
        : { undoneBy: (...about) => asked(`${field}.undoneBy`, truth, () => undoneBy.call(rule, ...about)) }),
    }
  }
  const { notes } = problem
  return {
    ...problem,
    now: problem.now.map((rule, index) => watched(rule, `now[${index}]`)),
    afterReboot: problem.afterReboot.map((rule, index) => watched(rule, `afterReboot[${index}]`)),
    ...(notes === undefined
      ? {}
      : { notes: (...about) => asked('notes', noteList, () => notes.call(problem, ...about)) }),
  }
}

const match: Check = [
  'a match: settles, near with why, could with says and causes, or no',
  value => {
    if (!isRecord(value)) return false
    switch (value.kind) {
      case 'no':
        return true
      case 'near':
        return text[1](value.why)
      case 'could':
        return text[1](value.says) && isCauses(value.causes)
      case 'settles':
        return (value.condition === undefined || text[1](value.condition)) && isPart(value.part)
      default:
        return false
    }
  },
]

const truth: Check = [
  'TRUE, FALSE or unknown with causes',
  value =>
    isRecord(value) &&
    (value.kind === 'true' || value.kind === 'false' || (value.kind === 'unknown' && isCauses(value.causes))),
]

const noteList: Check = [
  'a list of notes with says and about',
  value => Array.isArray(value) && value.every(each => isRecord(each) && text[1](each.says) && isAbout(each.about)),
]

function isCauses(value: unknown): boolean {
  return Array.isArray(value) && value.every(each => isRecord(each) && text[1](each.says) && isRecord(each.at))
}

function isPart(value: unknown): boolean {
  if (value === undefined) return true
  if (!isRecord(value) || !texts[1](value.of) || !text[1](value.name)) return false
  return value.condition === undefined || text[1](value.condition)
}

function isAbout(value: unknown): boolean {
  return value === undefined || (isRecord(value) && isRecord(value.effect) && isRecord(value.task))
}

function isPhrases(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(phrase => [phrase].flat().length > 0 && [phrase].flat().every(each => text[1](each)))
  )
}

function isClaimed(value: unknown): boolean {
  if (!isRecord(value)) return false
  if (value.kind === 'fixed-by') return value.who === 'kubespray' || value.who === 'operator'
  return (value.kind === 'least-memory' && text[1](value.variable)) || (value.kind === 'fact' && text[1](value.but))
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const written = typeof value === 'function' ? 'a function' : JSON.stringify(value)
  return written.length > 60 ? `${written.slice(0, 59)}…` : written
}
