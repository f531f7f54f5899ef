import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../source/trees.js'
import { type Action, type Done, readAction, runAction, textOf } from './composite.js'
import { copyPinned, environment, makeNamingProject, root, scripts, writeProgram } from './pinning.js'

const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

/** `gh api` as far as a comment needs it, with the service's comments in a file; what it is asked goes into another. */
const gh = `#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs')
const { GH_TOKEN, GH_STATE } = process.env
const words = process.argv.slice(2)
appendFileSync(GH_STATE + '.calls', words.join(' ') + '\\n')
const fail = (line, status) => { console.error(line); process.exit(status) }
if (!GH_TOKEN) fail('To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable.', 4)
if (words[0] !== 'api') fail('unknown command', 1)
const option = name => { const at = words.indexOf(name); return at < 0 ? undefined : words[at + 1] }
const method = option('--method') ?? 'GET'
const [path, query = ''] = words.find(word => word.startsWith('repos/')).split('?')
const state = existsSync(GH_STATE) ? JSON.parse(readFileSync(GH_STATE, 'utf8')) : []
if (method !== 'GET' && GH_TOKEN === 'reads-only') fail('gh: Resource not accessible by integration (HTTP 403)', 1)
const field = option('--field')
const body = field?.startsWith('body=@') ? readFileSync(field.slice(6), 'utf8') : undefined
if (method === 'GET' && path === 'repos/some/project/issues/7/comments') {
  const { per_page = '30', page = '1' } = Object.fromEntries(new URLSearchParams(query))
  console.log(JSON.stringify(state.slice((page - 1) * per_page, page * per_page)))
} else if (method === 'POST' && path === 'repos/some/project/issues/7/comments' && body) {
  state.push({ id: 1000 + state.length, user: { login: 'github-actions[bot]' }, body })
} else if (method === 'PATCH' && body) {
  const found = state.find(({ id }) => path === 'repos/some/project/issues/comments/' + id)
  if (!found) fail('gh: Not Found (HTTP 404)', 1)
  found.body = body
} else fail('gh: Not Found (HTTP 404)', 1)
writeFileSync(GH_STATE, JSON.stringify(state))
`

interface Comment {
  readonly id: number
  readonly user: { readonly login: string } | null
  readonly body: string | null
}

describe('action.yml', () => {
  const action: Action = readAction(join(root, 'action.yml'))
  let directory = ''
  let before = ''
  let count = 0

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'whofixes-action-'))
    count = 0
    writeProgram(directory, 'gh', gh)
    before = copyPinned(directory).before
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const comments = (): readonly Comment[] => JSON.parse(textOf(join(directory, 'comments')) || '[]')
  const calls = (): readonly string[] => textOf(join(directory, 'comments.calls')).split('\n').filter(Boolean)

  function act(
    inputs: Readonly<Record<string, string>> = {},
    { project = 'project', event = pullRequest(), actionPath = root }: Partial<Settings> = {},
  ): Done {
    count += 1
    return runAction(action, {
      actionPath,
      workspace: join(directory, project),
      runner: join(directory, `runner-${count}`),
      github: { event, repository: 'some/project', token: 'secret' },
      inputs,
      env: environment(directory, { GH_STATE: join(directory, 'comments'), NPM_CALLS: join(directory, 'npm-calls') }),
    })
  }

  interface Settings {
    readonly project: string
    readonly event: object
    readonly actionPath: string
  }

  const pullRequest = (): object => ({ pull_request: { number: 7, base: { sha: before } } })

  it('says what it is, and every input and output', () => {
    assert.ok(action.name && action.description)
    assert.equal(action.runs.using, 'composite')
    for (const [name, { description }] of Object.entries({ ...action.inputs, ...action.outputs })) {
      assert.ok(description.length > 20, name)
    }
    // Each input is used, and each that is used is there.
    const used = new Set(
      [...readFileSync(join(root, 'action.yml'), 'utf8').matchAll(/inputs\.([\w-]+)/g)].map(([, name]) => name),
    )
    assert.deepEqual([...used].toSorted(), Object.keys(action.inputs).toSorted())
  })

  it('audits the bump of a submodule, in the summary and one comment', () => {
    const { ran, failed, log, summary, outputs } = act({ inventory: 'inventory/hosts.ini' })
    assert.equal(failed, 'Result', log)
    assert.equal(ran.length, action.runs.steps.length)
    assert.equal(outputs.changed, 'true')
    assert.equal(outputs.old, 'vendor/kubespray@v9.1.0')
    assert.equal(outputs.new, 'vendor/kubespray@v9.2.0')
    assert.ok(Number(outputs.required) >= 1, log)
    assert.match(log, new RegExp(`^${version}$`, 'm'))
    assert.match(log, /::error::This change of kubespray requires [1-9]/)
    assert.match(summary, /\*\*1 required\*\*/)
    assert.match(summary, /variable-renamed/)
    assert.equal(readFileSync(outputs.report ?? '', 'utf8'), summary)
    const json = JSON.parse(readFileSync(outputs.json ?? '', 'utf8'))
    assert.equal(String(json.summary.required), outputs.required)
    assert.equal(String(json.summary.advised), outputs.advised)
    assert.deepEqual(
      comments().map(({ body }) => body),
      [`<!-- whofixes: audit -->\n${summary}`],
    )
    assert.ok(!log.includes('secret'))
  })

  /** The comment's script by itself, with a small report. */
  function comment(settings: Readonly<Record<string, string>> = {}): { status: number | null; err: string } {
    const report = join(directory, 'report.md')
    writeFileSync(report, '## a report\n')
    const { status, stderr } = spawnSync('sh', [join(scripts, 'comment.sh')], {
      encoding: 'utf8',
      env: environment(directory, {
        ...{ GH_STATE: join(directory, 'comments'), GH_TOKEN: 'secret', REPOSITORY: 'some/project', NUMBER: '7' },
        ...{ REPORT: report, ...settings },
      }),
    })
    return { status, err: stderr }
  }

  it('rewrites its comment, and nobody else’s', () => {
    const others: readonly Comment[] = [
      ...Array.from({ length: 120 }, (_, id) => ({ id, user: { login: 'someone' }, body: 'words' })),
      { id: 500, user: { login: 'someone' }, body: '<!-- whofixes: audit -->\nnot the program’s' },
      { id: 501, user: null, body: null },
    ]
    writeFileSync(join(directory, 'comments'), JSON.stringify(others))
    for (const settings of [{ REPORT: join(root, 'LICENSE') }, {}, { COMMENT_ID: 'other' }]) {
      assert.deepEqual(comment(settings), { status: 0, err: '' })
    }
    assert.deepEqual(comments().slice(0, others.length), others)
    assert.deepEqual(
      comments()
        .slice(others.length)
        .map(({ body }) => body),
      ['<!-- whofixes: audit -->\n## a report\n', '<!-- whofixes: other -->\n## a report\n'],
    )
    assert.equal(calls().filter(call => call.includes('--method PATCH')).length, 1)
    assert.ok(calls().some(call => call.endsWith('per_page=100&page=2')))
  })

  const uncommented: readonly (readonly [
    about: string,
    settings: Readonly<Record<string, string>>,
    status: number,
    says: RegExp,
  ])[] = [
    [
      'where the token may not write',
      { GH_TOKEN: 'reads-only' },
      0,
      /^::warning::the comment was not written: gh: Resource not accessible by integration \(HTTP 403\)/,
    ],
    ['without a token', { GH_TOKEN: '' }, 0, /^::warning::the comment was not written: To use GitHub CLI/],
    ['without a pull request', { NUMBER: '' }, 0, /^::warning::no pull request/],
    [
      'with a name that could end the mark',
      { COMMENT_ID: '--> <b>' },
      2,
      /^::error::comment-id: --> <b>: expected letters/,
    ],
    ['without gh', { PATH: '/nowhere' }, 0, /^::warning::the comment needs gh/],
  ]
  for (const [about, settings, status, says] of uncommented) {
    it(`writes no comment ${about}`, function () {
      if ('PATH' in settings) rmSync(join(directory, 'bin'), { recursive: true })
      const own = 'PATH' in settings ? {} : settings
      if ('PATH' in settings && spawnSync('sh', ['-c', 'command -v gh']).status === 0) return this.skip()
      const ended = comment(own)
      assert.equal(ended.status, status)
      assert.match(ended.err, says)
      assert.deepEqual(comments(), [])
    })
  }

  it('takes its word back when the change is taken back', () => {
    comment()
    git(join(directory, 'project'), 'revert', '--no-edit', 'HEAD')
    const { ran, failed, summary, outputs } = act({ inventory: 'inventory/hosts.ini' })
    assert.equal(failed, undefined)
    assert.ok(!ran.includes('Audit'))
    assert.equal(outputs.changed, 'false')
    assert.equal(outputs.required, '')
    assert.equal(summary, 'The pinned kubespray does not change here.\n')
    assert.match(comments()[0]?.body ?? '', /does not change here any more\.\n$/)
    assert.equal(comments().length, 1)
  })

  it('says nothing where there is nothing to say', () => {
    git(join(directory, 'project'), 'revert', '--no-edit', 'HEAD')
    act()
    assert.deepEqual(comments(), [])
  })

  it('writes no comment where it shall not, or where there is no pull request', () => {
    comment()
    git(join(directory, 'project'), 'revert', '--no-edit', 'HEAD')
    const asked = calls().length
    assert.ok(!act({ comment: 'false' }).ran.includes('Comment'))
    const pushed = act({}, { event: { before } })
    assert.ok(!pushed.ran.includes('Comment'))
    assert.equal(pushed.outputs.changed, 'false')
    assert.equal(calls().length, asked)
  })

  it('audits releases named in a file, with kubespray’s code fetched', () => {
    makeNamingProject(join(directory, 'naming'), 'KUBESPRAY_VERSION', ['v9.1.0\n', 'v9.2.0\n'])
    const event = { pull_request: { number: 7, base: { sha: git(join(directory, 'naming'), 'rev-parse', 'HEAD^') } } }
    const inputs = { inventory: 'inventory/hosts.ini', 'fetch-from': join(directory, 'upstream'), 'fail-on': 'advised' }
    const { failed, log, outputs } = act(inputs, { project: 'naming', event })
    assert.equal(failed, 'Result', log)
    assert.equal(outputs.old, 'v9.1.0')
    assert.ok(Number(outputs.required) >= 1)
    const unfetched = act({ ...inputs, fetch: 'false', old: 'v9.3.0', new: 'v9.2.0' }, { project: 'naming', event })
    assert.equal(unfetched.failed, 'Audit')
    assert.match(unfetched.log, /whofixes: v9\.3\.0: neither the local clone nor a recorded snapshot has this release/)
  })

  it('hands every setting over whole, whatever is in it, in a directory of the workspace', () => {
    const settings = {
      directory: 'project',
      inventory: 'inventory/hosts.ini\n\n',
      'extra-vars': '{"a": "$(touch ran) `touch ran` \\"; touch ran"}\nkubelet_unit="x; touch ran"\n',
      'fail-on': 'never',
    }
    const { failed, log, outputs } = act(settings, { project: '.' })
    assert.equal(failed, undefined, log)
    assert.equal(outputs.old, 'vendor/kubespray@v9.1.0', log)
    assert.ok(Number(outputs.required) >= 1)
    for (const place of ['ran', 'project/ran']) assert.ok(!existsSync(join(directory, place)), place)
  })

  it('fails where nothing pins kubespray, or the input is wrong', () => {
    const nothing = act({ submodule: 'nowhere' })
    assert.equal(nothing.failed, 'Find the two versions')
    assert.match(nothing.log, /find-bump: nowhere: no submodule is there in HEAD/)
    const wrong = act({ inventory: 'nowhere.ini' })
    assert.equal(wrong.failed, 'Audit')
    assert.match(wrong.log, /whofixes: nowhere\.ini: /)
    assert.match(
      act({ 'fail-on': 'sometimes' }).log,
      /whofixes: option '--fail-on <action>' argument 'sometimes' is invalid/,
    )
  })

  describe('its program', () => {
    /** npm that notes what it is asked, and does of it what the rest needs. */
    const npm = `#!/bin/sh
echo "$*" >> "$NPM_CALLS"
case $1 in
  install) mkdir -p "$3/node_modules" && ln -s '${root}' "$3/node_modules/whofixes" ;;
  run) mkdir -p "$3/dist" && ln -s '${join(root, 'dist/src')}' "$3/dist/src" ;;
esac
`
    const npmCalls = (): string => textOf(join(directory, 'npm-calls'))
    beforeEach(() => writeProgram(directory, 'npm', npm))

    it('is the published version that is asked for', () => {
      git(join(directory, 'project'), 'revert', '--no-edit', 'HEAD')
      const { log, outputs } = act({ version: '1.2.3' })
      assert.equal(outputs.changed, 'false', log)
      assert.match(
        npmCalls(),
        /^install --prefix \S+ --no-audit --no-fund --no-save --ignore-scripts whofixes@1\.2\.3\n$/,
      )
    })

    it('is built where the action is a checkout', () => {
      const checkout = join(directory, 'checkout')
      mkdirSync(checkout)
      cpSync(join(root, 'pipelines'), join(checkout, 'pipelines'), { recursive: true })
      git(join(directory, 'project'), 'revert', '--no-edit', 'HEAD')
      const { log, outputs } = act({}, { actionPath: checkout })
      assert.equal(outputs.changed, 'false', log)
      assert.match(
        npmCalls(),
        /^ci --prefix (\S+\/checkout) --no-audit --no-fund --ignore-scripts\nrun --prefix \1 build\n$/,
      )
    })

    it('needs a Node that runs it', () => {
      writeProgram(directory, 'node', `#!/bin/sh\nexec '${process.execPath}' -r '${join(directory, 'old.cjs')}' "$@"\n`)
      writeFileSync(
        join(directory, 'old.cjs'),
        "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } })",
      )
      const { failed, log } = act()
      assert.equal(failed, 'Install whofixes')
      assert.match(log, /::error::whofixes needs Node 20\.19 or newer/)
    })
  })
})
