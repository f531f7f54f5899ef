import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A place for one test's files, removed when the test is over. */
export function withTemporary<T>(test: (path: string) => T): T {
  const path = mkdtempSync(join(tmpdir(), 'whofixes-test-'))
  try {
    return test(path)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

/** Files by path: text or bytes, and links as `{ to }`. */
export type Files = Readonly<Record<string, string | Uint8Array | { readonly to: string }>>

export function writeFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path)
    mkdirSync(dirname(place), { recursive: true })
    if (typeof content === 'object' && 'to' in content) symlinkSync(content.to, place)
    else writeFileSync(place, content)
  }
}

/** git with a fixed author and without the user's settings. */
export function git(directory: string, ...args: readonly string[]): string {
  const ran = spawnSync('git', ['-C', directory, ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.org',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.org',
    },
  })
  if (ran.status !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`)
  return ran.stdout.trim()
}

/** A repository with these files in one commit on `master`; the commit's id. */
export function makeRepository(root: string, files: Files): string {
  mkdirSync(root, { recursive: true })
  git(root, 'init', '--quiet', '--initial-branch=master')
  writeFiles(root, files)
  return commitAll(root)
}

export function commitAll(root: string): string {
  git(root, 'add', '--all')
  git(root, 'commit', '--quiet', '--message', 'change')
  return git(root, 'rev-parse', 'HEAD')
}
