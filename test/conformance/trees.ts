import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { levelsTheme } from './levels.js'

/** One small Ansible tree and what becomes of its tasks. The YAML files beside this one hold lists of them, one a theme. */
export interface Tree {
  readonly name: string
  /** The row of the facts about Ansible that it was made of, where it was: rows.test.ts counts them. */
  readonly row?: number
  /** Text by path. Without an `inventory`, a `hosts.ini` with host h in group g stands there unless it is given. */
  readonly files: Readonly<Record<string, string>>
  readonly playbook?: string
  readonly inventory?: readonly string[]
  /** The hosts whose answers are compared; h where none are named. */
  readonly hosts?: readonly string[]
  readonly extraVars?: readonly string[]
  readonly tags?: readonly string[]
  readonly skipTags?: readonly string[]
  /** Ansible does not even start to run it. */
  readonly refused?: true
  /**
   * What Ansible says (2.16 to 2.18), in run order (by host where there are several hosts): `NAME = VALUE` for the message
   * of a debug task, `NAME ran`, `NAME skipped` or `NAME failed`; in a loop `NAME ITEM = VALUE`, … for each item.
   * Includes are there only when they are skipped or fail: that their tasks are there says that they ran.
   */
  readonly answers?: readonly string[] | Readonly<Record<string, readonly string[]>>
  /** What Ansible before some version says, where that differs. */
  readonly before?: Otherwise
  /** What Ansible from some version on says, where that differs. */
  readonly from?: Otherwise
  /** Tasks of which only the run can tell whether they run, or what they say. */
  readonly unknown?: readonly string[]
  /** Tasks that only a failure, or its absence, keeps Ansible from; `tasks` says so elsewhere. */
  readonly unreached?: readonly string[]
}

export interface Otherwise {
  /** The first version that says what the tree's `answers` have (`before`), or these (`from`): `2.16`. */
  readonly version: string
  readonly answers?: readonly string[]
  readonly refused?: true
  readonly unknown?: readonly string[]
  /** A version by whose rules whofixes says the same; absent where it follows the tree's answers all the same. */
  readonly followedAs?: string
}

/** The tree as another version has it. */
export function treeFor(tree: Tree, other: Otherwise): Tree {
  const { before: _, from: __, refused: ___, ...rest } = tree
  const { answers, refused, unknown } = other
  return {
    ...rest,
    ...(answers && { answers }),
    ...(refused && { refused }),
    ...(unknown && { unknown }),
  }
}

export interface Theme {
  readonly name: string
  readonly trees: readonly Tree[]
}

const folder = new URL('../../../test/conformance/', import.meta.url)

export const themes: readonly Theme[] = [
  ...readdirSync(folder)
    .filter(name => name.endsWith('.yml'))
    .map(name => ({ name: name.replace('.yml', ''), trees: parse(readFileSync(new URL(name, folder), 'utf8')) })),
  levelsTheme(),
]

export function hostsOfTree(tree: Tree): readonly string[] {
  return tree.hosts ?? ['h']
}

export function answersFor(tree: Tree, host: string): readonly string[] {
  const { answers = [] } = tree
  return 'length' in answers ? (answers as readonly string[]) : (answers[host] ?? [])
}

/** A tree written out: where it lies, and what both sides are called with. */
export interface PlacedTree {
  readonly tree: Tree
  readonly directory: string
  readonly playbook: string
  readonly inventory: readonly string[]
  readonly extraVars: readonly string[]
}

export function placeTrees(): ReadonlyMap<Tree, PlacedTree> {
  const top = mkdtempSync(join(tmpdir(), 'whofixes-conformance-'))
  const placed = new Map<Tree, PlacedTree>()
  for (const { name, trees } of themes) {
    for (const [number, tree] of trees.entries()) placed.set(tree, placeTree(join(top, `${name}-${number}`), tree))
  }
  return placed
}

function placeTree(directory: string, tree: Tree): PlacedTree {
  const files = tree.inventory === undefined ? { 'hosts.ini': '[g]\nh\n', ...tree.files } : tree.files
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const { playbook = 'site.yml', inventory = ['hosts.ini'], extraVars = [] } = tree
  return {
    tree,
    directory,
    playbook,
    inventory: inventory.map(path => join(directory, path)),
    extraVars: extraVars.map(text => (text.startsWith('@') ? `@${join(directory, text.slice(1))}` : text)),
  }
}
