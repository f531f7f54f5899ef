import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import draft04 from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import type { Log, Result } from 'sarif'
import type { Audit, Change } from '../../src/reports/audit.js'
import { findingsOfAudit } from '../../src/reports/audit-findings.js'
import { findingFormats, renderFindings } from '../../src/reports/finding-formats.js'
import { type Finding, type FindingPlace, type Findings, fingerprinted, pathBelow } from '../../src/reports/findings.js'
import { renderGitlab } from '../../src/reports/gitlab.js'
import { renderJunit } from '../../src/reports/junit.js'
import type { Report } from '../../src/reports/report.js'
import { findingsOfReport } from '../../src/reports/report-findings.js'
import { renderSarif } from '../../src/reports/sarif.js'
import { smallTree } from '../commands/small-tree.js'
import { moved, poisoned, reportOnSmallTree } from './written.js'
import { allElements, type Element, xmlTree } from './xml-tree.js'

const require = createRequire(import.meta.url)
// The schema that OASIS published with the standard, as a package of Microsoft's carries it.
const schema = require('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')
const ajv = new draft04.default({ strict: false, allErrors: true, unicodeRegExp: false })
addFormats.default(ajv as never)
const isSarif = ajv.compile<Log>(schema)

const invocation = { version: '1.2.3', exitStatus: 0, directory: '/repository' }

/** Findings as SARIF, after the schema has taken it. */
function sarifOf(findings: Findings): Log {
  const text = renderSarif(findings, invocation)
  const log: unknown = JSON.parse(text)
  assert.ok(isSarif(log), JSON.stringify(isSarif.errors?.slice(0, 3)))
  return log
}

const resultsOf = (findings: Findings): readonly Result[] => sarifOf(findings).runs[0]?.results ?? []

const swapFile = 'roles/kubernetes/preinstall/tasks/swap.yml'
const main = 'roles/kubernetes/preinstall/tasks/main.yml'

const released: Report['source'] = {
  kind: 'revision',
  release: 'v2.31.0',
  commit: 'c'.repeat(40),
  path: '/clone',
  published: 'v2.31.0',
}
const usual: Report = { ...reportOnSmallTree(), source: released }

/** A run that a check of the playbook ends, and a program that nobody knows. */
const troubled: Report = {
  ...reportOnSmallTree({
    'roles/kubernetes/control-plane/tasks/main.yml': `---
- name: Refuse to go on
  fail:
    msg: "not on {{ inventory_hostname }}"

`,
    'roles/kubernetes/node/tasks/main.yml': `---
- name: What the vendor wants
  command: /opt/vendor/setup
`,
  }),
  contradictions: [{ problem: 'swap', says: 'tells the operator to do it', file: 'docs/hosts.md', line: 7 }],
  diagnostics: [
    { code: 'yaml-syntax', severity: 'error', message: 'not a mapping', file: 'roles/x/vars/main.yml', line: 2 },
    { code: 'inventory-syntax', severity: 'warning', message: 'no such host', file: '-e', line: 1 },
  ],
}

const change = (given: Partial<Change> & Pick<Change, 'kind'>): Change => ({
  name: 'a_name',
  action: 'none',
  says: 'a_name changed',
  old: { file: 'roles/a/defaults/main.yml', line: 2, value: 1 },
  new: { file: 'roles/a/defaults/main.yml', line: 3 },
  inventory: [],
  ...given,
})

const audit: Audit = {
  old: { kind: 'revision', release: 'v2.30.0', commit: 'b'.repeat(40), path: '/clone', published: 'v2.30.0' },
  new: released,
  diagnostics: [],
  playbook: 'cluster.yml',
  host: 'node1',
  changes: [
    change({ kind: 'verdict-changed', action: 'advised', name: 'swap', new: null }),
    change({
      kind: 'variable-renamed',
      action: 'required',
      to: 'b_name',
      inventory: [
        { file: '-e', line: 1 },
        { file: 'inventory/all.yml', line: 7 },
      ],
      evidence: [{ old: { file: 'x.yml', line: 1 }, new: { file: 'x.yml', line: 4 } }],
    }),
    change({ kind: 'effect-added', name: '/etc/x' }),
    change({ kind: 'effect-added', name: '/etc/x', says: 'another' }),
  ],
  notCompared: ['what is only recorded'],
}

describe('findings of a report', () => {
  const { findings } = findingsOfReport(usual)
  const byId = (id: string): Finding => {
    const found = findings.find(({ rule }) => rule.id === id)
    assert.ok(found, id)
    return found
  }

  it('are a pass at the task that decides where kubespray fixes it', () => {
    const { kind, level, place, flows, commands } = byId('swap')
    assert.deepEqual([kind, level, commands], ['pass', 'none', []])
    assert.deepEqual(place, { file: swapFile, line: 16, owner: 'kubespray' })
    assert.deepEqual(
      flows[0]?.steps.map(({ file, line, says }) => `${file}:${line} ${says.split(' ')[0]}`),
      [
        'cluster.yml:1 playbook',
        'cluster.yml:2 play',
        'cluster.yml:7 role',
        `${main}:2 import_tasks`,
        `${swapFile}:16 task`,
      ],
    )
  })

  it('are a failure with commands where the operator has to act, at the nearest miss or the playbook', () => {
    const near = byId('port_10250')
    assert.deepEqual([near.kind, near.level], ['fail', 'warning'])
    assert.ok(near.commands.some(command => command.includes('ss -lntp')))
    assert.match(near.message, /^Something already listens on port 10250: this is up to you, before the run: /)
    const far = byId('firewall')
    assert.deepEqual(far.place, { file: 'cluster.yml', line: 1, owner: 'kubespray' })
  })

  it('are open where it could not be told, and say why', () => {
    const open = findingsOfReport(troubled).findings.filter(({ kind }) => kind === 'open')
    assert.ok(open.length > 0)
    for (const { level, message, place } of open) {
      assert.equal(level, 'none')
      assert.match(message, /could not be told: .*setup is not a program this knows/)
      assert.equal(place.file, 'roles/kubernetes/node/tasks/main.yml')
    }
  })

  it('begin with where the run stops, and end with what documentation says otherwise', () => {
    const [first, ...others] = findingsOfReport(troubled).findings
    assert.deepEqual([first?.rule.id, first?.level], ['run-stops', 'error'])
    assert.match(first?.message ?? '', /^The run stops at 'Refuse to go on': .*Nothing behind it happens\.$/)
    assert.equal(others.at(-1)?.rule.id, 'documentation-differs')
    assert.equal(others.at(-1)?.place.file, 'docs/hosts.md')
  })

  const prints = (report: Report): readonly string[] =>
    findingsOfReport(report).findings.map(({ rule, fingerprint }) => `${rule.id} ${fingerprint}`)

  it('keep their fingerprints when lines move and files are renumbered', () => {
    const before = prints(usual)
    assert.equal(new Set(before).size, before.length)
    assert.deepEqual(prints(reportOnSmallTree(moved(swapFile, 40))), before)
    const text = smallTree[swapFile]
    const renumbered = reportOnSmallTree({
      'roles/kubernetes/preinstall/tasks/0099-swap.yml': typeof text === 'string' ? text : '',
      [main]: String(smallTree[main]).replace('swap.yml', '0099-swap.yml'),
    })
    assert.deepEqual(prints(renumbered), before)
  })

  it('have another fingerprint when another task decides, or somebody else is responsible', () => {
    const of = (report: Report): string | undefined => prints(report).find(each => each.startsWith('swap '))
    const renamed = String(smallTree[swapFile]).replace('Turn swap off', 'Be without swap')
    assert.notEqual(of(reportOnSmallTree({ [swapFile]: renamed })), of(usual))
    assert.notEqual(of(reportOnSmallTree({}, ['kubelet_fail_swap_on=false'])), of(usual))
  })
})

describe('findings of an audit', () => {
  const { findings } = findingsOfAudit(audit)

  it('ask for as much as the change does', () => {
    assert.deepEqual(
      findings.map(({ kind, level }) => `${kind} ${level}`),
      ['fail warning', 'fail error', 'informational note', 'informational note'],
    )
  })

  it('stand in the user’s own file, in NEW, or at the playbook', () => {
    assert.deepEqual(
      findings.map(({ place: { file, line, owner } }) => `${owner} ${file}:${line}`),
      [
        'kubespray cluster.yml:1',
        'own inventory/all.yml:7',
        'kubespray roles/a/defaults/main.yml:3',
        'kubespray roles/a/defaults/main.yml:3',
      ],
    )
    assert.deepEqual(
      findings[1]?.related.map(({ owner, file, line, says }) => `${owner} ${file}:${line} ${says}`),
      [
        'kubespray roles/a/defaults/main.yml:3 is',
        'old roles/a/defaults/main.yml:2 was 1',
        'old x.yml:1 read here before',
        'kubespray x.yml:4 and here now',
      ],
    )
  })

  it('have each a fingerprint of its own, whatever is compared with what', () => {
    const later = findingsOfAudit({ ...audit, old: audit.new, new: { ...released, release: 'v2.32.0' } })
    assert.deepEqual(
      later.findings.map(({ fingerprint }) => fingerprint),
      findings.map(({ fingerprint }) => fingerprint),
    )
    assert.equal(new Set(findings.map(({ fingerprint }) => fingerprint)).size, findings.length)
  })
})

describe('a place in the pipeline’s repository', () => {
  const at = (owner: FindingPlace['owner'], file: string): FindingPlace => ({ owner, file, line: 1 })
  const directory = (path: string): Report['source'] => ({
    kind: 'directory',
    release: null,
    commit: null,
    path,
    published: null,
  })
  const cases: readonly [string, FindingPlace, Report['source'], string | undefined][] = [
    ['a file of the user’s', at('own', 'inventory/a.yml'), released, 'inventory/a.yml'],
    ['one by its whole path', at('own', '/repository/inventory/a.yml'), released, 'inventory/a.yml'],
    ['one with detours', at('own', './x/../inventory//a.yml'), released, 'inventory/a.yml'],
    ['one outside', at('own', '../a.yml'), released, undefined],
    ['one in a directory that only begins alike', at('own', '/repository2/a.yml'), released, undefined],
    ['role code of a release', at('kubespray', 'cluster.yml'), released, undefined],
    ['role code in a directory below', at('kubespray', 'cluster.yml'), directory('kubespray'), 'kubespray/cluster.yml'],
    ['role code right there', at('kubespray', 'cluster.yml'), directory('.'), 'cluster.yml'],
    ['role code there by its whole path', at('kubespray', 'a.yml'), directory('/repository/k'), 'k/a.yml'],
    ['role code elsewhere', at('kubespray', 'cluster.yml'), directory('/elsewhere'), undefined],
  ]
  for (const [name, place, source, expected] of cases) {
    it(`${name}: ${expected ?? 'none'}`, () => {
      const findings = { ...findingsOfReport(usual), source }
      assert.equal(pathBelow(place, findings, '/repository/'), expected)
    })
  }
})

describe('findings as SARIF', () => {
  it('are what the schema asks for: a report, one with trouble, an audit, none', () => {
    for (const findings of [
      findingsOfReport(usual),
      findingsOfReport(troubled),
      findingsOfAudit(audit, troubled.diagnostics),
      { ...findingsOfReport(usual), findings: [] },
    ]) {
      assert.equal(sarifOf(findings).runs.length, 1)
    }
  })

  it('are refused by the schema where a member is wrong, so the check can fail', () => {
    const log = JSON.parse(renderSarif(findingsOfReport(usual), invocation))
    log.runs[0].results[0].level = 'bad'
    assert.ok(!isSarif(log))
  })

  it('have a rule for each result, a level only with the kind fail, and a place', () => {
    for (const findings of [findingsOfReport(troubled), findingsOfAudit(audit)]) {
      const run = sarifOf(findings).runs[0]
      assert.equal(run?.results?.length, findings.findings.length)
      for (const result of run?.results ?? []) {
        assert.equal(run?.tool.driver.rules?.[result.ruleIndex ?? -1]?.id, result.ruleId)
        if ((result.kind ?? 'fail') !== 'fail') assert.equal(result.level, 'none')
        assert.equal(result.locations?.length, 1)
        assert.ok((result.locations?.[0]?.physicalLocation?.region?.startLine ?? 0) > 0)
      }
    }
  })

  it('carry the chain in code flows, and link to related places in the message', () => {
    const swap = resultsOf(findingsOfReport(usual)).find(({ ruleId }) => ruleId === 'swap')
    const [flow] = swap?.codeFlows ?? []
    assert.deepEqual(
      flow?.threadFlows[0]?.locations.map(({ location }) => location?.message?.text?.split(' ')[0]),
      ['playbook', 'play', 'role', 'import_tasks', 'task'],
    )
    const ids = new Set(swap?.relatedLocations?.map(({ id }) => id))
    const linked = [...(swap?.message.text ?? '').matchAll(/\]\((\d+)\)/g)].map(([, id]) => Number(id))
    assert.ok(linked.length > 0 && linked.every(id => ids.has(id)))
  })

  it('say which revision the role code is of, and where each file stands', () => {
    const run = sarifOf(findingsOfAudit(audit)).runs[0]
    assert.deepEqual(
      run?.versionControlProvenance?.map(({ revisionId, revisionTag, mappedTo }) => [
        revisionId,
        revisionTag,
        mappedTo?.uriBaseId,
      ]),
      [
        ['c'.repeat(40), 'v2.31.0', 'KUBESPRAY'],
        ['b'.repeat(40), 'v2.30.0', 'KUBESPRAY_OLD'],
      ],
    )
    const bases = new Set(Object.keys(run?.originalUriBaseIds ?? {}))
    const places = (run?.results ?? []).flatMap(({ locations, relatedLocations }) => [
      ...(locations ?? []),
      ...(relatedLocations ?? []),
    ])
    for (const { physicalLocation } of places) {
      assert.ok(bases.has(physicalLocation?.artifactLocation?.uriBaseId ?? ''))
    }
    assert.deepEqual(run?.results?.[1]?.locations?.[0]?.physicalLocation?.artifactLocation, {
      uri: 'inventory/all.yml',
      uriBaseId: '%SRCROOT%',
    })
  })

  it('tell what was wrong with the input, and how the program ended', () => {
    const text = renderSarif(findingsOfAudit(audit, troubled.diagnostics), { ...invocation, exitStatus: 1 })
    const [told] = (JSON.parse(text) as Log).runs[0]?.invocations ?? []
    assert.equal(told?.exitCode, 1)
    assert.deepEqual(
      told?.toolExecutionNotifications?.map(({ level, message }) => `${level} ${message.text}`),
      ['error roles/x/vars/main.yml:2: not a mapping', 'warning -e:1: no such host', 'note what is only recorded'],
    )
  })

  it('stay within what code scanning takes', () => {
    const [first] = findingsOfReport(usual).findings
    assert.ok(first)
    const step = { file: 'a.yml', line: 1, owner: 'kubespray', says: 'x' } as const
    const big: Finding = {
      ...first,
      related: Array.from({ length: 2000 }, () => step),
      flows: Array.from({ length: 300 }, () => ({ says: 'x', steps: Array.from({ length: 7 }, () => step) })),
      rule: { ...first.rule, title: 'x'.repeat(5000), help: 'y'.repeat(5000) },
    }
    const [result] = resultsOf({ ...findingsOfReport(usual), findings: [big] })
    assert.equal(result?.relatedLocations?.length, 100)
    const steps = result?.codeFlows?.flatMap(({ threadFlows }) => threadFlows.flatMap(({ locations }) => locations))
    assert.ok((steps?.length ?? 0) <= 1000)
    const many = [...Array.from({ length: 25_000 }, () => first), { ...first, level: 'error', kind: 'fail' } as const]
    const text = renderSarif(
      { ...findingsOfReport(usual), findings: many.map(each => ({ ...each, related: [], flows: [] })) },
      invocation,
    )
    const results = (JSON.parse(text) as Log).runs[0]?.results ?? []
    assert.equal(results.length, 25_000)
    assert.equal(results.at(-1)?.level, 'error')
  })

  it('have paths as URIs', () => {
    const [first] = findingsOfReport(usual).findings
    assert.ok(first)
    const uri = (file: string, owner: FindingPlace['owner']): string | undefined =>
      resultsOf({ ...findingsOfReport(usual), findings: [{ ...first, place: { file, line: 1, owner } }] })[0]
        ?.locations?.[0]?.physicalLocation?.artifactLocation?.uri
    assert.equal(uri('a b/ü#?.yml', 'kubespray'), 'a%20b/%C3%BC%23%3F.yml')
    assert.equal(uri('/elsewhere/a b.yml', 'own'), 'file:///elsewhere/a%20b.yml')
    assert.equal(uri('/repository/a.yml', 'own'), 'a.yml')
  })
})

describe('findings as GitLab’s code quality report', () => {
  it('have the members that GitLab documents, for what asks for something', () => {
    for (const findings of [findingsOfReport(usual), findingsOfReport(troubled), findingsOfAudit(audit)]) {
      const text = renderGitlab(findings, '/repository')
      assert.ok(text.startsWith('['), 'no byte order mark')
      const entries = JSON.parse(text)
      assert.equal(entries.length, findings.findings.filter(({ kind }) => kind === 'fail' || kind === 'open').length)
      assert.ok(entries.length > 0)
      for (const { description, check_name, fingerprint, severity, location } of entries) {
        assert.ok(description.length > 0 && description.length <= 500)
        assert.match(check_name, /^[\w-]+$/)
        assert.match(fingerprint, /^[0-9a-f]{32}$/)
        assert.ok(['info', 'minor', 'major', 'critical', 'blocker'].includes(severity))
        assert.doesNotMatch(location.path, /^\.?\//)
        assert.ok(Number.isInteger(location.lines.begin) && location.lines.begin > 0)
      }
      const prints = entries.map((each: { fingerprint: string }) => each.fingerprint)
      assert.equal(new Set(prints).size, prints.length)
    }
  })

  it('are an empty list where nothing asks for anything', () => {
    assert.equal(renderGitlab({ ...findingsOfReport(usual), findings: [] }, '/'), '[]\n')
  })
})

/** What an element may hold, and which attributes it has: the rules that Jenkins' schema and others have in common. */
const junitRules: Readonly<
  Record<
    string,
    { readonly children: readonly string[]; readonly needs: readonly string[]; readonly may: readonly string[] }
  >
> = {
  testsuites: { children: ['testsuite'], needs: [], may: ['name', 'time', 'tests', 'failures', 'errors'] },
  testsuite: {
    children: ['testcase', 'properties', 'system-out', 'system-err'],
    needs: ['name', 'tests', 'failures', 'errors'],
    may: ['skipped', 'time', 'timestamp', 'hostname', 'id', 'package'],
  },
  testcase: {
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
    needs: ['name'],
    may: ['classname', 'time'],
  },
  failure: { children: [], needs: [], may: ['type', 'message'] },
  error: { children: [], needs: [], may: ['type', 'message'] },
  skipped: { children: [], needs: [], may: ['message'] },
  'system-out': { children: [], needs: [], may: [] },
}

function requireJunit(top: Element): void {
  assert.equal(top.name, 'testsuites')
  for (const { name, attributes, children } of allElements(top)) {
    const rule = junitRules[name]
    assert.ok(rule, name)
    for (const child of children) assert.ok(rule.children.includes(child.name), `${child.name} in ${name}`)
    for (const needed of rule.needs) assert.ok(needed in attributes, `${needed} of ${name}`)
    for (const given of Object.keys(attributes)) assert.ok([...rule.needs, ...rule.may].includes(given), given)
  }
  const [suite] = top.children
  const cases = suite?.children ?? []
  const count = (outcome: string): number =>
    cases.filter(({ children }) => children.some(({ name }) => name === outcome)).length
  assert.equal(suite?.attributes.tests, String(cases.length))
  assert.equal(suite?.attributes.failures, String(count('failure')))
  assert.equal(suite?.attributes.errors, String(count('error')))
  assert.equal(suite?.attributes.skipped, String(count('skipped')))
  const names = cases.map(({ attributes }) => attributes.name)
  assert.equal(new Set(names).size, names.length)
}

const outcomeOf = (top: Element, name: string): string | undefined =>
  top.children[0]?.children.find(({ attributes }) => attributes.name === name)?.children[0]?.name

describe('findings as JUnit XML', () => {
  it('are a case a problem: passed, failed with the commands in it, or an error', () => {
    const top = xmlTree(renderJunit(findingsOfReport(usual)))
    requireJunit(top)
    assert.equal(top.children[0]?.children.length, usual.problems.length)
    assert.equal(outcomeOf(top, 'swap: Swap is on'), 'system-out')
    assert.equal(outcomeOf(top, 'port_10250: Something already listens on port 10250'), 'failure')
    const [failure] = allElements(top).filter(
      ({ name, attributes }) => name === 'failure' && attributes.type === 'port_10250',
    )
    assert.match(failure?.text ?? '', /What you have to do:\n {2}ss -lntp 'sport = :10250'\n/)
    const other = xmlTree(renderJunit(findingsOfReport(troubled)))
    requireJunit(other)
    assert.equal(outcomeOf(other, 'run-stops: Refuse to go on'), 'failure')
    assert.ok(allElements(other).some(({ name }) => name === 'error'))
  })

  it('fail from the level that fails the pipeline, and show what is below as skipped', () => {
    const strict = xmlTree(renderJunit(findingsOfAudit(audit), ['error', 'warning']))
    const usually = xmlTree(renderJunit(findingsOfAudit(audit), ['error']))
    for (const top of [strict, usually]) requireJunit(top)
    assert.equal(outcomeOf(strict, 'verdict-changed: swap'), 'failure')
    assert.equal(outcomeOf(usually, 'verdict-changed: swap'), 'skipped')
    assert.equal(outcomeOf(usually, 'variable-renamed: a_name → b_name'), 'failure')
    assert.equal(usually.children[0]?.children.length, 2, 'nothing for what is only for information')
  })

  it('have one case that passes where nothing asks for anything', () => {
    const top = xmlTree(renderJunit(findingsOfAudit({ ...audit, changes: [] })))
    requireJunit(top)
    assert.deepEqual(
      top.children[0]?.children.map(({ attributes }) => attributes.name),
      ['nothing asks for anything'],
    )
  })
})

describe('findings with any text in them', () => {
  const text = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 6 }),
        fc.constantFrom(
          ']]>',
          '&#13;',
          '\r\n',
          '\u0000',
          '\uD800',
          '\uFFFF',
          '{0}',
          '[x](1)',
          '../',
          '/',
          '<x a="',
          '-e',
        ),
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map(pieces => pieces.join(''))

  it('are well-formed in every format, and valid SARIF', () => {
    fc.assert(
      fc.property(text, words => {
        for (const findings of [
          findingsOfReport(poisoned(troubled, words)),
          findingsOfAudit(poisoned({ ...audit, changes: audit.changes }, words)),
        ]) {
          sarifOf(findings)
          requireJunit(xmlTree(renderJunit(findings)))
          for (const entry of JSON.parse(renderGitlab(findings, '/repository')))
            assert.ok(entry.location.lines.begin > 0)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('render in each format there is', () => {
    for (const format of findingFormats)
      assert.ok(renderFindings(format, findingsOfReport(usual), invocation).length > 0)
  })

  it('are numbered where two would be the same', () => {
    const [first] = findingsOfReport(usual).findings
    assert.ok(first)
    const { fingerprint: _, ...rest } = first
    const twice = fingerprinted([
      { ...rest, identity: ['a'] },
      { ...rest, identity: ['a'] },
      { ...rest, identity: ['b'] },
    ])
    assert.equal(new Set(twice.map(({ fingerprint }) => fingerprint)).size, 3)
  })
})
