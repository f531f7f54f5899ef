import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { recordedReleases, snapshotsDirectory } from '../../src/recorded/snapshot.js'
import { type OutputName, outputs } from '../../src/reports/schemas.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { smallTree, usualAnswer } from '../commands/small-tree.js'
import { usedHost } from '../host/used-host.js'
import { writeHost } from '../host/write-host.js'
import { git, withTemporary, writeFiles } from '../source/trees.js'
import { fileNameOf, outputNames, schemaFile } from './published.js'
import { renderSchema } from './schemas.js'
import { checkOutput, faultsOf, parseOutput, readSchema } from './valid.js'

type Members = Record<string, unknown>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every schema inside a schema that says which members an object has, with the way to it. */
function objectsIn(schema: unknown, way = ''): readonly (readonly [way: string, schema: Members])[] {
  if (Array.isArray(schema)) return schema.flatMap((each, index) => objectsIn(each, `${way}/${index}`))
  if (!isMembers(schema)) return []
  const inside = Object.entries(schema).flatMap(([key, value]) => objectsIn(value, `${way}/${key}`))
  return isMembers(schema.properties) && !Array.isArray(schema.properties.type) ? [[way, schema], ...inside] : inside
}

/** Command lines over a tree in kubespray's shape (`ROOT/tree`) and a later one, which write each output. */
const commands: readonly (readonly [OutputName, string])[] = [
  ['report', 'report ROOT/tree --format json'],
  ['report', 'report ROOT/tree --playbook reset.yml --format json'],
  ['report', 'report ROOT/broken --format json'],
  ['report', 'report v2.31.0 --format json'],
  ['matrix', 'report ROOT/tree --matrix os --format json'],
  ['matrix', 'report ROOT/tree --matrix playbook --format json'],
  ['answer', 'answer ROOT/tree'],
  ['answer', 'answer v2.10.0'],
  ['explain', 'explain ip_forward ROOT/tree --format json'],
  ['explain', 'explain swap ROOT/tree --format json'],
  ['explain', 'explain port_8080 ROOT/tree --format json'],
  ['explain', 'explain swap v2.31.0 --format json'],
  ['explain-variable', 'explain sysctl_file ROOT/tree --format json'],
  ['explain-variable', 'explain sysctl_file ROOT/tree -e {"sysctl_file_path":"{{ansible_facts.x}}"} --format json'],
  ['explain-variable', 'explain minimal_master_memory_mb v2.31.0 --format json'],
  ['vars', 'vars ROOT/tree --format json'],
  ['vars', 'vars ROOT/tree sysctl_file_path nothing --format json'],
  ['vars', 'vars v2.31.0 sysctl_file_path --format json'],
  ['tasks', 'tasks ROOT/tree --format json'],
  ['tasks', 'tasks ROOT/broken --format json'],
  ['effects', 'effects ROOT/tree --format json'],
  ['effects', 'effects ROOT/tree --path /etc/fstab --format json'],
  ['residue', 'effects ROOT/tree --residue --format json'],
  ['checks', 'checks ROOT/tree --format json'],
  ['checks', 'checks ROOT/stopping --format json'],
  ['preflight', 'preflight ROOT/tree --evidence ROOT/host --format json'],
  ['verify', 'verify ROOT/answer.json ROOT/tree --format json'],
  ['verify', 'verify --after --evidence ROOT/host --format json'],
  ['audit', 'audit ROOT/tree ROOT/later --all --format json'],
  ['audit', 'audit v2.30.0 v2.31.0 --all --format json'],
  ['cite', 'cite ROOT/lab.md --source v2.31.0 --format json'],
  ['cite', 'cite ROOT/lab.md --source ROOT/tree --write --format json'],
  ['history', 'history swap ROOT/tree --fresh --format json'],
  ['rules', 'rules --format json'],
  ['rules', 'rules swap --format json'],
]

describe('schemas/', () => {
  it('has a schema for every output, and nothing else', () => {
    assert.deepEqual(readdirSync(new URL('.', schemaFile('report'))).toSorted(), outputNames.map(fileNameOf).toSorted())
    for (const name of outputNames) assert.match(fileNameOf(name), new RegExp(`^whofixes-${name}-\\d+\\.json$`))
  })

  for (const name of outputNames) {
    it(`${fileNameOf(name)} says what the types say (npm run schemas writes it)`, () => {
      assert.equal(readFileSync(schemaFile(name), 'utf8'), renderSchema(name))
    })

    it(`${fileNameOf(name)} describes each member and itself`, () => {
      const schema = readSchema(name)
      assert.equal(schema.$id, outputs[name].schema)
      assert.equal(schema.title, outputs[name].from)
      assert.ok(schema.description.length > 20)
      const objects = objectsIn(schema)
      assert.ok(objects.length > 0)
      for (const [way, each] of objects) {
        for (const [member, said] of Object.entries(each.properties as Members)) {
          assert.ok(isMembers(said) && typeof said.description === 'string', `${way}: ${member} is not described`)
        }
      }
    })
  }
})

describe('JSON outputs', () => {
  const cache = process.env.XDG_CACHE_HOME
  const printed = new Map<OutputName, unknown>()
  before(() => {
    // Recorded releases answer as recorded, whether or not there is a clone.
    process.env.XDG_CACHE_HOME = '/nonexistent/cache'
  })
  after(() => {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = cache
  })

  for (const [name, command] of commands) {
    it(`follow the schema of ${name}: whofixes ${command}`, () =>
      withTemporary(root => {
        const defaults = 'roles/kubernetes/preinstall/defaults/main.yml'
        const reset = '- hosts: all\n  tasks:\n    - file: {path: /etc/sysctl.d/99-sysctl.conf, state: absent}\n'
        const stopping =
          '- hosts: all\n  tasks:\n    - assert: {that: "item.a == 1 and b", fail_msg: no}\n      loop: [{a: 1}, {a: 2}]\n      vars: {b: true}\n    - fail: {msg: x}\n      when: ansible_memtotal_mb < 1\n    - debug: {msg: x}\n      when: x.y\n'
        writeFiles(root, {
          ...Object.fromEntries(
            Object.entries({ ...smallTree, 'reset.yml': reset }).map(([path, text]) => [`tree/${path}`, text]),
          ),
          ...Object.fromEntries(Object.entries(smallTree).map(([path, text]) => [`later/${path}`, text])),
          ...Object.fromEntries(Object.entries(smallTree).map(([path, text]) => [`broken/${path}`, text])),
          'stopping/cluster.yml': stopping,
          [`later/${defaults}`]: 'dns_late: false\nmemory_mb: 2000\nminimal_master_memory_mb: "{{ memory_mb }}"\n',
          [`broken/${defaults}`]: 'dns_late: [\n',
          'answer.json': usualAnswer.replace('kubespray', 'operator'),
          'lab.md': `Swap: <!-- whofixes verdict swap --><!-- /whofixes -->, \`roles/gone/tasks/main.yml\`, <!-- /whofixes -->\n`,
        })
        writeHost(`${root}/host`, usedHost)
        if (name === 'history') {
          const tree = `${root}/tree`
          git(tree, 'init', '--quiet')
          git(tree, 'add', '-A')
          git(tree, 'commit', '--quiet', '-m', 'first')
          git(tree, 'tag', 'v9.0.0')
        }
        const { out, err } = runWhofixes(command.split(' ').map(word => word.replace('ROOT', root)))
        assert.notEqual(out, '', err.join('\n'))
        const output = JSON.parse(out)
        assert.equal(output.schema, name === 'answer' ? undefined : outputs[name].schema)
        assert.ok(name === 'answer' || Object.keys(output)[0] === 'schema')
        // Whoever checks with the published schema finds nothing wrong either, nor with members that come later.
        assert.deepEqual(faultsOf({ ...output, later: 1 }, name, true), [])
        printed.set(name, output)
      }))
  }

  it('are all of them produced here', () => {
    assert.deepEqual(
      outputNames.filter(name => !printed.has(name)),
      ['snapshot'],
    )
  })

  it('would be found wrong with a member too many, one too few and one of another kind', () => {
    for (const [name, output] of printed) {
      assert.ok(isMembers(output))
      assert.deepEqual(faultsOf(output, name), [])
      assert.equal(faultsOf({ ...output, more: 1 }, name).length, 1)
      for (const member of Object.keys(output)) {
        const { [member]: value, ...without } = output
        const isOptional = name === 'vars' ? member === 'definitions' : name === 'matrix' && member === 'playbook'
        assert.equal(faultsOf(without, name).length, isOptional ? 0 : 1, `${name}: ${member}`)
        assert.ok(faultsOf({ ...output, [member]: isMembers(value) ? 1 : {} }, name).length > 0, `${name}: ${member}`)
      }
    }
  })

  it('are told from what is none, with what is wrong', () => {
    const rules = runWhofixes(['rules', 'swap', '--format', 'json']).out
    assert.ok(isDeepStrictEqual(parseOutput(rules), JSON.parse(rules)))
    const told = (text: string): string => {
      try {
        checkOutput(text)
        return ''
      } catch (error) {
        return String(error instanceof Error ? error.message : error)
      }
    }
    assert.match(told(rules.replace('"asks"', '"ask"')), /describe 'rules':\n\/problems\/0: /)
    assert.match(told(rules.replace('"asks"', '"ask"')), /no member 'ask' is described/)
    assert.match(told(rules.replace('rules-1', 'rule-1')), /schema: .*rule-1\.json: no such output/)
    assert.match(told('{\n  "swap": "me"\n}\n'), /describe 'answer'/)
    assert.equal(told('swap  Swap is on\n'), '')
  })
})

describe('recorded snapshots', () => {
  for (const release of recordedReleases()) {
    it(`${release} follows its schema`, () => {
      parseOutput(readFileSync(new URL(`${release}.json`, snapshotsDirectory), 'utf8'))
    })
  }
})
