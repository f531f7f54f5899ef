import type { ExitStatus } from '../../src/commands/command.js'
import { runCommandLine } from '../../src/commands/command-line.js'
import { checkOutput } from '../schemas/valid.js'

/** How a command line ended, and what it said. */
export interface Ran {
  readonly status: ExitStatus
  readonly out: string
  /** What it said on standard error, a line each. */
  readonly err: readonly string[]
}

/** Runs a command line inside this process. What it prints has to follow the output's schema where it is JSON. */
export function runWhofixes(args: readonly string[]): Ran {
  let out = ''
  const err: string[] = []
  const status = runCommandLine(args, {
    out: text => {
      out += text
    },
    err: line => void err.push(...line.split('\n')),
    colours: false,
  })
  checkOutput(out)
  return { status, out, err }
}
