import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clonePath, hasClone } from '../../src/source/clone.js'
import { askGit } from '../../src/source/git.js'
import { checkOutput } from '../schemas/valid.js'
import { blocksOf, examplesOf, filesOf, missingLine } from './examples.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)]

/** The checkout the README speaks of is of this release. */
const release = 'v2.31.0'

/** What a test must not or need not do again, and why. */
const leftOut: readonly (readonly [RegExp, string])[] = [
  [/^npm ci$/, 'it installs'],
  [/^npm (run )?(test|lint|types|docs|schemas|format|record)\b/, 'it is what runs this'],
  [/^npm run (lists|bench|oracle|stress|neighbours)\b/, 'it takes minutes, or what stands outside the project'],
  [/^npx mocha\b/, 'it is what runs this'],
  [/^npm run stress\b/, 'it needs checkouts of other repositories'],
  [/^(whofixes fetch$|git clone )/, 'it uses the network'],
  [/^(ssh|sudo|for host) /, 'it asks another host, or for another user'],
  [/--evidence DIR\b/, 'it is about many hosts'],
  [/^whofixes record /, 'it writes into the checkout'],
]

function run(
  command: string,
  directory: string,
  cache: string | undefined,
): { status: number | null; printed: string; output: string } {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', command], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      PATH: `${join(directory, '.bin')}:${process.env.PATH}`,
      ...(cache === undefined ? {} : { XDG_CACHE_HOME: cache }),
    },
  })
  return { status, printed: stdout, output: stdout + stderr }
}

describe('examples of the documentation', () => {
  let directory = ''
  const clone = hasClone() && askGit(clonePath(), ['rev-parse', '--verify', '--quiet', `${release}^{commit}`])

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-docs-'))
    mkdirSync(join(directory, '.bin'))
    const program = join(directory, '.bin', 'whofixes')
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/src/cli.js')}' "$@"\n`)
    chmodSync(program, 0o755)
    if (clone) {
      const made = run(
        `git clone --quiet --shared --branch ${release} '${clonePath()}' kubespray`,
        directory,
        undefined,
      )
      assert.equal(made.status, 0, made.output)
    } else console.log('    skipped where role code is needed: no clone (whofixes fetch)')
  })
  after(() => rmSync(directory, { recursive: true }))

  for (const page of pages) {
    const blocks = blocksOf(readFileSync(join(root, page), 'utf8'))
    for (const { command: line, line: number, status: expected, quoted } of examplesOf(blocks)) {
      const commands = line.split(' && ')
      const kept = commands.filter(command => !leftOut.some(([pattern]) => pattern.test(command)))
      const needsCode = kept.some(command => /\bkubespray\b/.test(command))
      if (kept.length === 0) continue
      it(`${page}:${number}: ${line}`, function () {
        if (needsCode && !clone) return this.skip()
        for (const [path, text] of filesOf(blocks)) {
          mkdirSync(join(directory, dirname(path)), { recursive: true })
          writeFileSync(join(directory, path), text)
        }
        // A recorded release answers the rest, so that it is the same with and without a clone.
        const inside = kept.some(command => command.startsWith('npm ')) ? root : directory
        const cache = needsCode ? undefined : join(directory, 'no-cache')
        const { status, printed, output } = run(kept.join(' && '), inside, cache)
        assert.equal(status, expected, output.slice(0, 2000))
        checkOutput(printed)
        assert.equal(missingLine(quoted, output), undefined, `${page}:${number}: quoted, but not printed`)
      })
    }
  }

  it('wrote JSON that follows its schema, where a command has -o', () => {
    const written = readdirSync(directory).filter(name => name.endsWith('.json'))
    for (const name of written) checkOutput(readFileSync(join(directory, name), 'utf8'))
    assert.ok(written.length > 0)
  })

  it('leaves out only commands that there are, and says which', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const all = pages.flatMap(page => examplesOf(blocksOf(readFileSync(join(root, page), 'utf8'))))
    for (const command of new Set(all.flatMap(({ command }) => command.split(' && ')))) {
      const why = leftOut.find(([pattern]) => pattern.test(command))?.[1]
      if (why === undefined) continue
      console.log(`    not run: ${command} (${why})`)
      const script = /^npm (?:run )?(\w+)/.exec(command)?.[1]
      assert.ok(script === undefined || script === 'ci' || script in scripts, command)
    }
  })

  it('finds the two commands of the README, and what it quotes of them', () => {
    const examples = examplesOf(blocksOf(readFileSync(join(root, 'README.md'), 'utf8')))
    const [first, second] = examples
    assert.equal(first?.command, 'npm ci && npm start')
    assert.ok((first?.quoted.length ?? 0) > 20)
    assert.equal(second?.command, 'npm ci && npm test')
  })

  it('sees a quoted line that is not there, or not where it is said to be', () => {
    assert.equal(missingLine(['a', '…', 'c'], 'a\nb\nc\n'), undefined)
    assert.equal(missingLine(['a', 'c'], 'a\nb\nc\n'), 'c')
    assert.equal(missingLine(['…', 'x'], 'a\nb\nc\n'), 'x')
    assert.equal(missingLine(['c', '…', 'a'], 'a\nb\nc\n'), 'a')
  })

  it('links only to what is there', () => {
    const broken = pages.flatMap(page => {
      const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```/gm, '')
      return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter(target => target !== '' && !existsSync(join(root, dirname(page), target)))
        .map(target => `${page}: ${target}`)
    })
    assert.deepEqual(broken, [])
  })
})
