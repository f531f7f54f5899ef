import type { SourceFile } from '../source/text.js'
import type { MapEntry, Node, ScalarNode } from './node.js'

/** Nesting deeper than this is refused by every reader here: recursion over a document then never overflows the stack. */
export const maxNesting = 256

const blank = /[ \t\n\r]*/y
const numberForm = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/y
const wordForm = /true|false|null|-?Infinity|NaN/y

const words: Readonly<Record<string, boolean | null | number>> = {
  true: true,
  false: false,
  null: null,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
}

/**
 * The text as JSON with the span of every node, or undefined where it is not JSON as Python's json module accepts it
 * (NaN and Infinity included; of a repeated key the last value counts). Ansible tries JSON before YAML on every file.
 */
export function readJson(file: SourceFile): Node | undefined {
  const { text } = file
  let at = 0

  function skipBlanks(): void {
    blank.lastIndex = at
    blank.test(text)
    at = blank.lastIndex
  }

  function matched(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = at
    const found = form.exec(text)
    if (found) at = form.lastIndex
    return found ?? undefined
  }

  function scalar(data: ScalarNode['data'], start: number): ScalarNode {
    return { kind: 'scalar', data, span: { file, start, end: at } }
  }

  function readString(): ScalarNode | undefined {
    const start = at
    const close = closingQuote(text, start + 1)
    if (close === undefined) return undefined
    at = close + 1
    const raw = text.slice(start, at)
    if (!raw.includes('\\')) return scalar(raw.slice(1, -1), start)
    try {
      return scalar(JSON.parse(raw) as string, start)
    } catch {
      return undefined
    }
  }

  function readNumber(): ScalarNode | undefined {
    const start = at
    const found = matched(numberForm)
    if (!found) return undefined
    if (found[1] !== undefined || found[2] !== undefined) return scalar(Number(found[0]), start)
    return found[0].length > 4300 ? undefined : scalar(BigInt(found[0]), start)
  }

  function readWord(): ScalarNode | undefined {
    const start = at
    const found = matched(wordForm)
    return found ? scalar(words[found[0]] ?? null, start) : undefined
  }

  function readNode(depth: number): Node | undefined {
    if (depth > maxNesting) return undefined
    switch (text[at]) {
      case '{':
        return readMap(depth)
      case '[':
        return readList(depth)
      case '"':
        return readString()
      default:
        return readWord() ?? readNumber()
    }
  }

  function readList(depth: number): Node | undefined {
    const start = at++
    const items: Node[] = []
    skipBlanks()
    while (text[at] !== ']') {
      if (items.length > 0) {
        if (text[at] !== ',') return undefined
        at++
        skipBlanks()
      }
      const item = readNode(depth + 1)
      if (!item) return undefined
      items.push(item)
      skipBlanks()
    }
    at++
    return { kind: 'list', items, span: { file, start, end: at } }
  }

  function readMap(depth: number): Node | undefined {
    const start = at++
    const entries = new Map<string, MapEntry>()
    skipBlanks()
    while (text[at] !== '}') {
      if (entries.size > 0) {
        if (text[at] !== ',') return undefined
        at++
        skipBlanks()
      }
      const key = text[at] === '"' ? readString() : undefined
      if (!key) return undefined
      skipBlanks()
      if (text[at] !== ':') return undefined
      at++
      skipBlanks()
      const value = readNode(depth + 1)
      if (!value) return undefined
      entries.set(key.data as string, { key, value })
      skipBlanks()
    }
    at++
    return { kind: 'map', entries: [...entries.values()], span: { file, start, end: at } }
  }

  skipBlanks()
  const node = readNode(1)
  skipBlanks()
  return at === text.length ? node : undefined
}

function closingQuote(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) return at
    if (code === 0x5c) at++
    else if (code < 0x20) return undefined
  }
  return undefined
}
