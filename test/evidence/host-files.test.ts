import assert from 'node:assert/strict'
import fc from 'fast-check'
import { follow, textAt } from '../../src/evidence/host-files.js'
import { filesOf, type Written } from '../host/files.js'

/** The directories above what was captured are taken to be there, so here they are. */
function withDirectoriesAbove(record: Readonly<Record<string, Written>>, captured: readonly string[]): typeof record {
  const above = captured.flatMap(path => [...path.matchAll(/(?<=.)\//g)].map(({ index }) => path.slice(0, index)))
  return { ...record, ...Object.fromEntries(above.map(path => [path, null])) }
}

type Captured = Parameters<typeof filesOf>[1]

/** What `entry`, `follow`, `textAt` and `list` say, in a word or two. */
function said(record: Readonly<Record<string, Written>>, captured: Captured, ask: string, path: string): string {
  const files = filesOf(record, captured)
  if (ask === 'list') {
    const found = files.list(path)
    return found.kind === 'known' ? found.value.join(' ') : found.kind
  }
  if (ask === 'text') {
    const found = textAt(files, path)
    return found.kind === 'known'
      ? `text ${found.value.text}`
      : found.kind === 'unknown'
        ? `unknown: ${found.because}`
        : 'absent'
  }
  const found = ask === 'entry' ? files.entry(path) : follow(files, path)
  if (found.kind === 'known') return `${found.value.kind} ${found.value.path}`
  return found.kind === 'unknown' ? `unknown: ${found.because}` : 'absent'
}

const usr: Readonly<Record<string, Written>> = {
  '/lib': { link: 'usr/lib' },
  '/usr/lib/sysctl.d/10.conf': 'a = 1\n',
  '/etc/sysctl.conf': 'b = 2\n',
  '/etc/sysctl.d/99-sysctl.conf': { link: '../sysctl.conf' },
  '/etc/sysctl.d/gone.conf': { link: 'nowhere' },
  '/etc/sysctl.d/masked.conf': { link: '/dev/null' },
  '/etc/up': { link: '../../../../etc/sysctl.conf' },
  '/a': { link: 'b' },
  '/b': { link: '/a' },
  '/empty': null,
}
const scope = {
  captured: ['/etc/fstab', '/etc/sysctl.d', '/lib/modules-load.d'],
  listed: ['/sys/module', '/proc'],
  asked: ['/var/lib/etcd', '/opt'],
  withheld: ['/etc/kubernetes/admin.conf', '/etc/kubernetes/pki/'],
  unreadable: ['/etc/secret.conf', '/etc/closed', '/etc/sysctl.d/0.conf'],
}
const partly: Readonly<Record<string, Written>> = {
  '/lib': { link: 'usr/lib' },
  '/etc/sysctl.d/1.conf': 'x = 1',
  '/etc/sysctl.d/0.conf': '',
  '/sys/module/bridge': null,
  '/var/lib/etcd': null,
  '/proc/1/comm': 'init\n',
  '/sys/fs/cgroup/system.slice/a.service': null,
  '/etc/closed/seen': 'x',
}

const rows: readonly (readonly [string, Readonly<Record<string, Written>>, Captured, string, string, string])[] = [
  ['a file', usr, undefined, 'text', '/etc/sysctl.conf', 'text b = 2\n'],
  ['a file by a path that is not tidy', usr, undefined, 'text', '//etc/./sysctl.d/../sysctl.conf', 'text b = 2\n'],
  ['nothing there', usr, undefined, 'entry', '/etc/fstab', 'absent'],
  ['under a file', usr, undefined, 'entry', '/etc/sysctl.conf/x', 'absent'],
  [
    'a link is not followed by entry',
    usr,
    undefined,
    'entry',
    '/etc/sysctl.d/99-sysctl.conf',
    'link /etc/sysctl.d/99-sysctl.conf',
  ],
  ['a link is followed by follow', usr, undefined, 'follow', '/etc/sysctl.d/99-sysctl.conf', 'file /etc/sysctl.conf'],
  ['a directory that is a link', usr, undefined, 'entry', '/lib/sysctl.d/10.conf', 'file /usr/lib/sysctl.d/10.conf'],
  ['the names there', usr, undefined, 'list', '/lib/sysctl.d', '10.conf'],
  ['a link that leads nowhere', usr, undefined, 'follow', '/etc/sysctl.d/gone.conf', 'absent'],
  ['a link to /dev/null', usr, undefined, 'follow', '/etc/sysctl.d/masked.conf', 'other /dev/null'],
  ['no link leads out of the root', usr, undefined, 'follow', '/etc/up', 'file /etc/sysctl.conf'],
  ['links in a circle', usr, undefined, 'entry', '/a/x', 'absent'],
  ['links in a circle, listed', usr, undefined, 'list', '/a', 'absent'],
  [
    'names in the order of their bytes',
    { '/d/b': '', '/d/B': '', '/d/_': '', '/d/a-': '', '/d/a.': '' },
    undefined,
    'list',
    '/d',
    'B _ a- a. b',
  ],
  ['an empty directory', usr, undefined, 'list', '/empty', ''],
  ['the root', usr, undefined, 'list', '/', 'a b empty etc lib usr'],
  ['no directory has no names', usr, undefined, 'list', '/etc/sysctl.conf', 'absent'],
  ['bytes that are no text', { '/x': Buffer.from([0xff, 0xfe]) }, undefined, 'text', '/x', 'unknown: /x is no text'],
  ['a NUL in a text', { '/x': 'a\0b' }, undefined, 'text', '/x', 'unknown: /x is no text'],
  ['a byte order mark stays', { '/x': '\ufeffa' }, undefined, 'text', '/x', 'text \ufeffa'],
  ['captured and not there', partly, scope, 'entry', '/etc/fstab', 'absent'],
  ['under what was captured and not there', partly, scope, 'entry', '/etc/sysctl.d/2.conf', 'absent'],
  ['captured by another name of its directory', partly, scope, 'entry', '/usr/lib/modules-load.d/x.conf', 'absent'],
  ['not captured', partly, scope, 'entry', '/etc/hosts', 'unknown: /etc/hosts was not captured'],
  ['a directory above', partly, scope, 'entry', '/etc', 'directory /etc'],
  [
    'a directory above that holds nothing',
    partly,
    { captured: ['/run/sysctl.d/x'] },
    'entry',
    '/run/sysctl.d',
    'directory /run/sysctl.d',
  ],
  ['the names of a directory above', partly, scope, 'list', '/etc', 'unknown'],
  ['the names of what was captured', partly, scope, 'list', '/etc/sysctl.d', '0.conf 1.conf'],
  ['listed: a name that is not there', partly, scope, 'entry', '/sys/module/br_netfilter', 'absent'],
  ['listed: the names', partly, scope, 'list', '/sys/module', 'bridge'],
  [
    'listed: what a name holds',
    partly,
    scope,
    'entry',
    '/sys/module/bridge/refcnt',
    'unknown: /sys/module/bridge/refcnt was not captured',
  ],
  [
    'listed: a process that does not listen',
    partly,
    scope,
    'entry',
    '/proc/7',
    'unknown: /proc/7 was not captured (of processes, those that listen are)',
  ],
  ['asked and there', partly, scope, 'entry', '/var/lib/etcd', 'directory /var/lib/etcd'],
  [
    'asked and there: what it holds',
    partly,
    scope,
    'entry',
    '/var/lib/etcd/member',
    'unknown: /var/lib/etcd/member was not captured',
  ],
  ['asked and not there', partly, scope, 'entry', '/opt', 'absent'],
  ['under what is not there', partly, scope, 'entry', '/opt/cni', 'absent'],
  [
    'withheld',
    partly,
    scope,
    'text',
    '/etc/kubernetes/admin.conf',
    'unknown: /etc/kubernetes/admin.conf: its content was left out of the evidence',
  ],
  ['withheld: it is there', partly, scope, 'entry', '/etc/kubernetes/admin.conf', 'file /etc/kubernetes/admin.conf'],
  ['withheld: a directory', partly, scope, 'entry', '/etc/kubernetes/pki', 'directory /etc/kubernetes/pki'],
  ['withheld: what the directory holds', partly, scope, 'list', '/etc/kubernetes/pki', 'unknown'],
  [
    'unreadable, nothing stored',
    partly,
    scope,
    'entry',
    '/etc/secret.conf',
    'unknown: /etc/secret.conf could not be read when the evidence was taken',
  ],
  [
    'unreadable, stored empty',
    partly,
    scope,
    'text',
    '/etc/sysctl.d/0.conf',
    'unknown: /etc/sysctl.d/0.conf: it could not be read when the evidence was taken',
  ],
  ['unreadable directory', partly, scope, 'list', '/etc/closed', 'unknown'],
  ['unreadable directory: what is stored', partly, scope, 'text', '/etc/closed/seen', 'text x'],
  [
    'unreadable directory: what is not',
    partly,
    scope,
    'entry',
    '/etc/closed/y',
    'unknown: /etc/closed/y could not be read when the evidence was taken',
  ],
  [
    'captured inside an unreadable directory',
    partly,
    { captured: ['/etc/closed/in'], unreadable: ['/etc/closed'] },
    'entry',
    '/etc/closed/in/y',
    'absent',
  ],
  [
    'control groups: a unit that does not run',
    partly,
    { captured: ['/sys/fs/cgroup'] },
    'entry',
    '/sys/fs/cgroup/system.slice/x.service',
    'absent',
  ],
  [
    'control groups: their files',
    partly,
    { captured: ['/sys/fs/cgroup'] },
    'entry',
    '/sys/fs/cgroup/cgroup.procs',
    'unknown: /sys/fs/cgroup/cgroup.procs was not captured (of control groups, those of units are)',
  ],
]

describe('files of a host', () => {
  for (const [name, record, captured, ask, path, expected] of rows) {
    it(`${name}: ${ask} ${path}`, () => assert.equal(said(record, captured, ask, path), expected))
  }

  it('gives the same text object each time', () => {
    const files = filesOf({ '/x': 'a' })
    assert.equal(textAt(files, '/x').kind, 'known')
    assert.deepEqual(textAt(files, '/x'), textAt(files, '/x'))
    const [first, second] = [textAt(files, '/x'), textAt(files, '/x')]
    assert.ok(first.kind === 'known' && second.kind === 'known' && first.value === second.value)
  })

  const part = fc.constantFrom('a', 'b', 'c')
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map(parts => `/${parts.join('/')}`)

  it('never turns what was not captured into absent, or what was captured into something else', () => {
    const trees = fc.dictionary(path, fc.constantFrom('text', 'more')).map(record => {
      // A path under a file is no tree.
      const names = Object.keys(record)
      return Object.fromEntries(
        Object.entries(record).filter(([each]) => !names.some(other => each.startsWith(`${other}/`))),
      )
    })
    fc.assert(
      fc.property(trees, fc.array(path, { maxLength: 3 }), path, (record, captured, asked) => {
        const there = withDirectoriesAbove(record, captured)
        const whole = filesOf(there)
        const under = (each: string): boolean => captured.some(top => each === top || each.startsWith(`${top}/`))
        const kept = Object.fromEntries(Object.entries(there).filter(([each]) => under(each)))
        const parts = filesOf(kept, captured)
        const [all, some] = [whole.entry(asked), parts.entry(asked)]
        if (some.kind === 'known' && all.kind === 'known') assert.equal(some.value.kind, all.value.kind)
        if (some.kind === 'absent') assert.equal(all.kind, 'absent')
        if (under(asked)) assert.equal(some.kind, all.kind)
        const [names, known] = [whole.list(asked), parts.list(asked)]
        if (known.kind === 'known') assert.deepEqual(known, names, 'names')
      }),
    )
  })
})
