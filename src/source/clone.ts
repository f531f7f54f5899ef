import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { UsageError } from './diagnostic.js'
import { askGit, runGit } from './git.js'
import { releaseTags } from './revision.js'

const upstream = 'https://github.com/kubernetes-sigs/kubespray.git'

/** Where the local clone of kubespray stands or would stand: below XDG_CACHE_HOME, by default ~/.cache. */
export function clonePath(): string {
  const configured = process.env.XDG_CACHE_HOME
  // The XDG specification: a relative path is invalid and to be ignored.
  const cache = configured && isAbsolute(configured) ? configured : join(homedir(), '.cache')
  return join(cache, 'whofixes', 'kubespray.git')
}

/** Whether there is a local clone. */
export function hasClone(): boolean {
  return existsSync(join(clonePath(), 'HEAD')) && existsSync(join(clonePath(), 'objects'))
}

/**
 * Makes or updates the local clone: all tags and the default branch of `from` (a URL or a path; kubespray's own repository
 * by default). The clone is made beside its place and renamed, an update is one transaction: a failure leaves what was
 * there. Failures are UsageErrors with git's last line.
 */
export function fetchClone(from: string | undefined, progress: (line: string) => void): void {
  const path = clonePath()
  const source = sourceOf(from ?? upstream)
  mkdirSync(dirname(path), { recursive: true })
  progress(`${hasClone() ? 'updating' : 'making'} ${path} from ${source}`)
  if (hasClone()) fetchInto(path, source)
  else makeClone(path, source)
  const newest = releaseTags(path).at(-1)
  const branch = askGit(path, ['symbolic-ref', '--short', 'HEAD']) ?? 'HEAD'
  const head = askGit(path, ['rev-parse', '--short', 'HEAD']) ?? 'nothing'
  progress(`${branch} is at ${head}; newest release ${newest?.tag ?? 'none'}`)
}

/** A path is made absolute, since git runs elsewhere; what looks like an option is no source. */
function sourceOf(from: string): string {
  if (existsSync(from)) return resolve(from)
  if (from === '' || from.startsWith('-')) throw new UsageError(`${from}: neither a URL nor a repository`)
  return from
}

function makeClone(path: string, source: string): void {
  removeStale(path)
  const making = `${path}.making-${process.pid}`
  try {
    rmSync(making, { recursive: true, force: true })
    const made = runGit(dirname(path), ['init', '--quiet', '--bare', making])
    if (!made.succeeded) throw new UsageError(`${making}: ${made.complaint}`)
    fetchInto(making, source)
    renameSync(making, path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** What an interrupted run left beside the clone, once it is surely not running any more. */
function removeStale(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.making-`)) continue
    const left = join(dirname(path), name)
    if (Date.now() - statSync(left).mtimeMs > 24 * 60 * 60 * 1000) rmSync(left, { recursive: true, force: true })
  }
}

function fetchInto(clone: string, source: string): void {
  const branch = defaultBranchOf(clone, source)
  const fetched = runGit(
    clone,
    [
      'fetch',
      '--quiet',
      '--atomic',
      '--no-tags',
      '--no-write-fetch-head',
      '--end-of-options',
      source,
      '+refs/tags/*:refs/tags/*',
      `+HEAD:refs/heads/${branch}`,
    ],
    { network: true },
  )
  if (!fetched.succeeded) throw new UsageError(`${source}: ${fetched.complaint}`)
  const named = runGit(clone, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  if (!named.succeeded) throw new UsageError(`${clone}: ${named.complaint}`)
}

/** The branch HEAD stands for; where HEAD is detached, a branch at the same commit, else `master` as kubespray calls it. */
function defaultBranchOf(clone: string, source: string): string {
  const listing = runGit(clone, ['ls-remote', '--symref', '--end-of-options', source, 'HEAD', 'refs/heads/*'], {
    network: true,
  })
  if (!listing.succeeded) throw new UsageError(`${source}: ${listing.complaint}`)
  const lines = listing.stdout.toString('utf8').split('\n')
  const symbolic = /^ref: refs\/heads\/(\S+)\tHEAD$/
  for (const line of lines) {
    const branch = symbolic.exec(line)?.[1]
    if (branch !== undefined) return branch
  }
  const head = lines.find(line => line.endsWith('\tHEAD'))?.split('\t')[0]
  if (head === undefined) throw new UsageError(`${source}: the repository has no HEAD commit`)
  const there = lines
    .filter(line => line.startsWith(`${head}\trefs/heads/`))
    .map(line => line.split('\trefs/heads/')[1])
  return ['master', 'main'].find(name => there.includes(name)) ?? there[0] ?? 'master'
}
