import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Host, withoutTables } from '../commands/fleet-answers.js'
import { writeFleet } from '../host/sample-fleet.js'

// npm run fleet [-- HOSTS [MEMBERS [REVISION [SAMPLE]]]]: preflight over a fleet of sample hosts, each archive with so many members
// besides. Tells seconds, and the most memory the process had; needs GNU time. In turn with it one host alone, for the ratio. SAMPLE
// hosts are asked about alone, too, and have to have the same answers.
const [count = '1000', members = '0', revision = 'v2.31.0', sample = '0'] = process.argv.slice(2)
const directory = mkdtempSync(join(tmpdir(), 'whofixes-fleet-'))
try {
  const { inventory, evidence, hosts } = writeFleet(directory, Number(count), Number(members))
  const whofixes = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
  const run = (
    host: string,
  ): { readonly hosts: readonly Host[]; readonly cost: string; readonly status: number | null } => {
    const options = ['--host', host, '-i', inventory, '--evidence', evidence, '-q', '--format', 'json']
    const format = '%e seconds, %U of them in the program and %S in the system on all processors, at most %M KiB'
    const ran = spawnSync(
      '/usr/bin/time',
      ['-q', '-f', format, process.execPath, whofixes, 'preflight', revision, ...options],
      { encoding: 'utf8', maxBuffer: 2 ** 30 },
    )
    const { hosts: found } = JSON.parse(ran.stdout) as { readonly hosts: readonly Host[] }
    return { hosts: found, cost: ran.stderr.trim(), status: ran.status }
  }
  const alone = run(hosts[4] ?? 'node1')
  console.log(`one host: ${alone.cost}`)
  const all = run('all')
  const groups = all.hosts.filter(({ sameAs }) => sameAs === null).length
  console.log(`${all.hosts.length} hosts in ${groups} groups, exit status ${all.status}: ${all.cost}`)
  const left = [...hosts]
  for (let asked = 0; asked < Number(sample) && left.length > 0; asked++) {
    const [host = ''] = left.splice(randomInt(left.length), 1)
    const [own] = run(host).hosts
    const among = all.hosts.find(each => each.host === host)
    assert.deepEqual(among && withoutTables(among), own && withoutTables(own), host)
    console.log(`${host} has the same answers alone`)
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
