import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { textWithBlock } from '../../../src/host/edits/block-in-file.js'
import { fstabWith, fstabWithout } from '../../../src/host/edits/fstab.js'
import { iniFileWith } from '../../../src/host/edits/ini-file.js'
import { type LineOptions, textWithLine, textWithoutLine } from '../../../src/host/edits/line-in-file.js'
import type { Edited } from '../../../src/host/edits/lines.js'
import { persistentFiles } from '../../../src/host/edits/modprobe.js'
import { textReplaced } from '../../../src/host/edits/replace.js'
import { sysctlFileWith } from '../../../src/host/edits/sysctl-file.js'
import { type Matcher, matcherOf } from '../../../src/jinja/regex.js'
import { hostTree } from '../boot/host-tree.js'

const SEED = 7
const PYTHON = '/usr/bin/python3'
const ASK = fileURLToPath(new URL('../../../../test/host/edits/ask.py', import.meta.url))

interface Question {
  readonly module: string
  readonly arguments: Readonly<Record<string, string | boolean | undefined>>
  readonly files: Readonly<Record<string, string | null>>
}

interface Answer {
  readonly files: Readonly<Record<string, string>>
  readonly changed: boolean
  readonly failed: string | null
}

function ask(questions: readonly Question[]): readonly Answer[] {
  const { stdout, stderr } = spawnSync(PYTHON, [ASK], {
    input: JSON.stringify(questions),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

function installed(): Readonly<Record<string, string | null>> {
  const { status, stdout } = spawnSync(PYTHON, [ASK, '--versions'], { encoding: 'utf8' })
  return status === 0 ? JSON.parse(stdout) : {}
}

/** A case: what the module is asked, and what is foretold of the file. */
interface Case {
  readonly question: Question
  readonly file: string
  readonly foretold: Edited
}

/** A pattern of Python. */
function compiled(source: string | undefined): Matcher | undefined {
  return source === undefined ? undefined : matcherOf(source, {})
}

function compare(cases: readonly Case[]): void {
  const answers = ask(cases.map(({ question }) => question))
  let changed = 0
  for (const [index, { question, file, foretold }] of cases.entries()) {
    const answer = answers[index]
    assert.ok(answer !== undefined)
    const shown = JSON.stringify(question, undefined, 2)
    assert.equal(answer.failed, null, shown)
    assert.equal(foretold.text, answer.files[file] ?? '', shown)
    assert.equal(foretold.changed, answer.changed, shown)
    if (answer.changed) changed += 1
  }
  assert.ok(changed > cases.length / 8, `only ${changed} of ${cases.length} cases changed anything`)
}

const fstabField = fc.constantFrom(
  'none',
  'swap',
  '/a',
  '/my\\040disk',
  'UUID=x',
  'ext4',
  'sw',
  'defaults',
  '0',
  '1',
  '#x',
  'ü',
)
const swapLine = fc
  .tuple(fc.constantFrom('/swap', '/dev/b'), fc.constantFrom('none', 'swap', 'sw'), fc.constantFrom('swap', 'ext4'))
  .map(each => [...each, 'sw', '0', '0'])
const fstabLine = fc
  .tuple(
    fc.constantFrom('', ' ', '\t', '#'),
    fc.oneof({ weight: 2, arbitrary: swapLine }, { weight: 1, arbitrary: fc.array(fstabField, { maxLength: 8 }) }),
    fc.constantFrom(' ', '\t', '   '),
    fc.constantFrom('\n', '\n', '\n', '\r\n', '\r', '\x0b\n'),
  )
  .map(([start, fields, gap, end]) => `${start}${fields.join(gap)}${end}`)
const fstab = fc.tuple(fc.array(fstabLine, { maxLength: 6 }), fc.boolean()).map(([lines, cut]) => {
  const text = lines.join('')
  return cut ? text.replace(/\n$/, '') : text
})

const key = fc.constantFrom('a.b', 'vm.x', 'vm/x', '-vm.x', 'net.ipv4.ip_forward', '#a.b')
const setting = fc
  .tuple(key, fc.constantFrom('=', ' = ', '\t=', '== '), fc.constantFrom('1', '0', '1 # c', '', 'x y', 'yes'))
  .map(each => each.join(''))
const sysctlLine = fc.oneof(
  { weight: 4, arbitrary: setting },
  { weight: 1, arbitrary: fc.constantFrom('', '# c', '; c', 'foo', '  ') },
)
const sysctlText = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('', ' ', '\t'), sysctlLine, fc.constantFrom('\n', '\r\n', ' \n')), {
      maxLength: 7,
    }),
    fc.boolean(),
  )
  .map(([lines, cut]) => {
    const text = lines.map(each => each.join('')).join('')
    return cut ? text.replace(/\n$/, '') : text
  })

const word = fc.constantFrom('a', 'ab', 'b', 'swap', 'a = 1', '# x', '', 'b\r', '[s]')
const plainText = fc.tuple(fc.array(word, { maxLength: 6 }), fc.boolean()).map(([lines, ends]) => {
  return `${lines.join('\n')}${ends && lines.length > 0 ? '\n' : ''}`
})
const pattern = fc.constantFrom('^a', 'b', '^swap$', '=', 'x$', '^\\[s\\]', 'nowhere')

describe('edits of files against the modules of this machine', function () {
  this.timeout(120_000)
  before(function () {
    const versions = installed()
    const missing = ['ansible.builtin', 'ansible.posix', 'community.general'].find(
      name => (versions[name] ?? null) === null,
    )
    if (missing === undefined) return
    const why = `${missing} is not installed for ${PYTHON}`
    assert.equal(process.env.CI, undefined, `${why}, and CI is where it has to be`)
    console.warn(`    skipped: ${why}`)
    this.skip()
  })

  it('ansible.posix.mount, absent', () => {
    const inputs = fc.tuple(
      fstab,
      fc.constantFrom('none', 'swap', '/my disk', '/a'),
      fc.option(fc.constantFrom('/swap'), { nil: undefined }),
    )
    compare(
      fc.sample(inputs, { numRuns: 120, seed: SEED }).map(
        ([text, name, src]): Case => ({
          question: {
            module: 'ansible.posix.mount',
            // The module takes off the slash at the end of a path and nothing else.
            arguments: { path: name, state: 'absent', fstab: '@/fstab', ...(src === undefined ? {} : { src }) },
            files: { fstab: text },
          },
          file: 'fstab',
          foretold: fstabWithout(text, src === undefined ? { name } : { name, src }),
        }),
      ),
    )
  })

  it('ansible.posix.mount, present', () => {
    const inputs = fc.tuple(fstab, fc.constantFrom('none', '/a', '/my disk'), fc.constantFrom('/swap', '/dev/n&w'))
    compare(
      fc.sample(inputs, { numRuns: 100, seed: SEED }).map(([text, name, src]): Case => {
        const entry = { name, src, fstype: 'swap' }
        return {
          question: {
            module: 'ansible.posix.mount',
            arguments: { path: name, src, fstype: 'swap', state: 'present', fstab: '@/fstab' },
            files: { fstab: text },
          },
          file: 'fstab',
          foretold: fstabWith(text, entry),
        }
      }),
    )
  })

  it('community.general.ini_file', () => {
    const line = fc.constantFrom('[s]', '[s', '[t]', 'a = 1', ' a=2', '#a = 3', ';a', 'ab = 1', '', '# c', 'b=[x]')
    const text = fc
      .tuple(fc.array(line, { maxLength: 8 }), fc.boolean())
      .map(([lines, ends]) => `${lines.join('\n')}${ends && lines.length > 0 ? '\n' : ''}`)
    const inputs = fc.tuple(
      fc.option(text),
      fc.constantFrom('s', 't', 'global-dns-domain-*'),
      fc.constantFrom('a', 'ab', 'new'),
      fc.constantFrom('1', '2', 'x,y'),
      fc.boolean(),
    )
    compare(
      fc.sample(inputs, { numRuns: 150, seed: SEED }).map(
        ([before, section, option, value, noExtraSpaces]): Case => ({
          question: {
            module: 'community.general.ini_file',
            arguments: { path: '@/ini', section, option, value, no_extra_spaces: noExtraSpaces },
            files: before === null ? {} : { ini: before },
          },
          file: 'ini',
          foretold: iniFileWith(before ?? undefined, { section, option, value, noExtraSpaces }),
        }),
      ),
    )
  })

  it('ansible.builtin.replace', () => {
    const pattern = fc.constantFrom('^a', 'b$', '^search\\s[^#]*(?=# E)', '(#.*\\n)(?:^b.*\\n?)', 'x?', 'swap', '^\\s+')
    const inputs = fc.tuple(plainText, pattern, fc.constantFrom('', 'a', '# \\g<0>', 'x\\n'))
    compare(
      fc.sample(inputs, { numRuns: 120, seed: SEED }).map(
        ([text, regexp, replace]): Case => ({
          question: {
            module: 'ansible.builtin.replace',
            arguments: { path: '@/t', regexp, replace },
            files: { t: text },
          },
          file: 't',
          foretold: textReplaced(text, matcherOf(regexp, { multiLine: true }), replace),
        }),
      ),
    )
  })

  it('ansible.posix.sysctl, without reload', () => {
    const inputs = fc.tuple(
      sysctlText,
      fc.constantFrom('vm.x', 'a.b', ' net.ipv4.ip_forward'),
      fc.constantFrom('1', 'yes', 'Off', ' 5 ', '1 # c', 'x y', undefined),
    )
    compare(
      fc.sample(inputs, { numRuns: 120, seed: SEED }).map(
        ([text, name, value]): Case => ({
          question: {
            module: 'ansible.posix.sysctl',
            arguments: {
              name,
              reload: false,
              sysctl_file: '@/settings',
              ...(value === undefined ? { state: 'absent' } : { value }),
            },
            files: { settings: text },
          },
          file: 'settings',
          foretold: sysctlFileWith(text, { name, value }),
        }),
      ),
    )
  })

  it('lineinfile', () => {
    const options = fc.record(
      {
        regexp: pattern,
        insertafter: fc.oneof(pattern, fc.constantFrom('EOF', 'BOF')),
        insertbefore: fc.oneof(pattern, fc.constant('BOF')),
        search_string: fc.constantFrom('a', '='),
        firstmatch: fc.boolean(),
      },
      { requiredKeys: [] },
    )
    const inputs = fc.tuple(
      plainText,
      fc.constantFrom('a', 'new', 'swap', 'b'),
      options,
      fc.constantFrom('present', 'present', 'absent'),
    )
    compare(
      fc.sample(inputs, { numRuns: 200, seed: SEED }).map(([text, line, given, state]): Case => {
        const { regexp, search_string, insertafter, insertbefore, firstmatch } = given
        // The module refuses both of a pair.
        const own: Readonly<Record<'regexp' | 'search_string' | 'insertafter' | 'insertbefore', string | undefined>> = {
          regexp,
          search_string: regexp === undefined ? search_string : undefined,
          insertafter,
          insertbefore: insertafter === undefined ? insertbefore : undefined,
        }
        const after = own.insertafter === 'EOF' ? 'EOF' : own.insertafter === 'BOF' ? 'BOF' : compiled(own.insertafter)
        const before = own.insertbefore === 'BOF' ? 'BOF' : compiled(own.insertbefore)
        const regex = compiled(own.regexp)
        const asked: LineOptions & { readonly line: string } = {
          line,
          ...(regex === undefined ? {} : { regexp: regex }),
          ...(own.search_string === undefined ? {} : { searchString: own.search_string }),
          ...(after === undefined ? {} : { insertAfter: after }),
          ...(before === undefined ? {} : { insertBefore: before }),
          ...(firstmatch === undefined ? {} : { firstMatch: firstmatch }),
        }
        return {
          question: {
            module: 'ansible.builtin.lineinfile',
            arguments: { path: '@/file', line, state, ...own, firstmatch },
            files: { file: text },
          },
          file: 'file',
          foretold: state === 'present' ? textWithLine(text, asked) : textWithoutLine(text, asked),
        }
      }),
    )
  })

  it('blockinfile', () => {
    const mark = fc.constantFrom('# BEGIN ANSIBLE MANAGED BLOCK', '# END ANSIBLE MANAGED BLOCK')
    const texts = fc
      .tuple(fc.array(fc.oneof(word, mark), { maxLength: 7 }), fc.boolean())
      .map(([lines, ends]) => `${lines.join('\n')}${ends && lines.length > 0 ? '\n' : ''}`)
    const inputs = fc.tuple(
      texts,
      fc.constantFrom('x=1', 'x=1\ny=2\n', ''),
      fc.constantFrom('present', 'present', 'absent'),
      fc.option(fc.oneof(pattern, fc.constant('EOF')), { nil: undefined }),
      fc.option(fc.oneof(pattern, fc.constant('BOF')), { nil: undefined }),
    )
    compare(
      fc.sample(inputs, { numRuns: 120, seed: SEED }).map(([text, block, state, after, before]): Case => {
        const own =
          after === undefined ? (before === undefined ? {} : { insertbefore: before }) : { insertafter: after }
        const isPresent = state === 'present'
        return {
          question: {
            module: 'ansible.builtin.blockinfile',
            arguments: { path: '@/file', block, state, ...own },
            files: { file: text },
          },
          file: 'file',
          foretold: textWithBlock(text, {
            block,
            state: isPresent ? 'present' : 'absent',
            ...(after === undefined ? {} : { insertAfter: after === 'EOF' ? 'EOF' : matcherOf(after, {}) }),
            ...(after !== undefined || before === undefined
              ? {}
              : { insertBefore: before === 'BOF' ? 'BOF' : matcherOf(before, {}) }),
          }),
        }
      }),
    )
  })

  it('community.general.modprobe, persistent', () => {
    const line = fc.constantFrom(
      'ip_vs',
      ' ip_vs ',
      'ip_vs # c',
      'ip_vs;c',
      '#ip_vs',
      'ip_vs_rr',
      'ip_vs x=1',
      '\tip_vs',
      'ip-vs',
    )
    const option = fc.constantFrom(
      'options ip_vs a=1',
      'options ip_vs b=2 # c',
      'options ip_vs a=1 b=2',
      '# options ip_vs a=1',
      'blacklist ip_vs',
    )
    const lines = (each: fc.Arbitrary<string>) =>
      fc.tuple(fc.array(each, { maxLength: 3 }), fc.constantFrom('', '\n')).map(([all, end]) => all.join('\n') + end)
    const inputs = fc.tuple(
      fc.dictionary(fc.constantFrom('a.conf', 'b', 'ip_vs.conf'), lines(line), { maxKeys: 2 }),
      fc.dictionary(fc.constantFrom('a.conf', 'ip_vs.conf'), lines(option), { maxKeys: 2 }),
      fc.constantFrom('', '', 'a=1', 'a=1 b=2'),
      fc.constantFrom('present', 'present', 'absent'),
    )
    const cases = fc.sample(inputs, { numRuns: 100, seed: SEED }).map(([load, options, params, persistent]) => {
      const under = (directory: string, texts: Readonly<Record<string, string>>) =>
        Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${directory}/${name}`, text]))
      return { files: { ...under('modules-load.d', load), ...under('modprobe.d', options) }, params, persistent }
    })
    const answers = ask(
      cases.map(({ files, params, persistent }) => ({
        module: 'community.general.modprobe',
        arguments: { name: 'ip_vs', state: persistent, params, persistent },
        files: { 'modules-load.d': null, 'modprobe.d': null, ...files },
      })),
    )
    for (const [index, { files, params, persistent }] of cases.entries()) {
      const answer = answers[index]
      assert.ok(answer !== undefined)
      const shown = JSON.stringify({ files, params, persistent }, undefined, 2)
      assert.equal(answer.failed, null, shown)
      const record = { '/etc/modules-load.d': null, '/etc/modprobe.d': null }
      const own = Object.fromEntries(Object.entries(files).map(([path, text]) => [`/etc/${path}`, text]))
      const found = persistentFiles(hostTree({ ...record, ...own }), {
        name: 'ip_vs',
        params,
        persistent: persistent === 'present' ? 'present' : 'absent',
      })
      assert.ok(found.kind === 'known', shown)
      const after: Record<string, string> = { ...files }
      for (const { path, text } of found.value) after[path.replace('/etc/', '')] = text
      assert.deepEqual(after, answer.files, shown)
    }
  })
})
