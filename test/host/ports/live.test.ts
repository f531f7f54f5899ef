import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { openEvidence } from '../../../src/evidence/open.js'
import type { Listener } from '../../../src/host/moment.js'
import { listenersOf } from '../../../src/host/ports/listeners.js'

const wanted: readonly (readonly [ListenOptions, string])[] = [
  [{ host: '127.0.0.1' }, '127.0.0.1'],
  [{ host: '0.0.0.0' }, '0.0.0.0'],
  [{ host: '::1' }, '::1'],
  [{ host: '::' }, '::'],
  [{ host: '::', ipv6Only: true }, '::'],
]

async function listen(options: ListenOptions): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen({ port: 0, ...options }, resolve))
  return server
}

function listenersHere(): readonly Listener[] {
  const found = listenersOf(openEvidence('/', () => {}))
  assert.ok(found.kind === 'known', JSON.stringify(found))
  return found.value
}

describe('who listens here', () => {
  const servers: { readonly server: Server; readonly address: string }[] = []
  before(async function () {
    if (!existsSync('/proc/net/tcp')) return this.skip()
    const hasIpv6 = existsSync('/proc/net/if_inet6')
    for (const [options, address] of wanted) {
      if (hasIpv6 || !address.includes(':')) servers.push({ server: await listen(options), address })
    }
  })
  after(() => {
    for (const { server } of servers) server.close()
  })

  const portOf = (server: Server): number => (server.address() as AddressInfo).port

  it('sees each socket of ours once, at its address, with us as the holder', () => {
    const listeners = listenersHere()
    for (const { server, address } of servers) {
      const found = listeners.filter(({ port }) => port === portOf(server))
      assert.deepEqual(
        found.map(each => each.address),
        [address],
      )
      assert.ok(found[0]?.holder.pids.includes(process.pid), JSON.stringify(found))
    }
  })

  it('no longer sees one that is closed, nor one that only connects', async () => {
    const server = await listen({ host: '127.0.0.1' })
    const port = portOf(server)
    assert.ok(listenersHere().some(each => each.port === port))
    await new Promise(resolve => server.close(resolve))
    assert.ok(!listenersHere().some(each => each.port === port))
  })

  it('says what ss says', function () {
    const { status, stdout } = spawnSync('ss', ['-Hltnp'], { encoding: 'utf8' })
    if (status !== 0) {
      assert.ok(!process.env.CI, 'ss (iproute2) is not installed, and CI is where it has to be')
      console.log('    skipped: ss is not installed')
      return this.skip()
    }
    const own = new Set(servers.map(({ server }) => portOf(server)))
    const said = stdout.split('\n').flatMap(line => {
      const words = line.trim().split(/\s+/)
      const [, host = '', port = ''] = /^(.*):([0-9]+)$/.exec(words[3] ?? '') ?? []
      if (!own.has(Number(port))) return []
      const pids = [...line.matchAll(/pid=([0-9]+)/g)].map(found => Number(found[1]))
      // `*` is a dual-stack socket.
      return [`${port} ${host === '*' ? '::' : host.replace(/^\[|\]$/g, '')} ${pids.join()}`]
    })
    const seen = listenersHere()
      .filter(({ port }) => own.has(port))
      .map(({ port, address, holder }) => `${port} ${address} ${holder.pids.join()}`)
    assert.equal(said.length, servers.length)
    assert.deepEqual(seen.toSorted(), said.toSorted())
  })
})
