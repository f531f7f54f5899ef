import assert from 'node:assert/strict'
import fc from 'fast-check'
import { modulesOnHost, selinuxOnHost, settingOnHost, swapOnHost } from '../../rules/on_host.js'
import { isText } from '../../src/effects/argument.js'
import { bootOf } from '../../src/host/boot/boot.js'
import { capturedMoment } from '../../src/host/captured.js'
import type { HostAnswer, HostContext, Look } from '../../src/host/look.js'
import { evidenceOf } from '../host/evidence-of.js'
import { filesOf, type Written } from '../host/files.js'
import { debian12, enabledService, type HostRecord } from '../host/sample-hosts.js'

type Changes = Readonly<Record<string, Written>>

/** What a look says of the next boot of a host, that a run (which is none) has changed from `before`. */
function answerOf(look: Look, host: HostRecord, before: HostRecord = host): HostAnswer {
  const [now, after] = [before, host].map(each => capturedMoment(evidenceOf(filesOf(each))))
  assert.ok(now && after)
  const moment = bootOf(after.files, after)
  const effects = { run: { checks: [] }, occurrences: [] } as unknown as HostContext['effects']
  return look({ moment, phase: 'afterReboot', before: now, effects, groups: new Set() })
}

const forwards = settingOnHost({
  key: 'net.ipv4.ip_forward',
  wanted: '1',
  holds: value => isText(value, '1'),
})

/** The words of a command as a shell splits it: quotes, `$'…'`, `&&`, `>` and `>>`. */
function wordsOf(command: string): readonly string[] {
  const words: string[] = []
  const pattern = /\s*(?:(&&|>>|>)|((?:\$'(?:\\.|[^'\\])*'|'[^']*'|\\.|[A-Za-z0-9@%_+=:,./-])+))/gy
  let at = 0
  for (let found = pattern.exec(command); found !== null; found = pattern.exec(command)) {
    at = pattern.lastIndex
    const [, sign, word = ''] = found
    words.push(
      sign ??
        word.replace(/\$'((?:\\.|[^'\\])*)'|'([^']*)'|\\(.)/g, (_, escaped?: string, plain?: string, char?: string) =>
          escaped === undefined
            ? (plain ?? char ?? '')
            : escaped.replace(/\\([0-7]{3}|.)/g, (__, code: string) =>
                code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : code,
              ),
        ),
    )
  }
  assert.equal(at, command.length, `a shell sees more than words in ${command}`)
  return words
}

/** Does what an operator's command does to the files of a host. */
function run(command: string, host: HostRecord): HostRecord {
  const files = new Map(Object.entries(host))
  const textOf = (path: string): string => {
    const written = files.get(path) ?? ''
    return typeof written === 'string' ? written : written !== null && 'text' in written ? written.text : ''
  }
  const write = (path: string, text: string): void => {
    const old = files.get(path)
    files.set(path, old !== null && typeof old === 'object' && 'text' in old ? { ...old, text } : text)
  }
  const edited = (script: string, path: string): string => {
    const lines = textOf(path).split('\n')
    for (const step of script.split(';')) {
      const [, line = '', from = '', by = ''] = /^(\d+)s\/(\^|\.\*)\/(.*)\/$/.exec(step) ?? assert.fail(script)
      const old = lines[Number(line) - 1] ?? assert.fail(`${path} has no line ${line}`)
      lines[Number(line) - 1] = from === '^' ? `${by}${old}` : by
    }
    return lines.join('\n')
  }
  const commands: string[][] = [[]]
  for (const word of wordsOf(command)) {
    if (word === '&&') commands.push([])
    else commands.at(-1)?.push(word)
  }
  for (const [program, ...words] of commands) {
    const [first = '', second = '', third = '', last = ''] = words
    if (program === 'sed' && first === '-i') write(third, edited(second, third))
    else if (program === 'sed' && third === '>') files.set(last, edited(first, second))
    else if (program === 'echo' && second === '>>') write(third, `${textOf(third)}${first}\n`)
    else if (program === 'mv') {
      files.set(second, files.get(first) ?? null)
      files.delete(first)
    } else if (program === 'systemctl') systemctl(words, files)
    else assert.fail(`the test does not know ${command}`)
  }
  return Object.fromEntries(files)
}

function systemctl(words: readonly string[], files: Map<string, Written>): void {
  const [verb = '', ...more] = words
  const units = more.filter(word => !word.startsWith('--'))
  const own = (unit: string): string => `/etc/systemd/system/${unit}`
  if (verb === 'add-wants') {
    const [target = '', unit = ''] = units
    files.set(`${own(target)}.wants/${unit}`, { link: `/usr/lib/systemd/system/${unit}` })
    return
  }
  for (const unit of units) {
    if (verb === 'unmask') files.delete(own(unit))
    else if (verb === 'mask') {
      assert.ok(!files.has(own(unit)), `systemctl does not mask ${unit}, whose file stands in the way`)
      files.set(own(unit), { link: '/dev/null' })
    } else if (verb === 'disable') {
      for (const path of [...files.keys()])
        if (path.startsWith('/etc/systemd/system/') && path.endsWith(`s/${unit}`)) files.delete(path)
    } else assert.fail(verb)
  }
}

/** After what it tells to do, nothing is left of a problem. */
function assertMended(look: Look, host: HostRecord): HostAnswer {
  const first = answerOf(look, host)
  if (first.state !== 'problem') return first
  const mended = first.steps.reduce((files, { command }) => run(command, files), host)
  const { state, says } = answerOf(look, mended)
  assert.equal(state, 'ok', `${says} after:\n${first.steps.map(({ command }) => command).join('\n')}`)
  return first
}

const lines = fc
  .array(
    fc.constantFrom(
      'net.ipv4.ip_forward=0',
      'net.ipv4.ip_forward = 1',
      'net/ipv4/conf/all/forwarding = 0',
      'net.ipv4.conf.all.forwarding=1',
      'net.ipv4.conf.*.forwarding = 0',
      '-net.ipv4.ip_forward',
      '# text',
    ),
    { minLength: 1, maxLength: 3 },
  )
  .chain(each => fc.constantFrom('\n', '').map(end => `${each.join('\n')}${end}`))

const settings = fc.dictionary(
  fc.constantFrom(
    '/etc/sysctl.conf',
    '/etc/sysctl.d/10-a.conf',
    '/etc/sysctl.d/zz-a.conf',
    '/etc/sysctl.d/zz-kubernetes.conf',
    '/etc/sysctl.d/zzz.conf',
    '/etc/sysctl.d/zz;reboot;.conf',
    "/etc/sysctl.d/it's $(x) `y`.conf",
    '/etc/sysctl.d/zz\nline.conf',
    '/usr/lib/sysctl.d/99-vendor.conf',
    '/usr/lib/sysctl.d/zzzz.conf',
    '/usr/lib/sysctl.d/zz-kubernetes.conf',
  ),
  lines,
  { maxKeys: 5 },
)

const others: fc.Arbitrary<Changes> = fc
  .subarray<Changes>(
    [
      { '/etc/systemd/system/systemd-sysctl.service': { link: '/dev/null' } },
      { '/etc/rc.local': { text: '#!/bin/sh\nif true; then\nsysctl -w net.ipv4.ip_forward=0\nfi\n', mode: 0o755 } },
      enabledService('lock.service', '/sbin/sysctl -w net.ipv4.ip_forward=0'),
      {
        ...enabledService('site.service', '/opt/site.sh'),
        '/opt/site.sh': '#!/bin/sh\nset -e\necho 0 > /proc/sys/net/ipv4/ip_forward\n',
      },
      { '/etc/cron.d/off': '# jobs\n@reboot root /sbin/sysctl -w net.ipv4.ip_forward=0\n' },
      {
        '/usr/lib/systemd/system/static.service': '[Service]\nExecStart=/sbin/sysctl -w net.ipv4.ip_forward=0\n',
        '/usr/lib/systemd/system/multi-user.target.wants/static.service': { link: '../static.service' },
      },
      {
        '/etc/systemd/system/late.service': '[Service]\nExecStart=/sbin/sysctl -w net.ipv4.ip_forward=0\n',
        '/etc/systemd/system/late.timer': '[Timer]\nOnBootSec=1\n[Install]\nWantedBy=timers.target\n',
        '/etc/systemd/system/timers.target.wants/late.timer': { link: '/etc/systemd/system/late.timer' },
      },
    ],
    { maxLength: 2 },
  )
  .map(each => Object.assign({}, ...each))

describe('what an operator is told to do', () => {
  it('makes the next boot right: settings', () => {
    let problems = 0
    fc.assert(
      fc.property(settings, others, (files, more) => {
        if (assertMended(forwards, { ...debian12, ...files, ...more }).state === 'problem') problems += 1
      }),
      { numRuns: 150 },
    )
    assert.ok(problems > 20, `only ${problems} of the hosts had anything to mend`)
  })

  const swaps: Readonly<Record<string, { readonly host: Changes; readonly commands: readonly string[] }>> = {
    fstab: {
      host: { '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n/swap.img none swap sw 0 0\n' },
      commands: ["sed -i '2s/^/#/' /etc/fstab"],
    },
    'a unit with an escape in its name': {
      host: {
        '/etc/systemd/system/dev-disk-by\\x2dlabel-s.swap': '[Swap]\nWhat=/dev/disk/by-label/s\n',
        '/etc/systemd/system/swap.target.wants/dev-disk-by\\x2dlabel-s.swap': {
          link: '../dev-disk-by\\x2dlabel-s.swap',
        },
      },
      commands: ["systemctl disable --now 'dev-disk-by\\x2dlabel-s.swap'"],
    },
    'zram-generator': {
      host: {
        '/usr/lib/systemd/system-generators/zram-generator': 'ELF',
        '/usr/lib/systemd/zram-generator.conf': '[zram0]\n',
      },
      commands: ['systemctl mask swap.target'],
    },
    'a service': {
      host: enabledService('zramswap.service', '/usr/sbin/zramswap start'),
      commands: ['systemctl disable --now zramswap.service'],
    },
    'dphys-swapfile': {
      host: enabledService('dphys-swapfile.service', '/sbin/dphys-swapfile swapon'),
      commands: ['systemctl disable --now dphys-swapfile.service'],
    },
    'a timer': {
      host: {
        '/etc/systemd/system/late-s.service': '[Service]\nExecStart=/sbin/swapon /s\n',
        '/etc/systemd/system/late-s.timer': '[Timer]\nOnBootSec=1\n[Install]\nWantedBy=timers.target\n',
        '/etc/systemd/system/timers.target.wants/late-s.timer': { link: '/etc/systemd/system/late-s.timer' },
      },
      commands: ['systemctl disable --now late-s.service late-s.timer'],
    },
    cron: {
      host: { '/etc/cron.d/s': '# jobs\n@reboot root /sbin/swapon /s\n' },
      commands: ["sed -i '2s/^/# /' /etc/cron.d/s"],
    },
    'the agent of Azure': {
      host: {
        ...enabledService('walinuxagent.service', '/usr/sbin/waagent -daemon'),
        '/etc/waagent.conf': '# agent\n ResourceDisk.EnableSwap = y\n',
      },
      commands: ["sed -i '2s/.*/ResourceDisk.EnableSwap=n/' /etc/waagent.conf"],
    },
    'rc.local': {
      host: { '/etc/rc.local': { text: '#!/bin/sh\nmkswap /s\nswapon /s\n', mode: 0o755 } },
      commands: ["sed -i '3s/^/: # /' /etc/rc.local"],
    },
  }
  for (const [name, { host, commands }] of Object.entries(swaps)) {
    it(`keeps swap off: ${name}`, () => {
      const { state, steps } = assertMended(swapOnHost, { ...debian12, ...host })
      assert.equal(state, 'problem')
      assert.deepEqual(
        steps.map(({ command }) => command),
        commands,
      )
    })
  }

  it('loads a module that a package keeps out, whose file it leaves alone', () => {
    const host: HostRecord = {
      ...debian12,
      '/usr/lib/modprobe.d/off.conf': '# off\nblacklist br_netfilter\n',
      '/usr/lib/modules-load.d/br_netfilter.conf': '# none\n',
    }
    const { steps } = assertMended(modulesOnHost(['br_netfilter']), host)
    assert.deepEqual(
      steps.map(({ command }) => command),
      [
        "sed '2s/^/# /' /usr/lib/modprobe.d/off.conf > /etc/modprobe.d/off.conf",
        'echo br_netfilter >> /etc/modules-load.d/kubernetes-br_netfilter.conf',
      ],
    )
  })

  it('counts lines as they are before the run', () => {
    const before: HostRecord = {
      ...debian12,
      '/etc/fstab': '/a none swap sw 0 0\n/dev/sda1 / ext4 defaults 0 1\n/s none swap sw 0 0 # x\n',
    }
    const after: HostRecord = { ...before, '/etc/fstab': '/dev/sda1 / ext4 defaults 0 1\n/s none swap sw 0 0 # x\n' }
    const { steps } = answerOf(swapOnHost, after, before)
    assert.deepEqual(
      steps.map(({ command }) => command),
      ["sed -i '3s/^/#/' /etc/fstab"],
    )
    const late = answerOf(swapOnHost, after, debian12)
    assert.match(late.steps[0]?.says ?? '', /^after the run: /)
  })

  it('names no line that does not decide', () => {
    const masked: HostRecord = {
      ...debian12,
      '/etc/sysctl.conf': '#\nnet.ipv4.ip_forward=1\n',
      '/etc/systemd/system/systemd-sysctl.service': { link: '/dev/null' },
    }
    const moment = capturedMoment(evidenceOf(filesOf(masked)))
    assert.equal(bootOf(moment.files, moment).sysctl('net.ipv4.ip_forward').decidedBy, undefined)
    assert.deepEqual(
      answerOf(forwards, masked).steps.map(({ command }) => command),
      ['systemctl unmask systemd-sysctl.service'],
    )
  })
})

describe('a unit with conditions', () => {
  const unit = (condition: string): HostRecord => ({
    ...debian12,
    '/etc/systemd/system/c.service': `[Unit]\n${condition}\n[Service]\nExecStart=/sbin/swapon /s\n`,
    '/etc/systemd/system/multi-user.target.wants/c.service': { link: '../c.service' },
  })
  for (const [condition, state] of [
    ['ConditionPathExists=/etc/hosts', 'problem'],
    ['ConditionPathExists=/etc/none', 'ok'],
    ['ConditionPathExists=!/etc/hosts', 'ok'],
    ['ConditionPathExists=|/etc/none\nConditionPathExists=|/etc/hosts', 'problem'],
    ['ConditionVirtualization=!container', 'problem'],
    ['ConditionFirstBoot=yes', 'unknown'],
    ['AssertPathExists=/run/later', 'unknown'],
    ['ConditionPathExists=/etc/none\nConditionPathExists=', 'problem'],
  ] as const)
    it(condition.replaceAll('\n', ', '), () => assert.equal(answerOf(swapOnHost, unit(condition)).state, state))
})

describe('SELinux after the next boot', () => {
  for (const [config, cmdline, state, command] of [
    ['SELINUX=enforcing\n', '', 'problem', "sed -i '1s/.*/SELINUX=permissive/' /etc/selinux/config"],
    [
      '# SELINUX=disabled\nSELINUX=enforcing # on\nSELINUX=permissive\n',
      '',
      'problem',
      "sed -i '2s/.*/SELINUX=permissive/' /etc/selinux/config",
    ],
    [
      ' SELINUX=permissive\nSELINUX=Enforcing\n',
      '',
      'problem',
      "sed -i '2s/.*/SELINUX=permissive/' /etc/selinux/config",
    ],
    ['SELINUX=permissive\n', 'enforcing=1', 'problem', 'grep -rn enforcing /etc/default/grub /etc/kernel /boot/loader'],
    ['SELINUX=enforcing\n', 'enforcing=0', 'ok', undefined],
    ['SELINUX=enforcing\n', 'selinux=0', 'ok', undefined],
    ['SELINUX=disabled\n', 'enforcing=1', 'ok', undefined],
    ['SELINUX=on\n', '', 'ok', undefined],
    ['SELINUX= enforcing\n', '', 'unknown', undefined],
  ] as const)
    it(JSON.stringify([config, cmdline]), () => {
      const answer = answerOf(selinuxOnHost, { ...debian12, '/etc/selinux/config': config, '/proc/cmdline': cmdline })
      assert.deepEqual([answer.state, answer.steps[0]?.command], [state, command])
    })
})
