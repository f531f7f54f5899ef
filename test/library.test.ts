import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import fc from 'fast-check'
import {
  type AnalyzeOptions,
  analyze,
  audit,
  cite,
  type Json,
  recordedReleases,
  UsageError,
  whoFixes,
} from '../src/library.js'
import { runWhofixes } from './commands/run-whofixes.js'
import { smallTree, usualAnswer } from './commands/small-tree.js'
import { blocksOf } from './docs/examples.js'
import { type Files, writeFiles } from './source/trees.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const library = new URL('../src/library.js', import.meta.url)

const files: Files = {
  ...Object.fromEntries(Object.entries(smallTree).map(([path, text]) => [`old/${path}`, text])),
  ...Object.fromEntries(Object.entries(smallTree).map(([path, text]) => [`new/${path}`, text])),
  'new/roles/kubespray-defaults/defaults/main.yml': `---
kubelet_fail_swap_on: false
sysctl_file_path: /etc/sysctl.d/90-other.conf
kube_port_of_kubelet: 10250
`,
  'hosts.yml': `---
all:
  children:
    kube_control_plane: { hosts: { first: {} } }
    etcd: { hosts: { first: {} } }
    kube_node: { hosts: { first: {}, second: {} } }
    k8s_cluster: { children: { kube_control_plane: {}, kube_node: {} } }
`,
  'more.ini': '[kube_node]\nthird\n',
  'facts.json': '{"ansible_facts": {"ansible_memtotal_mb": 900}}',
  'own/own.js': `export default {
  id: 'own', title: 'Something', asks: 'Who?', requirement: { says: 'We want it.', source: 'https://example.org' },
  now: [], afterReboot: [], powers: [], byHand: [],
}`,
  // A group that no inventory has is a fault worth telling; so is YAML that does not hold together.
  'empty.mjs': '',
  'odd/hosts.yml': 'all: { hosts: { node1: {} }, children: { kube_control_plane: { hosts: { node1: {} } } } }\n',
  'odd/group_vars/kube_contrl_plane.yml': 'x: 1\n',
}

describe('the library', () => {
  let directory = ''
  const cache = process.env.XDG_CACHE_HOME
  const at = (path: string): string => join(directory, path)

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-library-'))
    writeFiles(directory, files)
    // Releases are answered from what is recorded, so that it is the same with and without a clone.
    process.env.XDG_CACHE_HOME = at('no-cache')
  })
  after(() => {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = cache
    rmSync(directory, { recursive: true, force: true })
  })

  /** What the command line prints for the same question. */
  function printed(...words: readonly string[]): unknown {
    const { status, out } = runWhofixes(words)
    assert.notEqual(status, 2, words.join(' '))
    return JSON.parse(out)
  }

  it('cites as the command line does, and writes no file', async () => {
    const text = 'Swap: <!-- whofixes verdict swap --><!-- /whofixes -->, `roles/gone/tasks/main.yml`.\n'
    writeFiles(directory, { 'lab.md': text })
    const path = at('lab.md')
    const source = at('old')
    const { report, texts } = await cite({ documents: [path], source })
    assert.deepEqual(report, printed('cite', path, '--source', source, '--format', 'json'))
    assert.deepEqual(texts, [])
    const written = await cite({ documents: [{ path, text }], source, write: true })
    assert.equal(readFileSync(path, 'utf8'), text)
    assert.match(written.texts[0]?.text ?? '', /verdict swap -->\*\*kubespray\*\*<!-- \/whofixes - /)
    await assert.rejects(cite({ documents: [at('missing.md')] }), UsageError)
    await assert.rejects(cite({ documents: [{ path: 'lab.md' }] } as never), /documents: expected a list of paths/)
  })

  const questions: readonly (readonly [
    about: string,
    options: () => AnalyzeOptions,
    words: () => readonly string[],
  ])[] = [
    ['a recorded release', () => ({ source: 'v2.24.1' }), () => ['v2.24.1']],
    ['a directory', () => ({ source: at('old') }), () => [at('old')]],
    [
      'inventories and a host',
      () => ({ source: at('old'), inventory: [at('hosts.yml'), at('more.ini')], host: 'second' }),
      () => [at('old'), '-i', at('hosts.yml'), '-i', at('more.ini'), '--host', 'second'],
    ],
    [
      'one inventory, with a fault in it',
      () => ({ source: at('old'), inventory: at('odd') }),
      () => [at('old'), '-i', at('odd')],
    ],
    [
      'extra variables as texts',
      () => ({ source: at('old'), extraVars: ['kubelet_fail_swap_on=false', '{"sysctl_file_path": "/etc/a.conf"}'] }),
      () => [at('old'), '-e', 'kubelet_fail_swap_on=false', '-e', '{"sysctl_file_path": "/etc/a.conf"}'],
    ],
    [
      'extra variables as an object and a text after it',
      () => ({
        source: at('old'),
        extraVars: [{ kubelet_fail_swap_on: false, sysctl_file_path: '/a' }, 'sysctl_file_path=/b'],
      }),
      () => [at('old'), '-e', '{"kubelet_fail_swap_on": false, "sysctl_file_path": "/a"}', '-e', 'sysctl_file_path=/b'],
    ],
    ['facts', () => ({ source: at('old'), facts: at('facts.json') }), () => [at('old'), '--facts', at('facts.json')]],
    [
      'assumptions as texts',
      () => ({ source: at('old'), assume: 'bridge_module.rc=1' }),
      () => [at('old'), '--assume', 'bridge_module.rc=1'],
    ],
    [
      'assumptions as an object',
      () => ({ source: at('old'), assume: { 'bridge_module.rc': 1, settings_file: { stat: { islnk: false } } } }),
      () => [at('old'), '--assume', 'bridge_module.rc=1', '--assume', 'settings_file={stat: {islnk: false}}'],
    ],
    ['tags', () => ({ source: at('old'), tags: 'node, other' }), () => [at('old'), '--tags', 'node,other']],
    ['tags left out', () => ({ source: at('old'), skipTags: ['node'] }), () => [at('old'), '--skip-tags', 'node']],
    ['another Ansible', () => ({ source: at('old'), ansible: '2.16.3' }), () => [at('old'), '--ansible', '2.16.3']],
    ['problems of your own', () => ({ source: at('old'), rules: at('own') }), () => [at('old'), '--rules', at('own')]],
    ['options that are undefined', () => ({ source: at('old'), host: undefined, tags: undefined }), () => [at('old')]],
  ]

  for (const [about, options, words] of questions) {
    it(`answers as the command line does: ${about}`, async () => {
      assert.deepEqual(await analyze(options()), printed('report', ...words(), '--format', 'json'))
    })
  }

  it('answers about the newest recorded release where nothing is asked', async () => {
    const report = await analyze()
    assert.equal(report.source.release, (await recordedReleases()).at(-1))
  })

  for (const all of [false, true]) {
    it(`audits as the command line does${all ? ', also what only moved' : ''}`, async () => {
      const words = ['--all'].slice(all ? 0 : 1)
      assert.deepEqual(
        await audit({ old: at('old'), new: at('new'), inventory: at('hosts.yml'), all }),
        printed('audit', at('old'), at('new'), '-i', at('hosts.yml'), '--format', 'json', ...words),
      )
    })
  }

  it('audits two recorded releases, and tells faults of the input', async () => {
    const recorded = await audit({ old: 'v2.24.0', new: 'v2.25.0' })
    assert.ok(recorded.changes.length > 10)
    const { diagnostics } = await audit({ old: at('old'), new: at('new'), inventory: at('odd') })
    assert.match(diagnostics.map(({ message }) => message).join('\n'), /no group is called kube_contrl_plane/)
  })

  it('makes the who-fixes.json of a report', async () => {
    const report = await analyze({ source: at('old') })
    assert.equal(`${JSON.stringify(whoFixes(report), null, 2)}\n`, usualAnswer)
    const other = await analyze({ source: at('new') })
    assert.equal(`${JSON.stringify(whoFixes(other))}`, JSON.stringify(printed('answer', at('new'))))
    assert.notDeepEqual(whoFixes(other), whoFixes(report))
    assert.equal(whoFixes({ problems: [], variables: {} }).sysctl_file, 'unknown')
  })

  it('tells the faults of the input in the result', async () => {
    const { diagnostics } = await analyze({ source: at('old'), inventory: at('odd') })
    assert.match(diagnostics.map(({ message }) => message).join('\n'), /no group is called kube_contrl_plane/)
  })

  it('names the recorded releases, oldest first', async () => {
    const releases = await recordedReleases()
    assert.equal(releases[0], 'v2.10.0')
    assert.ok(releases.indexOf('v2.9.0') === -1 && releases.indexOf('v2.24.0') < releases.indexOf('v2.31.0'))
  })

  it('gives results that share nothing', async () => {
    const first = (await analyze({ source: 'v2.31.0' })) as unknown as {
      problems: { title: string; nearMisses: unknown[] }[]
    }
    const before = structuredClone(first)
    for (const problem of first.problems) {
      problem.title = 'spoilt'
      problem.nearMisses.length = 0
    }
    assert.deepEqual(await analyze({ source: 'v2.31.0' }), before)
  })

  it('answers several questions at once as one after the other', async () => {
    const asked: readonly AnalyzeOptions[] = [
      { source: at('old') },
      { source: at('new') },
      { source: at('old'), extraVars: { kubelet_fail_swap_on: false } },
      { source: 'v2.31.0' },
    ]
    const together = await Promise.all(asked.map(analyze))
    for (const [index, options] of asked.entries()) assert.deepEqual(together[index], await analyze(options))
  })

  it('hands variables over with their types', async () => {
    const plain = fc.string({ unit: 'binary' }).filter(text => !/[{}#%]/.test(text))
    const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>(tie => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constant(null),
        fc.boolean(),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => (Object.is(number, -0) ? 0 : number)),
        plain,
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(plain, tie('json'), { maxKeys: 3 }).map(each => ({ ...each })),
      ),
    })).json
    await fc.assert(
      fc.asyncProperty(value, async given => {
        const { variables } = await analyze({ source: at('old'), extraVars: { sysctl_file_path: given } })
        assert.deepEqual(variables.sysctl_file_path?.value, given)
      }),
      { numRuns: 60 },
    )
  })

  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const refused: readonly (readonly [options: unknown, says: RegExp])[] = [
    [null, /^analyze: expected an object of options, got null$/],
    ['v2.31.0', /^analyze: expected an object of options, got "v2\.31\.0"$/],
    [{ Source: 'v2.31.0' }, /^analyze: no option Source; there are source, playbook, inventory, host/],
    [{ source: 7 }, /^analyze: source: expected a text, got 7$/],
    [{ source: 'v1.0.0' }, /^v1\.0\.0: neither the local clone nor a recorded snapshot/],
    [{ source: '/nowhere' }, /^\/nowhere: no such directory/],
    [{ playbook: '' }, /^--playbook needs the name of a file$/],
    [{ playbook: null }, /^analyze: playbook: expected a text, got null$/],
    [{ inventory: ['a', 1] }, /^analyze: inventory: expected a text or a list of texts, got a list$/],
    [{ tags: { a: 1 } }, /^analyze: tags: expected a text or a list of texts, got an object$/],
    [{ extraVars: 5 }, /^analyze: extraVars: expected a text, an object, or a list of these, got 5$/],
    [{ extraVars: cycle }, /^extraVars: cannot be written as JSON: /],
    [{ extraVars: { big: 1n } }, /^extraVars: cannot be written as JSON: /],
    [{ source: 'OLD', extraVars: 'no assignment' }, /^-e no assignment: /],
    [{ assume: { x: undefined } }, /^assume\.x: expected a JSON value, got nothing$/],
    [{ assume: { 'a=b': 1 } }, /^assume\.a=b: expected a dotted name without =$/],
    [{ source: 'OLD', assume: { ' ': 1 } }, /^--assume {2}=1: expected NAME=VALUE/],
    [{ ansible: 'new' }, /^--ansible new: expected a version/],
    [{ source: 'OLD', facts: '/nowhere' }, /^\/nowhere: expected a file or directory of facts/],
    [{ rules: '/nowhere' }, /^--rules \/nowhere: not a directory/],
  ]
  for (const [options, says] of refused) {
    it(`refuses ${String(says)}`, async () => {
      const isOld = options !== null && typeof options === 'object' && 'source' in options && options.source === 'OLD'
      const asked = isOld ? { ...options, source: at('old') } : options
      await assert.rejects(
        () => analyze(asked as AnalyzeOptions),
        error => error instanceof UsageError && says.test(error.message) && !error.message.includes('\n'),
      )
    })
  }

  const refusedAudits: readonly (readonly [options: unknown, says: RegExp])[] = [
    [undefined, /^audit: expected an object of options, got nothing$/],
    [{ old: 'v2.30.0' }, /^audit: new: expected a text, got nothing$/],
    [{ old: 'v2.30.0', new: 'v2.31.0', source: 'x' }, /^audit: no option source; there are old, new, /],
    [{ old: 'v2.30.0', new: 'v2.31.0', all: 'yes' }, /^audit: all: expected true or false, got "yes"$/],
    [{ old: 'v2.30.0', new: tmpdir() }, /is no kubespray checkout: looked for roles\//],
  ]
  for (const [options, says] of refusedAudits) {
    it(`refuses to audit ${String(says)}`, async () => {
      await assert.rejects(
        () => audit(options as Parameters<typeof audit>[0]),
        error => error instanceof UsageError && says.test(error.message),
      )
    })
  }

  /** Runs a program that imports the library, in a process of its own. */
  function run(program: string, env: NodeJS.ProcessEnv = {}): { status: number | null; out: string; err: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: directory,
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
    return { status, out: stdout, err: stderr }
  }

  it('loads five files where it is imported, and the pipeline with the first call', () => {
    const loaded = (program: string): readonly string[] => {
      const coverage = mkdtempSync(join(directory, 'coverage-'))
      const { status, err } = run(program, { NODE_V8_COVERAGE: coverage })
      assert.equal(status, 0, err)
      const base = pathToFileURL(root).href
      return readdirSync(coverage)
        .flatMap(name => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result as { url: string }[])
        .flatMap(({ url }) => (url.startsWith(base) ? [url.slice(base.length)] : []))
    }
    assert.deepEqual(loaded(`import ${JSON.stringify(library.href)}`).toSorted(), [
      'dist/src/library.js',
      'dist/src/reports/answer-json.js',
      'dist/src/reports/json-text.js',
      'dist/src/source/diagnostic.js',
      'dist/src/source/visible.js',
    ])
    const called = loaded(
      `import { analyze } from ${JSON.stringify(library.href)}; await analyze({ source: 'v2.31.0' })`,
    )
    assert.ok(called.length > 100, `${called.length}`)
  })

  it('is imported in less than 60 ms', () => {
    const milliseconds = (module: string): number => {
      const before = performance.now()
      assert.equal(run(`import ${JSON.stringify(module)}`).status, 0)
      return performance.now() - before
    }
    const empty = pathToFileURL(at('empty.mjs')).href
    // In turn, and the least of each: what else the machine does only ever adds.
    const rounds = Array.from({ length: 15 }, () => [milliseconds(empty), milliseconds(library.href)] as const)
    const cost = Math.min(...rounds.map(([, ours]) => ours)) - Math.min(...rounds.map(([bare]) => bare))
    assert.ok(cost < 60, `${cost.toFixed(1)} ms`)
  })

  it('writes nothing, ends no process and sets no exit status', () => {
    const { status, out, err } = run(`
      import { analyze, audit, UsageError } from ${JSON.stringify(library.href)}
      const report = await analyze({ source: 'old', inventory: 'odd' })
      if (report.diagnostics.length === 0) throw new Error('something was to be told')
      await audit({ old: 'old', new: 'new', inventory: 'odd' })
      await analyze({ source: 'missing' }).catch(error => {
        if (!(error instanceof UsageError)) throw error
      })
      if (process.exitCode !== undefined) throw new Error('exit status')
    `)
    assert.deepEqual({ status, out, err }, { status: 0, out: '', err: '' })
  })

  describe('its documentation', () => {
    const pages = ['docs/library.md', 'README.md']
    const blocks = pages.flatMap(path =>
      blocksOf(readFileSync(join(root, path), 'utf8')).map(block => ({ ...block, path })),
    )
    const programs = blocks.flatMap((block, index) => {
      const next = blocks[index + 1]
      return block.language === 'js' ? [{ ...block, prints: next?.language === 'text' ? next.text : undefined }] : []
    })

    it('has examples that say what they print', () => {
      assert.ok(programs.length >= 4)
      assert.ok(programs.every(({ prints }) => prints !== undefined))
    })

    for (const { text, path, line, prints } of programs) {
      it(`${path}:${line}: prints what it says`, () => {
        const modules = join(directory, 'node_modules')
        rmSync(modules, { recursive: true, force: true })
        writeFiles(directory, { 'node_modules/.keep': '' })
        symlinkSync(root, join(modules, 'whofixes'))
        const { status, out, err } = run(text)
        assert.equal(err, '')
        assert.equal(status, 0)
        assert.equal(out, `${prints}\n`)
      })
    }

    it('names every function and every option', () => {
      const page = blocks.map(({ text }) => text).join('\n')
      const whole = readFileSync(join(root, 'docs/library.md'), 'utf8')
      for (const name of ['analyze', 'audit', 'whoFixes', 'recordedReleases', 'UsageError']) {
        assert.ok(page.includes(name), name)
      }
      for (const name of [
        'source',
        'playbook',
        'inventory',
        'host',
        'extraVars',
        'facts',
        'assume',
        'tags',
        'skipTags',
        'ansible',
        'rules',
        'old',
        'new',
        'also',
        'all',
      ]) {
        assert.ok(whole.includes(`\`${name}\``), name)
      }
    })
  })
})
