import { resolve } from 'node:path'
import { clonePath, hasClone } from './clone.js'
import { askGit, commitOf } from './git.js'
import type { TreeOrigin } from './tree.js'

/**
 * The tag or commit under which kubespray's own repository has what was read, as far as that can be known without a network;
 * null for a directory, which may hold changes, and for commits that only the user's repository is known to have. A release
 * whose commit is recorded is that commit, whatever a fork calls so. Besides these, public is what stands in the local clone
 * (whoever fetches it from elsewhere has a mirror of kubespray),
 * in a branch of a remote that is kubespray's, or in the history of a recorded release.
 */
export function publicReference(
  { kind, path, revision, commit }: TreeOrigin,
  recordedCommit: (release: string) => string | undefined,
): string | null {
  if (kind !== 'revision' || commit === undefined) return null
  const release = revision !== undefined && releaseForm.test(revision) ? revision : undefined
  const recorded = release === undefined ? undefined : recordedCommit(release)
  if (release !== undefined && recorded === commit) return release
  const clone = hasClone() ? clonePath() : undefined
  if (clone !== undefined) {
    const isTag = release !== undefined && recorded === undefined
    if (isTag && commitOf(clone, `refs/tags/${release}`) === commit) return release
    if (resolve(path) === clone || commitOf(clone, commit) !== undefined) return commit
  }
  return isInPublicHistory(path, commit, recordedCommit) ? commit : null
}

const releaseForm = /^v\d+\.\d+\.\d+$/

/** The forms git takes for kubespray's repository, also under the names it had. */
const upstreamUrl =
  /^(?:(?:https?|git|ssh):\/\/(?:[^@/]*@)?|[^@/:]+@)(?:www\.)?github\.com(?::\d+\/|[:/])\/?(?:kubernetes-sigs|kubernetes-incubator|kubespray)\/kubespray(?:\.git)?\/?$/i

function isInPublicHistory(
  repository: string,
  commit: string,
  recordedCommit: (release: string) => string | undefined,
): boolean {
  const urls = askGit(repository, ['config', '--local', '--get-regexp', '^remote\\..*\\.url$'])?.split('\n') ?? []
  const remotes = urls.flatMap(line => {
    const [, name, url] = /^remote\.(.+)\.url (.+)$/.exec(line) ?? []
    return name !== undefined && url !== undefined && upstreamUrl.test(url) ? [name] : []
  })
  const places = ['refs/tags/v*', ...remotes.map(name => `refs/remotes/${name}/`)]
  const format = '--format=%(refname) %(objectname) %(*objectname)'
  const containing = askGit(repository, ['for-each-ref', `--contains=${commit}`, format, ...places])
  return (containing ?? '').split('\n').some(line => {
    const [name = '', id, peeled = ''] = line.split(' ')
    if (name.startsWith('refs/remotes/')) return true
    const tag = name.replace('refs/tags/', '')
    return releaseForm.test(tag) && recordedCommit(tag) === (peeled === '' ? id : peeled)
  })
}
