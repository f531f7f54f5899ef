import type { Wording } from '../citations/template.js'
import { UsageError } from '../source/diagnostic.js'
import { placeOf, type SourceFile } from '../source/text.js'
import { entryOf, type MapNode } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'

/**
 * Reads templates and words for all documents: a mapping with `templates` (name → text) and `words` (word → what to say
 * instead), as YAML or JSON. Throws UsageError where the file is something else.
 */
export function readWording(file: SourceFile): Wording {
  const node = readYamlFile(file, ({ severity, message, at }) => {
    if (severity === 'error') throw new UsageError(`${placeOf(at)}: ${message}`)
  })
  if (node.kind !== 'map') throw new UsageError(`${file.path}: expected a mapping with templates, words or both`)
  const strange = node.entries.find(({ key }) => key.data !== 'templates' && key.data !== 'words')
  if (strange !== undefined) {
    throw new UsageError(`${placeOf(strange.key.span)}: '${String(strange.key.data)}': expected templates or words`)
  }
  return { templates: textsIn(node, 'templates'), words: textsIn(node, 'words') }
}

function textsIn(node: MapNode, name: string): ReadonlyMap<string, string> {
  const value = entryOf(node, name)?.value
  if (value === undefined) return new Map()
  if (value.kind !== 'map')
    throw new UsageError(`${placeOf(value.span)}: ${name}: expected a mapping of names to texts`)
  return new Map(
    value.entries.map(({ key, value: text }) => {
      if (text.kind !== 'scalar' || typeof text.data !== 'string') {
        throw new UsageError(`${placeOf(text.span)}: ${name}.${String(key.data)}: expected a text`)
      }
      return [String(key.data), text.data.replace(/\n$/, '')]
    }),
  )
}
