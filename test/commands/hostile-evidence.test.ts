import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { quoted } from '../../src/host/quoted.js'
import { enabledService, type HostRecord, listening } from '../host/sample-hosts.js'
import { usedHost } from '../host/used-host.js'
import { writeHost } from '../host/write-host.js'
import { hostileTexts, obeyed } from '../reports/obeyed.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { runWhofixes } from './run-whofixes.js'
import { smallTree } from './small-tree.js'

/** What may stand in a name of a file: anything but a slash and NUL. */
const tails = fc
  .array(fc.constantFrom(...hostileTexts, '|', '`', '\n', "'", '$(x)', ' ', 'x'), { minLength: 1, maxLength: 3 })
  .map(pieces => pieces.join(''))

/** A used host with such a text in names, contents, what is printed and what listens. */
function hostile(tail: string): HostRecord {
  const unit = `a${tail}.service`
  const line = tail.replaceAll(/[\n\r\s]/g, '')
  return {
    ...usedHost,
    ...enabledService(unit, `/usr/local/bin/a${line}`),
    ...enabledService('swapper.service', `/sbin/swapon /swap${line}`),
    ...listening([{ port: 6443, inode: 42, pid: 900, program: `p${line}`, cgroup: `/system.slice/${unit}` }]),
    [`/etc/sysctl.d/zy${tail}.conf`]: `net.ipv4.ip_forward = 0${line}\n# ${line}\nnet.ipv4.ip_forward = 0\n`,
    [`/etc/modules-load.d/m${tail}.conf`]: `br_netfilter ${line}\n`,
    [`/etc/modprobe.d/m${tail}.conf`]: `blacklist br_netfilter\ninstall br_netfilter /bin/false ${line}\n`,
    '/etc/fstab': `${usedHost['/etc/fstab']}/swap\\033[2J${line} none swap sw${line} 0 0\n`,
    '/proc/swaps': `Filename Type Size Used Priority\n/swap\\033[2J${line} file 1024 0 -2\n`,
    '/proc/sys/net/ipv4/ip_forward': `0${line}\n`,
    '/proc/cmdline': `root=/dev/sda1 systemd.unit=a${line} sysctl.net.ipv4.ip_forward=${line}\n`,
    '/etc/os-release': `ID="x${line}"\nNAME="${line}"\nVERSION_ID="${line}"\n`,
    '/etc/hostname': `h${line}\n`,
  }
}

const lines: readonly string[] = [
  'preflight ROOT/tree --evidence ROOT/host --color never',
  'preflight ROOT/tree --evidence ROOT/host --format markdown',
  'preflight ROOT/tree --evidence ROOT/host --format json',
  'preflight ROOT/tree -i ROOT/inventory.ini --host all --evidence ROOT/hosts',
  'verify --after --evidence ROOT/host',
  'verify ROOT/ports.json ROOT/tree --evidence ROOT/host',
  'verify ROOT/facts.json ROOT/tree --evidence ROOT/host --format json',
  'checks ROOT/tree --evidence ROOT/host',
  'tasks ROOT/tree --evidence ROOT/host',
  'effects ROOT/tree -i ROOT/inventory.ini --host h1',
  'vars ROOT/tree -i ROOT/inventory.ini --host h1 spoken',
  'report ROOT/tree -i ROOT/inventory.ini --host h1',
]

describe('a hostile host', () => {
  it('has nothing obeyed by the terminal, whatever is asked', function () {
    this.timeout(120_000)
    fc.assert(
      fc.property(tails, tail => {
        withTemporary(root => {
          const word = tail.replaceAll(/[\n\r\s'"`$|#]/g, '')
          writeFiles(join(root, 'tree'), smallTree)
          writeFiles(root, {
            'inventory.ini': `[kube_control_plane]\nh1 spoken="${word}"\n${`h2${word}`.replaceAll('[', '')}\n[etcd]\nh1\n[kube_node]\nh1\n`,
            'ports.json': JSON.stringify([{ port: 6443, unit: `u${tail}`, pid: tail }]),
            'facts.json': JSON.stringify({ distribution: tail, kernel: tail, [`k${tail}`]: tail }),
          })
          writeHost(join(root, 'host'), hostile(tail))
          writeHost(join(root, 'hosts', 'h1'), hostile(tail))
          for (const line of lines) {
            const { status, out, err } = runWhofixes(line.split(' ').map(each => each.replace('ROOT', root)))
            assert.ok(out !== '' || status === 2, line)
            assert.deepEqual(obeyed(out), [], line)
            assert.deepEqual(obeyed(err.join('\n')), [], line)
          }
        })
      }),
      { numRuns: 2, examples: [['\u001B[2J\r\u009B31m\u202E|`\n']] },
    )
  })

  for (const word of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    it(`has names that every object of the language has: ${word}`, () => {
      withTemporary(root => {
        writeFiles(join(root, 'tree'), {
          ...smallTree,
          'roles/kubernetes/preinstall/tasks/main.yml': `${smallTree['roles/kubernetes/preinstall/tasks/main.yml']}
- name: Look at much
  command: "{{ item }}"
  register: looked
  failed_when: false
  changed_when: false
  loop:
    - uname ${word}
    - ${word}
    - systemctl is-enabled ${word}
    - grep -E [[:${word}:]] /etc/fstab
    - swapon --${word}
    - modinfo ${word}
`,
        })
        writeHost(join(root, 'host'), {
          ...usedHost,
          ...enabledService(`${word}.service`, `/usr/bin/${word}`),
          ...listening([{ port: 10250, inode: 7, pid: 9, program: word, cgroup: `/${word}/${word}` }]),
          '/etc/modules-load.d/own.conf': `${word}\n`,
          '/etc/modprobe.d/own.conf': `softdep ${word} pre: ${word}\nblacklist [[:${word}:]]\n`,
          '/proc/1/comm': `${word}\n`,
          '/etc/os-release': `ID=${word}\nNAME=${word}\nVERSION_ID=${word}\n`,
          '/etc/fstab': `${word}=x none swap sw 0 0\n${word} ${word} ${word} ${word} 0 0\n`,
          '/proc/cmdline': `${word} ${word}=${word}\n`,
          '/etc/sysctl.d/own.conf': `${word} = 1\nnet.ipv4.${word} = 1\n`,
          '/sys/class/net/eth0/type': `${word}\n`,
        })
        for (const format of ['text', 'json', 'markdown']) {
          const line = `preflight ROOT/tree --evidence ROOT/host --format ${format}`
          const { out } = runWhofixes(line.split(' ').map(each => each.replace('ROOT', root)))
          assert.doesNotMatch(out, /\[native code\]|\[object/)
          assert.match(out, /swap/)
        }
        const { out } = runWhofixes(['vars', join(root, 'tree'), '--evidence', join(root, 'host'), 'sysctl_file_path'])
        assert.doesNotMatch(out, /\[native code\]|\[object/)
      })
    })
  }

  it('has its names in commands as escapes that a shell reads back', () => {
    fc.assert(
      fc.property(tails, tail => {
        const word = quoted(`a${tail}b`)
        assert.deepEqual(obeyed(word), [])
        assert.doesNotMatch(word, /[\n\t]/)
        const read = spawnSync('bash', ['-c', `printf %s ${word}`], { encoding: 'utf8' })
        assert.equal(read.stdout, `a${tail}b`)
      }),
      { numRuns: 30 },
    )
  })
})
