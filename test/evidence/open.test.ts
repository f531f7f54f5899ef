import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { Evidence } from '../../src/evidence/evidence.js'
import { follow, textAt } from '../../src/evidence/host-files.js'
import { evidenceHosts, openEvidence } from '../../src/evidence/open.js'
import { type Diagnostic, UsageError } from '../../src/source/diagnostic.js'
import { archiveOf, bytesOf, endOfArchive, type Member } from './archive.js'

let directory = ''
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'whofixes-evidence-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

const refuse = (diagnostic: Diagnostic): void => assert.fail(diagnostic.message)

function written(name: string, bytes: string | Uint8Array): string {
  const path = join(directory, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  return path
}

function text(evidence: Evidence, path: string): string {
  const found = textAt(evidence.files, path)
  return found.kind === 'known' ? found.value.text : found.kind === 'unknown' ? `unknown: ${found.because}` : 'absent'
}

const json = (said: unknown): string => `${JSON.stringify(said, null, 2)}\n`
const fstab: Member = { path: 'etc/fstab', content: '/swapfile none swap sw 0 0\n' }
const long = `etc/systemd/system/${'dev-disk-by\\x2duuid-'.repeat(9)}.swap`

describe('evidence in an archive', () => {
  const rows: readonly (readonly [string, readonly Member[], string, string])[] = [
    ['a member', [fstab], '/etc/fstab', '/swapfile none swap sw 0 0\n'],
    ['a member below ./', [{ ...fstab, path: './etc/fstab' }], '/etc/fstab', '/swapfile none swap sw 0 0\n'],
    ['a member by its absolute path', [{ ...fstab, path: '/etc/fstab' }], '/etc/fstab', '/swapfile none swap sw 0 0\n'],
    ['all in one directory', [{ ...fstab, path: 'node1/etc/fstab' }], '/etc/fstab', '/swapfile none swap sw 0 0\n'],
    ['of one name the last', [fstab, { path: 'etc/fstab', content: 'later\n' }], '/etc/fstab', 'later\n'],
    ['nothing there', [fstab], '/etc/hosts', 'absent'],
    [
      'a link',
      [{ path: 'etc/a', type: 'SymbolicLink', target: 'fstab' }, fstab],
      '/etc/a',
      '/swapfile none swap sw 0 0\n',
    ],
    [
      'a link that leads out',
      [{ path: 'etc/a', type: 'SymbolicLink', target: '../../../etc/fstab' }, fstab],
      '/etc/a',
      '/swapfile none swap sw 0 0\n',
    ],
    [
      'a hard link',
      [fstab, { path: 'etc/a', type: 'Link', target: 'etc/fstab' }],
      '/etc/a',
      '/swapfile none swap sw 0 0\n',
    ],
    [
      'a hard link to what is not there',
      [fstab, { path: 'etc/a', type: 'Link', target: '../../etc/shadow' }],
      '/etc/a',
      'unknown: /etc/a: it is a second name of ../../etc/shadow, which is not in the archive',
    ],
    ['a device', [fstab, { path: 'etc/a', type: 'CharacterDevice' }], '/etc/a', 'unknown: /etc/a is no file'],
    ['a pipe', [fstab, { path: 'etc/a', type: 'FIFO' }], '/etc/a', 'unknown: /etc/a is no file'],
    [
      'a member by a path through a link',
      [{ path: 'lib/sysctl.d/x.conf', content: 'x' }, { path: 'lib', type: 'SymbolicLink', target: 'usr/lib' }, fstab],
      '/usr/lib/sysctl.d/x.conf',
      'x',
    ],
    [
      'bytes that are no text',
      [{ path: 'etc/fstab', content: Buffer.from([0xff]) }],
      '/etc/fstab',
      'unknown: /etc/fstab is no text',
    ],
    [
      'a file that is too large',
      [{ path: 'etc/fstab', content: Buffer.alloc(16 * 1024 * 1024 + 1, 'a') }],
      '/etc/fstab',
      'unknown: /etc/fstab: it is larger than 16 MiB',
    ],
  ]
  for (const [name, members, path, expected] of rows) {
    for (const [ending, pack] of [
      ['tar', (bytes: Buffer) => bytes],
      ['tar.gz', gzipSync],
    ] as const) {
      it(`${name} (${ending})`, () => {
        const evidence = openEvidence(written(`node1.${ending}`, pack(archiveOf(members))), refuse)
        assert.equal(text(evidence, path), expected)
        assert.equal(evidence.host, 'node1')
      })
    }
  }

  const manifest = (said: unknown): Member => ({ path: 'evidence.json', content: json(said) })
  it('is what was captured where evidence.json says so', () => {
    const said = {
      captured: ['/etc/fstab', '/etc/sysctl.d'],
      host: 'other',
      withheld: ['/etc/shadow'],
      unreadable: ['/etc/hosts'],
      commands: [
        { words: ['uname', '-r'], status: 0, stdout: 'commands/1' },
        { words: ['rpm', '-qa'], status: 127, stdout: 'commands/2' },
      ],
    }
    const told: string[] = []
    const path = written(
      'node2.tgz',
      gzipSync(archiveOf([fstab, { path: 'commands/1', content: '6.1\n' }, manifest(said)])),
    )
    const evidence = openEvidence(path, ({ message }) => told.push(message))
    assert.equal(evidence.host, 'other')
    assert.equal(evidence.origin, path)
    assert.equal(text(evidence, '/etc/sysctl.d/x'), 'absent')
    assert.equal(text(evidence, '/etc/modules'), 'unknown: /etc/modules was not captured')
    assert.equal(text(evidence, '/evidence.json'), 'unknown: /evidence.json was not captured')
    assert.equal(text(evidence, '/commands/1'), 'unknown: /commands was not captured')
    assert.deepEqual(evidence.command(['uname', '-r']), { kind: 'known', value: { status: 0, stdout: '6.1\n' } })
    assert.equal(evidence.command(['rpm', '-qa']).kind, 'unknown')
    assert.deepEqual(evidence.command(['id']), { kind: 'unknown', because: 'id was not run on the host' })
    assert.deepEqual(told, [
      `${path}: /etc/hosts could not be read when the evidence was taken, so it is unknown; run collect.sh as root`,
    ])
  })

  const whole = archiveOf([fstab, { path: 'proc/meminfo', content: 'MemTotal: 1 kB\n' }])
  const refused: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['nothing', Buffer.alloc(0), /it is empty, expected a tar archive; collect the evidence again/],
    [
      'a text',
      Buffer.from('sudo: a password is required\n'.repeat(40)),
      /it is no tar archive, expected what collect\.sh prints/,
    ],
    ['a short text', Buffer.from('sudo: a password is required\n'), /it is no tar archive/],
    ['only the end', endOfArchive, /neither evidence\.json nor etc\/ or proc\//],
    ['no files of a host', archiveOf([{ path: 'README', content: 'x' }]), /neither evidence\.json nor etc\/ or proc\//],
    ['no end', whole.subarray(0, -1024), /the archive breaks off after 2048 bytes/],
    ['cut off in a member', whole.subarray(0, 1536 + 3), /the archive breaks off/],
    ['a few bytes', whole.subarray(0, 100), /it is no tar archive/],
    ['cut off in a header', whole.subarray(0, 1100), /the archive breaks off/],
    [
      'a damaged header',
      Buffer.concat([bytesOf(fstab), Buffer.alloc(512, 7), endOfArchive]),
      /at byte 1024 is no member of a tar archive/,
    ],
    ['gzip that breaks off', gzipSync(whole).subarray(0, -12), /what gzip packed breaks off or is damaged/],
    [
      'another packing',
      Buffer.from('\xfd7zXZ\0\0\0', 'latin1'),
      /packed with xz; expected a tar, plain or packed with gzip/,
    ],
    [
      'a member that leaves',
      archiveOf([{ path: '../../etc/shadow', content: 'x' }, fstab]),
      /member \.\.\/\.\.\/etc\/shadow leads out of the archive/,
    ],
    [
      'a member that leaves in between',
      archiveOf([{ path: 'etc/../../x', content: 'x' }, fstab]),
      /leads out of the archive/,
    ],
    [
      'a file with files below it',
      archiveOf([{ path: 'etc', content: 'x' }, fstab]),
      /etc is a file, and \/etc\/fstab lies under it/,
    ],
    [
      'evidence.json that is cut off',
      archiveOf([fstab, { path: 'evidence.json', content: '{"captured": [\n"/etc' }]),
      /evidence\.json:2: it is no JSON/,
    ],
    ['evidence.json that is no object', archiveOf([fstab, manifest([])]), /evidence\.json:1: expected an object/],
    ['evidence.json that lists nothing', archiveOf([fstab, manifest({})]), /evidence\.json:1: expected "captured"/],
    [
      'a path that is not absolute',
      archiveOf([fstab, manifest({ host: 'a', captured: ['etc'] })]),
      /evidence\.json:3: expected "captured" to list absolute paths, and "etc" is none/,
    ],
    ['a path that leaves', archiveOf([fstab, manifest({ captured: ['/../etc'] })]), /"\/\.\.\/etc" is none/],
    [
      'commands that are none',
      archiveOf([fstab, manifest({ captured: [], commands: [{ words: 'id' }] })]),
      /expected "commands" to be a list/,
    ],
  ]
  for (const [name, bytes, message] of refused) {
    it(`refuses ${name}`, () => {
      const path = written('bad.tar', bytes)
      assert.throws(
        () => openEvidence(path, refuse),
        (error: Error) =>
          error instanceof UsageError &&
          message.test(error.message) &&
          error.message.startsWith(`${path}: `) &&
          !error.message.includes('\n'),
      )
    })
  }

  it('reads all of an archive or refuses it, wherever it is cut off', () => {
    const members = [fstab, { path: long, content: 'x' }, { path: 'etc/sysctl.d/a.conf', content: 'a'.repeat(700) }]
    const bytes = archiveOf(members)
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), length => {
        const path = written('cut.tar', bytes.subarray(0, length))
        try {
          assert.equal(text(openEvidence(path, refuse), '/etc/sysctl.d/a.conf'), 'a'.repeat(700))
        } catch (error) {
          assert.ok(error instanceof UsageError, String(error))
        }
      }),
    )
  })

  it('ends on any bytes', () => {
    const bytes = archiveOf([
      fstab,
      { path: 'etc/a', type: 'SymbolicLink', target: 'b' },
      { path: 'etc/b', type: 'SymbolicLink', target: 'a' },
      manifest({ captured: ['/etc'] }),
    ])
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 6 }), changes => {
        const changed = Buffer.from(bytes)
        for (const [at, byte] of changes) changed[at] = byte
        try {
          const evidence = openEvidence(written('junk.tar', changed), () => {})
          for (const path of ['/etc/a/x', '/etc/fstab', '/']) follow(evidence.files, path)
        } catch (error) {
          assert.ok(error instanceof UsageError, String(error))
        }
      }),
    )
  })

  for (const [program, forms] of [
    ['tar', [['--format=gnu'], ['--format=pax'], ['--format=ustar'], ['--format=v7'], ['-z']]],
    ['busybox', [['tar']]],
  ] as const) {
    for (const form of forms) {
      it(`reads what ${program} ${form[0]} packs`, function () {
        if (spawnSync(program, ['--help']).error !== undefined) return this.skip()
        const root = join(directory, `root-${program}-${form[0]}`)
        const short = ['--format=v7', '--format=ustar'].includes(form[0])
        mkdirSync(join(root, 'etc/systemd/system'), { recursive: true })
        const name = short ? 'etc/an odd "näme"' : long
        writeFileSync(join(root, name), 'x')
        symlinkSync(short ? 'y' : `/${long}`, join(root, 'etc/link'))
        const args = program === 'busybox' ? ['tar', '-cf', '-', '.'] : [form[0], '-cf', '-', '.']
        const path = written(`${program}.tar`, execFileSync(program, args, { cwd: root }))
        const evidence = openEvidence(path, refuse)
        assert.equal(text(evidence, `/${name}`), 'x')
        const link = evidence.files.entry('/etc/link')
        assert.ok(link.kind === 'known' && link.value.kind === 'link')
        assert.equal(link.value.target, short ? 'y' : `/${long}`)
        assert.equal(link.value.mode, 0o777)
      })
    }
  }
})

describe('evidence in a directory', () => {
  it('is the whole root without evidence.json, and links stay inside it', () => {
    const root = join(directory, 'node3')
    written('node3/etc/fstab', 'a\n')
    symlinkSync('/etc/fstab', join(root, 'etc/inside'))
    symlinkSync('../../../../../../../etc/passwd', join(root, 'etc/outside'))
    execFileSync('mkfifo', [join(root, 'etc/pipe')])
    const evidence = openEvidence(root, refuse)
    assert.equal(evidence.host, 'node3')
    assert.equal(text(evidence, '/etc/inside'), 'a\n')
    assert.equal(text(evidence, '/etc/outside'), 'absent')
    assert.equal(text(evidence, '/etc/pipe'), 'unknown: /etc/pipe is no file')
    assert.equal(text(evidence, '/etc/fstab/x'), 'absent')
    assert.equal(evidence.command(['id']).kind, 'unknown')
  })

  it('is what was captured with evidence.json, which is no file of the host', () => {
    const root = join(directory, 'node4')
    written('node4/etc/fstab', 'a\n')
    written('node4/commands/1', 'uid=0\n')
    written(
      'node4/evidence.json',
      json({ captured: ['/etc/fstab', '/'], commands: [{ words: ['id'], status: 0, stdout: 'commands/1' }] }),
    )
    const evidence = openEvidence(root, refuse)
    assert.deepEqual(evidence.files.list('/'), { kind: 'known', value: ['etc'] })
    assert.equal(text(evidence, '/evidence.json'), 'absent')
    assert.equal(text(evidence, '/commands/1'), 'absent')
    assert.deepEqual(evidence.command(['id']), { kind: 'known', value: { status: 0, stdout: 'uid=0\n' } })
  })

  it('says which line of evidence.json is wrong', () => {
    written('node5/etc/fstab', 'a\n')
    const path = written('node5/evidence.json', '{\n  "captured": "x"\n}\n')
    assert.throws(() => openEvidence(dirname(path), refuse), {
      message: `${path}:2: expected "captured" to be a list of absolute paths; collect the evidence again, or correct the file`,
    })
  })

  const noManifest: readonly (readonly [name: string, make: (path: string) => unknown, message: RegExp])[] = [
    ['a pipe', path => execFileSync('mkfifo', [path]), /: it is no file; expected the list of what was captured$/],
    ['a directory', path => mkdirSync(path), /: it is no file; expected/],
    ['a link out of the evidence', path => symlinkSync('/etc/hostname', path), /: it is no file; expected/],
    [
      'larger than any',
      path => writeFileSync(path, Buffer.alloc(16 * 1024 * 1024 + 1, ' ')),
      /: it is larger than 16 MiB; expected/,
    ],
  ]
  for (const [index, [name, make, message]] of noManifest.entries()) {
    it(`refuses evidence.json that is ${name}, and does not wait for it`, () => {
      written(`manifest${index}/etc/fstab`, 'a\n')
      make(join(directory, `manifest${index}/evidence.json`))
      assert.throws(
        () => openEvidence(join(directory, `manifest${index}`), refuse),
        (error: Error) => error instanceof UsageError && message.test(error.message),
      )
    })
  }

  it('takes what commands printed from the evidence only', () => {
    const outside = dirname(written('outside/1', 'of another\n'))
    for (const [index, [link, target, stdout]] of [
      ['commands', outside, 'commands/1'],
      ['commands', '../outside', 'commands/1'],
      ['out', outside, 'out/./1'],
      ['one', join(outside, '1'), 'one'],
    ].entries()) {
      const root = join(directory, `beside${index}`)
      written(`beside${index}/etc/fstab`, 'a\n')
      written(`beside${index}/evidence.json`, json({ captured: [], commands: [{ words: ['id'], status: 0, stdout }] }))
      symlinkSync(target ?? '', join(root, link ?? ''))
      assert.equal(openEvidence(root, refuse).command(['id']).kind, 'unknown', `${link} -> ${target}`)
    }
  })

  it('says what may not be read is unknown, not absent', function () {
    if (process.getuid?.() === 0) return this.skip()
    const root = join(directory, 'closed')
    const closed = written('closed/etc/closed/a', 'a\n')
    chmodSync(written('closed/etc/b', 'b\n'), 0)
    chmodSync(dirname(closed), 0)
    const { files } = openEvidence(root, refuse)
    const evidence = openEvidence(root, refuse)
    assert.equal(text(evidence, '/etc/b'), 'unknown: /etc/b: it could not be read (permission denied)')
    assert.equal(text(evidence, '/etc/closed/a'), 'unknown: /etc/closed/a could not be read (permission denied)')
    assert.equal(files.list('/etc/closed').kind, 'unknown')
    chmodSync(dirname(closed), 0o755)
  })

  it('is this very machine for /', function () {
    if (process.platform !== 'linux') return this.skip()
    const evidence = openEvidence('/', refuse)
    assert.equal(text(evidence, '/proc/version'), readFileSync('/proc/version', 'utf8'))
    assert.equal(text(evidence, '/proc/999999999/stat'), 'absent')
    // One that waits for what the kernel says, one that is never read to its end, one that is no file.
    assert.match(text(evidence, '/proc/kmsg'), /^unknown: \/proc\/kmsg/)
    assert.match(text(evidence, '/dev/zero'), /is no file$/)
    const link = evidence.files.entry('/proc/self/exe')
    assert.ok(link.kind === 'known' && link.value.kind === 'link')
    assert.equal(evidence.host, 'localhost')
  })
})

describe('evidence of many hosts', () => {
  it('opens each when asked, and reports what is none', () => {
    const bad = dirname(written('fleet/bad.tar', 'x'))
    written('fleet/node2.tar', archiveOf([fstab]))
    written(
      'fleet/node1.tgz',
      gzipSync(archiveOf([fstab, { path: 'evidence.json', content: json({ captured: ['/etc'], host: 'x' }) }])),
    )
    written('fleet/node3/etc/fstab', 'a\n')
    written('fleet/node4/node4/proc/swaps', 'a\n')
    written('fleet/README', 'x')
    written('fleet/.hidden', 'x')
    mkdirSync(join(bad, 'empty'))
    const told: string[] = []
    const hosts = evidenceHosts(bad, ({ message }) => told.push(message))
    assert.deepEqual(
      hosts.map(({ host }) => host),
      ['bad', 'node1', 'node2', 'node3', 'node4'],
    )
    const opened = hosts.slice(1).map(({ open }) => open())
    assert.deepEqual(
      opened.map(({ host }) => host),
      ['node1', 'node2', 'node3', 'node4'],
    )
    assert.throws(() => hosts[0]?.open(), UsageError)
    assert.deepEqual(
      told.map(line => line.slice(bad.length + 1).split(':')[0]),
      ['README', 'empty'],
    )
    assert.throws(() => openEvidence(bad, refuse), /so it is no evidence of one host/)
    written('fleet/node3.tar', archiveOf([fstab]))
    assert.throws(
      () => evidenceHosts(bad, () => {}),
      /node3 and node3\.tar are both evidence of node3; leave one of them/,
    )
  })

  it('leaves out what leads nowhere, with a line', () => {
    written('links/node1.tar', archiveOf([fstab]))
    symlinkSync('nowhere', join(directory, 'links/node2.tar'))
    symlinkSync('node3', join(directory, 'links/node3'))
    mkdirSync(join(directory, 'links/node4'))
    symlinkSync('nowhere', join(directory, 'links/node4/only'))
    execFileSync('mkfifo', [join(directory, 'links/node5.tar')])
    const told: string[] = []
    const hosts = evidenceHosts(join(directory, 'links'), ({ message }) => told.push(message))
    assert.deepEqual(
      hosts.map(({ host }) => host),
      ['node1'],
    )
    assert.deepEqual(
      told.map(line => [/links\/(\S+): /.exec(line)?.[1], line.endsWith(': left out')]),
      [
        ['node2.tar', true],
        ['node3', true],
        ['node4', true],
        ['node5.tar', true],
      ],
    )
  })

  it('is one host where it is one', () => {
    const hosts = evidenceHosts(written('only.tar', archiveOf([fstab])), refuse)
    assert.deepEqual(
      hosts.map(({ host }) => host),
      ['only'],
    )
  })

  it('says where there is none', () => {
    mkdirSync(join(directory, 'nothing'))
    assert.throws(() => evidenceHosts(join(directory, 'nothing'), refuse), /no evidence of a host in it/)
    assert.throws(
      () => evidenceHosts(join(directory, 'missing'), refuse),
      /no such file or directory; expected a tar or a directory/,
    )
  })
})
