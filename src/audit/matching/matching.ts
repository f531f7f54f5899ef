import type { Block, Directives, Play, Task } from '../../ansible/statement.js'
import { printNode } from '../../yaml/print.js'
import type { Owner, PlacedStatement, RoleIndex } from '../role-index.js'
import { comparableName, type Meaning, meanings } from './meaning.js'
import { placeContent } from './placing.js'

/** A play and the playbook it stands in. */
export type PlacedPlay = RoleIndex['plays'][number]

/** What of one version is what of another, each matched at most once. */
export interface Matching {
  /** The new directory of a role; the same one where it only changed. Undefined: no role has its content. */
  readonly roleOf: (oldDirectory: string) => string | undefined
  readonly oldRoleOf: (newDirectory: string) => string | undefined
  /** The new path of a file with tasks, variables or plays, or of a template. */
  readonly pathOf: (oldPath: string) => string | undefined
  readonly oldPathOf: (newPath: string) => string | undefined
  readonly statementOf: (old: PlacedStatement) => PlacedStatement | undefined
  readonly oldStatementOf: (now: PlacedStatement) => PlacedStatement | undefined
  readonly playOf: (old: PlacedPlay) => PlacedPlay | undefined
  readonly oldPlayOf: (now: PlacedPlay) => PlacedPlay | undefined
  /** What holds in the new version what the owner of a read held. */
  readonly ownerOf: (old: Owner) => Owner | undefined
  /** Tasks and blocks of the one version that the other does not have. */
  readonly unmatched: {
    readonly old: readonly PlacedStatement[]
    readonly new: readonly PlacedStatement[]
  }
}

/**
 * Matches the role code of two versions: roles and files by what is in them, then tasks and blocks by what they do and where
 * they stand, in passes from strict to loose; never by line. The same input gives the same matches.
 */
export function matchSides(old: RoleIndex, now: RoleIndex): Matching {
  const meaningOf = meanings()
  const placing = placeContent(old, now, meaningOf)
  const oldRoles = inverse(placing.roles)
  const oldPaths = inverse(placing.paths)
  const statements = matchStatements(old, now, meaningOf, placing.roles, placing.paths)
  const oldStatements = inverse(statements)
  const plays = matchPlays(old, now, placing.paths)
  const newPlayOf = new Map([...plays].map(([{ play }, placed]) => [play, placed]))
  const oldPlayOf = new Map([...plays].map(([placed, { play }]) => [play, placed]))
  const ownerOf = (owner: Owner): Owner | undefined => {
    if (owner.kind === 'definition') return owner
    if (owner.kind === 'statement') {
      const placed = statements.get(owner.placed)
      return placed && { kind: 'statement', placed }
    }
    if (owner.kind === 'play') {
      const placed = newPlayOf.get(owner.play)
      return placed && { kind: 'play', ...placed }
    }
    const path = placing.paths.get(owner.path)
    return path === undefined ? undefined : { ...owner, path }
  }
  return {
    roleOf: directory => placing.roles.get(directory),
    oldRoleOf: directory => oldRoles.get(directory),
    pathOf: path => placing.paths.get(path),
    oldPathOf: path => oldPaths.get(path),
    statementOf: placed => statements.get(placed),
    oldStatementOf: placed => oldStatements.get(placed),
    playOf: ({ play }) => newPlayOf.get(play),
    oldPlayOf: ({ play }) => oldPlayOf.get(play),
    ownerOf,
    unmatched: {
      old: old.statements.filter(placed => !statements.has(placed)),
      new: now.statements.filter(placed => !oldStatements.has(placed)),
    },
  }
}

function inverse<K, V>(map: ReadonlyMap<K, V>): ReadonlyMap<V, K> {
  return new Map([...map].map(([key, value]) => [value, key]))
}

/** A statement with what it is matched by; file and role are those of the new version, as far as they were followed. */
interface Candidate {
  readonly placed: PlacedStatement
  readonly meaning: Meaning
  readonly path: string
  readonly role: string
  /** Position in the index, which keeps the order of each file. */
  readonly at: number
}

interface Pass {
  /** Statements with the same key are matched in order; undefined: this pass says nothing of it. */
  readonly key: (candidate: Candidate) => string | undefined
  /** Only where the key stands once in each version. */
  readonly alone?: true
}

const passes: readonly Pass[] = [
  { key: ({ path, meaning: m }) => `${path}\0${m.does}\0${m.when}\0${m.loop}\0${m.register}\0${m.name}` },
  { key: ({ path, meaning: m }) => `${path}\0${m.does}\0${m.when}\0${m.loop}\0${m.register}` },
  { key: ({ path, meaning: m }) => `${path}\0${m.does}\0${m.loop}\0${m.name}` },
  { key: ({ path, meaning: m }) => `${path}\0${m.does}\0${m.loop}`, alone: true },
  { key: ({ path, meaning: m }) => named(m, `${path}\0${m.module}\0${m.name}\0${m.target}`) },
  { key: ({ path, meaning: m }) => named(m, `${path}\0${m.module}\0${m.name}`), alone: true },
  { key: ({ role, meaning: m }) => telling(m, `${role}\0${m.does}\0${m.when}\0${m.loop}\0${m.name}`) },
  { key: ({ path, meaning: m }) => `${path}\0${m.does}` },
  { key: ({ role, meaning: m }) => telling(m, `${role}\0${m.does}\0${m.loop}`), alone: true },
  { key: ({ role, meaning: m }) => named(m, `${role}\0${m.module}\0${m.name}`), alone: true },
  { key: ({ path, meaning: m }) => targeted(m, `${path}\0${m.module}\0${m.target}\0${m.loop}`), alone: true },
  {
    key: ({ path, meaning: m }) => (m.register === '' ? undefined : `${path}\0${m.module}\0${m.register}`),
    alone: true,
  },
  { key: ({ role, meaning: m }) => targeted(m, `${role}\0${m.module}\0${m.target}\0${m.loop}`), alone: true },
  { key: ({ meaning: m }) => telling(m, `${m.does}\0${m.when}\0${m.loop}\0${m.name}`), alone: true },
  { key: ({ meaning: m }) => telling(m, `${m.does}\0${m.loop}`), alone: true },
  { key: ({ meaning: m }) => (m.isTelling ? named(m, `${m.module}\0${m.name}\0${m.target}`) : undefined), alone: true },
  // The module may be another by now: a unit started by `command`, then by `service`.
  { key: ({ path, meaning: m }) => named(m, `${path}\0${m.name}`), alone: true },
]

function named(meaning: Meaning, key: string): string | undefined {
  return meaning.name === '' ? undefined : key
}

function telling(meaning: Meaning, key: string): string | undefined {
  return meaning.isTelling ? key : undefined
}

function targeted(meaning: Meaning, key: string): string | undefined {
  return meaning.target === undefined ? undefined : key
}

function matchStatements(
  old: RoleIndex,
  now: RoleIndex,
  meaningOf: (statement: Task | Block) => Meaning,
  roles: ReadonlyMap<string, string>,
  paths: ReadonlyMap<string, string>,
): ReadonlyMap<PlacedStatement, PlacedStatement> {
  const oldCandidates = old.statements.map((placed, at): Candidate => {
    const { statement, path, role } = placed
    const followed = role === undefined ? '' : (roles.get(role) ?? role)
    return { placed, meaning: meaningOf(statement), path: paths.get(path) ?? path, role: followed, at }
  })
  const newCandidates = now.statements.map((placed, at): Candidate => {
    return { placed, meaning: meaningOf(placed.statement), path: placed.path, role: placed.role ?? '', at }
  })
  const found = new Map<Candidate, Candidate>()
  const taken = new Set<Candidate>()
  const match = (left: Candidate, right: Candidate): void => {
    found.set(left, right)
    taken.add(right)
  }
  for (const pass of passes) {
    const left = grouped(oldCandidates, pass, candidate => found.has(candidate))
    const right = grouped(newCandidates, pass, candidate => taken.has(candidate))
    for (const [key, ours] of left) {
      const theirs = right.get(key) ?? []
      if (pass.alone && (ours.length > 1 || theirs.length > 1)) continue
      for (const [index, one] of ours.entries()) {
        const other = theirs[index]
        if (other !== undefined) match(one, other)
      }
    }
  }
  matchBlocks(oldCandidates, newCandidates, found, taken, match)
  matchBetween(oldCandidates, newCandidates, found, taken, match)
  return new Map([...found].map(([left, right]) => [left.placed, right.placed]))
}

function grouped(
  candidates: readonly Candidate[],
  { key }: Pass,
  isDone: (candidate: Candidate) => boolean,
): ReadonlyMap<string, readonly Candidate[]> {
  const groups = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const text = isDone(candidate) ? undefined : key(candidate)
    if (text === undefined) continue
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [candidate])
    else group.push(candidate)
  }
  return groups
}

/** A block that changed is the one that most of its tasks stand in now; inner blocks first. */
function matchBlocks(
  old: readonly Candidate[],
  now: readonly Candidate[],
  found: ReadonlyMap<Candidate, Candidate>,
  taken: ReadonlySet<Candidate>,
  match: (left: Candidate, right: Candidate) => void,
): void {
  const blocks = new Map<Directives, Candidate>()
  for (const candidate of now)
    if (candidate.placed.statement.kind === 'block') blocks.set(candidate.placed.statement, candidate)
  const votes = new Map<Directives, Map<Candidate, number>>()
  for (const candidate of old.toReversed()) {
    const { statement, within } = candidate.placed
    if (statement.kind === 'block' && !found.has(candidate)) {
      const best = [...(votes.get(statement) ?? [])].toSorted(
        ([left, count], [right, other]) => other - count || left.at - right.at,
      )[0]
      if (best !== undefined && !taken.has(best[0])) match(candidate, best[0])
    }
    const around = within.at(-1)
    const here = found.get(candidate)?.placed.within.at(-1)
    const block = here === undefined ? undefined : blocks.get(here)
    if (around === undefined || block === undefined) continue
    const counts = votes.get(around) ?? new Map<Candidate, number>()
    votes.set(around, counts.set(block, (counts.get(block) ?? 0) + 1))
  }
}

/** One statement of a module between two matched neighbours, in both versions: what was there is what is there. */
function matchBetween(
  old: readonly Candidate[],
  now: readonly Candidate[],
  found: ReadonlyMap<Candidate, Candidate>,
  taken: ReadonlySet<Candidate>,
  match: (left: Candidate, right: Candidate) => void,
): void {
  const left = gaps(old, candidate => found.get(candidate))
  const right = gaps(now, candidate => (taken.has(candidate) ? candidate : undefined))
  for (const [key, ours] of left) {
    const theirs = right.get(key)
    if (theirs === undefined) continue
    for (const module of new Set(ours.map(candidate => candidate.meaning.module))) {
      const [one, ...more] = ours.filter(candidate => candidate.meaning.module === module)
      const [other, ...others] = theirs.filter(candidate => candidate.meaning.module === module)
      if (one === undefined || other === undefined || more.length > 0 || others.length > 0) continue
      if (!found.has(one) && !taken.has(other)) match(one, other)
    }
  }
}

/** Unmatched statements by the matched ones before and after them in their file, given as those of the new version. */
function gaps(
  candidates: readonly Candidate[],
  matchOf: (candidate: Candidate) => Candidate | undefined,
): ReadonlyMap<string, readonly Candidate[]> {
  const groups = new Map<string, Candidate[]>()
  let open: Candidate[] = []
  let before = ''
  let file: string | undefined
  let path = ''
  const close = (after: string): void => {
    if (open.length > 0) groups.set(`${before}\0${after}`, open)
    open = []
    before = after
  }
  for (const candidate of candidates) {
    if (candidate.placed.path !== file) {
      close(`end of ${path}`)
      file = candidate.placed.path
      path = candidate.path
      before = `start of ${path}`
    }
    const match = matchOf(candidate)
    if (match === undefined) open.push(candidate)
    else close(String(match.at))
  }
  close(`end of ${path}`)
  return groups
}

const playPasses: readonly ((play: PlayMeaning) => string)[] = [
  play => `${play.path}\0${play.name}\0${play.hosts}\0${play.roles}`,
  play => `${play.path}\0${play.name}\0${play.hosts}`,
  play => `${play.path}\0${play.hosts}\0${play.roles}`,
  play => `${play.path}\0${play.name}\0${play.roles}`,
  play => `${play.name}\0${play.hosts}\0${play.roles}`,
  play => (play.name === '' ? '' : `${play.path}\0${play.name}`),
  play => (play.roles === '' ? '' : `${play.path}\0${play.roles}`),
  play => (play.roles === '' ? '' : `${play.hosts}\0${play.roles}`),
]

interface PlayMeaning {
  readonly path: string
  readonly name: string
  readonly hosts: string
  readonly roles: string
}

/** Plays by their playbook, name, hosts and roles; what is left in a playbook by its order. */
function matchPlays(
  old: RoleIndex,
  now: RoleIndex,
  paths: ReadonlyMap<string, string>,
): ReadonlyMap<PlacedPlay, PlacedPlay> {
  const meaningOf = ({ play, path }: PlacedPlay): PlayMeaning => ({
    path: paths.get(path) ?? path,
    name: comparableName(play.name ?? ''),
    hosts: play.hosts === undefined ? '' : printNode(play.hosts),
    roles: rolesIn(play),
  })
  const ours = new Map(old.plays.map(placed => [placed, meaningOf(placed)]))
  const theirs = new Map(now.plays.map(placed => [placed, { ...meaningOf(placed), path: placed.path }]))
  const found = new Map<PlacedPlay, PlacedPlay>()
  for (const key of playPasses) {
    const waiting = new Map<string, PlacedPlay[]>()
    for (const [placed, meaning] of theirs) {
      const text = key(meaning)
      const others = waiting.get(text)
      if (text === '') continue
      if (others === undefined) waiting.set(text, [placed])
      else others.push(placed)
    }
    for (const [placed, meaning] of ours) {
      const text = key(meaning)
      const other = text === '' ? undefined : waiting.get(text)?.shift()
      if (other === undefined) continue
      found.set(placed, other)
      ours.delete(placed)
      theirs.delete(other)
    }
  }
  return found
}

function rolesIn(play: Play): string {
  return play.roles.map(entry => ('role' in entry ? entry.role.replaceAll('-', '_') : '?')).join(', ')
}
