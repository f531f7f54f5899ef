import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { blocksOf } from '../docs/examples.js'
import { git, makeRepository, withTemporary, writeFiles } from '../source/trees.js'
import { readAction } from './composite.js'
import { copyPinned, environment, linkPackage, root, scripts, writeProgram, writeWhofixes } from './pinning.js'

interface WorkflowStep {
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly run?: string
}

interface Hook {
  readonly id: string
  readonly entry: string
  readonly files: string
}

const page = readFileSync(join(root, 'docs/pipelines.md'), 'utf8')
const blocks = blocksOf(page)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const action = readAction(join(root, 'action.yml'))
const hooks: readonly Hook[] = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8'))

const configurations = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => parse(text))
const steps: readonly WorkflowStep[] = configurations.flatMap(({ jobs = {} }) =>
  Object.values(jobs as Readonly<Record<string, { steps: readonly WorkflowStep[] }>>).flatMap(job => job.steps),
)

describe('docs/pipelines.md', () => {
  let directory = ''
  const project = (): string => join(directory, 'project')

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-pipelines-'))
    writeWhofixes(directory)
    const { before: base } = copyPinned(directory)
    git(project(), 'update-ref', 'refs/remotes/origin/main', base)
    const modules = linkPackage(directory)
    writeProgram(directory, 'npm', `#!/bin/sh\n[ "$1" != root ] || echo '${modules}'\n`)
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  function bash(script: string): { status: number | null; out: string; err: string } {
    const { status, stdout, stderr } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: project(),
      encoding: 'utf8',
      env: environment(directory),
    })
    return { status, out: stdout, err: stderr }
  }

  it('names every input and output of the action, and every setting of the scripts', () => {
    for (const name of [...Object.keys(action.inputs), ...Object.keys(action.outputs)]) {
      assert.ok(page.includes(`\`${name}\``), name)
    }
    for (const script of ['find-bump.sh', 'audit.sh']) {
      const settings = readFileSync(join(scripts, script), 'utf8').matchAll(/\$\{([A-Z_]+):[-+]/g)
      for (const [, name] of settings) assert.ok(page.includes(`\`${name}\``), `${script}: ${name}`)
    }
  })

  it('uses this version, and only inputs that there are', () => {
    const own = steps.filter(({ uses }) => uses?.startsWith('whofixes/'))
    assert.ok(own.length > 0)
    for (const step of own) {
      assert.equal(step.uses, `whofixes/whofixes@v${version}`)
      assert.deepEqual(
        Object.keys(step.with ?? {}).filter(name => !(name in action.inputs)),
        [],
      )
    }
    for (const [, found] of page.matchAll(/(?:whofixes@v?|rev: v)(\d[\w.]*)/g)) assert.equal(found, version)
  })

  for (const { run } of steps.filter(step => step.run !== undefined)) {
    it(`runs: ${run}`, () => {
      const { status, err } = bash(run ?? '')
      assert.ok(status === 0 || status === 3, err)
      const written = /--output (\S+)/.exec(run ?? '')?.[1]
      if (written === undefined) return
      const sarif = JSON.parse(readFileSync(join(project(), written), 'utf8'))
      assert.equal(sarif.version, '2.1.0')
      assert.ok(sarif.runs[0].results.length > 0)
    })
  }

  it('runs: check.sh', () => {
    const [example] = blocks.filter(({ language }) => language === 'bash')
    const { status, out, err } = bash(example?.text ?? 'exit 9')
    assert.equal(status, 1, err)
    assert.match(out, /kubelet_unit is now kubelet_service_name/)
  })

  it('names the hook there is', () => {
    const named = configurations.flatMap(({ repos = [] }) => repos).flatMap(({ hooks: used }) => used)
    assert.deepEqual(
      named.map(({ id }: Hook) => id),
      hooks.map(({ id }) => id),
    )
  })
})

describe('.pre-commit-hooks.yaml', () => {
  it('looks at Markdown, and at nothing else', () => {
    const [hook] = hooks
    const pattern = new RegExp(hook?.files ?? '')
    for (const name of ['a.md', 'docs/b.markdown', 'c.mdx']) assert.ok(pattern.test(name), name)
    for (const name of ['a.txt', 'md', 'a.md.j2', 'a.mdxx']) assert.ok(!pattern.test(name), name)
  })

  it('is installed from what npm pack prints, which is the name of the tarball alone', () => {
    const { stdout } = spawnSync('npm', ['config', 'get', 'foreground-scripts'], { cwd: root, encoding: 'utf8' })
    assert.equal(stdout.trim(), 'false')
  })

  it('says what is missing where there is no clone, as the page does', () => {
    withTemporary(directory => {
      writeWhofixes(directory)
      const [hook] = hooks
      const link = 'See https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/README.md#L1\n'
      writeFiles(directory, { 'README.md': link, 'page.mdx': 'a < b and {oops\n' })
      const cite = (name: string): { status: number | null; stdout: string } =>
        spawnSync('sh', ['-c', `${hook?.entry} ${name}`], {
          cwd: directory,
          encoding: 'utf8',
          env: environment(directory),
        })
      const { status, stdout } = cite('README.md')
      assert.equal(status, 3)
      assert.match(stdout, /README\.md:1: unchecked: [\s\S]*whofixes fetch/)
      assert.ok(page.includes(`whofixes@${version} fetch`))
      assert.equal(cite('page.mdx').status, 0)
    })
  })

  it('runs under pre-commit', function () {
    withTemporary(directory => {
      writeWhofixes(directory)
      const run = (...words: readonly string[]): { status: number | null; out: string } => {
        const [program = '', ...rest] = words
        const { status, stdout, stderr, error } = spawnSync(program, rest, {
          cwd: join(directory, 'texts'),
          encoding: 'utf8',
          env: environment(directory, { PRE_COMMIT_HOME: join(directory, 'pre-commit') }),
        })
        return { status: error === undefined ? status : 127, out: `${stdout}${stderr}` }
      }
      makeRepository(join(directory, 'texts'), { 'a.md': '# A text\n' })
      const missing = [
        ...(run('pre-commit', '--version').status === 0 ? [] : ['no pre-commit (Debian package pre-commit)']),
        ...(run('whofixes', 'cite', '--help').status === 0 ? [] : ['whofixes has no command cite']),
      ]
      if (missing.length > 0) {
        console.log(`    skipped: ${missing.join('; ')}`)
        return this.skip()
      }
      // The hook as it is published, with the program that is here instead of an installed one.
      const local = hooks.map(hook => ({ ...hook, language: 'system' }))
      writeFiles(join(directory, 'texts'), {
        '.pre-commit-config.yaml': JSON.stringify({ repos: [{ repo: 'local', hooks: local }] }),
      })
      git(join(directory, 'texts'), 'add', '--all')
      const right = run('pre-commit', 'run', '--all-files')
      assert.equal(right.status, 0, right.out)
      assert.match(right.out, /Passed/)
      const gone = 'See https://github.com/kubernetes-sigs/kubespray/blob/v2.31.0/roles/nowhere/tasks/main.yml#L1\n'
      writeFiles(join(directory, 'texts'), { 'b.md': gone, 'c.txt': gone })
      git(join(directory, 'texts'), 'add', '--all')
      const wrong = run('pre-commit', 'run', '--all-files')
      assert.equal(wrong.status, 1, wrong.out)
      assert.match(wrong.out, /b\.md/)
      assert.doesNotMatch(wrong.out, /c\.txt/)
    })
  })
})
