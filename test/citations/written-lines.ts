import fc from 'fast-check'
import { stringify } from 'yaml'
import { writtenTree } from '../audit/written.js'

const text = fc.array(fc.constantFrom('{', '}', '', '  size = 1', 'first', 'second', 'third {{ size }}', '- item'), {
  minLength: 1,
  maxLength: 12,
})

const variables = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('a_count', 'a_size', 'b_place', 'b_list', 'c_text'),
    value: fc.constantFrom<unknown>(1, 'text', ['one', 'two'], { key: 'value', other: ['x'] }, 'first\nsecond\n'),
    comment: fc.boolean(),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 5 },
)

/** Trees whose files have a line for each key, comments, blank lines, and lines that occur several times. */
export const writtenLines: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .record({ tree: writtenTree, doc: text, template: text, defaults: variables, isSpaced: fc.boolean() })
  .map(({ tree, doc, template, defaults, isSpaced }) => ({
    ...Object.fromEntries(
      Object.entries(tree).map(([path, json]) => {
        const items: unknown[] = JSON.parse(json)
        return [path, `---\n${items.map(item => stringify([item])).join(isSpaced ? '\n' : '')}`]
      }),
    ),
    'docs/a.md': `${doc.join('\n')}\n`,
    'roles/role-a/templates/a.j2': `${template.join('\n')}\n`,
    'roles/role-a/defaults/main.yml': defaults
      .map(({ name, value, comment }) => `${comment ? `# About ${name}.\n` : ''}${stringify({ [name]: value })}`)
      .join(isSpaced ? '\n' : ''),
  }))
