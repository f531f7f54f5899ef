import { type FilterFunction, type FilterTable, pure } from '../call.js'
import { dataOf, giveUp, isList, isTuple, raise, strOf, truthOfData, typeName } from '../python.js'
import type { Data, Key, Unknown, Value } from '../value.js'
import { known, unknown } from '../value.js'

function pathOf(data: Data | undefined): string {
  return typeof data === 'string'
    ? data
    : raise(`expected str, bytes or os.PathLike object, not ${typeName(data ?? null)}`)
}

/** `os.path.dirname`: everything before the last slash, trailing slashes of it dropped unless it is only slashes. */
function directoryOf(path: string): string {
  const head = path.slice(0, path.lastIndexOf('/') + 1)
  return /^\/*$/.test(head) ? head : head.replace(/\/+$/, '')
}

function splitExtension(path: string): readonly [string, string] {
  const base = path.slice(path.lastIndexOf('/') + 1)
  const bare = base.replace(/^\.+/, '')
  const dot = bare.lastIndexOf('.')
  if (dot === -1) return [path, '']
  const extension = bare.slice(dot)
  return [path.slice(0, path.length - extension.length), extension]
}

/** `os.path.join` */
export function joinPaths(parts: readonly string[]): string {
  return parts.reduce((path, part) => {
    if (part.startsWith('/')) return part
    return path === '' || path.endsWith('/') ? path + part : `${path}/${part}`
  })
}

/** `os.path.normpath` */
function normalise(path: string): string {
  if (path === '') return '.'
  const root = /^\/\/(?!\/)/.test(path) ? '//' : path.startsWith('/') ? '/' : ''
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && (parts.length === 0 ? root !== '' : parts.at(-1) !== '..')) parts.pop()
    else parts.push(part)
  }
  return root + parts.join('/') || '.'
}

function relativePath(path: string, start: string): string {
  if (!path.startsWith('/') || !start.startsWith('/')) {
    if (path.startsWith('/') !== start.startsWith('/'))
      return giveUp('a relative path depends on the working directory')
  }
  const to = normalise(path)
    .split('/')
    .filter(part => part !== '' && part !== '.')
  const from = normalise(start)
    .split('/')
    .filter(part => part !== '' && part !== '.')
  if (from.includes('..') || to.includes('..')) return giveUp('a relative path depends on the working directory')
  let common = 0
  while (common < to.length && to[common] === from[common]) common++
  return [...from.slice(common).map(() => '..'), ...to.slice(common)].join('/') || '.'
}

const urlPattern = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s

/** `urlsplit`: the parts of Python's urllib, or the one asked for. */
function splitUrl(url: string, query: string): Value {
  const match = urlPattern.exec(url.trim().replaceAll(/[\t\r\n]/g, ''))
  if (match === null) return giveUp('this URL is not taken apart')
  const [, scheme = '', netloc = '', path = '', queryText = '', fragment = ''] = match
  const at = netloc.lastIndexOf('@')
  const user = at === -1 ? null : netloc.slice(0, at)
  const [username = null, password = null] = user === null ? [] : (user.match(/^([^:]*)(?::(.*))?$/s)?.slice(1) ?? [])
  const host = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(netloc.slice(at + 1))
  const name = (host?.[1] ?? host?.[2] ?? '').toLowerCase()
  const port = host?.[3] ?? ''
  const parts = new Map<Key, Value>([
    ['fragment', known(fragment)],
    ['hostname', known(name === '' ? null : name)],
    ['netloc', known(netloc)],
    ['password', known(password)],
    ['path', known(path)],
    ['port', known(port === '' ? null : BigInt(port))],
    ['query', known(queryText)],
    ['scheme', known(scheme.toLowerCase())],
    ['username', known(username)],
  ])
  if (query === '') return known(parts)
  return parts.get(query) ?? raise(`urlsplit: unknown URL component: ${query}`)
}

/** urllib wants text, and fails at anything else that is true. */
function urlOf(data: Data): string {
  if (typeof data === 'string') return data
  return truthOfData(data)
    ? raise(`'${typeName(data)}' object has no attribute 'decode'`)
    : giveUp('the URL of an empty value')
}

/** A filter that the known end of a path decides where its start is not known (`role_path`: where the checkout stands). */
function byEnd(filter: FilterFunction, ofOpen: (path: Unknown, end: string, rest: Pieces) => Value): FilterFunction {
  return (input, given) => {
    const end = input.kind === 'unknown' ? input.text?.at(-1) : undefined
    if (input.kind !== 'unknown' || typeof end !== 'string') return filter(input, given)
    return ofOpen(input, end, input.text?.slice(0, -1) ?? [])
  }
}

type Pieces = readonly (string | null)[]

function openBase({ causes }: Unknown, end: string): Value {
  const slash = end.lastIndexOf('/')
  if (slash !== -1) return known(end.slice(slash + 1))
  return end === '' ? unknown(causes) : unknown(causes, [null, end])
}

function openDirectory({ causes }: Unknown, end: string, rest: Pieces): Value {
  const slash = end.lastIndexOf('/')
  return slash === -1 ? unknown(causes) : unknown(causes, [...rest, end.slice(0, slash).replace(/\/+$/, '')])
}

export const pathFilters: FilterTable = {
  basename: byEnd(
    pure('basename', [], data => known(pathOf(data).slice(pathOf(data).lastIndexOf('/') + 1))),
    openBase,
  ),
  dirname: byEnd(
    pure('dirname', [], data => known(directoryOf(pathOf(data)))),
    openDirectory,
  ),
  splitext: pure('splitext', [], data =>
    known({ kind: 'tuple', items: splitExtension(pathOf(data)).map(part => known(part)) }),
  ),
  path_join: pure('path_join', [], data => {
    if (typeof data === 'string') return known(data)
    const parts = isList(data)
      ? data
      : isTuple(data)
        ? data.items
        : raise(`|path_join expects string or sequence, got ${typeName(data)} instead.`)
    if (parts.length === 0) return raise("join() missing 1 required positional argument: 'a'")
    return known(joinPaths(parts.map(part => pathOf(dataOf(part)))))
  }),
  relpath: pure('relpath', [['start', null]], (data, [start]) =>
    start === null
      ? giveUp('a relative path depends on the working directory')
      : known(relativePath(pathOf(data), pathOf(start))),
  ),
  expanduser: pure('expanduser', [], data =>
    pathOf(data).startsWith('~') ? giveUp('the home directory of the run') : known(pathOf(data)),
  ),
  expandvars: pure('expandvars', [], data =>
    pathOf(data).includes('$') ? giveUp('the environment of the run') : known(pathOf(data)),
  ),
  realpath: pure('realpath', [], () => giveUp('links on the control host')),
  fileglob: pure('fileglob', [], () => giveUp('files on the control host')),
  urlsplit: pure('urlsplit', [['query', '']], (data, [query]) => splitUrl(urlOf(data), strOf(query as Data))),
  win_basename: pure('win_basename', [], data => known(/[^\\/]*$/.exec(pathOf(data))?.[0] ?? '')),
  x509_certificate_info: pure('x509_certificate_info', [], () => giveUp('the content of a certificate')),
}
