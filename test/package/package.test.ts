import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usualAnswer } from '../commands/small-tree.js'
import { install, type Packed, pack, root, run } from './consumer.js'

/** What the package is made of; everything else is for those who work on it. */
const belongs: readonly RegExp[] = [
  /^(?:README\.md|LICENSE|package\.json)$/,
  /^dist\/(?:src|rules)\/[\w./-]+\.(?:js|d\.ts)$/,
  /^rules\/\w+\.md$/,
  /^collect\/collect\.sh$/,
  /^schemas\/whofixes-[\w-]+-\d+\.json$/,
  /^pipelines\/(?:[\w-]+\.sh|gitlab-ci\.yml)$/,
  /^kubespray-snapshots\/v\d+\.\d+\.\d+\.json$/,
]

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Uses what the package says of itself; each line that must not compile says so. */
const typed = `import { type AnalyzeOptions, analyze, audit, recordedReleases, UsageError, whoFixes } from 'whofixes'
import { type Problem, TRUE, decide } from 'whofixes/rules'

const options: AnalyzeOptions = {
  source: 'v2.31.0',
  inventory: ['a', 'b'],
  extraVars: { a: [1, { b: null }] },
  assume: 'x=1',
  host: undefined,
}
const report = await analyze(options)
const who: readonly ('kubespray' | 'operator' | 'unknown')[] = report.problems.map(({ fixedBy }) => fixedBy)
const place: string | undefined = report.problems[0]?.now.evidence[0]?.file
const { swap, sysctl_file }: { swap: 'kubespray' | 'operator' | 'unknown'; sysctl_file: string } = whoFixes(report)
const required: number = (await audit({ old: 'v2.30.0', new: 'v2.31.0' })).summary.required
const releases: readonly string[] = await recordedReleases()
const message: string = new UsageError('x').message
const problem: Pick<Problem, 'id' | 'now'> = { id: 'own', now: [] }
const truth: number = decide(TRUE, { true: () => 1, false: () => 0, unknown: () => 2 })
export { message, place, problem, releases, required, swap, sysctl_file, truth, who }

// @ts-expect-error: an option that there is not
await analyze({ sources: 'v2.31.0' })
// @ts-expect-error: an audit needs both versions
await audit({ old: 'v2.30.0' })
// @ts-expect-error: a result is not to be taken for something else
export const wrong: number = report.host
`

describe('the package', () => {
  let directory = ''
  let packed: Packed = { name: '', files: [] }
  let missing: string | undefined

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-package-'))
    packed = pack(directory)
    const { status, err } = install(directory, packed)
    if (status === 0) return
    if (process.env.CI || !/ENOTCACHED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED/.test(err)) assert.fail(err)
    missing = 'neither the registry nor npm’s cache has the dependencies'
    console.log(`    skipped where it is installed: ${missing}`)
  })
  after(() => rmSync(directory, { recursive: true, force: true }))
  beforeEach(function () {
    if (missing !== undefined && !this.currentTest?.title.startsWith('holds')) this.skip()
  })

  it('holds what it needs, and nothing of what only its makers need', () => {
    assert.deepEqual(
      packed.files.filter(path => !belongs.some(pattern => pattern.test(path))),
      [],
    )
    const page = (id: string): string => `rules/${id}.md`
    for (const path of [
      ...['README.md', 'LICENSE', 'dist/src/cli.js', 'dist/src/library.js', 'dist/src/library.d.ts'],
      ...['dist/rules/kit.js', 'dist/rules/kit.d.ts', page('swap'), page('port_10250')],
      ...readdirSync(join(root, 'kubespray-snapshots')).map(name => `kubespray-snapshots/${name}`),
      ...readdirSync(join(root, 'pipelines')).map(name => `pipelines/${name}`),
      ...readdirSync(join(root, 'schemas')).map(name => `schemas/${name}`),
    ]) {
      assert.ok(packed.files.includes(path), path)
    }
  })

  it('holds what its package.json names, and does not grow unseen', () => {
    const { bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const named = [...JSON.stringify([bin, exports]).matchAll(/"(?:\.\/)?((?:dist|rules)\/[^"*]+)"/g)]
    assert.ok(named.length >= 5)
    for (const [, path = ''] of named) assert.ok(packed.files.includes(path), path)
    const bytes = readFileSync(join(directory, packed.name)).length
    assert.ok(bytes < 3_000_000, `${bytes} bytes packed`)
  })

  it('installs what it depends on, and nothing for development', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const there = (name: string): boolean => existsSync(join(directory, 'node_modules', name))
    assert.deepEqual(
      Object.keys(dependencies).filter(name => !there(name)),
      [],
    )
    assert.deepEqual(Object.keys(devDependencies).filter(there), [])
  })

  const commands: readonly (readonly [words: readonly string[], out: string | RegExp])[] = [
    [['--version'], `${version}\n`],
    [['answer'], usualAnswer],
    [['rules', 'swap'], /^# swap: Swap is on\n/],
    [['report', 'v2.24.0'], /kubespray v2\.24\.0 .*as recorded/],
  ]
  for (const [words, expected] of commands) {
    it(`runs: npx whofixes ${words.join(' ')}`, () => {
      const { status, out, err } = run(directory, ['npx', '--no-install', 'whofixes', ...words])
      assert.equal(status, 0, err)
      if (typeof expected === 'string') assert.equal(out, expected)
      else assert.match(out, expected)
    })
  }

  const programs: readonly (readonly [file: string, text: string, out: string])[] = [
    [
      'module.mjs',
      `import { analyze, recordedReleases, UsageError, whoFixes } from 'whofixes'
const { swap, port_10250 } = whoFixes(await analyze({ source: 'v2.31.0' }))
console.log(swap, port_10250, (await recordedReleases()).includes('v2.10.0'))
await analyze({ source: 'nowhere' }).catch(error => console.log(error instanceof UsageError))`,
      'kubespray operator true\ntrue\n',
    ],
    [
      'common.cjs',
      `import('whofixes').then(({ analyze }) => analyze()).then(({ host }) => console.log(host))`,
      'node1\n',
    ],
    [
      'rules.mjs',
      `import { decide, TRUE, unitName } from 'whofixes/rules'
console.log(decide(TRUE, { true: () => 'yes', false: () => 'no', unknown: () => '?' }), unitName('auditd'))`,
      'yes auditd.service\n',
    ],
    [
      'data.cjs',
      `const { $id } = require('whofixes/schemas/whofixes-report-1.json')
console.log(require('whofixes/package.json').name, $id)`,
      'whofixes https://whofixes.github.io/schemas/whofixes-report-1.json\n',
    ],
    [
      'inside.mjs',
      `import('whofixes/dist/src/analyze.js').catch(({ code }) => console.log(code))`,
      'ERR_PACKAGE_PATH_NOT_EXPORTED\n',
    ],
  ]
  for (const [file, text, expected] of programs) {
    it(`is imported: ${file}`, () => {
      writeFileSync(join(directory, file), text)
      const { out, err } = run(directory, [process.execPath, file])
      assert.equal(err, '')
      assert.equal(out, expected)
    })
  }

  it('gives problem files what they are written with', () => {
    const problems = mkdtempSync(join(directory, 'own-'))
    writeFileSync(
      join(problems, 'auditd.ts'),
      `import { isOneOfUnits, type Problem, SETTLES, NO_MATCH } from 'whofixes/rules'
const rule = { says: 'starts it', matches: () => (typeof isOneOfUnits === 'function' ? NO_MATCH : SETTLES) }
const problem: Problem = {
  id: 'auditd', title: 'No audit daemon', asks: 'Who?', requirement: { says: 'We want it.', source: 'https://example.org' },
  now: [rule], afterReboot: [rule], powers: [], byHand: [],
}
export default problem`,
    )
    writeFileSync(join(problems, 'cluster.yml'), '- hosts: all\n  tasks:\n    - debug:\n')
    const words = ['whofixes', 'explain', 'auditd', '.', '--rules', '.']
    const { status, out, err } = run(problems, ['npx', '--no-install', ...words])
    assert.equal(status, 0, err)
    assert.match(out, /auditd: No audit daemon/)
  })

  const compilers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    node16: { module: 'node16', moduleResolution: 'node16' },
    nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  }
  for (const [name, options] of Object.entries(compilers)) {
    it(`has types for ${name}, of which none needs another package`, () => {
      writeFileSync(join(directory, 'typed.ts'), typed)
      const settings = { ...options, target: 'es2022', strict: true, exactOptionalPropertyTypes: true, noEmit: true }
      const compilerOptions = { ...settings, skipLibCheck: false, types: [] }
      writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      const { status, out } = run(directory, [process.execPath, compiler, '-p', '.'])
      assert.equal(out, '')
      assert.equal(status, 0)
    })
  }
})
