import { spawnSync } from 'node:child_process'
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml'
import { clonePath } from '../../src/source/clone.js'

/** A file of a revision, read by git and parsed by the package `yaml`: nothing of the program takes part. */
export interface OpenedFile {
  readonly lines: readonly string[]
  /** Mappings by the line of their first key, as plain entries of their keys. */
  readonly mappings: ReadonlyMap<number, readonly Mapping[]>
}

export interface Mapping {
  readonly keys: readonly string[]
  /** Texts of scalar values by key. */
  readonly values: ReadonlyMap<string, string>
  readonly lastLine: number
}

const opened = new Map<string, OpenedFile | undefined>()

/** Undefined where the revision has no such file (links of the tree are not followed: a report names real places). */
export function openFile(revision: string, path: string): OpenedFile | undefined {
  const key = `${revision}:${path}`
  if (!opened.has(key)) opened.set(key, readFile(key))
  return opened.get(key)
}

function readFile(object: string): OpenedFile | undefined {
  const shown = spawnSync('git', ['-C', clonePath(), 'show', object], { encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (shown.status !== 0) return undefined
  const text = shown.stdout
  const lines = text.split('\n')
  const mappings = new Map<number, Mapping[]>()
  if (/\.ya?ml$/.test(object)) {
    const counter = new LineCounter()
    const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false, logLevel: 'silent', strict: false })
    visit(document, {
      Map: (_, node) => {
        const first = node.items[0]?.key
        if (!isScalar(first) || first.range == null) return
        const line = counter.linePos(first.range[0]).line
        mappings.set(line, [...(mappings.get(line) ?? []), mappingOf(node, counter)])
      },
    })
  }
  return { lines, mappings }
}

function mappingOf(node: YAMLMap, counter: LineCounter): Mapping {
  const keys: string[] = []
  const values = new Map<string, string>()
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : ''
    keys.push(name)
    if (isScalar(value)) values.set(name, String(value.value))
    else if (isMap(value) || isSeq(value)) values.set(name, String(value))
  }
  return { keys, values, lastLine: counter.linePos(Math.max(0, (node.range?.[1] ?? 1) - 1)).line }
}

/** A name with templates in it, as a pattern: the templates stand for any text. */
export function fitsName(written: string, reported: string): boolean {
  if (written === reported) return true
  if (!written.includes('{{') && !written.includes('{%')) return written.trim() === reported.trim()
  const pieces = written.split(/\{\{.*?\}\}|\{%.*?%\}/s)
  let at = 0
  for (const piece of pieces) {
    const found = reported.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return true
}

/** `ansible.builtin.systemd_service` and `systemd`, `ansible.posix.mount` and `mount`: the same by their last word. */
export function fitsModule(keys: readonly string[], module: string): boolean {
  const word = (name: string): string => name.split('.').at(-1) ?? name
  const wanted = word(module).replace(/_service$/, '')
  return keys.some(key => word(key).replace(/_service$/, '') === wanted || key === 'action' || key === 'local_action')
}
