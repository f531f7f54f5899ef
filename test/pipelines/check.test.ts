import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { git } from '../source/trees.js'
import { textOf } from './composite.js'
import { copyPinned, environment, linkPackage, root, scripts, writeProgram, writeWhofixes } from './pinning.js'

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

describe('pipelines', () => {
  let directory = ''
  let commits = { before: '', after: '' }
  const project = (): string => join(directory, 'project')

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-check-'))
    writeWhofixes(directory)
    commits = copyPinned(directory)
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  function sh(script: string, settings: Readonly<Record<string, string>>): Ended {
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', script], {
      cwd: project(),
      encoding: 'utf8',
      env: environment(directory, settings),
    })
    return { status, out: stdout, err: stderr }
  }

  describe('check.sh', () => {
    const check = (settings: Readonly<Record<string, string>> = {}): Ended => sh(`'${scripts}/check.sh'`, settings)

    it('prints what a change requires, and ends with 1', () => {
      const { status, out, err } = check({ INVENTORY: 'inventory/hosts.ini', REPORTS: join(directory, 'reports') })
      assert.equal(status, 1, err)
      assert.match(out, /kubelet_unit is now kubelet_service_name/)
      assert.deepEqual(readdirSync(join(directory, 'reports')).toSorted(), [
        'whofixes-audit.json',
        'whofixes-audit.txt',
      ])
      assert.equal(textOf(join(directory, 'whofixes-calls')), 'audit\n')
    })

    it('ends with 0 where nothing requires anything, or shall fail it', () => {
      assert.equal(check({ INVENTORY: 'inventory/hosts.ini', FAIL_ON: 'never' }).status, 0)
      git(project(), 'revert', '--no-edit', 'HEAD')
      const unchanged = check({ INVENTORY: 'inventory/hosts.ini', BASE: commits.before })
      assert.deepEqual(unchanged, { status: 0, out: 'The pinned kubespray does not change here.\n', err: '' })
    })

    const refused: readonly (readonly [settings: Readonly<Record<string, string>>, says: RegExp])[] = [
      [{ SUBMODULE: 'nowhere' }, /find-bump: nowhere: no submodule/],
      [{ INVENTORY: 'nowhere.ini' }, /whofixes: nowhere\.ini: /],
      [{ FORMATS: 'pdf', PLAYBOOK: 'cluster.yml' }, /audit: FORMATS: no format pdf/],
    ]
    for (const [settings, says] of refused) {
      it(`ends with 2: ${String(says)}`, () => {
        const { status, out, err } = check(settings)
        assert.equal(status, 2)
        assert.equal(out, '')
        assert.match(err, says)
      })
    }
  })

  describe('gitlab-ci.yml', () => {
    interface GitLabJob {
      readonly variables: Readonly<Record<string, string>>
      readonly script: readonly string[]
      readonly cache: { readonly paths: readonly string[] }
      readonly artifacts: { readonly paths: readonly string[]; readonly reports: Readonly<Record<string, string>> }
    }
    const { whofixes: job }: { readonly whofixes: GitLabJob } = parse(
      readFileSync(join(scripts, 'gitlab-ci.yml'), 'utf8'),
    )
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

    it('installs this version', () => {
      assert.equal(job.variables.WHOFIXES, `whofixes@${version}`)
    })

    it('writes the artifacts it names', () => {
      const modules = linkPackage(directory)
      writeProgram(
        directory,
        'npm',
        `#!/bin/sh\necho "$*" >> "$HOME/npm-calls"\n[ "$1" != root ] || echo '${modules}'\n`,
      )
      const predefined: Readonly<Record<string, string>> = {
        CI_PROJECT_DIR: project(),
        CI_MERGE_REQUEST_DIFF_BASE_SHA: commits.before,
      }
      const variables = Object.fromEntries(
        Object.entries(job.variables).map(([name, text]) => [
          name,
          text.replace(/\$(\w+)/g, (_, other: string) => predefined[other] ?? ''),
        ]),
      )
      const { status, err } = sh(job.script.join('\n'), { ...variables, INVENTORY: 'inventory/hosts.ini' })
      assert.equal(status, 1, err)
      assert.equal(textOf(join(directory, 'whofixes-calls')), 'audit\n')
      assert.equal(textOf(join(directory, 'npm-calls')), `install --global whofixes@${version}\nroot --global\n`)
      for (const path of [...job.artifacts.paths, ...Object.values(job.artifacts.reports)]) {
        assert.ok(
          readdirSync(join(project(), 'whofixes-reports')).some(name => `whofixes-reports/${name}`.startsWith(path)),
          path,
        )
      }
      const quality = JSON.parse(textOf(join(project(), job.artifacts.reports.codequality ?? '')))
      assert.ok(quality.length > 0)
      assert.match(textOf(join(project(), job.artifacts.reports.junit ?? '')), /^<\?xml/)
    })
  })

  it('are sh that shellcheck has nothing against', function () {
    const files = readdirSync(scripts).filter(name => name.endsWith('.sh'))
    assert.ok(files.length >= 5)
    const { status, stdout, error } = spawnSync('shellcheck', files, { cwd: scripts, encoding: 'utf8' })
    if (error !== undefined) {
      console.log('    skipped: no shellcheck (Debian package shellcheck)')
      return this.skip()
    }
    assert.equal(stdout, '')
    assert.equal(status, 0)
  })
})
