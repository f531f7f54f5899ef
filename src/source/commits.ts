import { UsageError } from './diagnostic.js'
import { askGit, commitOf, runGit } from './git.js'
import { releaseTags } from './revision.js'

/** The commits of `from..to` that change one of these paths, newest first. Throws UsageError where git refuses. */
export function commitsTouching(
  repository: string,
  from: string,
  to: string,
  paths: readonly string[],
): readonly string[] {
  if (paths.length === 0) return []
  const answer = askGit(repository, ['rev-list', `${from}..${to}`, '--', ...paths.map(path => `:(top,literal)${path}`)])
  if (answer === undefined) throw new UsageError(`${repository}: git cannot list the commits of ${from}..${to}`)
  return answer.split('\n').filter(line => line !== '')
}

/** The commits that last changed these lines (from 1) of a file, each once; empty where git cannot tell. */
export function lastChangesOf(
  repository: string,
  revision: string,
  path: string,
  lines: { readonly first: number; readonly last: number },
): readonly string[] {
  const range = `${lines.first},${lines.last}`
  const answer = askGit(repository, ['blame', '--porcelain', '-w', '-L', range, revision, '--', path])
  const ids = answer?.split('\n').flatMap(line => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? [])
  return [...new Set(ids ?? [])]
}

/** The last version in which a path stood. Commits are full ids. */
export interface LastVersion {
  /** The commit that removed it. */
  readonly removedBy: string
  /** The commit before that, the last one that had it. */
  readonly commit: string
  /** The newest release that has it, if one does; of a release that was asked about, the newest before it. */
  readonly release: string | undefined
}

/**
 * When a file or directory was last there, seen from a revision that does not have it any more. Undefined where the
 * revision has it, where its history never had it, and where git cannot tell (no such revision, a clone without history).
 * `path` is seen from the directory `repository`, as in the trees of `openRevision`.
 */
export function lastVersionWith(repository: string, revision: string, path: string): LastVersion | undefined {
  const head = commitOf(repository, revision)
  const prefix = askGit(repository, ['rev-parse', '--show-prefix'])
  if (head === undefined || prefix === undefined || path === '') return undefined
  const place = `${prefix}${path}`
  if (standsIn(repository, [head], place).has(head)) return undefined
  const pathspec = `:(top,literal)${place}`
  const removedBy = askGit(repository, ['rev-list', '--max-count=1', head, '--', pathspec])
  if (removedBy === undefined || removedBy === '') return undefined
  // `--parents` would name the commits before it that changed the path.
  const parents = askGit(repository, ['rev-parse', `${removedBy}^@`])?.split('\n') ?? []
  const there = standsIn(
    repository,
    parents.filter(parent => parent !== ''),
    place,
  )
  const commit = parents.find(parent => there.has(parent))
  if (commit === undefined) return undefined
  return { removedBy, commit, release: lastReleaseWith(repository, revision, head, place) }
}

function lastReleaseWith(repository: string, revision: string, head: string, place: string): string | undefined {
  const releases = releaseTags(repository)
  const asked = releases.findIndex(({ tag }) => tag === revision)
  const at = asked === -1 ? dateOf(repository, head) : undefined
  const before = asked === -1 ? releases : releases.slice(0, asked)
  const there = standsIn(
    repository,
    before.map(({ commit }) => commit),
    place,
  )
  return before.findLast(
    ({ commit }) => there.has(commit) && (at === undefined || (dateOf(repository, commit) ?? 0) <= at),
  )?.tag
}

/** When a commit was made, in seconds; undefined where git cannot tell. */
export function dateOf(repository: string, commit: string): number | undefined {
  const answer = askGit(repository, ['show', '--no-patch', '--format=%ct', commit])
  return answer === undefined ? undefined : Number(answer)
}

/** Those of the commits that have something at a path (from the top of the repository). */
function standsIn(repository: string, commits: readonly string[], place: string): ReadonlySet<string> {
  // A line break in a path would end the line of the question.
  if (commits.length === 0 || /[\n\0]/.test(place)) return new Set()
  const input = commits.map(commit => `${commit}:${place}\n`).join('')
  const { stdout } = runGit(repository, ['cat-file', '--batch-check=%(objecttype)'], { input })
  const answers = stdout.toString('utf8').split('\n')
  return new Set(commits.filter((_, index) => /^(?:blob|tree)$/.test(answers[index] ?? '')))
}
