import { Command, CommanderError } from 'commander'
import { UsageError } from '../source/diagnostic.js'
import { defineAnswer } from './answer.js'
import { defineAudit } from './audit.js'
import { defineChecks } from './checks.js'
import { defineCite } from './cite.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { defineEffects } from './effects.js'
import { defineExplain } from './explain.js'
import { defineFetch } from './fetch.js'
import { defineHistory } from './history.js'
import { defineRecord } from './record.js'
import { defineReport } from './report.js'
import { defineRules } from './rules.js'
import { looksLikeSource } from './subject.js'
import { defineTasks } from './tasks.js'
import { defineVars } from './vars.js'
import { packageVersion } from './version.js'

const commands: readonly DefineCommand[] = [
  defineReport,
  defineAnswer,
  defineExplain,
  defineVars,
  defineTasks,
  defineEffects,
  defineChecks,
  defineAudit,
  defineCite,
  defineHistory,
  defineRules,
  defineFetch,
  defineRecord,
]

/**
 * Runs one command line (without the program's own name) and says how it ended. The one place where what is thrown
 * becomes a line for the user: wrong usage and unreadable input end with 2, anything else thrown is a bug of ours.
 */
export function runCommandLine(args: readonly string[], terminal: Terminal): ExitStatus {
  let status: ExitStatus = 0
  const program = defineProgram(terminal, ended => {
    status = ended
  })
  try {
    requireCommand(program, args)
    program.parse(args, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    terminal.err(`whofixes: ${error.message}`)
    return 2
  }
}

/** The program with all its commands and options; what it cannot read of a command line it throws as CommanderError. */
export function defineProgram(terminal: Terminal, finish: (status: ExitStatus) => void): Command {
  const program = new Command('whofixes')
    .description('Who fixes each problem a host has before Kubernetes runs on it: kubespray or the operator.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ writeOut: terminal.out, writeErr: text => terminal.err(inOneLine(text)) })
  for (const define of commands) define(program, terminal, finish)
  return program
}

/** What commander says, as this program says it: one line under the program's name. */
function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, 'whofixes: ')
    .replaceAll('\n', ' ')
}

/** The first word may be a SOURCE, for a report; a misspelt command must not be taken for one. */
function requireCommand(program: Command, [first]: readonly string[]): void {
  if (first === undefined || first.startsWith('-') || first === 'help' || looksLikeSource(first)) return
  const names = program.commands.map(command => command.name())
  if (names.includes(first)) return
  throw new UsageError(`${first}: neither a command (${names.join(', ')}) nor a release, a directory or DIR@REV`)
}
