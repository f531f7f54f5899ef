import assert from 'node:assert/strict'
import { loadCommands } from '../../src/commands/command-line.js'

describe('command line', () => {
  const rows: readonly (readonly [args: readonly string[], loaded: number])[] = [
    [[], 1],
    [['v2.31.0'], 1],
    [['cite', 'lab.md'], 1],
    [['audit', '--help'], 1],
    [['--format', 'json'], 1],
    [['--version'], 0],
    [['-V'], 0],
    [['help'], 16],
    [['--help'], 16],
  ]
  for (const [args, loaded] of rows) {
    it(`loads ${loaded} of its commands for: whofixes ${args.join(' ')}`, async () => {
      assert.equal((await loadCommands(args)).length, loaded)
    })
  }
})
