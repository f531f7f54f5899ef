import assert from 'node:assert/strict'
import fc from 'fast-check'
import { parse } from 'parse5'
import type { Audit } from '../../src/reports/audit.js'
import { renderAuditMarkdown } from '../../src/reports/audit-markdown.js'
import { renderExplainMarkdown } from '../../src/reports/explain-markdown.js'
import { LONGEST_COMMENT } from '../../src/reports/page-markdown.js'
import type { Report } from '../../src/reports/report.js'
import { renderReportHtml, renderReportMarkdown } from '../../src/reports/report-page.js'
import { smallTree } from '../commands/small-tree.js'
import { foldsOf, htmlOf, linksOf, markdownTree, nodesOf, referencesIn, shownBy, tablesOf } from './markdown-tree.js'
import { poisoned, released, reportOnSmallTree } from './written.js'

const usual = reportOnSmallTree(
  {
    'roles/kubernetes/control-plane/tasks/main.yml': `---
- name: Stop the kubelet
  service:
    name: kubelet
    state: stopped
`,
  },
  [],
  released,
)

const stopped: Report = {
  ...reportOnSmallTree(
    {
      'roles/kubernetes/control-plane/tasks/main.yml': `---
- name: Refuse to go on
  fail:
    msg: "not on this host"
`,
    },
    [],
    released,
  ),
  contradictions: [{ problem: 'swap', says: 'tells the operator to do it', file: 'docs/hosts.md', line: 7 }],
  diagnostics: [
    { code: 'yaml-syntax', severity: 'error', message: 'not a mapping', file: 'roles/x/vars/main.yml', line: 2 },
  ],
}

/** The text of a fold's first line, and what stands inside. */
function fold(text: string, id: string): string {
  const begin = text.indexOf(`<details><summary><code>${id}</code>`)
  assert.ok(begin >= 0, id)
  return text.slice(begin, text.indexOf('</details>', begin))
}

describe('a report as Markdown', () => {
  const text = renderReportMarkdown(usual)
  const tree = markdownTree(text)

  it('has a row a problem: who now, who after a reboot, the condition, the place that decides', () => {
    const [table] = tablesOf(tree)
    const [head, ...rows] = (table?.children ?? []).map(row => row.children.map(shownBy))
    assert.deepEqual(head, ['problem', 'now', 'after a reboot', 'if', 'decided at'])
    assert.equal(rows.length, usual.problems.length)
    assert.deepEqual(rows[0], ['swap Swap is on', 'kubespray', 'kubespray', '', '…/tasks/swap.yml:16'])
    assert.deepEqual(rows[1]?.slice(1, 4), ['kubespray', 'kubespray', 'bridge_module.rc == 0'])
    assert.deepEqual(rows[3]?.slice(1, 3), ['operator (you)', 'operator (you)'])
    assert.match(rows[3]?.[4] ?? '', /^nearest: /)
  })

  it('has a fold a problem with the proof: chain, conditions with values, what to do, what was searched', () => {
    assert.equal(
      htmlOf(tree).filter(({ value }) => value.startsWith('<details><summary><code>')).length,
      usual.problems.length,
    )
    assert.ok(foldsOf(tree) >= usual.problems.length)
    const swap = fold(text, 'swap')
    for (const expected of [
      '#### Now: kubespray',
      'role kubernetes/preinstall (`cluster.yml:7`)',
      'when `kubelet_fail_swap_on`: true',
      '`kubelet_fail_swap_on` = `true` (`role defaults, roles/kubespray-defaults/defaults/main.yml:2`)',
      '```yaml',
      '#### What was searched',
    ]) {
      assert.ok(swap.includes(expected), `${expected}\n---\n${swap}`)
    }
    const port = fold(text, 'port_10250')
    assert.ok(port.includes('#### By hand\n\n```sh\nss -lntp'), port)
    assert.ok(port.includes('#### What came near'), port)
  })

  it('links places of a known commit', () => {
    const urls = linksOf(tree).map(({ url }) => url)
    assert.ok(
      urls.includes(
        'https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/roles/kubernetes/preinstall/tasks/swap.yml#L16',
      ),
    )
    assert.ok(urls.every(url => url.startsWith('https://')))
    assert.deepEqual(
      linksOf(markdownTree(renderReportMarkdown(reportOnSmallTree()))).filter(({ url }) =>
        url.includes('kubespray/blob/v2'),
      ),
      [],
    )
  })

  it('begins with where the run stops, and tells contradictions, values and what could not be read', () => {
    const words = renderReportMarkdown(stopped)
    const [stop, table] = [words.indexOf('### The run stops before it gets through'), words.indexOf('| problem |')]
    assert.ok(stop > 0 && stop < table)
    assert.ok(
      words.includes('**Refuse to go on** ([`roles/kubernetes/control-plane/tasks/main.yml:2`]('),
      words.slice(0, 900),
    )
    assert.ok(
      words.includes('[`docs/hosts.md:7`](https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/docs/hosts.md#L7)'),
    )
    assert.ok(words.includes('| `sysctl_file_path` | '))
    assert.ok(words.includes('What could not be read (1)'))
  })

  it('is never longer than a comment may be, and drops what matters least first', () => {
    const [swap] = usual.problems
    const [evidence] = swap?.now.evidence ?? []
    assert.ok(swap && evidence)
    const many = (count: number): Report => ({
      ...usual,
      problems: Array.from({ length: count }, () => ({
        ...swap,
        nearMisses: Array.from({ length: 40 }, () => ({ ...evidence, why: 'no '.repeat(30) })),
        condition: 'a and '.repeat(60),
      })),
    })
    for (const count of [1, 40, 1000]) {
      const page = renderReportMarkdown(many(count))
      assert.ok(page.length <= LONGEST_COMMENT, `${count}: ${page.length}`)
      const read = markdownTree(page)
      assert.ok(foldsOf(read) >= 0)
      const rows = tablesOf(read)[0]?.children ?? []
      assert.ok(rows.every(row => row.children.length === 5))
      if (count <= 40) assert.equal(rows.length, count + 1)
      else assert.match(page, /the rest is left out/)
    }
  })
})

describe('a report as HTML', () => {
  it('says the same on one page', () => {
    const page = renderReportHtml(stopped)
    const errors: string[] = []
    parse(page, { onParseError: ({ code }) => void errors.push(code) })
    assert.deepEqual(errors, [])
    assert.equal(page.split('<details>').length - 1, stopped.problems.length + 2)
    assert.ok(page.includes('<h3>The run stops before it gets through</h3>'))
    assert.ok(page.includes('<code>docs/hosts.md:7</code>'))
  })
})

const change = {
  kind: 'default-changed',
  name: 'x',
  action: 'advised',
  says: 'x',
  old: { file: 'a', line: 1 },
  new: { file: 'b', line: 2 },
  inventory: [
    { file: 'c', line: 3 },
    { file: 'd', line: 4 },
  ],
} as const

const audit: Audit = {
  old: { ...usual.source, release: 'v2.30.0' },
  new: usual.source,
  playbook: 'cluster.yml',
  host: 'node1',
  changes: [change, { ...change, kind: 'effect-added', action: 'none', inventory: [] }],
  notCompared: ['x'],
  diagnostics: [],
}

describe('any text in role code or an inventory', () => {
  const hostile = fc.constantFrom(
    '| x |\n| y |',
    '</details></summary><script>x</script>',
    '@kubernetes #12 GH-3 !4 ~bug',
    '`code` ``` \\|',
    '[x](javascript:x) ![y](http://y)',
    '\u0000\uD800\u202E',
    '# h\n- l\n1. n\n> q\n===\n',
    '<!-- ',
    '',
  )
  const words = fc.oneof(hostile, fc.string({ unit: 'binary', maxLength: 20 }))

  const few: Report = { ...stopped, problems: stopped.problems.slice(0, 5) }

  it('breaks no table, no fold and no link, and mentions nobody', () => {
    fc.assert(
      fc.property(words, text => {
        const bad = poisoned(few, text)
        const [swap] = bad.problems
        assert.ok(swap)
        for (const page of [
          renderReportMarkdown(bad),
          renderExplainMarkdown(bad, swap),
          renderAuditMarkdown(
            poisoned({ ...audit, changes: audit.changes.map(each => ({ ...each, kind: each.kind })) }, text),
          ),
        ]) {
          const tree = markdownTree(page)
          assert.ok(foldsOf(tree) >= 0)
          for (const table of tablesOf(tree)) {
            const width = table.children[0]?.children.length
            for (const row of table.children) assert.equal(row.children.length, width)
          }
          assert.ok(linksOf(tree).every(({ url }) => url.startsWith('https://github.com/kubernetes-sigs/kubespray/')))
          assert.deepEqual([...nodesOf(tree, 'image'), ...nodesOf(tree, 'definition')], [])
          const tags = htmlOf(tree).map(({ value }) => value.replace(/^<details><summary>.*<\/summary>$/, '<details>'))
          assert.ok(
            tags.every(tag => ['<details>', '</details>', '<br>', '<code>', '</code>'].includes(tag)),
            String(tags),
          )
          // In code a forge looks for nothing; these paragraphs have none that is written as HTML.
          for (const each of nodesOf(tree, 'paragraph')) assert.deepEqual(referencesIn(each), [])
        }
        const [first] = tablesOf(markdownTree(renderReportMarkdown(bad)))
        assert.equal(first?.children.length, bad.problems.length + 1)
        const errors: string[] = []
        parse(renderReportHtml(bad), { onParseError: ({ code }) => void errors.push(code) })
        assert.deepEqual(errors, [])
      }),
      { numRuns: 20 },
    )
  })

  it('may be a task’s own lines', () => {
    const report = reportOnSmallTree({
      'roles/kubernetes/preinstall/tasks/swap.yml': `---
- name: "Off | </details> @all #1"
  command: |
    /sbin/swapoff -a # \`\`\` </details>
`,
      'cluster.yml': String(smallTree['cluster.yml']),
    })
    const tree = markdownTree(renderReportMarkdown(report))
    assert.ok(foldsOf(tree) >= report.problems.length)
    assert.ok(nodesOf(tree, 'code').some(({ value }) => value.includes('/sbin/swapoff -a # ``` </details>')))
  })
})
