import { type Cause, known, unknown, type Value } from '../jinja/value.js'
import type { TaskRun } from '../run/task-run.js'
import { type Span, wholeFile } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import { causesOf, piecesCanBe, piecesOf, textOf } from './argument.js'

/** The text of a file or template of a role, as far as it is known without the host. */
export interface RoleText {
  readonly content: Value
  /** Why parts of it may not be there: `{% if %}` and `{% for %}` that were not evaluated. */
  readonly unsure: string | undefined
  /** For a directory: the files in it and below, by their paths from it. Its own content is not known. */
  readonly files?: readonly RoleFile[]
}

export interface RoleFile {
  readonly path: string
  readonly content: Value
}

/** Reads a file or template a task names; undefined when it is not there. */
export type ReadRoleText = (task: TaskRun, kind: 'file' | 'template', name: Value) => RoleText | undefined

const MAX_CANDIDATES = 8
const MAX_FILES = 500

/** The files of a directory of the tree and of those below; undefined where there are too many to say something of each. */
function filesBelow(tree: SourceTree, directory: string): readonly RoleFile[] | undefined {
  const files: RoleFile[] = []
  const below = (path: string, from: string): boolean =>
    tree.list(path).every(name => {
      const own = `${path}/${name}`
      if (tree.entryKind(own) === 'directory') return below(own, `${from}${name}/`)
      const file = tree.read(own)
      const cause = {
        says: `the file ${own} could not be read`,
        at: wholeFile({ path: own, text: '' }),
        unread: true as const,
      }
      files.push({ path: from + name, content: file === undefined ? unknown([cause]) : known(file.text) })
      return files.length < MAX_FILES
    })
  return below(directory, '') ? files : undefined
}

/**
 * Files and templates looked up where Ansible looks: the role's `files/` or `templates/`, its tasks, the playbook's
 * directory. A name of which only pieces are known stands for every file it can be.
 */
export function roleTexts(tree: SourceTree): ReadRoleText {
  const read = new Map<string, RoleText | undefined>()
  const textAt = (path: string, kind: 'file' | 'template'): RoleText | undefined => {
    if (read.has(path)) return read.get(path)
    const file = tree.entryKind(path) === 'file' ? tree.read(path) : undefined
    const text =
      file === undefined
        ? undefined
        : kind === 'file'
          ? { content: known(file.text), unsure: undefined }
          : templateText(file.text, wholeFile(file))
    read.set(path, text)
    return text
  }
  const directoryAt = (path: string, kind: 'file' | 'template'): RoleText | undefined => {
    if (kind === 'template' || tree.entryKind(path) !== 'directory') return undefined
    const files = filesBelow(tree, path)
    const cause = { says: `${path} is a directory`, at: wholeFile({ path, text: '' }), unread: true as const }
    return { content: unknown([cause]), unsure: undefined, ...(files === undefined ? {} : { files }) }
  }
  const firstOf = (task: TaskRun, kind: 'file' | 'template', text: string): RoleText | undefined => {
    if (text.startsWith('/')) return undefined
    for (const directory of directoriesOf(task, kind)) {
      const path = normalised(`${directory}/${text}`)
      const found = path === undefined ? undefined : (textAt(path, kind) ?? directoryAt(path, kind))
      if (found !== undefined) return found
    }
    return undefined
  }
  return (task, kind, name) => {
    const text = textOf(name)
    if (text !== undefined) return firstOf(task, kind, text)
    const names = namesOf(tree, task, kind, name)
    const found = names.flatMap(each => firstOf(task, kind, each) ?? [])
    if (found.length !== names.length || found.length === 0 || found.length > MAX_CANDIDATES) return undefined
    return oneOfTexts(found, causesOf(name))
  }
}

/** The names a partly known name can have: its alternatives, or the files beside that fit its pieces. */
function namesOf(tree: SourceTree, task: TaskRun, kind: 'file' | 'template', name: Value): readonly string[] {
  if (name.kind === 'one-of') {
    const texts = name.options.flatMap(({ value }) => textOf(value) ?? [])
    return texts.length === name.options.length ? texts : []
  }
  const pieces = piecesOf(name)
  if (pieces === undefined || !pieces.some(piece => piece !== null && piece !== '')) return []
  const [directory] = directoriesOf(task, kind)
  return directory === undefined ? [] : tree.list(directory).filter(each => piecesCanBe(pieces, each))
}

function oneOfTexts(found: readonly RoleText[], because: readonly Cause[]): RoleText {
  const [only] = found
  if (found.length === 1 && only !== undefined) return only
  const options = found.flatMap(({ content }) => (content.kind === 'one-of' ? [] : [{ value: content, because }]))
  return { content: { kind: 'one-of', options }, unsure: found.find(each => each.unsure !== undefined)?.unsure }
}

function directoriesOf(task: TaskRun, kind: 'file' | 'template'): readonly string[] {
  const path = task.task.at.file.path
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')))
  const inRole = path.match(/^(.*)\/(?:tasks|handlers)\//)?.[1]
  const playbook = task.via.find(step => step.kind === 'playbook' || step.kind === 'play')?.at.file.path ?? ''
  const beside = playbook.slice(0, Math.max(0, playbook.lastIndexOf('/')))
  const roles = [inRole, task.role === undefined ? undefined : `roles/${task.role}`]
  return [...roles.filter(role => role !== undefined), directory, beside].flatMap(base => [`${base}/${kind}s`, base])
}

function normalised(path: string): string | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      if (parts.pop() === undefined) return undefined
    } else parts.push(part)
  }
  return parts.join('/')
}

/**
 * A template read without being rendered: `{{ }}` is an unknown piece, the bodies of all `{% %}` stand in it. Everything it
 * can come to is in there, so what is not there certainly never is.
 */
export function templateText(text: string, at: Span): RoleText {
  const pieces: (string | null)[] = []
  let conditional = false
  let from = 0
  const literal = (until: number): void => {
    if (until > from) pieces.push(text.slice(from, until))
  }
  while (from < text.length) {
    const open = nextTag(text, from)
    if (open === undefined) break
    literal(open.at)
    const close = endOfTag(text, open)
    if (close === -1) {
      from = open.at
      break
    }
    const body = text
      .slice(open.at + 2, close)
      .replace(/^[-+]/, '')
      .trim()
    if (open.closes === '}}') pieces.push(null)
    // What another template brings is not read here: some lines, of which nothing is known.
    if (open.closes === '%}' && /^(include|extends)\b/.test(body)) pieces.push(null, '\n')
    if (open.closes === '%}' && !/^(set|raw|endraw)\b/.test(body)) conditional = true
    from = close + 2
    if (open.closes === '%}' && body.replace(/[-+]$/, '').trim() === 'raw') {
      const end = text.slice(from).search(/\{%[-+]?\s*endraw\b/)
      if (end > 0) pieces.push(text.slice(from, from + end))
      from = end === -1 ? text.length : from + end
      continue
    }
    // trim_blocks: the newline after a block goes with it.
    if (open.closes === '%}' && text.startsWith('\n', from)) from++
  }
  literal(text.length)
  const unsure = conditional ? `the conditions and loops in ${at.file.path} were not evaluated` : undefined
  if (!pieces.includes(null)) return { content: known(pieces.join('')), unsure }
  const says = `the template ${at.file.path} is read without being rendered`
  return { content: { kind: 'unknown', causes: [{ says, at, unread: true }], text: pieces }, unsure }
}

/** Where a tag's closing mark stands: not one in a string (`{{ '}}' }}`) or one that closes dictionaries (`{{ {'a': {}} }}`). */
function endOfTag(text: string, { at, closes }: { readonly at: number; readonly closes: string }): number {
  if (closes === '#}') return text.indexOf(closes, at + 2)
  let depth = 0
  for (let from = at + 2; from < text.length; from++) {
    const char = text.charAt(from)
    if (depth === 0 && text.startsWith(closes, from)) return from
    if (char === '{') depth++
    else if (char === '}') depth--
    else if (char === "'" || char === '"') {
      const end = endOfString(text, from)
      if (end === -1) break
      from = end
    }
  }
  return text.indexOf(closes, at + 2)
}

function endOfString(text: string, from: number): number {
  const quote = text.charAt(from)
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === quote) return at
  }
  return -1
}

function nextTag(text: string, from: number): { readonly at: number; readonly closes: string } | undefined {
  for (let at = text.indexOf('{', from); at !== -1; at = text.indexOf('{', at + 1)) {
    const next = text.charAt(at + 1)
    if (next === '{') return { at, closes: '}}' }
    if (next === '%') return { at, closes: '%}' }
    if (next === '#') return { at, closes: '#}' }
  }
  return undefined
}
