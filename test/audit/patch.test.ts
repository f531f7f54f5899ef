import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { applyPatch, parsePatch } from 'diff'
import fc from 'fast-check'
import { renderInventoryPatch } from '../../src/audit/patch.js'
import { readInventoryVars } from '../../src/inventory/group-vars.js'
import type { Definition, Inventory } from '../../src/inventory/inventory.js'
import { readInventory } from '../../src/inventory/read.js'
import type { Change, ChangeKind } from '../../src/reports/audit.js'
import { placeOfSpan, placeText } from '../../src/reports/place.js'
import type { Json } from '../../src/reports/value-text.js'
import { openCode } from '../../src/run/code.js'
import { openDirectory } from '../../src/source/directory.js'
import { withTemporary, writeFiles } from '../source/trees.js'

interface Row {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly inventory: readonly string[]
  readonly changes: readonly {
    readonly kind: ChangeKind
    readonly name: string
    readonly to: string
    readonly old?: Json
    readonly new?: Json
    readonly at: readonly string[]
  }[]
  readonly after: Readonly<Record<string, string>>
  readonly notes: readonly string[]
}

const rows: readonly Row[] = JSON.parse(
  readFileSync(new URL('../../../test/audit/patch.json', import.meta.url), 'utf8'),
)

/** The programs people apply a diff with. */
const tools: Readonly<Record<string, readonly string[]>> = {
  'git apply': ['git', 'apply', '-'],
  'patch -p1': ['patch', '-p1'],
}

function renderRow(root: string, { inventory: paths, changes }: Row): string {
  const inventory = readInventory(
    paths.map(path => join(root, path)),
    () => {},
  )
  return renderInventoryPatch(
    changes.map((change): Change => {
      const place = (value: Json | undefined) =>
        value === undefined ? null : { file: 'roles/x/defaults/main.yml', line: 1, value }
      return {
        kind: change.kind,
        name: change.name,
        to: change.to,
        action: 'required',
        says: '',
        old: place(change.old),
        new: place(change.new),
        inventory: change.at.map(at => {
          const [, file = '', line = ''] = /^(.*):(\d+)$/.exec(at) ?? []
          return { file: join(root, file), line: Number(line) }
        }),
      }
    }),
    {
      inventory,
      variableFiles: readInventoryVars(inventory, () => {}),
      code: openCode(openDirectory(root), () => {}),
    },
  )
}

function filesBelow(root: string, directory = root): Readonly<Record<string, string>> {
  return Object.assign(
    {},
    ...readdirSync(directory, { withFileTypes: true }).map(entry => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? filesBelow(root, path) : { [relative(root, path)]: readFileSync(path, 'utf8') }
    }),
  )
}

describe('the diff of an inventory', () => {
  for (const row of rows) {
    for (const [tool, [program = '', ...args]] of Object.entries(tools)) {
      it(`${row.name}: ${tool}`, function () {
        withTemporary(root => {
          writeFiles(root, row.files)
          const patch = renderRow(root, row)
          assert.deepEqual(filesBelow(root), row.files, 'it writes nothing')
          const seenFrom = /^# paths are seen from (.*)$/m.exec(patch)?.[1]
          const notes = patch
            .split('\n')
            .filter(line => line.startsWith('# ') && !line.startsWith('# paths are seen from'))
            .map(line => line.slice(2).replaceAll(`${root}/`, ''))
          assert.deepEqual(notes, row.notes)
          const hasChanges = JSON.stringify(row.files) !== JSON.stringify(row.after)
          assert.equal(patch.includes('diff --git'), hasChanges)
          if (!hasChanges) return
          const ran = spawnSync(program, args, { cwd: seenFrom ?? root, input: patch, encoding: 'utf8' })
          if (ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT') this.skip()
          assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}\n${patch}`)
          assert.deepEqual(filesBelow(root), row.after)
        })
      })
    }
  }

  it('is empty where nothing is renamed', () => {
    withTemporary(root => {
      writeFiles(root, { 'hosts.ini': 'n1\n' })
      assert.equal(
        renderRow(root, { name: '', files: {}, inventory: ['hosts.ini'], changes: [], after: {}, notes: [] }),
        '',
      )
    })
  })

  it('leaves an inventory as it was, but for the names', () => {
    fc.assert(
      fc.property(inventoryText, ({ name, text }) => {
        withTemporary(root => {
          writeFiles(root, { [name]: text })
          const told: string[] = []
          const before = readInventory([join(root, name)], ({ code }) => {
            if (code === 'yaml-duplicate-key') told.push(code)
          })
          // A key that stands twice is left out.
          fc.pre(before.refused.length === 0 && told.length === 0)
          const definitions = [...before.groups.values(), ...before.hosts.values()].flatMap(each => each.variables)
          const at = new Set(
            definitions.filter(each => each.name === 'swap_off').map(each => placeText(placeOfSpan(each.at))),
          )
          const row = {
            name: '',
            files: {},
            inventory: [name],
            changes: [
              { kind: 'group-renamed', name: 'old-masters', to: 'plane', at: [`${name}:1`] },
              {
                kind: 'variable-renamed',
                name: 'swap_off',
                to: 'fail_swap_on',
                at: [...at].map(each => each.slice(root.length + 1)),
              },
            ] as const,
            after: {},
            notes: [],
          }
          const [patch] = parsePatch(renderRow(root, row))
          const after = patch === undefined ? text : applyPatch(text, patch)
          assert.ok(typeof after === 'string')
          writeFiles(root, { [name]: after })
          assert.deepEqual(
            said(
              readInventory([join(root, name)], () => {}),
              {},
            ),
            said(before, { 'group old-masters': 'plane', 'variable swap_off': 'fail_swap_on' }),
          )
        })
      }),
      { numRuns: 20 },
    )
  })
})

/** What an inventory says, with its names as they are to be. */
function said({ groups, hosts, refused }: Inventory, renamed: Readonly<Record<string, string>>): unknown {
  const named = (kind: 'group' | 'variable', name: string): string => renamed[`${kind} ${name}`] ?? name
  const values = (variables: readonly Definition[]): unknown =>
    variables.map(({ name, node }) => [named('variable', name), node.kind === 'scalar' ? String(node.data) : node.kind])
  return {
    refused,
    groups: [...groups.values()].map(({ name, children, hosts: of, variables }) => [
      named('group', name),
      children.map(child => named('group', child)),
      of,
      values(variables),
    ]),
    hosts: [...hosts.values()].map(({ name, variables }) => [name, values(variables)]),
  }
}

const group = fc.constantFrom('old-masters', 'old-masters-2', 'my-old-masters', 'cluster', 'swap_off')
const variable = fc.constantFrom('swap_off', 'swap_offset', 'no_swap_off', 'old-masters')
const value = fc.constantFrom('false', 'swap_off', '"a swap_off"', "'old-masters'", '3')
const host = fc.constantFrom('n1', 'n2', 'old-masters.example.org')
const blank = fc.constantFrom('', ' ', '\t')
const comment = fc.constantFrom('', ' # old-masters swap_off=1')

const iniLine = fc.oneof(
  fc
    .tuple(group, fc.constantFrom('', ':children', ':vars'), comment)
    .map(([name, kind, end]) => `[${name}${kind}]${end}`),
  fc
    .tuple(blank, host, variable, value, comment)
    .map(([start, name, key, set, end]) => `${start}${name} ${key}=${set}${end}`),
  fc.tuple(host, variable, variable).map(([name, one, two]) => `${name} "${one}=1" ${two}='x y'`),
  fc.tuple(blank, group, comment).map(([start, name, end]) => `${start}${name}${end}`),
  fc.tuple(variable, blank, blank, value).map(([name, left, right, set]) => `${name}${left}=${right}${set}`),
  fc.constantFrom('', '; [old-masters]', '# swap_off=1'),
)

const iniText = fc
  .tuple(fc.array(iniLine, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, end, isEnded]) => ({ name: 'hosts.ini', text: lines.join(end) + (isEnded ? end : '') }))

const yamlMembers = fc.array(fc.tuple(group, fc.constantFrom('', "'", '"')), { maxLength: 3 })
const yamlVars = fc.array(fc.tuple(variable, fc.constantFrom('', "'", '"'), value), { maxLength: 3 })

const yamlText = fc
  .array(
    fc.record({
      name: group,
      members: yamlMembers,
      vars: yamlVars,
      hostVars: yamlVars,
      of: host,
      isFlow: fc.boolean(),
    }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map(groups => {
    const quoted = (text: string, quote: string): string => `${quote}${text}${quote}`
    const lines = groups.map(({ name, members, vars, hostVars, of, isFlow }) => {
      const set = (given: typeof vars): string =>
        given.map(([key, quote, set]) => `${quoted(key, quote)}: ${set}`).join(', ')
      const children = members.map(([child, quote]) => `${quoted(child, quote)}: `).join(', ')
      if (isFlow) return `${name}: {vars: {${set(vars)}}, children: {${children}}, hosts: {${of}: {${set(hostVars)}}}}`
      return `${name}: # old-masters\n  children: {${children}}\n  vars:\n${vars.map(([key, quote, set]) => `    ${quoted(key, quote)}: ${set}\n`).join('')}  hosts:\n    ${of}: {${set(hostVars)}}`
    })
    return { name: 'hosts.yml', text: `${lines.join('\n')}\n` }
  })

const inventoryText = fc.oneof(iniText, yamlText)
