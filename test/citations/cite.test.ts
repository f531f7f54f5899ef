import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportedDocument } from '../../src/reports/citations.js'
import { type Ran, runWhofixes } from '../commands/run-whofixes.js'
import { type Files, git, makeRepository, writeFiles } from '../source/trees.js'
import { firstRelease, makeClone, withReleases } from './small-releases.js'

const repository = 'https://github.com/kubernetes-sigs/kubespray'
const swap = 'roles/kubernetes/preinstall/tasks/swap.yml'
const swapNow = 'roles/kubernetes/preinstall/tasks/0010-swapoff.yml'

const marker = (says: string): string => `<!-- whofixes ${says} -->\n<!-- /whofixes -->\n`
const inLine = (says: string): string => `It is <!-- whofixes ${says} --><!-- /whofixes -->.\n`

describe('cite', () => {
  let root = ''
  let pages = ''
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'whofixes-test-'))
    makeClone(root)
  })
  beforeEach(() => {
    pages = mkdtempSync(join(root, 'pages-'))
  })
  after(() => rmSync(root, { recursive: true, force: true }))

  const put = (files: Files): void => writeFiles(pages, files)
  const text = (name = 'page.md'): string => readFileSync(join(pages, name), 'utf8')
  const run = (...args: readonly string[]): Ran => withReleases(root, () => runWhofixes(['cite', ...args]))
  const cite = (...args: readonly string[]): Ran => run(join(pages, 'page.md'), ...args)
  /** `state citation` of each, in the order of the text. */
  const states = (...args: readonly string[]): readonly string[] => {
    const { out } = cite('--format', 'json', ...args)
    const { documents } = JSON.parse(out) as { documents: readonly ReportedDocument[] }
    return documents.flatMap(({ citations }) => citations.map(each => `${each.state} ${each.citation}`))
  }

  /** A document and how a check of it against v1.1.0 ends. */
  const endings: readonly (readonly [it: string, document: string, status: number])[] = [
    ['nothing to check', 'No citations.\n', 0],
    ['a true link', `<${repository}/blob/v1.0.0/cluster.yml#L1>\n`, 0],
    ['a moved link', `<${repository}/blob/v1.0.0/${swap}#L16>\n`, 1],
    ['a marker that is not written', marker('verdict swap'), 1],
    ['a link to a version that is not at hand', `<${repository}/blob/v9.0.0/cluster.yml>\n`, 3],
    ['that beside one that is stale', `<${repository}/blob/v9.0.0/x> <${repository}/blob/v1.0.0/${swap}>\n`, 3],
    ['a marker that names what there is not', marker('verdict swop'), 2],
    ['that beside a link that is not at hand', `${marker('verdict swop')}\n<${repository}/blob/v9.0.0/x>\n`, 2],
    ['a marker that has no end', '<!-- whofixes verdict swap -->\n', 2],
    ['a setting that cannot be read', '<!-- whofixes source -->\n', 2],
  ]
  for (const [what, document, status] of endings) {
    it(`ends with ${status} for ${what}`, () => {
      put({ 'page.md': document })
      const ran = cite('--source', 'v1.1.0')
      assert.equal(ran.status, status, ran.out)
    })
  }

  /** A template and what it makes of a citation of v1.0.0 between markers in a line. */
  const templates: readonly (readonly [says: string, template: string, is: string])[] = [
    [
      'verdict swap',
      '{problem} {title} {verdict} {now} {afterReboot}',
      'swap Swap is on kubespray kubespray kubespray',
    ],
    ['verdict br_netfilter', '{problem}: {`condition`}', 'br\\_netfilter: `bridge_module.rc == 0`'],
    ['verdict swap', 'a{condition}b[[ if {condition}]]', 'ab'],
    [
      'verdict br_netfilter',
      '{verdict}[[ if {`condition`} at {`place`}]]',
      'kubespray if `bridge_module.rc == 0` at `roles/kubernetes/node/tasks/main.yml:8-12`',
    ],
    ['deciding swap', '{task} {role} {module}', 'Turn swap off kubernetes/preinstall ansible.builtin.command'],
    ['deciding swap', '{`address`}', '`kubernetes/preinstall:turn-swap-off:command@80b2cfa`'],
    [
      'task kubernetes/preinstall:turn-swap-off',
      '{`file`} {line} {last} {version} {release}',
      `\`${swap}\` 16 17 v1.0.0 v1.0.0`,
    ],
    ['task kubernetes/preinstall:turn-swap-off', '{permalink}', `${repository}/blob/v1.0.0/${swap}#L16-L17`],
    ['task kubernetes/preinstall:turn-swap-off', '{excerpt}', '`- name: Turn swap off command: /sbin/swapoff -a`'],
    ['variable memory_wanted_mb', '{`name`} {value} {status} {origin}', '`memory_wanted_mb` 1500 known role defaults'],
    ['condition "kubernetes/preinstall:turn-swap-off" n=2', '{`condition`} {runs}', '`kubelet_fail_swap_on` true'],
    [`lines ${swap}:17`, '{excerpt} {{braces}', '`command: /sbin/swapoff -a` {braces}'],
  ]
  for (const [says, template, is] of templates) {
    it(`words ${says} as ${template}`, () => {
      put({ 'page.md': `<!-- whofixes template mine ${template} -->\n\n${inLine(`${says} template=mine`)}` })
      assert.equal(cite('--source', 'v1.0.0', '--write').status, 0)
      const [, body] = /^It is <!-- .*? -->(.*)<!-- \/whofixes/m.exec(text()) ?? []
      assert.equal(body?.replaceAll('\\#', '#'), is)
    })
  }

  it('says which fields there are', () => {
    put({ 'page.md': `<!-- whofixes template verdict {owner}[[ {nobody}]] -->\n\n${marker('verdict swap')}` })
    const { status, out } = cite('--source', 'v1.0.0')
    assert.equal(status, 2)
    assert.match(out, /no field owner, nobody; there are task, role/)
  })

  it('takes templates and words for all documents from a file, those of the document first', () => {
    put({
      'wording.yml': 'templates:\n  verdict: "{title}: {verdict}"\nwords:\n  operator: du\n  kubespray: es\n',
      'page.md': `<!-- whofixes words kubespray=кто "Swap is on=Swap läuft" -->\n\n${inLine('verdict swap')}\n${inLine('verdict port_10250')}`,
    })
    assert.equal(cite('--source', 'v1.0.0', '--write', '--templates', join(pages, 'wording.yml')).status, 0)
    assert.match(text(), /-->Swap läuft: кто<!--/)
    assert.match(text(), /-->Something already listens on port 10250: du<!--/)
    // Without the file the wording is another one.
    assert.deepEqual(states('--source', 'v1.0.0'), ['unwritten verdict swap', 'unwritten verdict port_10250'])
  })

  for (const [content, message] of [
    ['- a\n', /wording\.yml: expected a mapping/],
    ['template: {}\n', /wording\.yml:1: 'template': expected templates or words/],
    ['templates: [a]\n', /wording\.yml:1: templates: expected a mapping/],
    ['words: {operator: 1}\n', /wording\.yml:1: words\.operator: expected a text/],
    ['words: {operator: [\n', /wording\.yml:/],
  ] as const) {
    it(`refuses the wording ${JSON.stringify(content)}`, () => {
      put({ 'wording.yml': content, 'page.md': '' })
      const { status, err } = cite('--templates', join(pages, 'wording.yml'))
      assert.equal(status, 2)
      assert.match(err.join('\n'), message)
      assert.equal(err.length, 1)
    })
  }

  it('asks before it writes what changed, also where the wording changed with it', () => {
    const lines = marker(`lines ${swap}:16-17`)
    put({ 'page.md': `<!-- whofixes source v1.0.0 -->\n\n${marker('variable memory_wanted_mb')}\n${lines}` })
    cite('--write')
    const reworded = text().replace('-->', '-->\n<!-- whofixes template variable {`value`} MB -->')
    put({ 'page.md': reworded })
    assert.deepEqual(states('--source', 'v1.1.0', '--write'), [
      'changed variable memory_wanted_mb',
      `moved lines ${swap}:16-17`,
    ])
    assert.match(text(), /`memory_wanted_mb` = `1500`/)
    assert.match(text(), new RegExp(`lines ${swapNow}:18-19`))
    cite('--source', 'v1.1.0', '--write', '--accept')
    assert.match(text(), /`1800` MB/)
  })

  it('follows lines that an author read in the version the document is about', () => {
    put({ 'page.md': `<!-- whofixes source v1.0.0 -->\n\n${marker(`lines ${swap}:16-17`)}` })
    assert.equal(cite('--source', 'v1.1.0', '--write').status, 0)
    assert.match(text(), new RegExp(`source v1\\.1\\.0 -->\\n\\n<!-- whofixes lines ${swapNow}:18-19 -->`))
  })

  it('does not write over what somebody wrote', () => {
    put({ 'page.md': marker('verdict swap') })
    cite('--source', 'v1.0.0', '--write')
    put({ 'page.md': text().replace('**kubespray**', '**nobody**') })
    const edited = text()
    assert.equal(cite('--source', 'v1.0.0', '--write').status, 1)
    assert.equal(text(), edited)
    assert.deepEqual(states(), ['changed verdict swap'])
    assert.equal(cite('--source', 'v1.0.0', '--write', '--accept').status, 0)
    assert.match(text(), /\*\*kubespray\*\*/)
  })

  it('moves links only where that is asked for, and the version the document is about with them', () => {
    const before = `<!-- whofixes source v1.0.0 -->\n\n[a](${repository}/blob/v1.0.0/${swap}#L16 "t") \`${swap}\` <a href="${repository}/tree/v1.0.0">b</a>\n`
    put({ 'page.md': before })
    cite('--source', 'v1.1.0', '--write')
    assert.equal(text(), before)
    cite('--source', 'v1.1.0', '--write', '--links')
    const after = before.replace(`v1.0.0/${swap}#L16`, `v1.1.0/${swapNow}#L18`).replace('tree/v1.0.0', 'tree/v1.1.0')
    // A path that moved is followed from the version that is named there: it stays.
    assert.equal(text(), after)
    put({ 'page.md': text().replace(`\`${swap}\``, `\`${swapNow}\``) })
    // Once it is put right, the document is about the new version.
    assert.equal(cite('--source', 'v1.1.0', '--write').status, 0)
    assert.match(text(), /source v1\.1\.0/)
    assert.deepEqual(states(), [
      `true ${repository}/blob/v1.1.0/${swapNow}#L18`,
      `true ${swapNow}`,
      `true ${repository}/tree/v1.1.0`,
    ])
  })

  it('leaves every byte outside of its markers: CRLF, no final newline, a mark at the beginning', () => {
    for (const [start, end] of [
      ['\uFEFF# A\r\n\r\n', '\r\n\r\nlast'],
      ['a  \r\n\r\n', '\r\n\t\r\n<div>'],
    ] as const) {
      put({ 'page.md': `${start}<!-- whofixes verdict swap -->\r\n<!-- /whofixes -->${end}` })
      assert.equal(cite('--source', 'v1.0.0', '--write').status, 0)
      const written = text()
      assert.ok(written.startsWith(start) && written.endsWith(`-->${end}`))
      assert.ok(!/[^\r]\n/.test(written))
      assert.equal(cite().status, 0)
      cite('--source', 'v1.0.0', '--write')
      assert.equal(text(), written)
    }
  })

  it('has no markers in plain text, but links and paths', () => {
    put({ 'notes.txt': `<!-- whofixes verdict swap -->\nsee ${repository}/blob/v1.0.0/${swap}#L16 and ${swap}\n` })
    const ran = run(join(pages, 'notes.txt'), '--source', 'v1.1.0', '--write', '--links')
    assert.equal(ran.status, 1)
    assert.match(text('notes.txt'), new RegExp(`v1\\.1\\.0/${swapNow}#L18 and ${swap}`))
  })

  it('leaves a document whose markers cannot be read, and writes the others', () => {
    const broken = `${marker('verdict swap')}\n<!-- whofixes verdict swap -->\n`
    put({ 'a.md': broken, 'b.md': marker('verdict swap') })
    assert.equal(run(join(pages, 'a.md'), join(pages, 'b.md'), '--source', 'v1.0.0', '--write').status, 2)
    assert.equal(text('a.md'), broken)
    assert.match(text('b.md'), /\*\*kubespray\*\*/)
  })

  it('loses nothing where a file cannot be written', () => {
    // No name is left for the draft beside it.
    const long = `${'n'.repeat(250)}.md`
    put({ 'a.md': marker('verdict swap'), [long]: marker('verdict swap') })
    const { status, err } = run(join(pages, 'a.md'), join(pages, long), '--source', 'v1.0.0', '--write')
    assert.equal(status, 2)
    assert.match(err.join(''), /cannot be written/)
    assert.equal(text(long), marker('verdict swap'))
    assert.match(text('a.md'), /\*\*kubespray\*\*/)
  })

  it('reads a document in a checkout as one about that: links, paths and markers', () => {
    makeRepository(pages, firstRelease)
    const page = join(pages, 'docs', 'own.md')
    writeFiles(pages, { 'docs/own.md': `[a](swap.md) [b](none.md) [c](../${swap}) \`${swap}\` \`roles/none/x.yml\`\n` })
    const { out, status } = run(page, '--format', 'json')
    const [document] = (JSON.parse(out) as { documents: readonly ReportedDocument[] }).documents
    assert.deepEqual(
      document?.citations.map(each => each.state),
      ['true', 'gone', 'true', 'true', 'gone'],
    )
    assert.equal(status, 1)
    assert.equal(git(pages, 'status', '--short'), '?? docs/own.md')
  })

  it('passes over paths that are files of the author', () => {
    makeRepository(pages, {
      'roles/mine/tasks/main.yml': '',
      'page.md': '`roles/mine/tasks/main.yml` `roles/spare/tasks/main.yml`\n',
    })
    assert.deepEqual(states('--source', 'v1.0.0'), ['true roles/spare/tasks/main.yml'])
  })

  /** What follows `kubespray/`, and what is said of it in v1.1.0. */
  const links: readonly (readonly [string, string])[] = [
    ['blob/v1.0.0/cluster.yml', 'true'],
    ['tree/v1.0.0/roles/spare', 'gone'],
    ['raw/v1.0.0/cluster.yml', 'true'],
    ['blob/refs/tags/v1.0.0/cluster.yml?plain=1#L2-L3', 'true'],
    ['blob/refs/heads/master/cluster.yml', 'true'],
    ['blob/v1.0.0/cluster.yml#L0', 'gone'],
    ['blob/v1.0.0/cluster.yml#L9999', 'gone'],
    ['blob/v1.0.0/docs/swap.md', 'moved'],
    ['blob/v1.0.0/none.yml', 'gone'],
    ['blob/%3A%2Fchange/cluster.yml', 'gone'],
    ['blob/--all/cluster.yml', 'gone'],
  ]
  for (const [link, state] of links) {
    it(`takes ${link} for ${state}`, () => {
      put({ 'page.md': `<${repository}/${link}>\n` })
      assert.deepEqual(states('--source', 'v1.1.0'), [`${state} ${repository}/${link}`])
    })
  }

  it('knows the repository under its old owner, and no other', () => {
    const old = 'https://github.com/Kubernetes-Incubator/kubespray/blob/v1.0.0/cluster.yml'
    const raw = 'https://raw.githubusercontent.com/kubernetes-sigs/kubespray/v1.0.0/cluster.yml'
    put({
      'page.md': `<${old}> <${raw}> <https://github.com/example/kubespray/blob/v1.0.0/none> <${repository}/issues/1>\n`,
    })
    assert.deepEqual(states('--source', 'v1.1.0'), [`true ${old}`, `true ${raw}`])
  })

  for (const [format, holds] of [
    ['sarif', /"ruleId": "citation-moved"/],
    ['gitlab', /"check_name": "citation-moved"/],
    ['junit', /<failure /],
  ] as const) {
    it(`tells ${format} what is stale`, () => {
      put({ 'page.md': `<${repository}/blob/v1.0.0/${swap}>\n` })
      const { out, status } = cite('--source', 'v1.1.0', '--format', format)
      assert.equal(status, 1)
      assert.match(out, holds)
    })
  }

  for (const [args, message] of [
    [['--check', '--write'], /exclude each other/],
    [['--accept'], /--accept goes with --write/],
    [['--links'], /--links goes with --write/],
    [['--source', 'v9.9.9'], /v9\.9\.9/],
  ] as const) {
    it(`refuses ${args.join(' ')}`, () => {
      put({ 'page.md': '`roles/x/y`\n' })
      const { status, err } = cite(...args)
      assert.equal(status, 2)
      assert.match(err.join('\n'), message)
    })
  }

  it('names a file that is none', () => {
    const { status, err } = run(join(pages, 'none.md'))
    assert.equal(status, 2)
    assert.match(err.join(''), /none\.md: no such file/)
    assert.ok(!existsSync(join(pages, 'none.md')))
  })
})
