import { createHash } from 'node:crypto'
import jmespath from 'jmespath'
import { type FilterFunction, type FilterTable, pure } from '../call.js'
import { parseJson } from '../json.js'
import {
  causesIn,
  compareText,
  dataOf,
  floatText,
  fromJson,
  giveUp,
  isDict,
  isFullyKnown,
  isList,
  isTuple,
  membersOf,
  Raised,
  raise,
  strOf,
  toJson,
  truthOfData,
  typeName,
  Unresolved,
} from '../python.js'
import type { Data, Key, Value } from '../value.js'
import { failure, known } from '../value.js'
import { compareLoose } from '../version.js'
import { dumpYaml } from '../yaml-dump.js'

interface JsonStyle {
  readonly indent: number | null
  readonly itemSeparator: string
  readonly keySeparator: string
  readonly sortKeys: boolean
  readonly ascii: boolean
}

function jsonText(text: string, ascii: boolean): string {
  const quoted = JSON.stringify(text).replaceAll('\x7f', '\\u007f')
  const lone = ascii ? quoted.replaceAll('\\u007f', '\x7f') : quoted.replaceAll('\\u007f', '\x7f')
  return ascii ? lone.replace(/[^\x00-\x7f]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) : lone
}

function jsonKey(key: Key): string {
  if (typeof key === 'string') return key
  if (key === null) return 'null'
  return typeof key === 'boolean' ? String(key) : strOf(key)
}

/** Python's `json.dumps`. */
function dumpJson(data: Data, style: JsonStyle, level = 0): string {
  if (level > 400) return raise('maximum recursion depth exceeded')
  if (data === null) return 'null'
  if (typeof data === 'boolean' || typeof data === 'bigint') return String(data)
  if (typeof data === 'number') {
    return Number.isNaN(data) ? 'NaN' : Number.isFinite(data) ? floatText(data) : data > 0 ? 'Infinity' : '-Infinity'
  }
  if (typeof data === 'string') return jsonText(data, style.ascii)
  const wrap = (open: string, parts: readonly string[], close: string): string => {
    if (parts.length === 0) return open + close
    if (style.indent === null) return open + parts.join(style.itemSeparator) + close
    const pad = (depth: number): string => `\n${' '.repeat(style.indent as number).repeat(depth)}`
    return open + pad(level + 1) + parts.join(style.itemSeparator.trimEnd() + pad(level + 1)) + pad(level) + close
  }
  if (isDict(data)) {
    const entries = [...data]
    if (style.sortKeys) sortKeys(entries)
    return wrap(
      '{',
      entries.map(
        ([key, value]) =>
          jsonText(jsonKey(key), style.ascii) + style.keySeparator + dumpJson(dataOf(value), style, level + 1),
      ),
      '}',
    )
  }
  if (isList(data) || (isTuple(data) && data.view === undefined)) {
    return wrap(
      '[',
      membersOf(data).map(item => dumpJson(dataOf(item), style, level + 1)),
      ']',
    )
  }
  return raise(`Object of type ${typeName(data)} is not JSON serializable`)
}

function sortKeys(entries: [Key, Value][]): void {
  const [first] = entries
  if (first !== undefined && entries.some(([key]) => typeof key !== typeof first[0])) {
    raise("'<' not supported between instances of 'str' and 'int'")
  }
  entries.sort(([a], [b]) =>
    typeof a === 'string' && typeof b === 'string' ? compareText(a, b) : (a ?? 0) < (b ?? 0) ? -1 : 1,
  )
}

function protectedText(text: string): Value {
  return { kind: 'known', data: text, protected: true }
}

const jsonOptions = [
  ['indent', null],
  ['sort_keys', false],
  ['separators', null],
  ['ensure_ascii', true],
  ['preprocess_unsafe', false],
  ['vault_to_text', true],
] as const

function jsonFilter(name: string, indent: Data, sort: boolean): FilterFunction {
  const options = jsonOptions.map(([option, fallback]) =>
    option === 'indent'
      ? ([option, indent] as const)
      : option === 'sort_keys'
        ? ([option, sort] as const)
        : ([option, fallback] as const),
  )
  return pure(name, options, (data, [width, sorted, separators, ascii]) => {
    if (typeof width === 'string') return giveUp(`${name} with a text as indent is not modelled`)
    const spaces = typeof width === 'bigint' ? Number(width) : null
    const given = separators === null ? null : membersOf(separators as Data).map(part => strOf(dataOf(part)))
    return protectedText(
      dumpJson(data, {
        indent: spaces === null || spaces > 64 ? null : spaces,
        itemSeparator: given?.[0] ?? (spaces === null ? ', ' : ','),
        keySeparator: given?.[1] ?? ': ',
        sortKeys: truthOfData(sorted as Data),
        ascii: truthOfData(ascii as Data),
      }),
    )
  })
}

/** These filters catch whatever goes wrong and fail in their own name, also at undefined members. */
function inOwnName(name: string, work: () => string): string {
  try {
    return work()
  } catch (error) {
    if (error instanceof Raised) return raise(`${name} - ${error.message}`)
    throw error
  }
}

function yamlFilter(name: string, indent: Data, flow: Data): FilterFunction {
  const dump = pure(
    name,
    [
      ['indent', indent],
      ['default_flow_style', flow],
      ['width', 80n],
      ['sort_keys', true],
      ['explicit_start', false],
      ['explicit_end', false],
    ],
    (data, [width, style, lineWidth, sorted, start, end]) =>
      protectedText(
        inOwnName(name, () =>
          dumpYaml(data, {
            indent: typeof width === 'bigint' ? Number(width) : 2,
            flow: style === null ? null : truthOfData(style as Data),
            width: typeof lineWidth === 'bigint' ? Number(lineWidth) : 80,
            sortKeys: truthOfData(sorted as Data),
            explicitStart: truthOfData(start as Data),
            explicitEnd: truthOfData(end as Data),
          }),
        ),
      ),
  )
  return (input, given) => (input.kind === 'undefined' ? raise(`${name} - ${input.says}`) : dump(input, given))
}

function hashOf(algorithm: string, data: Data): string {
  return createHash(algorithm).update(strOf(data), 'utf8').digest('hex')
}

const hashes: ReadonlySet<string> = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'])
/** The namespace ansible-core documents for `to_uuid`. */
const uuidNamespace = '361E6D51-FAEC-444A-9079-341386DA8E2E'

function uuid5(namespace: string, name: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  if (space.length !== 16) return raise(`Invalid value '${namespace}' for 'namespace'`)
  const bytes = createHash('sha1').update(space).update(name, 'utf8').digest().subarray(0, 16)
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

function onlyUtf8(encoding: Data | undefined): void {
  if (!/^utf[-_]?8$/i.test(strOf(encoding ?? 'utf-8'))) giveUp(`the encoding ${strOf(encoding ?? '')} is not modelled`)
}

/**
 * A literal of JMESPath that is no JSON is a text to Python's implementation, whatever it begins with: `['a', 'b']` as Python
 * prints a list. Source: jmespath/lexer.py `_consume_literal`.
 */
function withTextLiterals(expression: string): string {
  return expression.replaceAll(
    /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`((?:\\[\s\S]|[^`\\])*)`/g,
    (token, literal?: string) => {
      if (literal === undefined) return token
      const text = literal.replaceAll('\\`', '`').trimStart()
      const asText = `"${text}"`
      return isJson(text) || !isJson(asText) ? token : `\`${asText.replaceAll('`', '\\`')}\``
    },
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const jsonQueryOfData: FilterFunction = pure('json_query', ['expr'], (data, [expression]) => {
  const value = known(data)
  if (hasTuple(value)) return giveUp('json_query of a tuple')
  if (!isFullyKnown(value))
    throw new Unresolved(causesIn(value), causesIn(value).length > 0 ? null : 'json_query looks at something undefined')
  try {
    return known(fromJson(jmespath.search(toJson(value), withTextLiterals(strOf(expression as Data)))))
  } catch (error) {
    return raise(`JMESPathError in json_query filter plugin:\n${error instanceof Error ? error.message : ''}`)
  }
})

/** JMESPath takes no tuple for a list. */
function hasTuple(value: Value): boolean {
  if (value.kind !== 'known') return false
  const { data } = value
  return isTuple(data) || (isList(data) && data.some(hasTuple)) || (isDict(data) && [...data.values()].some(hasTuple))
}

/** Whatever goes wrong inside is the filter's own error, also an undefined input. */
const jsonQuery: FilterFunction = (input, given) =>
  input.kind === 'undefined' && input.lenient !== true
    ? failure(`Error in jmespath.search in json_query filter plugin:\n${input.says}`, given.context.at)
    : jsonQueryOfData(input, given)

const fromYaml: FilterFunction = pure('from_yaml', [], (data, _args, context) =>
  typeof data === 'string' ? context.environment.readYaml(data, context.at) : known(data),
)

function versionText(data: Data): string {
  return typeof data === 'string' ? data : raise('expected string or bytes-like object')
}

export const serialFilters: FilterTable = {
  to_json: jsonFilter('to_json', null, false),
  to_nice_json: (input, given) => {
    const named = new Map(given.named)
    if (!named.has('separators')) {
      named.set('separators', known({ kind: 'tuple', items: [known(','), known(': ')] }))
    }
    return jsonFilter('to_nice_json', 4n, true)(input, { ...given, named })
  },
  from_json: pure('from_json', [], data => {
    if (typeof data !== 'string') return raise(`the JSON object must be str, bytes or bytearray, not ${typeName(data)}`)
    return known(parseJson(data))
  }),
  to_yaml: yamlFilter('to_yaml', null, null),
  to_nice_yaml: yamlFilter('to_nice_yaml', 4n, false),
  from_yaml: (input, given) => (input.kind === 'undefined' ? input : fromYaml(input, given)),
  b64encode: pure('b64encode', [['encoding', 'utf-8']], (data, [encoding]) => {
    onlyUtf8(encoding)
    return known(Buffer.from(strOf(data), 'utf8').toString('base64'))
  }),
  b64decode: pure('b64decode', [['encoding', 'utf-8']], (data, [encoding]) => {
    onlyUtf8(encoding)
    const text = strOf(data).replace(/[^A-Za-z0-9+/=]/g, '')
    const body = text.replace(/=+$/, '')
    if (body.length % 4 === 1 || text.length % 4 !== 0) return raise('Incorrect padding')
    const bytes = Buffer.from(body, 'base64')
    const decoded = bytes.toString('utf8')
    return Buffer.from(decoded, 'utf8').equals(bytes) ? known(decoded) : giveUp('bytes that are no UTF-8 text')
  }),
  hash: pure('hash', [['hashtype', 'sha1']], (data, [type]) => {
    const algorithm = strOf(type as Data)
    return hashes.has(algorithm) ? known(hashOf(algorithm, data)) : giveUp(`the hash ${algorithm} is not modelled`)
  }),
  md5: pure('md5', [], data => known(hashOf('md5', data))),
  checksum: pure('checksum', [], data => known(hashOf('sha1', data))),
  to_uuid: pure('to_uuid', [['namespace', uuidNamespace]], (data, [namespace]) =>
    known(uuid5(strOf(namespace as Data), strOf(data))),
  ),
  json_query: jsonQuery,
  version_sort: pure('version_sort', [['reverse', false]], (data, [reverse]) => {
    const items = [...membersOf(data)].map(item => ({ item, text: versionText(dataOf(item)) }))
    const back = truthOfData(reverse as Data)
    if (items.length > 1 && items.some(({ text }) => text === ''))
      return raise("'LooseVersion' object has no attribute 'version'")
    items.sort((a, b) => (back ? compareLoose(b.text, a.text) : compareLoose(a.text, b.text)))
    return known(items.map(entry => entry.item))
  }),
}
