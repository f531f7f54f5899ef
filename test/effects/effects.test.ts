import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { piecesOf, showValue, textOf } from '../../src/effects/argument.js'
import { effectsOfReading } from '../../src/effects/commands.js'
import { describeEffect } from '../../src/effects/describe.js'
import { EVERY_POWER } from '../../src/effects/effect.js'
import { templateText } from '../../src/effects/role-text.js'
import { effectsOfInvocation, effectsOfRun, NO_ROLE_TEXT } from '../../src/effects/run-effects.js'
import { sysctlKey } from '../../src/effects/settings-files.js'
import { programName, readCommandLine, readShell, splitWords } from '../../src/effects/shell.js'
import { known, type Value } from '../../src/jinja/value.js'
import { wholeFile } from '../../src/source/text.js'
import { HERE, type Plain, plainEffect, runOf, type TaskData, taskRun, valueFrom } from './build.js'

function rows<Row>(name: string): readonly Row[] {
  return JSON.parse(
    readFileSync(new URL(`../../../test/effects/${name}.json`, import.meta.url), 'utf8'),
  ) as readonly Row[]
}

/** `"every"` in test data stands for the list of all powers. */
function withEveryPower(plain: Plain): Plain {
  return JSON.parse(
    JSON.stringify(plain).replaceAll('"powers":"every"', `"powers":${JSON.stringify(EVERY_POWER)}`),
  ) as Plain
}

describe('effects of modules', () => {
  for (const row of rows<TaskData & { name: string; effects: Plain }>('modules')) {
    it(row.name, () => {
      const task = taskRun(row, 0)
      const [invocation] = task.invocations
      assert.ok(invocation)
      const effects = effectsOfInvocation(task, invocation, NO_ROLE_TEXT, () => undefined)
      assert.deepEqual(effects.map(plainEffect), withEveryPower(row.effects))
      for (const effect of effects) assert.notEqual(describeEffect(effect), '')
    })
  }
})

describe('effects of programs', () => {
  for (const row of rows<{ shell: string; effects: Plain; powers?: Plain }>('programs')) {
    it(row.shell, () => {
      const effects = effectsOfReading(readShell(known(row.shell), HERE), HERE, () => undefined)
      const beside = effects.filter(effect => effect.kind !== 'command')
      assert.deepEqual(beside.map(plainEffect), row.effects)
      const powers = effects.flatMap(effect => (effect.kind === 'command' ? effect.powers : []))
      assert.deepEqual([...new Set(powers)], row.powers === 'every' ? EVERY_POWER : (row.powers ?? []))
    })
  }
})

describe('shell text', () => {
  interface Row {
    readonly name: string
    readonly text?: string
    readonly pieces?: readonly (string | null)[]
    readonly shell?: string
    readonly commands: readonly (readonly (string | null)[])[]
    readonly onlyIf?: readonly (string | null)[]
    readonly programs?: readonly (string | null)[]
    readonly unreadable?: readonly string[]
  }
  for (const row of rows<Row>('shell')) {
    it(row.name, () => {
      const text: Value =
        row.pieces === undefined
          ? known(row.text ?? '')
          : { kind: 'unknown', causes: [{ says: 'a fact', at: HERE }], text: row.pieces }
      const reading = readShell(text, HERE, { shell: row.shell })
      const words = reading.commands.map(command =>
        command.words.map(word => (row.pieces === undefined ? (textOf(word.value) ?? null) : showValue(word.value))),
      )
      assert.deepEqual(words, row.commands)
      assert.deepEqual(reading.unreadable, row.unreadable ?? [])
      if (row.onlyIf)
        assert.deepEqual(
          reading.commands.map(command => command.onlyIf ?? null),
          row.onlyIf,
        )
      if (row.programs) {
        const programs = reading.commands.map(command => programName(command.words[0]?.value ?? known('')) ?? null)
        assert.deepEqual(programs, row.programs)
      }
    })
  }

  it('splits words as shlex does', () => {
    assert.deepEqual(splitWords(`a 'b c' "d \\"e\\" \\x" f\\ g ""`), ['a', 'b c', 'd "e" \\x', 'f g', ''])
    assert.equal(splitWords("a 'b"), undefined)
    assert.equal(splitWords('a \\'), undefined)
  })

  it('reads deep nesting and long scripts without hanging', () => {
    const deep = `${'('.repeat(5000)}a${')'.repeat(5000)}`
    assert.ok(readShell(known(deep), HERE).unreadable.length > 0)
    const long = 'a b c\n'.repeat(200_000)
    const reading = readShell(known(long), HERE)
    assert.equal(reading.commands.length, 5000)
    assert.deepEqual(reading.unreadable, ['it has more than 5000 commands'])
  })

  it('keeps alternatives apart, each under what decides it', () => {
    const reading = readCommandLine(valueFrom({ oneOf: ['swapoff -a', 'true'] }), HERE)
    assert.deepEqual(
      reading.commands.map(command => [textOf(command.words[0]?.value), command.onlyIf]),
      [
        ['swapoff', 'choice 1'],
        ['true', 'choice 2'],
      ],
    )
  })
})

describe('templates that are not rendered', () => {
  const read = (text: string) => templateText(text, wholeFile({ path: 'roles/x/templates/a.j2', text }))

  it('keeps the text between tags', () => {
    const { content, unsure } = read('#!/bin/sh\n{# why #}\n{% if x %}\na {{ b }} c\n{% endif %}\n')
    assert.deepEqual(piecesOf(content), ['#!/bin/sh\n', '\n', 'a ', null, ' c\n'])
    assert.match(unsure ?? '', /roles\/x\/templates\/a\.j2/)
  })

  it('is sure of a template without blocks', () => {
    assert.equal(read('a {{ b }}').unsure, undefined)
    assert.deepEqual(read('plain').content, known('plain'))
  })

  it('knows nothing of the lines another template brings', () => {
    const { content } = read("a\n{% include 'b.j2' %}\nc\n")
    assert.deepEqual(piecesOf(content), ['a\n', null, '\n', 'c\n'])
  })

  it('takes an unclosed tag as text', () => {
    assert.deepEqual(read('a {{ b').content, known('a {{ b'))
  })
})

describe('effects of a run', () => {
  it('reads a script an earlier task wrote', () => {
    const run = runOf([
      {
        module: 'ansible.builtin.template',
        args: { src: 'x.sh.j2', dest: '/opt/x.sh' },
        content: '#!/bin/bash\nswapoff -a\n',
      },
      { module: 'ansible.builtin.command', raw: '/opt/x.sh now' },
      { module: 'ansible.builtin.command', raw: 'bash -x /opt/x.sh' },
      { module: 'ansible.builtin.file', args: { path: '/opt/x.sh', state: 'absent' } },
      { module: 'ansible.builtin.command', raw: '/opt/x.sh' },
    ])
    const { occurrences } = effectsOfRun(run, NO_ROLE_TEXT)
    assert.deepEqual(
      occurrences.filter(each => each.effect.kind === 'swap').map(each => each.task.order),
      [1, 2],
    )
    const last = occurrences.at(-1)?.effect
    assert.ok(last?.kind === 'command' && last.unfamiliar)
  })

  it('finds a script by its name where its directory is not known, or PATH finds it', () => {
    const run = runOf([
      {
        module: 'ansible.builtin.template',
        args: { src: 'x.sh.j2', dest: { unknown: 'a fact', text: [null, '/x.sh'] } },
        content: '#!/bin/bash\nswapoff -a\n',
      },
      { module: 'ansible.builtin.command', raw: { unknown: 'a fact', text: [null, '/x.sh'] } },
      { module: 'ansible.builtin.command', raw: 'x.sh' },
      { module: 'ansible.builtin.command', raw: '/opt/bin/x.sh' },
      { module: 'ansible.builtin.command', raw: '/opt/bin/y.sh' },
    ])
    const { occurrences } = effectsOfRun(run, NO_ROLE_TEXT)
    const off = occurrences.filter(each => each.effect.kind === 'swap').map(each => each.task.order)
    assert.deepEqual(off, [1, 2, 3])
  })

  it('keeps the pieces of a text that stand in the role code', () => {
    const task = taskRun({ module: 'ansible.builtin.command', raw: '{{ dir }}/kubeadm reset -f {{ more }}' }, 0)
    const [invocation] = task.invocations
    assert.ok(invocation)
    const unknown = { ...invocation, raw: valueFrom({ unknown: 'many facts' }) }
    const kinds = effectsOfInvocation(task, unknown, NO_ROLE_TEXT, () => undefined).map(effect => effect.kind)
    assert.deepEqual(kinds, ['command', 'kubeadm'])
  })

  it('reads a script that only a later task writes, as from a run before', () => {
    const run = runOf([
      { module: 'ansible.builtin.command', raw: 'x.sh' },
      { module: 'ansible.builtin.copy', args: { content: 'swapoff -a\n', dest: '/usr/local/bin/x.sh' } },
    ])
    const { occurrences } = effectsOfRun(run, NO_ROLE_TEXT)
    const off = occurrences.filter(each => each.effect.kind === 'swap')
    assert.deepEqual(
      off.map(each => each.task.order),
      [0],
    )
    assert.match(off[0]?.effect.unread ?? '', /former run/)
  })

  it('marks what a template with conditions says as not sure', () => {
    const run = runOf([
      { module: 'ansible.builtin.template', args: { src: 'm.j2', dest: '/etc/modules-load.d/m.conf' } },
    ])
    const { occurrences } = effectsOfRun(run, () => ({ content: known('br_netfilter'), unsure: 'not rendered' }))
    assert.deepEqual(
      occurrences.map(each => [each.effect.kind, each.effect.unread]),
      [
        ['file', undefined],
        ['kernel-module', 'not rendered'],
      ],
    )
  })

  it('copies each file of a directory of the role', () => {
    const run = runOf([
      { module: 'ansible.builtin.copy', args: { src: 'etc/', dest: '/etc/' } },
      { module: 'ansible.builtin.copy', args: { src: 'sub/sysctl.d', dest: '/etc' } },
    ])
    const files = [{ path: 'a/b.conf', content: known('vm.swappiness=1\n') }]
    const { occurrences } = effectsOfRun(run, () => ({
      content: valueFrom({ unknown: 'a directory' }),
      unsure: undefined,
      files,
    }))
    const written = occurrences.flatMap(({ effect }) => (effect.kind === 'file' ? [effect] : []))
    assert.deepEqual(
      written.map(({ path, change, content }) => [textOf(path), change, textOf(content)]),
      [
        ['/etc/a/b.conf', 'written', 'vm.swappiness=1\n'],
        ['/etc/sysctl.d/a/b.conf', 'written', 'vm.swappiness=1\n'],
      ],
    )
  })

  it('takes the arguments of a task that does not run as written', () => {
    const run = runOf([
      {
        module: 'ansible.posix.mount',
        args: { name: '{{ item }}', src: '{{ d }}/x', state: 'absent' },
        runs: false,
        items: ['swap', 'none'],
      },
    ])
    const { occurrences, commands } = effectsOfRun(run, NO_ROLE_TEXT)
    const removed = occurrences.flatMap(({ effect }) => (effect.kind === 'fstab-entries-removed' ? [effect] : []))
    assert.deepEqual(
      removed.map(effect => [textOf(effect.mountPoint), piecesOf(effect.source ?? known(''))]),
      [
        ['swap', [null, '/x']],
        ['none', [null, '/x']],
      ],
    )
    assert.ok(occurrences.every(each => each.asWritten))
    assert.equal(commands, 0)
  })

  it('counts the commands of tasks that may run', () => {
    const run = runOf([
      { module: 'ansible.builtin.shell', raw: 'a | b' },
      { module: 'ansible.builtin.command', raw: 'c', runs: false },
      { module: 'ansible.builtin.command', raw: 'd', runs: 'a fact' },
    ])
    assert.equal(effectsOfRun(run, NO_ROLE_TEXT).commands, 3)
  })
})

describe('keys of sysctl', () => {
  for (const [written, key] of [
    ['net.ipv4.ip_forward', 'net.ipv4.ip_forward'],
    ['net/ipv4/ip_forward', 'net.ipv4.ip_forward'],
    ['net.ipv4.conf.eth0/100.rp_filter', 'net.ipv4.conf.eth0/100.rp_filter'],
    ['net/ipv4/conf/eth0.100/rp_filter', 'net.ipv4.conf.eth0/100.rp_filter'],
    ['/net//ipv4/ip_forward', 'net.ipv4.ip_forward'],
  ] as const) {
    it(written, () => assert.equal(sysctlKey(written), key))
  }
})
