import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { splitAssignments } from '../../src/inventory/arguments.js'
import { readInventoryVars } from '../../src/inventory/group-vars.js'
import { groupsOf, hostsOf, type Inventory } from '../../src/inventory/inventory.js'
import { readLiteral } from '../../src/inventory/literal.js'
import { matchHosts, readPattern } from '../../src/inventory/patterns.js'
import { readInventory } from '../../src/inventory/read.js'
import { splitShellWords } from '../../src/inventory/shell-words.js'
import { wholeFile } from '../../src/source/text.js'
import { type Dice, diceOf, iniText, literalText, patternText, wordsText, yamlText } from './generated.js'
import { inDirectory, plain } from './places.js'

const judge = fileURLToPath(new URL('../../../test/inventory/judge.py', import.meta.url))

/** The Python that has ansible-core. */
function findPython(): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    python => spawnSync(python, ['-c', 'import ansible.inventory.manager']).status === 0,
  )
}

interface Answers {
  readonly literals: readonly (readonly ['value' | 'error', unknown])[]
  readonly words: readonly (readonly string[] | null)[]
  readonly assignments: readonly (Readonly<Record<string, string>> | 'unbalanced' | null)[]
  readonly inventories: readonly InventoryAnswer[]
}

interface InventoryAnswer {
  readonly read: readonly boolean[]
  readonly order?: readonly string[]
  readonly hosts?: Readonly<Record<string, { groups: readonly string[]; vars: Readonly<Record<string, unknown>> }>>
  readonly groups?: Readonly<
    Record<string, { children: string[]; hosts: string[]; members: string[]; depth: number; priority: number }>
  >
  readonly matched?: Readonly<Record<string, readonly string[] | null>>
}

function ask(python: string, question: unknown): Answers {
  const answer = spawnSync(python, [judge], {
    input: JSON.stringify(question),
    encoding: 'utf8',
    cwd: '/',
    maxBuffer: 1 << 28,
    env: { ...process.env, ANSIBLE_LOCALHOST_WARNING: '0', PYTHONWARNINGS: 'ignore' },
  })
  assert.equal(answer.status, 0, answer.stderr)
  return JSON.parse(answer.stdout)
}

function times<T>(count: number, seed: number, make: (dice: Dice) => T): readonly T[] {
  return Array.from({ length: count }, (_, index) => make(diceOf(seed * 100_003 + index)))
}

/** Everything Ansible merges from the inventory for a host, by its rank. */
function mergedVariables(inventory: Inventory, host: string): Record<string, unknown> {
  const files = readInventoryVars(inventory, () => {})
  const merged: Record<string, unknown> = {}
  const merge = (
    definitions: readonly { readonly name: string; readonly node: Parameters<typeof plain>[0] }[],
  ): void => {
    for (const { name, node } of definitions) merged[name] = plain(node)
  }
  const groups = groupsOf(inventory, host)
  const ofGroup = (name: string) => inventory.groups.get(name)?.variables ?? []
  const others = groups.filter(name => name !== 'all')
  merge(ofGroup('all'))
  for (const group of others) merge(ofGroup(group))
  for (const file of files) if (file.group === 'all') merge(file.definitions)
  for (const group of others) for (const file of files) if (file.group === group) merge(file.definitions)
  merge(inventory.hosts.get(host)?.variables ?? [])
  for (const file of files) if (file.host === host) merge(file.definitions)
  return Object.fromEntries(Object.entries(merged).filter(([name]) => name.startsWith('v_') || name === 'ansible_port'))
}

/** Values that are no plain data are compared only in being that. */
function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, item) => {
      if (item !== null && typeof item === 'object' && 'unreadable' in item) return 'unreadable'
      return typeof item === 'number' && !Number.isFinite(item) ? (item > 0 ? 'inf' : '-inf') : item
    }),
  )
}

const VARIABLE_FILES = [
  'group_vars/all.yml',
  'group_vars/all/a.yml',
  'group_vars/all/.hidden.yml',
  'group_vars/all/b.yml~',
  'group_vars/all/sub/c.json',
  'group_vars/all/note.txt',
  'group_vars/g1',
  'group_vars/g1.yml',
  'group_vars/g2.yaml',
  'group_vars/g2.json',
  'group_vars/g3/z',
  'group_vars/g3/y.yml',
  'group_vars/g-4.yml',
  'group_vars/ungrouped.yml',
  'host_vars/n1.yml',
  'host_vars/n1.json',
  'host_vars/db.example.org',
  'host_vars/10.0.0.1.yml',
  'host_vars/n2/main.yml',
]

function variableFiles(dice: Dice): Record<string, string> {
  const chosen: Record<string, string> = {}
  for (const path of VARIABLE_FILES) {
    // A path cannot be a file and a directory.
    const clash = Object.keys(chosen).some(each => each.startsWith(`${path}/`) || path.startsWith(`${each}/`))
    if (dice(3) === 0 && !clash) chosen[path] = JSON.stringify({ [`v_${dice(3)}`]: path })
  }
  return chosen
}

describe('inventory conformance with ansible-core', () => {
  const python = findPython()
  const count = Number(process.env.WHOFIXES_CASES ?? 80)
  const seed = Number(process.env.WHOFIXES_SEED ?? 1)

  before(function () {
    if (python !== undefined) return
    assert.equal(process.env.CI, undefined, 'ansible-core has to be installed where CI is set')
    console.log('      skipped: ansible-core is not installed')
    this.skip()
  })

  it('reads values as ast.literal_eval does', () => {
    const texts = times(count * 10, seed, literalText)
    const answers = ask(python ?? '', { literals: texts }).literals
    texts.forEach((text, index) => {
      const node = readLiteral(text, wholeFile({ path: 'x', text }))
      const [kind, value] = answers[index] ?? []
      if (kind === 'error') assert.equal(node.kind, 'unhashable', text)
      else {
        assert.notEqual(node.kind, 'unhashable', text)
        if (node.kind !== 'unhashable') assert.deepEqual(comparable(plain(node)), comparable(value), text)
      }
    })
  })

  it('splits host lines as shlex does', () => {
    const texts = times(count * 10, seed, wordsText)
    const answers = ask(python ?? '', { words: texts.map(text => text.replaceAll('\n', ' ')) }).words
    texts.forEach((text, index) => {
      const words = splitShellWords(text.replaceAll('\n', ' '))
      assert.deepEqual(typeof words === 'string' ? null : words.map(word => word.text), answers[index], text)
    })
  })

  it('splits extra variables as parse_kv does', () => {
    // Inside templates Ansible doubles line ends, which nobody relies on.
    const texts = times(count * 10, seed, wordsText).filter(text => !/\n/.test(text) || !/[{}]/.test(text))
    const answers = ask(python ?? '', { assignments: texts }).assignments
    texts.forEach((text, index) => {
      const answer = answers[index] ?? null
      const read = splitAssignments(text)
      // Ansible breaks off at two blanks or a lone backslash at the start; there is no reason to.
      if (answer === null) return
      // Nameless parts are an error here and a parameter of no use there.
      if (answer === 'unbalanced' || '_raw_params' in answer) assert.equal(typeof read, 'string', JSON.stringify(text))
      else {
        assert.notEqual(typeof read, 'string', JSON.stringify(text))
        const values = typeof read === 'string' ? {} : Object.fromEntries(read.map(({ name, value }) => [name, value]))
        assert.deepEqual(values, answer, JSON.stringify(text))
      }
    })
  })

  it('reads inventories with their variable files as the inventory manager does', () => {
    const files: Record<string, string> = {}
    const cases = times(count, seed, dice => ({
      text: dice(3) === 0 ? yamlText(dice, dice(3) === 0) : iniText(dice, dice(3) === 0),
      variables: variableFiles(dice),
      second: dice(4) === 0 ? iniText(dice, false) : undefined,
      patterns: Array.from({ length: 6 }, () => patternText(dice)),
    }))
    cases.forEach(({ text, variables, second }, index) => {
      files[`${index}/hosts`] = text
      if (second !== undefined) files[`${index}/more/second.ini`] = second
      for (const [path, content] of Object.entries(variables)) files[`${index}/${path}`] = content
    })
    inDirectory(files, directory => {
      const sourcesOf = (index: number): string[] => {
        const second = cases[index]?.second === undefined ? [] : [join(directory, `${index}/more/second.ini`)]
        return [join(directory, `${index}/hosts`), ...second]
      }
      const answers = ask(python ?? '', {
        inventories: cases.map(({ patterns }, index) => ({ sources: sourcesOf(index), patterns })),
      }).inventories
      let read = 0
      cases.forEach((each, index) => {
        const told: string[] = []
        const inventory = readInventory(sourcesOf(index), diagnostic => told.push(diagnostic.message))
        const answer = answers[index]
        const about = `case ${index} of seed ${seed}: ${each.text}\n${each.second ?? ''}\n${told.join('\n')}`
        // A faulty YAML inventory that passes for INI is refused here only.
        if (inventory.refused.length > 0 && each.text.startsWith('{')) return
        // What was read of a refused source stays in Ansible's memory, and the next source is read into it.
        assert.equal(inventory.refused.length > 0, answer?.read.includes(false), about)
        if (answer?.hosts === undefined) return
        read++
        assert.deepEqual([...inventory.hosts.keys()], answer.order, about)
        const groups = Object.fromEntries(
          [...inventory.groups.values()].map(group => [
            group.name,
            {
              children: group.children,
              hosts: group.hosts,
              members: [...hostsOf(inventory, group.name)].sort(),
              depth: group.depth,
              priority: group.priority,
            },
          ]),
        )
        const expected = Object.fromEntries(
          Object.entries(answer.groups ?? {}).map(([name, group]) => [
            name,
            { ...group, members: group.members.sort() },
          ]),
        )
        assert.deepEqual(groups, expected, about)
        for (const [host, wanted] of Object.entries(answer.hosts)) {
          assert.deepEqual(groupsOf(inventory, host), wanted.groups, about)
          assert.deepEqual(comparable(mergedVariables(inventory, host)), comparable(wanted.vars), `${host} in ${about}`)
        }
        for (const [pattern, hosts] of Object.entries(answer.matched ?? {})) {
          // A subscript beyond the end stops a run of Ansible.
          if (hosts === null) assert.notEqual(readPattern(pattern, inventory).problems.length, 0, pattern)
          if (hosts === null) continue
          const found = [...matchHosts(pattern, inventory)]
          assert.deepEqual(found.sort(), [...hosts].sort(), `${pattern} in ${about}`)
        }
      })
      assert.ok(read > count / 3, `only ${read} of ${count} inventories could be read`)
    })
  })

  it('answers what ansible-inventory --list and ansible --list-hosts print', () => {
    const run = (command: string, ...args: string[]): string => {
      const env = { ...process.env, ANSIBLE_LOCALHOST_WARNING: '0', ANSIBLE_NOCOLOR: '1' }
      const answer = spawnSync(command, args, { encoding: 'utf8', cwd: '/', env })
      assert.equal(answer.status, 0, `${command}: ${answer.error?.message ?? answer.stderr}`)
      return answer.stdout
    }
    for (const index of [0, 1]) {
      const dice = diceOf(seed * 7919 + index)
      // Only YAML here: what ansible-inventory prints has to be JSON, which not every Python literal of an INI file is.
      inDirectory({ hosts: yamlText(dice, false), ...variableFiles(dice) }, directory => {
        const hosts = join(directory, 'hosts')
        const inventory = readInventory([hosts], () => {})
        const listed: { _meta: { hostvars: Record<string, Record<string, unknown>> } } & Record<
          string,
          { hosts?: string[] }
        > = JSON.parse(run('ansible-inventory', '-i', hosts, '--list'))
        for (const host of inventory.hosts.keys()) {
          const wanted = Object.entries(listed._meta.hostvars[host] ?? {}).filter(([name]) =>
            /^v_|^ansible_port$/.test(name),
          )
          assert.deepEqual(comparable(mergedVariables(inventory, host)), Object.fromEntries(wanted), host)
        }
        for (const group of inventory.groups.values()) {
          if (group.name !== 'all') assert.deepEqual(group.hosts, listed[group.name]?.hosts ?? [], group.name)
        }
        const pattern = patternText(dice)
        const printed = run('ansible', '-i', hosts, '--list-hosts', pattern).split('\n').slice(1)
        const names = printed.map(line => line.trim()).filter(line => line !== '')
        assert.deepEqual([...matchHosts(pattern, inventory)].sort(), names.sort(), pattern)
      })
    }
  })
})
