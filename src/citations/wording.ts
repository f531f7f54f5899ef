import { placeOf, type SourceFile } from '../source/text.js'
import { entryOf, type MapNode } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import type { Wording } from './template.js'

/** Why a file holds no wording: one sentence with its place. */
export interface NoWording {
  readonly unread: string
}

/**
 * Reads templates and words for all documents: a mapping with `templates` (name → text) and `words` (word → what to say
 * instead), as YAML or JSON.
 */
export function readWording(file: SourceFile): Wording | NoWording {
  const errors: string[] = []
  const node = readYamlFile(file, ({ severity, message, at }) => {
    if (severity === 'error') errors.push(`${placeOf(at)}: ${message}`)
  })
  const [unread] = errors
  if (unread !== undefined) return { unread }
  if (node.kind !== 'map') return { unread: `${file.path}: expected a mapping with templates, words or both` }
  const strange = node.entries.find(({ key }) => key.data !== 'templates' && key.data !== 'words')
  if (strange !== undefined) {
    return { unread: `${placeOf(strange.key.span)}: '${String(strange.key.data)}': expected templates or words` }
  }
  const templates = textsIn(node, 'templates')
  if ('unread' in templates) return templates
  const words = textsIn(node, 'words')
  return 'unread' in words ? words : { templates, words }
}

function textsIn(node: MapNode, name: string): ReadonlyMap<string, string> | NoWording {
  const value = entryOf(node, name)?.value
  const texts = new Map<string, string>()
  if (value === undefined) return texts
  if (value.kind !== 'map') return { unread: `${placeOf(value.span)}: ${name}: expected a mapping of names to texts` }
  for (const { key, value: text } of value.entries) {
    if (text.kind !== 'scalar' || typeof text.data !== 'string') {
      return { unread: `${placeOf(text.span)}: ${name}.${String(key.data)}: expected a text` }
    }
    texts.set(String(key.data), text.data.replace(/\n$/, ''))
  }
  return texts
}
