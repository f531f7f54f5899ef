import type { Found, HostFiles } from './host-files.js'

/** What a read-only command printed on the host when the evidence was taken. */
export interface CommandResult {
  readonly status: number
  readonly stdout: string
}

/** What was captured of one host. */
export interface Evidence {
  /** The name of the host: of its file or directory, or what evidence.json says. */
  readonly host: string
  /** Where it was read, for messages: `evidence/node1.tar`. */
  readonly origin: string
  readonly files: HostFiles
  /** What a command (its words) printed, where the collector ran it; unknown where it did not. */
  readonly command: (words: readonly string[]) => Found<CommandResult>
}
