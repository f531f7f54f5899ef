import type { Html, Link, Nodes, Root, Table, Text } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

/** A page as a forge reads it. */
export function markdownTree(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
}

/** Every node of a kind, in order. */
export function nodesOf<K extends Nodes['type']>(tree: Nodes, kind: K): readonly Extract<Nodes, { type: K }>[] {
  const own = tree.type === kind ? [tree as Extract<Nodes, { type: K }>] : []
  return 'children' in tree ? [...own, ...tree.children.flatMap(child => nodesOf(child, kind))] : own
}

export const tablesOf = (tree: Root): readonly Table[] => nodesOf(tree, 'table')
export const linksOf = (tree: Root): readonly Link[] => nodesOf(tree, 'link')
export const htmlOf = (tree: Root): readonly Html[] => nodesOf(tree, 'html')

/** What a reader sees: text and code, without the signs that are only there to part others. */
export function shownBy(tree: Nodes): string {
  if (tree.type === 'html') return tree.value === '<br>' ? ' ' : ''
  if ('value' in tree) return tree.value.replaceAll('\u200B', '')
  return 'children' in tree ? tree.children.map(shownBy).join('') : ''
}

/** Text that a forge would take for a mention or a reference. */
export function referencesIn(tree: Nodes): readonly string[] {
  return nodesOf(tree, 'text').flatMap(({ value }: Text) => value.match(/(?:[@#!%~&$]|\bGH-)[\p{L}\p{N}_]+/gu) ?? [])
}

/** Whether each fold that is opened is closed, and none within another. */
export function foldsOf(tree: Root): number {
  let [open, all] = [0, 0]
  for (const { value } of htmlOf(tree)) {
    if (value.startsWith('<details>')) {
      open++
      all++
    }
    if (value === '</details>') open--
    if (open < 0 || open > 1) return -1
  }
  return open === 0 ? all : -1
}
