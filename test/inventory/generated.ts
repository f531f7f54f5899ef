/** Small pseudo-random numbers with a seed, so that a failing case can be made again. */
export type Dice = (sides: number) => number

export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  return sides => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

function pick<T>(dice: Dice, options: readonly [T, ...T[]]): T {
  return options[dice(options.length)] ?? options[0]
}

const PIECES = [
  '1',
  '0',
  '01',
  '0x1f',
  '0b10',
  '0o17',
  '1_000',
  '1__0',
  '1.5',
  '1.',
  '.5',
  '1e5',
  '1.2.3',
  '-1',
  '+1',
  '--1',
  '-True',
  '1j',
  '1+2j',
  '1+2',
  'True',
  'False',
  'None',
  'true',
  'yes',
  '[',
  ']',
  '(',
  ')',
  '{',
  '}',
  ',',
  ':',
  "'a'",
  '"b"',
  "'it''s'",
  '"\\n"',
  '"\\x41"',
  '"\\u00e9"',
  '"\\z"',
  "r'\\n'",
  "b'x'",
  "u'x'",
  "f'x'",
  '# c',
  ' ',
  '  ',
  'a',
  'a b',
  '{{ v_0 }}',
  'a=b',
  '...',
  'set()',
  '"',
  "'",
  '\\',
  '"""x"""',
  '[]',
  '()',
  '{}',
  "{'k': 1}",
  "{'k': [1, (2,)]}",
  '{1, 2}',
  '0.0',
  '00',
  '09.5',
  '1_0.5',
  '1e400',
  'lambda: 1',
  '*',
  '1 if 1 else 2',
  'é',
  "'é'",
  '[1, 2',
  '1 2',
  "'a' 'b'",
  "'a' b'b'",
] as const

/** A text that is often, but not always, a Python literal. */
export function literalText(dice: Dice): string {
  let text = ''
  for (let left = 1 + dice(dice(3) === 0 ? 6 : 2); left > 0; left--) text += pick(dice, PIECES)
  return text.trim()
}

const WORD_PIECES = [
  'a',
  'b=',
  '=',
  "'",
  '"',
  '\\',
  ' ',
  '  ',
  '#',
  'x y',
  '{{',
  '}}',
  '{%',
  '%}',
  '\\=',
  '\\n',
  '\t',
  'é',
  "''",
  '""',
  '\n',
] as const

/** A line of words with quotes, escapes, comments and templates. */
export function wordsText(dice: Dice): string {
  let text = ''
  for (let left = 1 + dice(9); left > 0; left--) text += pick(dice, WORD_PIECES)
  return text
}

/** No host is named like a group: Ansible mixes the two up. */
const HOSTS = [
  'n1',
  'n2',
  'n3',
  'n[4:6]',
  'm[01:03]',
  'x[a:c].example',
  'p1:2222',
  'y[1:5:2]',
  'z[1:2]-[a:b]',
  '10.0.0.1',
  '10.0.0.[2:3]:22',
  'fe80::1',
  '[fe80::2]:22',
  'db.example.org',
  'under_score',
  'a-b',
  'localhost',
] as const
const BAD_HOSTS = ['n[', 'n[1]', 'n[3:', 'n:', '---', 'n[02:3]', 'n[c:a]', "'n", 'n[1:2:0]'] as const
const GROUPS = ['g1', 'g2', 'g3', 'g-4', 'G5', 'all', 'ungrouped'] as const

function assignment(dice: Dice): string {
  return `v_${dice(3)}=`
}

function hostLine(dice: Dice, faulty: boolean): string {
  const host = faulty && dice(30) === 0 ? pick(dice, BAD_HOSTS) : pick(dice, HOSTS)
  let line: string = host
  for (let left = dice(3); left > 0; left--) {
    const value = dice(3) === 0 ? pick(dice, ["'x y'", '"[1, 2]"', '\'{"k": 1}\'', '"\'1\'"']) : literalText(dice)
    const plainly = faulty || !/["'\\ ]/.test(value) ? value : JSON.stringify(value).replaceAll('\\\\', '')
    line += ` ${assignment(dice)}${plainly}`
  }
  return dice(8) === 0 ? `${line} # note` : line
}

/** An INI inventory; a faulty one has now and then a line Ansible refuses. */
export function iniText(dice: Dice, faulty: boolean): string {
  const lines: string[] = []
  for (let left = dice(3); left > 0; left--) lines.push(hostLine(dice, faulty))
  for (let sections = 1 + dice(6); sections > 0; sections--) {
    const group = pick(dice, GROUPS)
    // Children of ungrouped, and one localhost by two names, are beyond what anybody writes.
    const kind = group === 'ungrouped' ? 1 + dice(5) : dice(6)
    if (kind === 0) {
      lines.push(`[${group}:children]`)
      for (let left = dice(3); left > 0; left--) lines.push(pick(dice, GROUPS.slice(0, 5) as [string, ...string[]]))
    } else if (kind === 1) {
      lines.push(`[${group}:vars]`)
      for (let left = dice(3); left > 0; left--) lines.push(`${assignment(dice)}${literalText(dice)}`)
      if (dice(4) === 0) lines.push(`ansible_group_priority=${dice(4)}`)
    } else {
      lines.push(dice(8) === 0 ? `[${group}]  # note` : `[${group}]`)
      for (let left = dice(4); left > 0; left--) lines.push(hostLine(dice, faulty))
    }
    if (faulty && dice(20) === 0)
      lines.push(pick(dice, ['[g1:nonsense]', '[g 1]', 'just = spaces', '; fine', '[]', 'a b']))
    if (dice(4) === 0) lines.push('')
  }
  return lines.join('\n')
}

/** A YAML inventory with groups, children, hosts and variables. */
export function yamlText(dice: Dice, faulty: boolean): string {
  const group = (depth: number): unknown => {
    const content: Record<string, unknown> = {}
    if (dice(2) === 0) {
      content.hosts = Object.fromEntries(
        Array.from({ length: 1 + dice(3) }, () => [
          faulty && dice(20) === 0 ? pick(dice, BAD_HOSTS) : pick(dice, HOSTS),
          dice(2) === 0
            ? null
            : { [`v_${dice(3)}`]: pick<unknown>(dice, [1, 'yes', true, [1, 'a'], { k: null }, 1.5]) },
        ]),
      )
      if (dice(8) === 0) content.hosts = pick(dice, HOSTS)
      if (faulty && dice(12) === 0) content.hosts = ['n1']
    }
    if (dice(3) === 0)
      content.vars = { [`v_${dice(3)}`]: dice(100), ...(dice(4) === 0 ? { ansible_group_priority: dice(4) } : {}) }
    if (depth < 3 && dice(2) === 0) {
      content.children = Object.fromEntries(
        Array.from({ length: 1 + dice(2) }, () => [
          pick(dice, GROUPS.slice(0, 5) as [string, ...string[]]),
          group(depth + 1),
        ]),
      )
    }
    if (dice(12) === 0) content.other = { a: 1 }
    return dice(8) === 0 ? null : faulty && dice(20) === 0 ? 'text' : content
  }
  return JSON.stringify(
    Object.fromEntries(
      Array.from({ length: 1 + dice(3) }, () => [pick(dice, GROUPS.slice(0, 6) as [string, ...string[]]), group(0)]),
    ),
  )
}

const TERMS = [
  'all',
  '*',
  'g1',
  'g2',
  'g3',
  'g-4',
  'G5',
  'ungrouped',
  'n*',
  'n?',
  '~n[12]',
  'g1[0]',
  'g1[-1]',
  'g2[0:1]',
  'g1[1:]',
  'g1[1:0]',
  'localhost',
  'nosuch',
  'n[45]',
  '[nm]*',
  '10.0.0.1',
  'fe80::1',
  '*.example',
  'x?.*',
  'g*[1]',
] as const

/** A hosts pattern of one to three terms. */
export function patternText(dice: Dice): string {
  const terms = Array.from({ length: 1 + dice(3) }, () => pick(dice, ['', '', '&', '!']) + pick(dice, TERMS))
  return terms.join(pick(dice, [',', ':', ', ']))
}
