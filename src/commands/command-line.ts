import { Command, CommanderError } from 'commander'
import { UsageError } from '../source/diagnostic.js'
import { looksLikeSource } from '../source/open.js'
import { visibleLine } from '../source/visible.js'
import type { DefineCommand, ExitStatus, Terminal } from './command.js'
import { packageVersion } from './version.js'

/** The commands, in the order in which help lists them. Only what a command line asks for is loaded: the whole is slow to load. */
const loaders: Readonly<Record<string, () => Promise<DefineCommand>>> = {
  report: async () => (await import('./report.js')).defineReport,
  answer: async () => (await import('./answer.js')).defineAnswer,
  explain: async () => (await import('./explain.js')).defineExplain,
  vars: async () => (await import('./vars.js')).defineVars,
  tasks: async () => (await import('./tasks.js')).defineTasks,
  effects: async () => (await import('./effects.js')).defineEffects,
  checks: async () => (await import('./checks.js')).defineChecks,
  preflight: async () => (await import('./preflight.js')).definePreflight,
  verify: async () => (await import('./verify.js')).defineVerify,
  audit: async () => (await import('./audit.js')).defineAudit,
  cite: async () => (await import('./cite.js')).defineCite,
  collect: async () => (await import('./collect.js')).defineCollect,
  history: async () => (await import('./history.js')).defineHistory,
  rules: async () => (await import('./rules.js')).defineRules,
  fetch: async () => (await import('./fetch.js')).defineFetch,
  record: async () => (await import('./record.js')).defineRecord,
}

/** The commands that a command line needs: the one it names, `report` where it names none, all of them for help, none for the version. */
export async function loadCommands([first]: readonly string[]): Promise<readonly DefineCommand[]> {
  const named = first === undefined ? undefined : loaders[first]
  if (named !== undefined) return [await named()]
  if (first === '--version' || first === '-V') return []
  const isHelp = first !== undefined && ['help', '--help', '-h'].includes(first)
  const names = isHelp ? Object.keys(loaders) : ['report']
  return Promise.all(names.flatMap(name => loaders[name]?.() ?? []))
}

/** All commands. */
export function loadAllCommands(): Promise<readonly DefineCommand[]> {
  return loadCommands(['help'])
}

/**
 * Runs one command line (without the program's own name) with the commands it needs, and says how it ended. The one place where what is thrown
 * becomes a line for the user: wrong usage and unreadable input end with 2, anything else thrown is a bug of ours.
 */
export function runCommandLine(
  args: readonly string[],
  outside: Terminal,
  commands: readonly DefineCommand[],
): ExitStatus {
  // Names and texts of a host come up in these lines: each stays one line, and no terminal obeys it.
  const terminal: Terminal = { ...outside, err: line => outside.err(visibleLine(line.replaceAll(/[\r\n]+/g, ' '))) }
  let status: ExitStatus = 0
  const program = defineProgram(terminal, commands, ended => {
    status = ended
  })
  try {
    requireCommand(args)
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
export function defineProgram(
  terminal: Terminal,
  commands: readonly DefineCommand[],
  finish: (status: ExitStatus) => void,
): Command {
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
function requireCommand([first]: readonly string[]): void {
  if (first === undefined || first.startsWith('-') || first === 'help' || looksLikeSource(first)) return
  const names = Object.keys(loaders)
  if (names.includes(first)) return
  throw new UsageError(`${first}: neither a command (${names.join(', ')}) nor a release, a directory or DIR@REV`)
}
