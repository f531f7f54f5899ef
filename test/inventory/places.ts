import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Diagnostic, Report } from '../../src/source/diagnostic.js'
import { placeOf } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import type { Node } from '../../src/yaml/node.js'

/** Writes files into a new directory, gives it to the test, and removes it. */
export function inDirectory<T>(files: Readonly<Record<string, string>>, test: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'whofixes-inventory-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true })
      writeFileSync(join(directory, path), text)
    }
    return test(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** A tree that is only in memory. */
export function treeOf(files: Readonly<Record<string, string>>): SourceTree {
  const texts = new Map(Object.entries(files).map(([path, text]) => [path, { path, text }]))
  const isDirectory = (path: string): boolean =>
    path === '' || [...texts.keys()].some(each => each.startsWith(`${path}/`))
  return {
    origin: { kind: 'directory', path: '/nowhere' },
    entryKind: path => (texts.has(path) ? 'file' : isDirectory(path) ? 'directory' : undefined),
    read: path => texts.get(path),
    list: path => {
      const prefix = path === '' ? '' : `${path}/`
      const inside = [...texts.keys()].filter(each => each.startsWith(prefix))
      return [...new Set(inside.map(each => each.slice(prefix.length).split('/')[0] ?? ''))].sort()
    },
    diagnostics: () => [],
  }
}

/** Collects what a reader reports, as `place code: message`. */
export function collector(): { readonly report: Report; readonly told: string[]; readonly all: Diagnostic[] } {
  const told: string[] = []
  const all: Diagnostic[] = []
  return {
    told,
    all,
    report: diagnostic => {
      all.push(diagnostic)
      told.push(`${placeOf(diagnostic.at)} ${diagnostic.code}: ${diagnostic.message}`)
    },
  }
}

/** A node as plain JSON data. */
export function plain(node: Node): unknown {
  switch (node.kind) {
    case 'scalar':
      return typeof node.data === 'bigint' ? Number(node.data) : node.data
    case 'list':
      return node.items.map(plain)
    case 'map':
      return Object.fromEntries(node.entries.map(entry => [String(entry.key.data), plain(entry.value)]))
    case 'unreadable':
      return { unreadable: node.says }
  }
}
