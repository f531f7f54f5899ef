import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commitAll, git, makeRepository, withTemporary, writeFiles } from '../source/trees.js'
import { copyPinned, environment, makeKubespray, makeNamingProject, makeProject, scripts } from './pinning.js'

interface Found {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

function find(directory: string, project: string, settings: Readonly<Record<string, string>> = {}): Found {
  const { status, stdout, stderr } = spawnSync('sh', [join(scripts, 'find-bump.sh')], {
    cwd: project,
    encoding: 'utf8',
    env: environment(directory, settings),
  })
  return { status, out: stdout, err: stderr }
}

const changed = (old: string, fresh: string): string => `changed=true\nold=${old}\nnew=${fresh}\n`

const galaxy = (version: string): string => `---
collections:
  - name: community.general
    version: 7.0.0
  - name: https://github.com/kubernetes-sigs/kubespray.git
    type: git
    version: ${version}
  - name: ansible.posix
    version: 1.5.4
`

const lastInList = `---
collections:
  - name: https://github.com/kubernetes-sigs/kubespray.git
    type: git
  - name: ansible.posix
    version: 1.5.4
`

describe('pipelines/find-bump.sh', () => {
  it('finds a submodule by its name, with the tags of its commits', () => {
    withTemporary(directory => {
      copyPinned(directory)
      const { status, out, err } = find(directory, join(directory, 'project'))
      assert.equal(err, '')
      assert.equal(status, 0)
      assert.equal(out, changed('vendor/kubespray@v9.1.0', 'vendor/kubespray@v9.2.0'))
    })
  })

  it('checks a submodule out and fetches both commits, where the checkout is shallow and has none', () => {
    withTemporary(directory => {
      const upstream = join(directory, 'upstream')
      makeKubespray(upstream)
      git(upstream, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
      const { before } = makeProject(join(directory, 'project'), upstream)
      git(join(directory, 'project'), 'config', 'uploadpack.allowAnySHA1InWant', 'true')
      const clone = join(directory, 'clone')
      git(directory, 'clone', '--quiet', '--depth', '1', `file://${join(directory, 'project')}`, clone)
      const { status, out, err } = find(directory, clone, { BASE: before })
      assert.equal(status, 0, err)
      assert.equal(out, changed('vendor/kubespray@v9.1.0', 'vendor/kubespray@v9.2.0'))
    })
  })

  it('names commits where no tag is at them', () => {
    withTemporary(directory => {
      const upstream = join(directory, 'upstream')
      const commits = makeKubespray(upstream)
      makeProject(join(directory, 'project'), upstream)
      for (const place of [upstream, join(directory, 'project/vendor/kubespray')])
        git(place, 'tag', '-d', 'v9.1.0', 'v9.2.0')
      const { out } = find(directory, join(directory, 'project'))
      assert.equal(out, changed(`vendor/kubespray@${commits.old}`, `vendor/kubespray@${commits.new}`))
    })
  })

  it('says that nothing changes, and what has only come', () => {
    withTemporary(directory => {
      const project = join(directory, 'project')
      const { before } = copyPinned(directory)
      writeFiles(project, { 'notes.md': 'x\n' })
      commitAll(project)
      assert.match(
        find(directory, project).out,
        /^changed=false\nold=vendor\/kubespray@(\w{40})\nnew=vendor\/kubespray@\1\n$/,
      )
      const come = find(directory, project, { BASE: `${before}^` })
      assert.match(come.out, /^changed=false\n/)
      assert.match(come.err, /^find-bump: vendor\/kubespray is new in this change/)
    })
  })

  it('does not choose between two submodules', () => {
    withTemporary(directory => {
      const project = join(directory, 'project')
      copyPinned(directory)
      git(
        project,
        '-c',
        'protocol.file.allow=always',
        'submodule',
        '--quiet',
        'add',
        join(directory, 'upstream'),
        'kubespray 2',
      )
      commitAll(project)
      const { status, err } = find(directory, project)
      assert.equal(status, 2)
      assert.match(err, /^find-bump: several submodules look like kubespray, name one with SUBMODULE: /)
      const named = find(directory, project, { SUBMODULE: 'vendor/kubespray', BASE: 'HEAD~2' })
      assert.equal(named.out, changed('vendor/kubespray@v9.1.0', 'vendor/kubespray@v9.2.0'), named.err)
      assert.match(find(directory, project, { SUBMODULE: 'inventory' }).err, /inventory: no submodule is there in HEAD/)
    })
  })

  const named: readonly (readonly [
    about: string,
    file: string,
    texts: readonly [string, string],
    settings: Readonly<Record<string, string>>,
    out: string,
  ])[] = [
    ['a file that is the version', 'KUBESPRAY_VERSION', ['v2.30.0\n', 'v2.31.0'], {}, changed('v2.30.0', 'v2.31.0')],
    ['without a v', '.kubespray-version', ['2.30.0\n', '2.31.0\r\n'], {}, changed('v2.30.0', 'v2.31.0')],
    [
      'a collection among others',
      'requirements.yml',
      [galaxy('v2.30.0'), galaxy('"2.31.0"')],
      {},
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'a variable of a given file',
      'group_vars/my vars.yml',
      ['x: 1.2.3\nkubespray_version: v2.30.0\n', 'x: 1.2.4\nkubespray_version: v2.31.0\n'],
      { VERSION_FILE: 'group_vars/my vars.yml' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'a line of a given pattern',
      'Dockerfile',
      ['FROM a:1.0.0\nARG KS_VER=v2.30.0\n', 'FROM a:1.0.1\nARG KS_VER=v2.31.0\n'],
      { VERSION_FILE: 'Dockerfile', VERSION_PATTERN: '^ARG +KS_VER=' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'an image',
      'ci.yml',
      ['image: quay.io/kubespray/kubespray:v2.30.0\n', 'image: quay.io/kubespray/kubespray:v2.31.0\n'],
      { VERSION_FILE: 'ci.yml' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'the same version',
      'KUBESPRAY_VERSION',
      ['v2.31.0\n', 'v2.31.0\n\n'],
      {},
      'changed=false\nold=v2.31.0\nnew=v2.31.0\n',
    ],
    [
      'no version in a comment, an address or another key',
      'KUBESPRAY_VERSION',
      ['# mirror 10.0.0.5, was v2.29.0\n10.0.0.5\nv2.30.0\n', '# mirror 10.0.0.6\nv2.31.0\n'],
      {},
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'a version under a comment, and none of its neighbours',
      'group_vars/all.yml',
      ['2.30.0', '2.31.0'].map(
        version => `calico_version: v3.28.0\n# renovate: depName=kubernetes-sigs/kubespray\nrelease: v${version}\n`,
      ) as [string, string],
      { VERSION_FILE: 'group_vars/all.yml' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'a version in a section',
      'versions.yml',
      ['2.30.0', '2.31.0'].map(
        version => `kubespray:\n  repo: https://example.org/kubespray\n  version: "${version}"\netcd: 3.5.1\n`,
      ) as [string, string],
      { VERSION_FILE: 'versions.yml' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    [
      'an archive',
      'Makefile',
      ['2.30.0', '2.31.0'].map(version => `KS = https://example.org/kubespray/archive/v${version}.tar.gz\n`) as [
        string,
        string,
      ],
      { VERSION_FILE: 'Makefile' },
      changed('v2.30.0', 'v2.31.0'),
    ],
    ['both given', 'README.md', ['a', 'b'], { OLD: 'ks@a b', NEW: 'v2.31.0' }, changed('ks@a b', 'v2.31.0')],
    [
      'zeros for the commit before',
      'KUBESPRAY_VERSION',
      ['v2.30.0', 'v2.31.0'],
      { BASE: '0'.repeat(40) },
      changed('v2.30.0', 'v2.31.0'),
    ],
  ]
  for (const [about, file, texts, settings, expected] of named) {
    it(`finds ${about}`, () => {
      withTemporary(directory => {
        makeNamingProject(join(directory, 'project'), file, texts)
        const { status, out, err } = find(directory, join(directory, 'project'), settings)
        assert.equal(out, expected, err)
        assert.equal(status, 0)
      })
    })
  }

  const refused: readonly (readonly [
    about: string,
    files: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, string>>,
    says: RegExp,
  ])[] = [
    [
      'nothing pins it',
      { 'README.md': 'x' },
      {},
      /nothing here pins kubespray: .* in KUBESPRAY_VERSION .kubespray-version requirements.yml/,
    ],
    ['the version of another entry', { 'requirements.yml': lastInList }, {}, /nothing here pins kubespray/],
    [
      'a branch',
      { 'requirements.yml': galaxy('master') },
      {},
      /requirements\.yml: its version of kubespray is master, expected a release/,
    ],
    [
      'a candidate of a release',
      { 'requirements.yml': galaxy('v2.28.0-rc1') },
      {},
      /requirements\.yml: its version of kubespray is v2\.28\.0-rc1, expected a release/,
    ],
    ['a range', { 'requirements.yml': galaxy('">=2.28.0"') }, {}, /its version of kubespray is ">=2\.28\.0", expected/],
    [
      'the version of a neighbour',
      { 'all.yml': 'kubespray_dir: /opt/kubespray\ncalico_version: v3.28.0\n' },
      { VERSION_FILE: 'all.yml' },
      /nothing here pins kubespray/,
    ],
    ['one of the two', { 'README.md': 'x' }, { OLD: 'v2.30.0' }, /OLD and NEW belong together/],
    [
      'a commit that is nowhere',
      { KUBESPRAY_VERSION: 'v2.30.0' },
      { BASE: 'f'.repeat(40) },
      /BASE: f{40} is not in this checkout/,
    ],
    ['an option as a commit', { KUBESPRAY_VERSION: 'v2.30.0' }, { BASE: '--all' }, /BASE: --all is no commit/],
    [
      'a file that is not there',
      { KUBESPRAY_VERSION: 'v2.30.0' },
      { VERSION_FILE: 'other' },
      /no version \(v2\.31\.0\) in other;/,
    ],
    [
      'a pattern that is none',
      { KUBESPRAY_VERSION: 'v2.30.0' },
      { VERSION_FILE: 'KUBESPRAY_VERSION', VERSION_PATTERN: '(' },
      /nothing here pins kubespray/,
    ],
  ]
  for (const [about, files, settings, says] of refused) {
    it(`refuses ${about}`, () => {
      withTemporary(directory => {
        const project = join(directory, 'project')
        makeRepository(project, files)
        writeFiles(project, { 'second.md': 'x' })
        commitAll(project)
        const { status, out, err } = find(directory, project, settings)
        assert.equal(status, 2)
        assert.equal(out, '')
        assert.match(err, says)
      })
    })
  }

  const unknownBefore: readonly (readonly [
    about: string,
    before: Readonly<Record<string, string>>,
    after: Readonly<Record<string, string>>,
    says: RegExp,
  ])[] = [
    [
      'a branch of a release',
      { 'requirements.yml': galaxy('release-2.28') },
      { 'requirements.yml': galaxy('v2.28.1') },
      /requirements\.yml: its version of kubespray before this change is release-2\.28, expected a release/,
    ],
    [
      'a suffix',
      { KUBESPRAY_VERSION: 'v2.28.0-rc1\n' },
      { KUBESPRAY_VERSION: 'v2.28.0\n' },
      /KUBESPRAY_VERSION: its version of kubespray before this change is v2\.28\.0-rc1, expected/,
    ],
    [
      'no version',
      { KUBESPRAY_VERSION: 'devel\n' },
      { KUBESPRAY_VERSION: 'v2.28.0\n' },
      /KUBESPRAY_VERSION: its version of kubespray before this change is not named, expected/,
    ],
    [
      'a pin in another file',
      { 'versions.txt': 'kubespray v2.28.0\n' },
      { KUBESPRAY_VERSION: 'v2.28.0\n' },
      /KUBESPRAY_VERSION pins no version in \w+, but kubespray is there already: .* give OLD and NEW/,
    ],
  ]
  for (const [about, before, after, says] of unknownBefore) {
    it(`does not take for unchanged what was pinned by ${about} before`, () => {
      withTemporary(directory => {
        const project = join(directory, 'project')
        makeRepository(project, before)
        writeFiles(project, after)
        commitAll(project)
        const { status, out, err } = find(directory, project)
        assert.deepEqual([status, out], [2, ''])
        assert.match(err, says)
      })
    })
  }

  it('has no version before where nothing spoke of kubespray', () => {
    withTemporary(directory => {
      const project = join(directory, 'project')
      makeRepository(project, { 'README.md': 'x\n' })
      writeFiles(project, { KUBESPRAY_VERSION: 'v2.31.0\n' })
      commitAll(project)
      const { status, out, err } = find(directory, project)
      assert.deepEqual([status, out], [0, 'changed=false\nold=\nnew=v2.31.0\n'])
      assert.match(err, /^find-bump: KUBESPRAY_VERSION is new in this change/)
    })
  })

  const moves: readonly (readonly [about: string, to: string, named: boolean])[] = [
    ['with its name', 'kubespray', true],
    ['with its address alone', 'third party/ks', false],
  ]
  for (const [about, to, named] of moves) {
    it(`follows a submodule that moves ${about}`, () => {
      withTemporary(directory => {
        const project = join(directory, 'project')
        copyPinned(directory)
        // The same address as in the copy.
        const address = git(project, 'config', '--file', '.gitmodules', 'submodule.vendor/kubespray.url')
        git(project, 'reset', '--quiet', '--hard', 'HEAD^')
        git(project, 'submodule', '--quiet', 'update')
        mkdirSync(dirname(join(project, to)), { recursive: true })
        if (named) git(project, 'mv', 'vendor/kubespray', to)
        else {
          git(project, 'rm', '--quiet', 'vendor/kubespray')
          git(
            project,
            ...['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'],
            ...['--name', 'another', address, to],
          )
        }
        git(join(project, to), 'checkout', '--quiet', 'v9.2.0')
        commitAll(project)
        const { status, out, err } = find(directory, project, { SUBMODULE: to })
        assert.equal(status, 0, err)
        assert.equal(out, changed(`${to}@v9.1.0`, `${to}@v9.2.0`))
      })
    })
  }

  it('says what a checkout lacks', () => {
    withTemporary(directory => {
      const project = join(directory, 'project')
      makeRepository(project, { KUBESPRAY_VERSION: 'v2.31.0' })
      assert.match(
        find(directory, project).err,
        /HEAD has no parent here: check out more than one commit \(fetch-depth: 0\)/,
      )
      rmSync(join(project, '.git'), { recursive: true })
      assert.match(find(directory, project).err, /no git repository with a commit/)
    })
  })
})
