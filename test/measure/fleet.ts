import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeFleet } from '../host/sample-fleet.js'

// npm run fleet [-- HOSTS [MEMBERS [REVISION]]]: preflight over a fleet of sample hosts, each archive with so many members besides.
// Tells seconds, and the most memory the process had; needs GNU time.
const [count = '1000', members = '0', revision = 'v2.31.0'] = process.argv.slice(2)
const directory = mkdtempSync(join(tmpdir(), 'whofixes-fleet-'))
try {
  const { inventory, evidence } = writeFleet(directory, Number(count), Number(members))
  const whofixes = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
  const words = [
    'preflight',
    revision,
    '--host',
    'all',
    '-i',
    inventory,
    '--evidence',
    evidence,
    '-q',
    '--format',
    'json',
  ]
  const format = '%e seconds, %U of them in the program and %S in the system on all processors, at most %M KiB'
  const ran = spawnSync('/usr/bin/time', ['-f', format, process.execPath, whofixes, ...words], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const { hosts } = JSON.parse(ran.stdout) as { readonly hosts: readonly { readonly sameAs: string | null }[] }
  const groups = hosts.filter(({ sameAs }) => sameAs === null).length
  console.log(`${hosts.length} hosts in ${groups} groups, exit status ${ran.status}`)
  console.log(ran.stderr.trim())
} finally {
  rmSync(directory, { recursive: true, force: true })
}
