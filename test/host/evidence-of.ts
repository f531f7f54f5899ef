import type { Evidence } from '../../src/evidence/evidence.js'
import type { HostFiles } from '../../src/evidence/host-files.js'

/** What a command printed, for a test. */
export interface Printed {
  readonly words: readonly string[]
  readonly stdout: string
  readonly status?: number
}

/** Evidence of a host of files in memory, with what some commands printed. */
export function evidenceOf(files: HostFiles, commands: readonly Printed[] = []): Evidence {
  return {
    host: 'node1',
    origin: 'evidence/node1',
    files,
    command: words => {
      const found = commands.find(each => each.words.join('\0') === words.join('\0'))
      if (found === undefined) return { kind: 'unknown', because: `\`${words.join(' ')}\` was not run` }
      return { kind: 'known', value: { status: found.status ?? 0, stdout: found.stdout } }
    },
  }
}
