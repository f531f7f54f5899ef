import { createHash } from 'node:crypto'
import type { Place } from './place.js'
import type { ReportedDiagnostic, ReportedSource } from './report.js'

/** What a finding is an instance of: a problem, a kind of change, a kind of citation. */
export interface FindingRule {
  readonly id: string
  readonly title: string
  /** What it means, and what to do about it, for people: plain text. */
  readonly help: string
  /** A page on the web that says more; null where there is none. */
  readonly page: string | null
}

export type FindingLevel = 'error' | 'warning' | 'note' | 'none'

/**
 * `fail`: somebody has to act. `pass`: it is taken care of. `open`: it could not be told. `informational`: good to know, and
 * asks for nothing.
 */
export type FindingKind = 'fail' | 'pass' | 'open' | 'informational'

/**
 * Whose file it is. `kubespray`: in the role code, or in NEW of an audit; `old`: in OLD of an audit; `own`: a file of the
 * user's, by a path from where the program was called, or an absolute one.
 */
export type Owner = 'kubespray' | 'old' | 'own'

export interface FindingPlace extends Place {
  readonly owner: Owner
  readonly endLine?: number
}

/** A place that has to do with a finding, and what is there. */
export interface RelatedPlace extends FindingPlace {
  readonly says: string
}

/** One way that leads to a task, step by step: playbook, play, role, import, task. */
export interface FindingFlow {
  readonly says: string
  readonly steps: readonly RelatedPlace[]
}

export interface Finding {
  readonly rule: FindingRule
  readonly level: FindingLevel
  readonly kind: FindingKind
  /** What it is about, in a few words that stay the same from run to run: a title, a name. */
  readonly about: string
  /** One or two sentences that stand alone. */
  readonly message: string
  /** Commands for the person who has to act; empty where there are none. */
  readonly commands: readonly string[]
  readonly place: FindingPlace
  readonly related: readonly RelatedPlace[]
  readonly flows: readonly FindingFlow[]
  /** The same for the same finding in another revision: neither lines nor names of files are in it. */
  readonly fingerprint: string
}

/** What a command found, for the formats of pipelines. */
export interface Findings {
  readonly command: string
  /** What is told apart when one repository has several runs: the playbook and the host. */
  readonly subject: readonly string[]
  /** The role code, of an audit NEW. */
  readonly source: ReportedSource
  /** OLD of an audit. */
  readonly old?: ReportedSource
  readonly findings: readonly Finding[]
  /** What was wrong with the input. */
  readonly diagnostics: readonly ReportedDiagnostic[]
  /** What could not be looked at: a sentence each. */
  readonly notLookedAt: readonly string[]
}

/** A finding before it has its fingerprint: `identity` is what makes it the same one elsewhere. */
export type Draft = Omit<Finding, 'fingerprint'> & { readonly identity: readonly string[] }

/** Gives each finding its fingerprint. Findings with one identity are numbered in their order, so that no two share one. */
export function fingerprinted(drafts: readonly Draft[]): readonly Finding[] {
  const seen = new Map<string, number>()
  return drafts.map(({ identity, ...finding }) => {
    const key = JSON.stringify([finding.rule.id, ...identity])
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    const text = count === 1 ? key : `${key}#${count}`
    return { ...finding, fingerprint: createHash('sha256').update(text).digest('hex').slice(0, 32) }
  })
}

/** Whether a finding asks somebody to act or to look. */
export function asksForSomething({ kind }: Finding): boolean {
  return kind === 'fail' || kind === 'open'
}

/**
 * The path of a place in the repository that the program was called in: of a file of the user's, and of role code that lies in
 * a directory below. Undefined for what is elsewhere: another revision, a snapshot, an absolute path outside.
 */
export function pathBelow(place: FindingPlace, { source, old }: Findings, directory: string): string | undefined {
  const root = place.owner === 'own' ? '.' : rootOf(place.owner === 'old' ? old : source)
  if (root === undefined) return undefined
  const path = below(place.file.startsWith('/') ? place.file : `${root}/${place.file}`, directory)
  return path === undefined || path === '' ? undefined : path
}

function rootOf(source: ReportedSource | undefined): string | undefined {
  return source?.kind === 'directory' ? (source.path ?? undefined) : undefined
}

function below(path: string, directory: string): string | undefined {
  const base = `${directory.replace(/\/+$/, '')}/`
  const whole = path.startsWith('/') ? path : `${base}${path}`
  const parts: string[] = []
  for (const part of whole.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  const normal = `/${parts.join('/')}`
  return normal.startsWith(base) ? normal.slice(base.length) : undefined
}

/** The first words of a text, on one line. */
export function abridged(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}
