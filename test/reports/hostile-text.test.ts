import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ReportedAnsible } from '../../src/reports/ansible-rules.js'
import type { PreflightReport, ReportedHostAnswer } from '../../src/reports/preflight.js'
import { renderPreflightJson } from '../../src/reports/preflight-json.js'
import { renderPreflightMarkdown } from '../../src/reports/preflight-markdown.js'
import { renderPreflightText } from '../../src/reports/preflight-text.js'
import type { ReportedSource } from '../../src/reports/report.js'
import { coloured } from '../../src/reports/style.js'
import type { VerifyReport } from '../../src/reports/verify.js'
import { renderVerifyJson } from '../../src/reports/verify-json.js'
import { renderVerifyText } from '../../src/reports/verify-text.js'
import { htmlOf, markdownTree, tablesOf } from './markdown-tree.js'
import { hostileTexts, obeyed } from './obeyed.js'

const words = fc
  .array(
    fc.oneof(
      fc.constantFrom(...hostileTexts, 'a|b', '`', '```', '\n', '\r\n\r\n| x |', '<b>', '\t'),
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('agent.service', '/etc/fstab'),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map(pieces => pieces.join(''))

const source: ReportedSource = { kind: 'directory', release: null, commit: null, path: 'tree', published: null }
const ansible: ReportedAnsible = {
  version: '2.17.14',
  rules: '2.17',
  from: null,
  requirement: null,
  window: null,
  accepted: true,
  because: 'it is given',
}
const place = fc.record({ file: words, line: fc.constant(3), says: words })
const condition = fc.constantFrom('ok', 'problem', 'unknown' as const)
const answer: fc.Arbitrary<ReportedHostAnswer> = fc.record({
  state: condition,
  says: words,
  places: fc.array(place, { maxLength: 2 }),
})
const stop = fc.record({ file: words, line: fc.constant(7), task: words, because: words })
const patchOf = (text: string): string => `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${text}\n+${text}\n`

const preflight: fc.Arbitrary<PreflightReport> = fc.record({
  source: fc.constant(source),
  playbook: words,
  ansible: fc.constant(ansible),
  hosts: fc.array(
    fc.record({
      hosts: fc.array(fc.record({ host: words, evidence: words }), { minLength: 1, maxLength: 3 }),
      stops: fc.array(stop, { maxLength: 2 }),
      open: fc.array(stop, { maxLength: 2 }),
      problems: fc.array(
        fc.record({
          id: words,
          title: words,
          now: answer,
          afterRun: answer,
          afterReboot: answer,
          acts: fc.constantFrom([], ['operator'] as const, ['kubespray', 'operator'] as const),
          steps: fc.array(fc.record({ says: words, command: words }), { maxLength: 2 }),
          evidence: fc.constant([]),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      settings: fc.array(
        fc.record({
          key: words,
          now: words,
          afterRun: words,
          afterReboot: words,
          decidedBy: place,
          because: fc.constant(null),
        }),
        { maxLength: 2 },
      ),
      changes: fc.array(
        fc.oneof(
          fc.record({ path: words, patch: words.map(patchOf), because: words }),
          fc.record({ path: words, patch: fc.constant(null), because: words }),
        ),
        { maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 2 },
  ),
})

const verify: fc.Arbitrary<VerifyReport> = fc.record({
  file: fc.oneof(fc.constant(null), words),
  kind: fc.constant('ports' as const),
  host: words,
  keys: fc.array(
    fc.record({
      key: words,
      mark: fc.constantFrom('right', 'wrong', 'unknown' as const),
      given: fc.oneof(words, fc.record({ unit: words })),
      expected: words,
      because: fc.oneof(fc.constant(null), words),
      line: fc.oneof(fc.constant(null), fc.constant(4)),
    }),
    { maxLength: 3 },
  ),
})

const colours = /\u001B\[(?:1|2|31|32|33)m|\u001B\[0m/g

describe('what a host says of itself, in reports', () => {
  it('is obeyed by no terminal in the text of preflight, with colours or without', () => {
    fc.assert(
      fc.property(preflight, report => {
        assert.deepEqual(obeyed(renderPreflightText(report)), [])
        assert.equal(renderPreflightText(report, coloured).replaceAll(colours, ''), renderPreflightText(report))
      }),
    )
  })

  it('takes no line of its own in the text of preflight: only a patch has lines', () => {
    fc.assert(
      fc.property(words, text => {
        const report = onlyProblem(text)
        const plain = onlyProblem('x')
        assert.equal(linesOf(renderPreflightText(report)), linesOf(renderPreflightText(plain)))
      }),
    )
  })

  it('is obeyed by no terminal in the Markdown of preflight, and every table keeps its columns', () => {
    fc.assert(
      fc.property(preflight, report => {
        const text = renderPreflightMarkdown(report)
        assert.deepEqual(obeyed(text), [])
        const tree = markdownTree(text)
        // Code with a bar in a cell is written so.
        const html = htmlOf(tree).filter(({ value }) => !/^<\/?code>$/.test(value))
        assert.deepEqual(html, [])
        const tables = tablesOf(tree)
        assert.deepEqual(
          tables.map(({ children }) => children.map(row => row.children.length)),
          report.hosts.map(({ problems }) => [5, ...problems.map(() => 5)]),
        )
      }),
    )
  })

  it('is obeyed by no terminal in the text of verify', () => {
    fc.assert(
      fc.property(verify, report => {
        assert.deepEqual(obeyed(renderVerifyText(report)), [])
        assert.equal(renderVerifyText(report, coloured).replaceAll(colours, ''), renderVerifyText(report))
      }),
    )
  })

  it('is the same value in JSON, which no terminal obeys either', () => {
    fc.assert(
      fc.property(preflight, verify, (report, marks) => {
        assert.deepEqual(obeyed([...renderPreflightJson(report)].join('')), [])
        const text = renderVerifyJson(marks)
        assert.deepEqual(obeyed(text), [])
        assert.deepEqual(
          JSON.parse(text).keys.map(({ key }: { key: string }) => key),
          marks.keys.map(({ key }) => key),
        )
      }),
    )
  })
})

/** A report with one problem in which a text of the host stands wherever one line is expected. */
function onlyProblem(text: string): PreflightReport {
  // One word each: what is wrapped depends on the length alone.
  const word = text.replaceAll(' ', '').slice(0, 4)
  const answered: ReportedHostAnswer = { state: 'problem', says: word, places: [{ file: word, line: 1 }] }
  return {
    source,
    playbook: word,
    ansible,
    hosts: [
      {
        hosts: [{ host: word, evidence: word }],
        stops: [{ file: word, line: 1, task: word, because: word }],
        open: [],
        problems: [
          {
            id: 'swap',
            title: 'swap',
            now: answered,
            afterRun: answered,
            afterReboot: answered,
            acts: ['operator'],
            steps: [{ says: word, command: word }],
            evidence: [],
          },
        ],
        settings: [{ key: word, now: word, afterRun: word, afterReboot: word, decidedBy: null, because: null }],
        changes: [],
      },
    ],
  }
}

function linesOf(text: string): number {
  return text.split('\n').length
}
