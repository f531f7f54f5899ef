import assert from 'node:assert/strict'
import { problems } from '../../rules/index.js'
import { wordsOf } from '../../src/addresses/address.js'
import { effectsOfRun, NO_ROLE_TEXT } from '../../src/effects/run-effects.js'
import { known } from '../../src/jinja/value.js'
import { reportedAnsible } from '../../src/reports/ansible-rules.js'
import { renderAnswerJson, undecided } from '../../src/reports/answer-json.js'
import { renderExplainJson } from '../../src/reports/explain-json.js'
import { renderExplainMarkdown } from '../../src/reports/explain-markdown.js'
import { renderExplainText } from '../../src/reports/explain-text.js'
import { permalinks, type Report, reportedVariable, reportOf } from '../../src/reports/report.js'
import { renderReportJson } from '../../src/reports/report-json.js'
import { renderReportText } from '../../src/reports/report-text.js'
import { outputs } from '../../src/reports/schemas.js'
import { coloured, WIDTH, wrap } from '../../src/reports/style.js'
import { jsonOf } from '../../src/reports/value-text.js'
import { definitionsOf } from '../../src/reports/variables-report.js'
import { renderVarsJson } from '../../src/reports/vars-json.js'
import { renderVarsText } from '../../src/reports/vars-text.js'
import { undecided as noVersion } from '../../src/run/ansible-version.js'
import type { ResolvedVariable } from '../../src/variables/resolved.js'
import { judgeAll } from '../../src/verdicts/judge.js'
import { placeAt, runOf, type TaskData, valueFrom } from '../effects/build.js'
import { parseOutput } from '../schemas/valid.js'

const tasks: readonly TaskData[] = [
  { name: 'Mask it', module: 'ansible.builtin.systemd_service', args: { name: 'swap.target', masked: true }, line: 20 },
  {
    name: 'Off',
    module: 'ansible.builtin.command',
    raw: '/sbin/swapoff -a',
    line: 26,
    runs: 'a result',
    remains: 'swapon.stdout',
  },
  {
    name: 'Off again',
    module: 'ansible.builtin.command',
    raw: '/sbin/swapoff -a',
    line: 30,
    runs: false,
    when: 'not late',
  },
  { name: 'Stop', module: 'ansible.builtin.service', args: { name: 'kubelet', state: 'stopped' }, line: 40 },
]

const path: ResolvedVariable = {
  name: 'sysctl_file_path',
  value: known('/etc/sysctl.d/99-sysctl.conf'),
  winner: { origin: 'role defaults', at: placeAt('roles/a/defaults/main.yml', 3) },
  overridden: [{ origin: 'role defaults', at: placeAt('roles/b/defaults/main.yml', 9), value: known('/etc/x') }],
}

/** The problems of who-fixes.json. */
const asked = problems.slice(0, 4)

function reportOn(
  data: readonly TaskData[],
  variables: readonly ResolvedVariable[] = [path],
  revision = 'v2.31.0',
): Report {
  const run = runOf(data)
  return reportOf({
    source: {
      kind: 'revision',
      release: revision.startsWith('v') ? revision : null,
      commit: 'a'.repeat(40),
      path: '/clone',
      published: revision,
    },
    playbook: run.playbook,
    ansible: run.ansible,
    checks: run.checks,
    host: run.host,
    verdicts: judgeAll(asked, effectsOfRun(run, NO_ROLE_TEXT)),
    variables: new Map(variables.map(variable => [variable.name, variable])),
    addresses: {
      of: task => ({ owner: 'a', name: wordsOf(task.name ?? ''), module: 'x', ordinal: 1, content: '0123456' }),
    },
    contradictions: [{ problem: 'swap', says: 'tells the operator to do it', at: placeAt('docs/hosts.md', 7) }],
    diagnostics: [
      { code: 'yaml-syntax', severity: 'error', message: 'not a mapping', at: placeAt('roles/x/vars/main.yml', 2) },
    ],
  })
}

const report = reportOn(tasks)

describe('report as JSON', () => {
  const json = parseOutput(renderReportJson(report))

  it('has the fields of the contract', () => {
    assert.deepEqual(Object.keys(json).slice(0, 7), [
      'schema',
      'source',
      'playbook',
      'host',
      'problems',
      'variables',
      'unknowns',
    ])
    assert.equal(json.schema, outputs.report.schema)
    assert.deepEqual(json.source, {
      kind: 'revision',
      release: 'v2.31.0',
      commit: 'a'.repeat(40),
      path: '/clone',
      published: 'v2.31.0',
    })
    assert.deepEqual(
      json.problems.map((problem: { id: string }) => problem.id),
      ['swap', 'br_netfilter', 'ip_forward', 'port_10250'],
    )
    const [swap] = json.problems
    assert.equal(swap.fixedBy, 'kubespray')
    assert.equal(swap.condition, 'swapon.stdout')
    assert.equal(swap.now.condition, 'swapon.stdout')
    assert.equal(swap.afterReboot.condition, null)
    assert.deepEqual(swap.searched, {
      tasks: 4,
      commands: 1,
      unreadable: 0,
      unresolved: [],
      considered: [],
      near: swap.nearMisses.length,
    })
  })

  it('has evidence a reader can open', () => {
    const [evidence] = json.problems[0].afterReboot.evidence
    assert.deepEqual(evidence, {
      play: 'Prepare',
      role: 'x',
      task: 'Mask it',
      module: 'ansible.builtin.systemd_service',
      file: 'roles/x/tasks/main.yml',
      line: 20,
      effect: 'unit swap.target: masked',
      runs: 'yes',
      address: 'a:mask-it:x@0123456',
      condition: null,
      via: [
        { file: 'site.yml', line: 1, what: 'site.yml' },
        { file: 'site.yml', line: 2, what: 'play "Prepare"' },
        { file: 'site.yml', line: 4, what: 'role x' },
      ],
      permalink: 'https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/roles/x/tasks/main.yml#L20',
    })
  })

  it('says why a near miss does not count', () => {
    const [near] = json.problems[0].nearMisses
    assert.equal(near.runs, 'no')
    assert.equal(near.why, 'does not run: `not late` is false (x is false), roles/x/tasks/main.yml:30')
  })

  it('has what documentation says otherwise', () => {
    assert.deepEqual(json.contradictions, [
      { file: 'docs/hosts.md', line: 7, says: 'tells the operator to do it', problem: 'swap' },
    ])
  })

  it('names what only the host can tell', () => {
    assert.deepEqual(json.unknowns, [
      { name: 'a result', file: 'roles/x/tasks/main.yml', line: 1, because: 'a result' },
    ])
  })

  it('shows variables with what they override', () => {
    assert.deepEqual(json.variables.sysctl_file_path, {
      status: 'known',
      value: '/etc/sysctl.d/99-sysctl.conf',
      origin: 'role defaults',
      file: 'roles/a/defaults/main.yml',
      line: 3,
      overridden: [{ origin: 'role defaults', file: 'roles/b/defaults/main.yml', line: 9, value: '/etc/x' }],
      because: null,
    })
  })
})

describe('the answer', () => {
  it('has exactly the keys of who-fixes.json in order', () => {
    assert.equal(
      renderAnswerJson(report),
      '{\n  "swap": "kubespray",\n  "br_netfilter": "operator",\n  "ip_forward": "operator",\n  "port_10250": "operator",\n  "sysctl_file": "/etc/sysctl.d/99-sysctl.conf"\n}\n',
    )
    assert.deepEqual(undecided(report), [])
  })

  it('says what would decide an unknown key', () => {
    const open = reportOn([{ name: 'Vendor', module: 'ansible.builtin.command', raw: '/opt/vendor/setup' }], [])
    assert.match(renderAnswerJson(open), /"sysctl_file": "unknown"/)
    const lines = undecided(open)
    assert.equal(lines.length, 5)
    assert.match(
      lines[0] ?? '',
      /^swap: runs `setup` \(roles\/x\/tasks\/main\.yml:1\): setup is not a program this knows$/,
    )
    assert.match(lines[4] ?? '', /^sysctl_file: /)
  })
})

describe('report as text', () => {
  const text = renderReportText(report)

  it('says who fixes what, where, and what is left to do', () => {
    for (const expected of [
      'Who fixes what: kubespray v2.31.0 (aaaaaaaaaa), site.yml, host node1',
      'swap          kubespray',
      'port_10250    operator (you)',
      'roles/x/tasks/main.yml:20',
      'kubespray, if swapon.stdout',
      'modprobe br_netfilter',
      'unit kubelet.service: stopped: frees port 10250 only if its holder is that very unit',
      'sysctl_file_path = /etc/sysctl.d/99-sysctl.conf',
      'roles/x/vars/main.yml:2: not a mapping',
      'it has not looked at your host',
      'docs/hosts.md:7 tells the operator to do it.',
      '4 task runs searched in this playbook, 1 command parsed, 0 unreadable: nothing came near',
    ]) {
      assert.ok(text.includes(expected), `${expected}\n---\n${text}`)
    }
  })

  it('names each unreadable command with its place, and whether it matters', () => {
    const unread = reportOn([{ name: 'Vendor', module: 'ansible.builtin.command', raw: '/opt/vendor/setup', line: 9 }])
    const words = renderReportText(unread).replaceAll(/\n +/g, ' ')
    assert.ok(words.includes('1 task run searched in this playbook, 1 command parsed, 1 unreadable'), words)
    const named =
      'unreadable: runs `setup`, roles/x/tasks/main.yml:9: setup is not a program this knows; it could change this answer'
    assert.ok(words.includes(named), words)
    assert.ok(unread.problems.every(({ fixedBy }) => fixedBy === 'unknown'))
    assert.equal(parseOutput(renderReportJson(unread)).problems[0].searched.unreadable, 1)
  })

  it('has one line of evidence a time for what is settled whatever the host is like', () => {
    const settled = reportOn([
      {
        module: 'ansible.posix.sysctl',
        args: { name: 'net.ipv4.ip_forward', value: '1', sysctl_file: '/etc/sysctl.d/9.conf' },
      },
      { module: 'ansible.builtin.command', raw: 'swapoff -a', line: 26 },
      { module: 'ansible.builtin.command', raw: 'swapoff -a', line: 30 },
      { module: 'ansible.builtin.systemd', args: { name: 'swap.target', masked: true }, line: 40 },
    ])
    const words = renderReportText(settled)
    assert.ok(words.includes('  now           turns all swap off (and 1 more)  roles/x/tasks/main.yml:26\n'), words)
    assert.ok(words.includes('  after reboot  unit swap.target: masked  roles/x/tasks/main.yml:40\n'), words)
    assert.match(words, /\n {2}both times {4}sets net\.ipv4\.ip_forward = 1/)
  })

  it('keeps to the width and to plain text', () => {
    for (const line of text.split('\n')) assert.ok(line.length <= WIDTH, line)
    assert.ok(!text.includes('\u001B'))
    assert.ok(text.endsWith('\n') && !text.endsWith('\n\n'))
  })

  it('has the same words in colour', () => {
    const words = renderReportText(report, coloured).replaceAll(/\u001B\[\d+m/g, '')
    assert.equal(words, text)
  })
})

describe('explain', () => {
  const verdict = report.problems[0]
  assert.ok(verdict)

  it('shows the chain as a tree', () => {
    const text = renderExplainText(report, verdict)
    for (const expected of [
      'play "Prepare"  site.yml:2',
      '└ role x  site.yml:4',
      'task "Mask it"',
      'runs: unknown, if swapon.stdout',
      'why not: does not run',
      '20 | - line',
      'docs/hosts.md:7 tells the operator to do it.',
      '4 task runs searched in this playbook, 1 command parsed, 0 unreadable',
    ]) {
      assert.ok(text.includes(expected), `${expected}\n---\n${text}`)
    }
  })

  it('has every condition with its values as JSON', () => {
    const json = parseOutput(renderExplainJson(report, verdict))
    assert.deepEqual(json.problem.nearMisses[0].conditions, [
      {
        text: 'not late',
        file: 'roles/x/tasks/main.yml',
        line: 30,
        from: 'task',
        runs: 'no',
        remains: null,
        names: [{ name: 'x', value: false, because: null, from: [] }],
      },
    ])
  })

  it('links the lines in Markdown', () => {
    const text = renderExplainMarkdown(report, verdict)
    assert.ok(
      text.includes(
        '[`roles/x/tasks/main.yml:20`](https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/roles/x/tasks/main.yml#L20)',
      ),
      text,
    )
    assert.ok(text.includes('## After a reboot: kubespray'))
    assert.match(text, /\n( +)```yaml\n\1- line\n\1```\n/)
    assert.ok(text.includes('> `docs/hosts.md:7` tells the operator to do it.'))
  })
})

describe('permalinks', () => {
  const place = { file: 'roles/a b/x.yml', line: 7 }
  const commit = 'b'.repeat(40)

  const source = { kind: 'revision', release: null, commit, path: '/x' } as const

  it('lead to the tag or commit that is public', () => {
    assert.equal(
      permalinks({ ...source, published: 'v2.30.0' })(place),
      'https://github.com/kubernetes-sigs/kubespray/blob/v2.30.0/roles/a%20b/x.yml#L7',
    )
    assert.match(permalinks({ ...source, published: commit })(place) ?? '', /\/blob\/b{40}\//)
  })

  it('are not there for what is not known to be public, nor for what is in no tree', () => {
    assert.equal(permalinks({ ...source, release: 'v2.30.0', published: null })(place), null)
    assert.equal(permalinks({ ...source, published: 'v2.30.0' })({ file: '-e', line: 1 }), null)
  })
})

describe('variables', () => {
  const variable = reportedVariable(path)
  const roles = new Map([
    ['a', new Map([['sysctl_file_path', variable]])],
    ['b', new Map([['sysctl_file_path', variable]])],
  ])

  it('lists every definition once and says whether they agree', () => {
    const definitions = definitionsOf(['sysctl_file_path'], roles)
    assert.deepEqual(
      definitions.get('sysctl_file_path')?.places.map(place => `${place.file}:${place.line}`),
      ['roles/a/defaults/main.yml:3', 'roles/b/defaults/main.yml:9'],
    )
    assert.equal(definitions.get('sysctl_file_path')?.agree, false)
    const json = parseOutput(renderVarsJson({ ansible: reportedAnsible(noVersion), roles, definitions }))
    assert.equal(json.roles.a.sysctl_file_path.value, '/etc/sysctl.d/99-sysctl.conf')
    assert.equal(json.definitions.sysctl_file_path.agree, false)
    const text = renderVarsText({ ansible: reportedAnsible(noVersion), roles, definitions })
    assert.match(text, /instead of \/etc\/x {2}role defaults {2}roles\/b\/defaults\/main\.yml:9/)
    assert.match(text, /its definitions disagree/)
  })

  it('shows one of a few as unknown with all of them', () => {
    const either = reportedVariable({ ...path, value: valueFrom({ oneOf: ['a', { unknown: 'a fact' }] }) })
    assert.equal(either.status, 'unknown')
    assert.deepEqual(either.value, { oneOf: ['a', { unknown: 'a fact' }] })
    assert.match(either.because ?? '', /choice 1/)
  })

  it('keeps big numbers, order and nesting in JSON', () => {
    assert.deepEqual(jsonOf(known(12345678901234567890n)), '12345678901234567890')
    assert.deepEqual(jsonOf(valueFrom({ b: [1, 2.5, true, null], a: 'x' })), { b: [1, 2.5, true, null], a: 'x' })
    assert.deepEqual(jsonOf(known(Number.POSITIVE_INFINITY)), 'Infinity')
  })
})

describe('wrapping', () => {
  it('breaks at blanks and never inside a word', () => {
    assert.deepEqual(wrap('aa bb cc', '- ', '  ', 8), ['- aa bb', '  cc'])
    assert.deepEqual(wrap('a-very-long-word b', '- ', '  ', 8), ['- a-very-long-word', '  b'])
  })
})
