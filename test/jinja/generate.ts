import { readFileSync } from 'node:fs'

/** A grammar: for each name, texts in which `<other>` stands for one of the other name's. */
export type Grammar = Readonly<Record<string, readonly string[]>>

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export function readGrammar(name: string): Grammar {
  return JSON.parse(readFileSync(new URL(`../../../test/jinja/${name}`, import.meta.url), 'utf8')) as Grammar
}

export function pick<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)] as T
}

/** A text of a name of the grammar. Below `depth` levels only texts that stand for themselves are taken. */
export function textOf(grammar: Grammar, name: string, depth: number, random: () => number): string {
  const forms = grammar[name]
  if (forms === undefined) throw new Error(`the grammar has no ${name}`)
  const plain = forms.filter(form => placeholders(grammar, form).length === 0)
  const form =
    depth <= 0 && plain.length > 0
      ? pick(plain, random)
      : pick(depth <= 0 ? forms.filter(each => each.length < 20) : forms, random)
  return form.replaceAll(/<([a-z]+[0-9]?)>/g, (written, inner: string) =>
    Object.hasOwn(grammar, inner) ? textOf(grammar, inner, depth - 1, random) : written,
  )
}

function placeholders(grammar: Grammar, form: string): readonly string[] {
  return [...form.matchAll(/<([a-z]+[0-9]?)>/g)].flatMap(([, name = '']) =>
    Object.hasOwn(grammar, name) ? [name] : [],
  )
}

const numbers: readonly unknown[] = [0, 1, 2, 5, -3, 10, 255, 1.5, -0.5, 2.0001, 1e20]
const texts: readonly string[] = [
  '',
  'a',
  'ab',
  'abc def',
  '10',
  '-3.5',
  'True',
  'no',
  'A,b',
  'é😀',
  'a\nb\n',
  '1.2.10',
  '[1, 2]',
  '{"k": 1}',
  ' x ',
  'v1.2',
  'a: 1',
  '512M',
]
const lists: readonly unknown[] = [
  [],
  [1],
  [3, 1, 2],
  ['b', 'a'],
  [null, true],
  [[1], [2, 3]],
  [1, 'a', 2.5],
  ['1.10', '1.9'],
  ['a', 'A', 'b'],
  [true, 1, 'yes'],
]
const dicts: readonly unknown[] = [
  {},
  { k: 'a', n: 1, s: 'x', b: true, l: [1, 2], d: { k: 'v', l: [3] } },
  { k: 2, s: '5', x: ['p'], b: false, n: 0, d: {} },
  { rc: 0, changed: true, failed: false, k: null, n: 1.5, s: 'é', l: ['a'] },
  { skipped: true, k: 'z', d: { k: 1 } },
]

/** Variables of each sort, under the names the grammar uses. */
export function variablesFrom(random: () => number): Record<string, unknown> {
  const of = <T>(from: readonly T[]): T => pick(from, random)
  return {
    n: of(numbers),
    m: of([0, 1, 2, 3, 7, -2]),
    f: of([1.5, 2.25, -0.5, 3.0001]),
    s: of(texts),
    t: of(texts),
    b: of([true, false]),
    c: of([true, false]),
    l: of(lists),
    ls: of([
      ['b', 'A', 'a', '10'],
      ['x', 'y'],
      ['é', 'z', ''],
    ]),
    nest: of([
      [1, [2, [3]]],
      ['a', ['b', 'c'], []],
    ]),
    ld: of([
      [
        { k: 'a', n: 2, x: [1, 2] },
        { k: 'b', n: 1, x: [] },
        { k: 'a', n: 3, x: ['q'] },
      ],
      [{ k: 'a', n: 1, d: { k: 5 } }, { n: 0 }],
    ]),
    d: of(dicts),
    el: [],
    ed: {},
    no: null,
    tp: of(['{{ s }}', '{{ n }}', '{{ l }}', '{{ u }}', '{{ b }}', "{{ s ~ '!' }}"]),
    tl: ['{{ s }}', '{{ n }}', '{{ d }}'],
  }
}
