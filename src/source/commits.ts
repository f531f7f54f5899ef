import { UsageError } from './diagnostic.js'
import { askGit } from './git.js'

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
