import { pick } from '../jinja/generate.js'

const words = [
  'a',
  'b c',
  'k',
  'true',
  'No',
  '~',
  'null',
  'x:y',
  'http://h:80/p',
  'a#b',
  "it's",
  '{{ v }}x',
  'é',
  '-',
  '?',
  'a, b',
  '=',
  '<<',
  '1.2.3',
  'v1',
]
const scalars = [
  ...[
    '0',
    '-1',
    '+5',
    '0644',
    '0o17',
    '0x1F',
    '0b101',
    '1_000',
    '09',
    '1:30',
    '190:20:30',
    '1:60',
    '-1:30',
    '1.5',
    '.5',
    '5.',
    '1e3',
    '1.e+3',
    '1.5e+3',
    '1e+3',
    '-.inf',
    '.NaN',
    '+.5',
    '1_0.5',
    '20:30.15',
  ],
  ...['yes', 'Yes', 'YES', 'yEs', 'y', 'off', 'on', 'True', 'Null', 'NULL', ''],
  ...['2001-01-01', '2001-1-1', '2001-12-14t21:59:43.10-05:00', '2001-12-14 21:59:43', '2001-13-01', '0001-01-01'],
  ...words,
]
const quoted = [
  "'x'",
  "'it''s'",
  '"a\\tb"',
  '"\\x41\\u00e9\\U0001F600"',
  '"\\e\\_\\N"',
  '"a\\\n   b"',
  "'a\n\n  b'",
  '"a\n  b\n\n  c"',
  '"{{ v }}"',
  "'1'",
  '"yes"',
  "''",
  '"\\q"',
  '"a\\/b"',
  "'a\\n'",
  '"tab\there"',
  '"x',
]
const tags = [
  '!!str ',
  '!!int ',
  '!!float ',
  '!!bool ',
  '!!null ',
  '!!seq ',
  '!!map ',
  '! ',
  '!vault ',
  '!vault-encrypted ',
  '!foo ',
  '!!binary ',
  '!!timestamp ',
  '!!set ',
  '!!omap ',
  '!<tag:yaml.org,2002:str> ',
  '&n1 ',
  '&n1 !!str ',
  '!!str &n2 ',
]
const headers = ['|', '>', '|-', '>-', '|+', '>+', '|2', '>1', '|-2', '|2-', '>+1', '| # c', '|9', '|0', '> x']
const blockLines = ['a', 'b c', '  deep', ' one', '', '', '\tt', '# no comment', '- z', 'k: v', '   ', 'é', '{{ x }}']
const comments = ['', '', '', '', ' # c', '  #c', '#c']
const keys = [
  'a',
  'b',
  'c',
  'a',
  '"d"',
  "'e f'",
  '1',
  'yes',
  '~',
  '1.5',
  'k k',
  '? x',
  '!!str g',
  '&n3 h',
  '*n1',
  '<<',
  'a-b',
  '0x1',
  '2001-01-01',
  '[q]',
  '{q: 1}',
  '"\\u0041"',
]

/** A YAML document, mostly well-formed, with the odd corners of PyYAML in it. */
export function documentFrom(random: () => number): string {
  const parts: string[] = []
  const amount = random() < 0.1 ? 2 : 1
  for (let index = 0; index < amount; index++) {
    if (random() < 0.3)
      parts.push(pick(['---\n', '--- # c\n', '%YAML 1.1\n---\n', '---\n---\n', '%TAG ! !x\n---\n', '--- '], random))
    parts.push(blockFrom(0, 3, random).replace(/^\n/, ''))
    if (random() < 0.1) parts.push(pick(['\n...\n', '\n--- x\n', '\n...\n---\n'], random))
  }
  let text = parts.join('\n')
  if (random() < 0.1) text = text.replaceAll('\n', '\r\n')
  if (random() < 0.03) text = `\ufeff${text}`
  if (random() < 0.05)
    text = text.replace(/\n/, pick(['\n\n', '\x85', '\n\t', '\n # c\n', '\t\n', '\r', ' \n'], random))
  if (random() < 0.7) text += '\n'
  return text
}

/** A node in block context: text that follows a key or dash, or begins with a line break. */
function blockFrom(indent: number, depth: number, random: () => number): string {
  const pad = ' '.repeat(indent)
  const kind = depth <= 0 ? 0.9 : random()
  const tag = random() < 0.12 ? pick(tags, random) : ''
  if (kind < 0.35) {
    const entries = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
      const value = blockFrom(indent + pick([1, 2, 2, 2, 4], random), depth - 1, random)
      const gap = value.startsWith('\n') ? '' : pick([' ', ' ', ' ', '  ', '', '\t'], random)
      return `${pad}${pick(keys, random)}:${gap}${value}`
    })
    return `${tag}${pick(comments, random)}\n${entries.join('\n')}`
  }
  if (kind < 0.6) {
    const inner = pick([indent, indent, indent + 2], random)
    const items = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const value = blockFrom(inner + 2, depth - 1, random)
      // A mapping may begin on the line of its dash.
      const text =
        random() < 0.6 && value.startsWith('\n')
          ? ` ${value.trimStart()}`
          : value.startsWith('\n')
            ? value
            : ` ${value}`
      return `${' '.repeat(inner)}-${text}`
    })
    return `${tag}\n${items.join('\n')}`
  }
  if (kind < 0.7) {
    const inside = ' '.repeat(Math.max(0, indent + pick([0, 0, 0, 1, -1], random)))
    const header = pick(headers, random)
    // The parser drops blanks beyond an indentation that is given by a digit: nobody writes that.
    const possible = /\d/.test(header) ? blockLines.filter(line => line !== '   ') : blockLines
    const lines = Array.from({ length: Math.floor(random() * 5) }, () => pick(possible, random))
    return `${tag}${header}\n${lines.map(line => (line === '' ? '' : inside + line)).join('\n')}`
  }
  if (kind < 0.82) return `${tag}${flowFrom(depth, random, pad)}${pick(comments, random)}`
  if (kind < 0.86) return pick(['*n1', '*n2', '*nope', '&n1 a', '&n2 [1]'], random)
  if (kind < 0.9) return `${pick(words, random)}\n${pad}${pick(scalars, random)}`
  const unsafe = random() < 0.03 ? '!unsafe ' : ''
  return `${unsafe || tag}${pick(random() < 0.3 ? quoted : scalars, random)}${pick(comments, random)}`
}

function flowFrom(depth: number, random: () => number, pad: string): string {
  const atom = (): string => pick(random() < 0.3 ? quoted : [...scalars, 'a b', '*n1', '&n1 z', '!!str 1'], random)
  const member = (): string => (depth > 0 && random() < 0.25 ? flowFrom(depth - 1, random, pad) : atom())
  const comma = (): string => pick([', ', ', ', ',', ` ,`, `,\n${pad} `, ', # c\n '], random)
  const list = (make: () => string): string => {
    const members = Array.from({ length: Math.floor(random() * 4) }, make)
    return members.reduce((text, each, index) => (index === 0 ? each : text + comma() + each), '')
  }
  if (random() < 0.5) {
    return `[${list(() => (random() < 0.1 ? `${atom()}: ${atom()}` : member()))}${pick(['', '', ','], random)}]`
  }
  return `{${list(() => `${pick(keys, random)}${pick([': ', ': ', ':', ' : ', ''], random)}${random() < 0.85 ? member() : ''}`)}${pick(['', '', ','], random)}}`
}
