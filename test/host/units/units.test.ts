import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startsAtBoot } from '../../../src/host/units/boot-reach.js'
import { enablementOf } from '../../../src/host/units/enablement.js'
import { unitFilesOf } from '../../../src/host/units/unit-files.js'
import { unitState } from '../../../src/host/units/unit-state.js'
import { evidenceOf } from '../evidence-of.js'
import { filesOf, type Written } from '../files.js'

interface Host {
  readonly host: string
  readonly files: Readonly<Record<string, Written>>
  readonly units: Readonly<Record<string, { readonly enabled?: string; readonly atBoot?: boolean | 'unknown' }>>
}

const hosts: readonly Host[] = JSON.parse(
  readFileSync(new URL('../../../../test/host/units/hosts.json', import.meta.url), 'utf8'),
)

describe('units of a host', () => {
  for (const { host, files, units } of hosts) {
    describe(host, () => {
      const read = filesOf(files)
      for (const [unit, { enabled, atBoot }] of Object.entries(units)) {
        it(`${unit}: ${enabled ?? 'absent'}, at boot ${atBoot}`, () => {
          const found = enablementOf(read, unit)
          assert.equal(found.kind === 'known' ? found.value : undefined, enabled, JSON.stringify(found))
          if (atBoot === undefined) return
          const boot = startsAtBoot(read, unit)
          assert.equal(boot.kind === 'known' ? boot.value : boot.kind, atBoot, JSON.stringify(boot))
        })
      }
    })
  }

  it('says nothing of units where their directories were not captured', () => {
    const files = filesOf({ '/etc/systemd/system/a.service': '[Service]\n' }, ['/etc/fstab'])
    assert.equal(startsAtBoot(files, 'a.service').kind, 'unknown')
    assert.equal(enablementOf(files, 'b.service').kind, 'unknown')
  })

  it('does not take a unit for absent from boot where only the vendor directory is missing', () => {
    const record: Record<string, Written> = {
      '/etc/systemd/system/multi-user.target.wants/on.service': { link: '/usr/lib/systemd/system/on.service' },
    }
    const captured = filesOf(record, ['/etc/systemd', '/run/systemd/generator', '/run/systemd/generator.late'])
    assert.equal(startsAtBoot(captured, 'on.service').kind, 'unknown', 'it could be masked in a directory not given')
    assert.equal(startsAtBoot(captured, 'off.service').kind, 'unknown')
    const whole = startsAtBoot(filesOf(record), 'on.service')
    assert.deepEqual(whole.kind === 'known' && whole.value, true)
  })

  it('does not loop over units that pull in each other, or names that lead in a circle', () => {
    const files = filesOf({
      '/etc/systemd/system/multi-user.target.wants/a.service': { link: '../a.service' },
      '/etc/systemd/system/a.service': '[Unit]\nWants=b.service\n',
      '/etc/systemd/system/b.service': '[Unit]\nWants=a.service\n',
      '/etc/systemd/system/c.service': { link: 'd.service' },
      '/etc/systemd/system/d.service': { link: 'c.service' },
    })
    const boot = startsAtBoot(files, 'b.service')
    assert.equal(boot.kind === 'known' && boot.value, true)
    assert.equal(unitFilesOf(files, 'now').unit('c.service').kind, 'unknown')
  })

  it('reads drop-ins by name over all directories, those of the type and of prefixes too', () => {
    const files = filesOf({
      '/usr/lib/systemd/system/foo-bar.service': '[Service]\nExecStart=/bin/a\nRestart=no\n',
      '/etc/systemd/system/foo-bar.service.d/20.conf': '[Service]\nRestart=always\n',
      '/usr/lib/systemd/system/foo-bar.service.d/30.conf': '[Service]\nRestart=on-failure\n',
      '/etc/systemd/system/foo-bar.service.d/30.conf': { link: '/dev/null' },
      '/etc/systemd/system/foo-.service.d/10.conf': '[Service]\nExecStart=\nExecStart=/bin/b\n',
      '/etc/systemd/system/service.d/40.conf': '[Unit]\nDescription=all\n',
    })
    const unit = unitFilesOf(files, 'now').unit('foo-bar.service')
    assert.ok(unit.kind === 'known')
    assert.deepEqual(
      unit.value.places.map(({ file }) => file),
      [
        '/usr/lib/systemd/system/foo-bar.service',
        '/etc/systemd/system/foo-.service.d/10.conf',
        '/etc/systemd/system/foo-bar.service.d/20.conf',
        '/etc/systemd/system/service.d/40.conf',
      ],
    )
    assert.equal(unit.value.settings.findLast(({ name }) => name === 'Restart')?.value, 'always')
  })
})

describe('unitState', () => {
  const files = {
    '/usr/lib/systemd/system/basic.target': '[Unit]\n',
    '/usr/lib/systemd/system/a.service': '[Service]\nExecStart=/bin/a\n[Install]\nWantedBy=multi-user.target\n',
    '/usr/lib/systemd/system/once.service': '[Service]\nType=oneshot\nExecStart=/bin/once\n',
    '/usr/lib/systemd/system/b@.service': '[Service]\nExecStart=/bin/b\n',
    '/sys/fs/cgroup/system.slice/a.service': null,
    '/sys/fs/cgroup/system.slice/system-b.slice/b@1.service': null,
  }
  const active = (record: Record<string, Written>, unit: string, listed?: string): unknown => {
    const commands = listed === undefined ? [] : [{ words: LIST, stdout: listed }]
    const found = unitState(evidenceOf(filesOf(record), commands), unit)
    if (found.kind !== 'known') return found.kind
    return found.value.active.kind === 'known' ? found.value.active.value : found.value.active.kind
  }
  const LIST = ['systemctl', 'list-units', '--all', '--plain', '--no-legend']

  it('is active by its cgroup, also as an instance; not where there is none', () => {
    assert.equal(active(files, 'a.service'), true)
    assert.equal(active(files, 'b@1.service'), true)
    assert.equal(active(files, 'b@2.service'), false)
    assert.equal(active(files, 'once.service'), 'unknown', 'a oneshot that ran has no cgroup')
    assert.equal(active(files, 'none.service'), 'absent')
  })

  it('is active as systemctl says, where that was captured', () => {
    const listed =
      'a.service loaded failed failed A\nb@2.service loaded active running B\n● x.mount not-found inactive dead X\n'
    assert.equal(active(files, 'a.service', listed), false)
    assert.equal(active(files, 'b@2.service', listed), true)
    assert.equal(active(files, 'once.service', listed), false)
  })

  it('is not known from files that say nothing of what runs', () => {
    assert.equal(active({ '/usr/lib/systemd/system/a.service': '[Service]\n' }, 'a.service'), 'unknown')
  })

  it('is active by the cgroup of a process, where no directories of cgroups are there', () => {
    const record = {
      '/usr/lib/systemd/system/a.service': '[Service]\n',
      '/proc/7/cgroup': '0::/system.slice/a.service/sub\n',
    }
    assert.equal(active(record, 'a.service'), true)
  })
})

describe('units of a host, beside systemctl', () => {
  let directory: string
  before(function () {
    const isThere = spawnSync('systemctl', ['--version']).status === 0
    if (!isThere) {
      assert.ok(!process.env.CI, 'systemctl is not installed, and CI is where it has to be')
      console.log('    skipped: systemctl is not installed')
      return this.skip()
    }
    directory = mkdtempSync(join(tmpdir(), 'whofixes-units-'))
  })
  after(() => {
    if (directory !== undefined) rmSync(directory, { recursive: true })
  })

  for (const [index, { host, files, units }] of hosts.entries()) {
    it(`is-enabled: ${host}`, () => {
      const root = join(directory, String(index))
      place(root, files)
      const wrong: string[] = []
      for (const [unit, { enabled }] of Object.entries(units)) {
        const { stdout } = spawnSync('systemctl', [`--root=${root}`, 'is-enabled', unit], { encoding: 'utf8' })
        const said = /^(?!not-found)[a-z-]+/.exec(stdout.trim())?.[0]
        if (said !== enabled) wrong.push(`${unit}: ${said}, not ${enabled}`)
      }
      assert.deepEqual(wrong, [])
    })
  }
})

function place(root: string, files: Readonly<Record<string, Written>>): void {
  for (const [path, written] of Object.entries(files)) {
    const at = join(root, path)
    mkdirSync(dirname(at), { recursive: true })
    if (written === null) mkdirSync(at, { recursive: true })
    else if (typeof written === 'string' || written instanceof Uint8Array) writeFileSync(at, written)
    else if ('link' in written) symlinkSync(written.link, at)
    else writeFileSync(at, written.text)
  }
}
