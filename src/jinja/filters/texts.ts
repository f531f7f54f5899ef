import { applyToData } from '../apply.js'
import { center, replaceText, split, strip, titleCase } from '../attributes.js'
import { type FilterFunction, type FilterTable, pure } from '../call.js'
import { formatPercent } from '../format.js'
import {
  charactersOf,
  checkSize,
  dataOf,
  giveUp,
  isDict,
  isList,
  membersOf,
  raise,
  strOf,
  truthOfData,
  typeName,
} from '../python.js'
import { expandReplacement, type Matcher, matcherOf } from '../regex.js'
import type { Data, Value } from '../value.js'
import { known } from '../value.js'

/** A filter of the text of whatever comes in. */
function ofText(name: string, work: (text: string) => string): FilterFunction {
  return pure(name, [], data => known(work(strOf(data))))
}

function count(data: Data | undefined, what: string): number {
  if (typeof data === 'boolean') return data ? 1 : 0
  return typeof data === 'bigint' ? Number(data) : raise(`${what} must be an integer, not ${typeName(data ?? null)}`)
}

function mustBeText(data: Data | undefined): string {
  return typeof data === 'string' ? data : raise(`expected string, got ${typeName(data ?? null)}`)
}

function indent(text: string, width: Data, first: boolean, blank: boolean): string {
  const by = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(count(width, 'width'), 0), 10_000))
  // Python's splitlines of the text with one newline added.
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/)
  const [head = '', ...rest] = lines
  const body = rest.map(line => (line === '' && !blank ? line : by + line))
  return (first ? by : '') + [head, ...body].join('\n')
}

/** `shlex.quote` */
export function shellQuote(text: string): string {
  if (text === '') return "''"
  return /^[\w@%+=:,./-]+$/.test(text) && !/[^\x00-\x7f]/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`
}

function flags(ignoreCase: Data | undefined, multiLine: Data | undefined): { ignoreCase: boolean; multiLine: boolean } {
  return { ignoreCase: truthOfData(ignoreCase ?? null), multiLine: truthOfData(multiLine ?? null) }
}

function groupOf(matcher: Matcher, match: RegExpExecArray, wanted: string): Value {
  const named = /^\\g<(\S+)>/.exec(wanted)?.[1]
  const numbered = /^\\(\d+)/.exec(wanted)?.[1]
  if (named === undefined && numbered === undefined) return raise('Unknown argument')
  const index =
    numbered !== undefined
      ? Number(numbered)
      : /^\d+$/.test(named ?? '')
        ? Number(named)
        : matcher.names.get(named ?? '')
  if (index === undefined || index > matcher.groups) return raise('no such group')
  const found = match[index]
  return known(found === undefined ? null : found)
}

const regexSearch: FilterFunction = (input, given) => {
  const [pattern, ...groups] = given.positional
  const regex = pattern ?? given.named.get('regex')
  if (regex === undefined) return raise("regex_search() missing 1 required positional argument: 'regex'")
  const off = known(false)
  const switches = [given.named.get('ignorecase') ?? off, given.named.get('multiline') ?? off]
  return applyToData(
    [input, regex, ...switches, ...groups],
    given.context.at,
    ([data, source, ignore, multi, ...wanted]) => {
      const matcher = matcherOf(mustBeText(source), flags(ignore, multi))
      const match = matcher.search(strOf(data as Data))
      for (const group of wanted) if (!/^\\(?:g<\S+>|\d)/.test(mustBeText(group))) return raise('Unknown argument')
      if (match === null) return known(null)
      return known(wanted.length === 0 ? match[0] : wanted.map(group => groupOf(matcher, match, mustBeText(group))))
    },
  )
}

const regexReplace = pure(
  'regex_replace',
  [
    ['pattern', ''],
    ['replacement', ''],
    ['ignorecase', false],
    ['multiline', false],
  ],
  (data, [pattern, replacement, ignore, multi]) => {
    const matcher = matcherOf(mustBeText(pattern), flags(ignore, multi))
    const text = strOf(data)
    const by = mustBeText(replacement)
    let result = ''
    let at = 0
    for (const match of matcher.all(text)) {
      result += text.slice(at, match.index) + expandReplacement(by, match, matcher)
      at = match.index + match[0].length
      checkSize(result.length)
    }
    return known(result + text.slice(at))
  },
)

const regexFindAll = pure(
  'regex_findall',
  ['regex', ['multiline', false], ['ignorecase', false]],
  (data, [pattern, multi, ignore]) => {
    const matcher = matcherOf(mustBeText(pattern), flags(ignore, multi))
    const found = matcher.all(strOf(data)).map((match): Value => {
      if (matcher.groups === 0) return known(match[0])
      const groups = Array.from({ length: matcher.groups }, (_, index) => known(match[index + 1] ?? ''))
      return matcher.groups === 1 ? (groups[0] as Value) : known({ kind: 'tuple', items: groups })
    })
    return known(found)
  },
)

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('>', '&gt;')
    .replaceAll('<', '&lt;')
    .replaceAll("'", '&#39;')
    .replaceAll('"', '&#34;')
}

function quoteUrl(text: string, slashToo: boolean): string {
  let result = ''
  for (const byte of new TextEncoder().encode(text)) {
    const char = String.fromCharCode(byte)
    result +=
      /[A-Za-z0-9_.~-]/.test(char) || (char === '/' && !slashToo)
        ? char
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return result
}

const urlencode = pure('urlencode', [], data => {
  if (typeof data === 'string' || (!isDict(data) && !isList(data))) return known(quoteUrl(strOf(data), false))
  const pairs = isDict(data)
    ? [...data].map(([key, value]) => [key as Data, dataOf(value)] as const)
    : membersOf(data).map(pair => {
        const [key, value] = membersOf(dataOf(pair)).map(dataOf)
        return [key ?? null, value ?? null] as const
      })
  const quoted = (part: Data): string => quoteUrl(strOf(part), true).replaceAll('%20', '+')
  return known(pairs.map(([key, value]) => `${quoted(key)}=${quoted(value)}`).join('&'))
})

const comment = pure(
  'comment',
  [
    ['style', 'plain'],
    ['decoration', null],
  ],
  (data, [style, decoration]) => {
    const marks: Readonly<Record<string, string>> = { plain: '# ', erlang: '% ', c: '// ' }
    const mark = decoration === null ? marks[strOf(style as Data)] : mustBeText(decoration)
    if (mark === undefined) return giveUp(`comment style ${strOf(style as Data)} is not modelled`)
    const bare = mark.trimEnd()
    const lines = mustBeText(data).split('\n')
    const body = lines.map((line, index) => (line === '' && index < lines.length - 1 ? bare : mark + line))
    return known([bare, ...body, bare].join('\n'))
  },
)

export const textFilters: FilterTable = {
  string: pure('string', [], data => ({ kind: 'known', data: strOf(data), protected: true })),
  lower: ofText('lower', text => text.toLowerCase()),
  upper: ofText('upper', text => text.toUpperCase()),
  title: ofText('title', text =>
    text
      .split(/([-\s({[<]+)/)
      .map(word => titleWord(word))
      .join(''),
  ),
  capitalize: ofText('capitalize', text => {
    const [first = '', ...rest] = charactersOf(text)
    return first.toUpperCase() + rest.join('').toLowerCase()
  }),
  trim: pure('trim', [['chars', null]], (data, [chars]) => known(strip(strOf(data), chars, 'both'))),
  replace: pure('replace', ['old', 'new', ['count', null]], (data, [from, to, times]) =>
    known(
      replaceText(strOf(data), strOf(from as Data), strOf(to as Data), times === null ? -1 : count(times, 'count')),
    ),
  ),
  split: pure(
    'split',
    [
      ['sep', null],
      ['maxsplit', -1n],
    ],
    (data, [sep, limit]) => known(split(mustBeText(data), sep, limit).map(part => known(part))),
  ),
  indent: pure(
    'indent',
    [
      ['width', 4n],
      ['first', false],
      ['blank', false],
    ],
    (data, [width, first, blank]) =>
      known(indent(mustBeText(data), width as Data, truthOfData(first ?? null), truthOfData(blank ?? null))),
  ),
  format: (input, given) =>
    applyToData([input, ...given.positional, ...given.named.values()], given.context.at, ([text, ...args]) => {
      const names = [...given.named.keys()]
      if (names.length > 0 && given.positional.length > 0)
        return raise("can't handle positional and keyword arguments at the same time")
      const data: Data =
        names.length > 0
          ? new Map(names.map((name, index) => [name, known(args[index] as Data)]))
          : { kind: 'tuple', items: args.map(arg => known(arg)) }
      return known(formatPercent(strOf(text as Data), data))
    }),
  quote: pure('quote', [], data => known(shellQuote(data === null ? '' : strOf(data)))),
  center: pure('center', [['width', 80n]], (data, [width]) => known(center(strOf(data), count(width, 'width'), ' '))),
  truncate: pure(
    'truncate',
    [
      ['length', 255n],
      ['killwords', false],
      ['end', '...'],
      ['leeway', 5n],
    ],
    (data, [length, kill, end, leeway]) => {
      const text = typeof data === 'string' ? data : giveUp('truncate of anything but text is not modelled')
      const chars = charactersOf(text)
      const size = count(length, 'length')
      const tail = mustBeText(end)
      if (size < tail.length) return raise(`expected length >= ${tail.length}, got ${size}`)
      if (chars.length <= size + count(leeway, 'leeway')) return known(text)
      const cut = chars.slice(0, size - tail.length).join('')
      const space = cut.lastIndexOf(' ')
      return known((truthOfData(kill ?? null) || space === -1 ? cut : cut.slice(0, space)) + tail)
    },
  ),
  wordcount: pure('wordcount', [], data => known(BigInt(strOf(data).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0))),
  regex_replace: regexReplace,
  regex_search: regexSearch,
  regex_findall: regexFindAll,
  regex_escape: pure('regex_escape', [['re_type', 'python']], (data, [type]) => {
    const text = strOf(data)
    if (type === 'python') return known(text.replace(/[()[\]{}?*+\-|^$\\.&~# \t\n\r\v\f]/g, '\\$&'))
    if (type === 'posix_basic') return known(text.replace(/[\].[^$*\\]/g, '\\$&'))
    return raise(`Invalid regex type (${strOf(type as Data)})`)
  }),
  escape: pure('escape', [], data => known(escapeHtml(strOf(data)))),
  forceescape: pure('forceescape', [], data => known(escapeHtml(strOf(data)))),
  safe: pure('safe', [], data => known(strOf(data))),
  urlencode,
  urldecode: pure('urldecode', [], data => {
    try {
      return known(decodeURIComponent(mustBeText(data).replaceAll('+', ' ')))
    } catch {
      return giveUp('a text that is no valid URL encoding is not decoded')
    }
  }),
  comment,
}

function titleWord(word: string): string {
  const [first = '', ...rest] = charactersOf(word)
  return first === '' ? '' : titleCase(first) + rest.join('').toLowerCase()
}
