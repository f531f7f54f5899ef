import type { ExitStatus } from '../../src/commands/command.js'
import { loadAllCommands, runCommandLine } from '../../src/commands/command-line.js'
import { checkOutput } from '../schemas/valid.js'

/** How a command line ended, and what it said. */
export interface Ran {
  readonly status: ExitStatus
  readonly out: string
  /** What it said on standard error, a line each. */
  readonly err: readonly string[]
}

const commands = await loadAllCommands()

/** Runs a command line inside this process. What it prints has to follow the output's schema where it is JSON. */
export function runWhofixes(args: readonly string[]): Ran {
  let out = ''
  const err: string[] = []
  const terminal = {
    out: (text: string) => {
      out += text
    },
    err: (line: string) => void err.push(...line.split('\n')),
    colours: false,
  }
  const status = runCommandLine(args, terminal, commands)
  checkOutput(out)
  return { status, out, err }
}
