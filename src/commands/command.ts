import type { Command } from 'commander'

/** What a command's exit says (contract): answered, something asks for action, wrong usage, or an answer rests on an unknown. */
export type ExitStatus = 0 | 1 | 2 | 3

/** Where a command's words go: reports to `out`, everything about them to `err`. */
export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (line: string) => void
  /** Shows how far something is, on a line of standard error that the next one replaces; empty: nothing any more. Absent where that is no terminal. */
  readonly progress?: (line: string) => void
  /** Whether `out` is a terminal that shows colours. */
  readonly colours: boolean
}

/** Adds one command to the program; its action calls `finish` with the exit status. */
export type DefineCommand = (program: Command, terminal: Terminal, finish: (status: ExitStatus) => void) => void
