import { spawnSync } from 'node:child_process'
import { UsageError } from './diagnostic.js'

/** What a git command answered; `stdout` is bytes, since blobs are not always text. */
export interface GitAnswer {
  readonly succeeded: boolean
  readonly stdout: Buffer
  /** The line in which git says what went wrong; empty where it said nothing. */
  readonly complaint: string
}

/** Variables that would point git at another repository than the one named. */
const misleading =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|CEILING_DIRECTORIES|CONFIG.*|TRACE.*)$/

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !misleading.test(name))
  return {
    ...Object.fromEntries(inherited),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_PAGER: 'cat',
    LC_ALL: 'C',
  }
}

/**
 * Runs git in a directory, without a shell and without a way to the network: a partial clone must not fetch what it
 * lacks behind the user's back. `network` lifts that for the one command that is meant to fetch.
 * A missing git is a UsageError; anything git itself refuses is in the answer.
 */
export function runGit(
  directory: string,
  args: readonly string[],
  options: { readonly input?: string; readonly network?: boolean } = {},
): GitAnswer {
  const settings = options.network
    ? ['-c', 'http.lowSpeedLimit=1000', '-c', 'http.lowSpeedTime=60']
    : ['-c', 'protocol.allow=never', '-c', 'core.fsmonitor=false']
  const ran = spawnSync('git', ['-C', directory, '--no-pager', ...settings, ...args], {
    env: environment(),
    input: options.input ?? '',
    maxBuffer: Number.POSITIVE_INFINITY,
    windowsHide: true,
  })
  if (ran.error && 'code' in ran.error && ran.error.code === 'ENOENT') {
    throw new UsageError('git is needed for this and was not found in PATH')
  }
  return {
    succeeded: !ran.error && ran.status === 0,
    stdout: ran.stdout ?? Buffer.alloc(0),
    complaint: ran.error?.message ?? complaintIn(ran.stderr.toString('utf8')),
  }
}

/** The first fatal line names the cause; what follows it is advice. */
function complaintIn(said: string): string {
  const lines = said.trim().split('\n')
  const line = lines.find(text => text.startsWith('fatal: ')) ?? lines.at(-1) ?? ''
  return line.replace(/^(?:fatal|error): /, '')
}

/** The same, as text without the final newline; undefined where git refused. */
export function askGit(directory: string, args: readonly string[]): string | undefined {
  const answer = runGit(directory, args)
  return answer.succeeded ? answer.stdout.toString('utf8').replace(/\n$/, '') : undefined
}

/** The full id of the commit a revision names, or undefined. A revision that looks like an option names none. */
export function commitOf(repository: string, revision: string): string | undefined {
  if (revision === '' || revision.startsWith('-') || revision.includes('\0')) return undefined
  return askGit(repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`])
}
