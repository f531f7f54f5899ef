import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { UsageError } from '../source/diagnostic.js'
import type { DefineCommand } from './command.js'
import { replaceFile } from './output.js'

interface CollectOptions {
  readonly local?: boolean
  readonly root?: string
  readonly output?: string
}

/** What a host's evidence may have at most where it is held in memory on its way to a file. */
const maxEvidence = 1024 * 1024 * 1024

/** `whofixes collect`: prints the collector, or runs it on this machine. */
export const defineCollect: DefineCommand = (program, terminal, finish) => {
  program
    .command('collect')
    .description("print the collector, a POSIX sh script that prints a host's evidence as a tar; or run it here")
    .option('--local', 'run it on this machine: the tar goes to standard output')
    .option('--root <dir>', 'with --local: of the file system mounted there, instead of this machine')
    .option('-o, --output <file>', 'write the script, or with --local the tar, to a file, whole or not at all')
    .action(({ local, root, output }: CollectOptions) => {
      const script = readFileSync(new URL('../../../collect/collect.sh', import.meta.url), 'utf8')
      if (root !== undefined && !local)
        throw new UsageError('--root goes with --local; elsewhere: ROOT=DIR sh collect.sh')
      if (local) collectHere(script, root, output)
      else if (output === undefined) terminal.out(script)
      else replaceFile(output, script)
      finish(0)
    })
}

/** Runs the collector with this machine's shell. Throws UsageError where that fails, or the tar would go to a terminal. */
function collectHere(script: string, root: string | undefined, output: string | undefined): void {
  if (output === undefined && process.stdout.isTTY) {
    throw new UsageError('the evidence is a tar: send it to a file, as in: whofixes collect --local -o node1.tar')
  }
  const { ROOT: _, ...environment } = process.env
  const ran = spawnSync('sh', ['-s'], {
    input: script,
    env: root === undefined ? environment : { ...environment, ROOT: root },
    stdio: ['pipe', output === undefined ? 'inherit' : 'pipe', 'pipe'],
    maxBuffer: maxEvidence,
  })
  // A reader that closes the pipe early (`| head`) is no error.
  if (ran.status !== 0 && ran.status !== 128 + 13 && ran.signal !== 'SIGPIPE') {
    const said =
      ran.stderr?.toString().trim().split('\n')[0] || ran.error?.message || `it ended with ${ran.status ?? ran.signal}`
    throw new UsageError(`the collector did not run here: ${said}`)
  }
  if (output !== undefined) replaceFile(output, ran.stdout)
}
