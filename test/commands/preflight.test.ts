import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { debian12, type HostRecord } from '../host/sample-hosts.js'
import { usedHost } from '../host/used-host.js'
import { writeHost } from '../host/write-host.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { type Ran, runWhofixes } from './run-whofixes.js'
import { smallTree, usualAnswer } from './small-tree.js'

/** `ROOT/tree` is role code in kubespray's shape, `ROOT/host` the host. */
function preflight(host: HostRecord, args: string, look?: (root: string) => void): Ran {
  return withTemporary(root => {
    writeFiles(join(root, 'tree'), smallTree)
    writeHost(join(root, 'host'), host)
    const ran = runWhofixes(
      `preflight ROOT/tree --evidence ROOT/host ${args}`
        .trim()
        .split(' ')
        .map(word => word.replace('ROOT', root)),
    )
    look?.(root)
    return ran
  })
}

const cores = 'swap,br_netfilter,ip_forward,port_10250'

interface HostJson {
  readonly problems: readonly {
    id: string
    now: string
    afterRun: string
    afterReboot: string
    acts: readonly string[]
    operator: readonly { command: string }[]
  }[]
  readonly sysctl: Readonly<Record<string, unknown>>
  readonly changes: readonly { path: string; patch: string | null }[]
  readonly stops: readonly { task: string; because: string }[]
}

function hostOf({ out, err }: Ran): HostJson {
  assert.notEqual(out, '', err.join('\n'))
  return JSON.parse(out).hosts[0]
}

describe('whofixes preflight', () => {
  it('tells the three traces apart: kubespray, operator, kubespray now and the operator after a reboot', () => {
    const ran = preflight(usedHost, `--only ${cores} --format json`)
    const { problems, sysctl, changes } = hostOf(ran)
    assert.deepEqual(
      problems.map(({ id, now, afterRun, afterReboot, acts }) => [id, now, afterRun, afterReboot, acts]),
      [
        ['swap', 'problem', 'ok', 'ok', ['kubespray']],
        ['br_netfilter', 'problem', 'ok', 'ok', ['kubespray']],
        ['ip_forward', 'problem', 'ok', 'problem', ['kubespray', 'operator']],
        ['port_10250', 'problem', 'problem', 'problem', ['operator']],
      ],
    )
    assert.deepEqual(
      problems.map(({ operator }) => operator.map(({ command }) => command)),
      [[], [], ["sed -i '2s/^/# /' /etc/sysctl.d/zz-hardening.conf"], ['systemctl disable --now agent.service']],
    )
    assert.deepEqual(sysctl['net.ipv4.ip_forward'], {
      now: '0',
      afterRun: '1',
      afterReboot: '0',
      decidedBy: { file: '/etc/sysctl.d/zz-hardening.conf', line: 2 },
      because: null,
    })
    const fstab = changes.find(({ path }) => path === '/etc/fstab')
    assert.match(
      fstab?.patch ?? '',
      /^--- a\/etc\/fstab\n\+\+\+ b\/etc\/fstab\n@@ .* @@\n .*\n-\/swapfile none swap sw 0 0\n$/,
    )
    assert.equal(ran.status, 1)
  })

  it('has nothing for anybody to do on a host that is as it should be', () => {
    const ready = {
      ...debian12,
      '/proc/sys/net/ipv4/ip_forward': '1\n',
      '/proc/sys/net/ipv4/conf/all/forwarding': '1\n',
      '/etc/sysctl.d/50-k8s.conf': 'net.ipv4.ip_forward = 1\n',
      '/etc/modules-load.d/k8s.conf': 'br_netfilter\n',
      '/proc/modules': 'br_netfilter 32768 0 - Live 0x0\nbridge 311296 1 br_netfilter, Live 0x0\n',
    }
    const ran = preflight(ready, `--only ${cores} --format json`)
    assert.deepEqual(
      hostOf(ran).problems.map(({ acts }) => acts),
      [[], [], [], []],
    )
    assert.equal(ran.status, 0)
  })

  it('says where the run stops because of what the host is', () => {
    const { '/etc/fstab': _, ...without } = debian12
    const { stops } = hostOf(preflight(without, '--only swap --format json'))
    assert.match(
      stops.map(({ task, because }) => `${task}: ${because}`).join('\n'),
      /^Take swap out of fstab: the host has no \/etc\/fstab/,
    )
  })

  it('tells what is not known with its reason, and ends with 3', () => {
    const captured = { ...usedHost, '/evidence.json': '{"captured": ["/etc/fstab", "/proc/swaps"]}' }
    const ran = preflight(captured, '--only ip_forward')
    assert.match(ran.out, /ip_forward {2}problem {2}ok {9}unknown/)
    assert.match(ran.out, /not captured/)
    assert.equal(ran.status, 3)
  })

  for (const [args, status, says] of [
    ['--only swap,nothing', 2, /--only nothing: no such problem is looked for on a host; there are swap, /],
    ['--only swap --format markdown', 0, /^$/],
    ['--only swap', 0, /^$/],
  ] as const) {
    it(`takes ${args}`, () => {
      const ran = preflight(usedHost, args)
      assert.equal(ran.status, status)
      assert.match(ran.err.join('\n'), says)
    })
  }

  it('needs evidence', () => {
    const { status, err } = withTemporary(root => {
      writeFiles(root, smallTree)
      return runWhofixes(['preflight', root])
    })
    assert.equal(status, 2)
    assert.match(err[0] ?? '', /^whofixes: preflight needs --evidence PATH/)
  })

  it("writes the lab's files, whole, and says which of their values are not known", () => {
    const written: Record<string, string> = {}
    const ran = preflight(usedHost, '--only swap --write ROOT/answers', root => {
      for (const name of readdirSync(join(root, 'answers')))
        written[name] = readFileSync(join(root, 'answers', name), 'utf8')
    })
    assert.deepEqual(Object.keys(written).toSorted(), ['before.json', 'facts.json', 'ports.json', 'who-fixes.json'])
    assert.equal(
      written['before.json'],
      '{\n  "swap_total_kb": 2097148,\n  "ip_forward": 0,\n  "br_netfilter": false,\n  "busy_ports": [\n    10250\n  ]\n}\n',
    )
    assert.deepEqual(JSON.parse(written['ports.json'] ?? ''), [{ port: 10250, unit: 'agent.service', pid: 812 }])
    assert.equal(written['who-fixes.json'], usualAnswer)
    const facts = JSON.parse(written['facts.json'] ?? '')
    assert.deepEqual([facts.memtotal_mb, facts.distribution, facts.distribution_version], [3936, 'Debian', '12.5'])
    assert.deepEqual(
      ran.err,
      Object.entries(facts).flatMap(([key, value]) =>
        value === null ? [`facts.json: ${key}: neither facts nor evidence say it`] : [],
      ),
    )
    assert.equal(ran.status, ran.err.length > 0 ? 3 : 0)
  })
})
