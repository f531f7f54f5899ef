import type { Span } from '../source/text.js'
import { wordsIn } from './citation.js'
import type { Wording } from './template.js'

/** What a document says about its citations as a whole. */
export interface Settings {
  /** The version it is about. */
  readonly source: string | undefined
  /** The settings that name it, for when it moves on. */
  readonly sources: readonly { readonly setting: DocumentSetting; readonly value: string }[]
  readonly wording: Wording
  readonly problems: readonly { readonly says: string; readonly at: Span }[]
}

/** A marker that stands alone, as the document has it. */
export interface DocumentSetting {
  readonly says: string
  readonly at: Span
}

/** Reads a document's settings; its words and templates go before those given for all documents. */
export function readSettings(found: readonly DocumentSetting[], given: Wording): Settings {
  const templates = new Map(given.templates)
  const words = new Map(given.words)
  const sources: { setting: DocumentSetting; value: string }[] = []
  const problems: { says: string; at: Span }[] = []
  for (const setting of found) {
    const [, kind, rest = ''] = /^(\S+)\s*(.*)$/s.exec(setting.says) ?? []
    if (kind === 'source') {
      const [value, ...more] = wordsIn(rest)
      if (value === undefined || more.length > 0) {
        problems.push({ says: `'${setting.says}': expected one version, as in source v2.31.0`, at: setting.at })
      } else sources.push({ setting, value })
    } else if (kind === 'template') {
      const [, name, text] = /^(\S+)\s+(.+)$/s.exec(rest) ?? []
      if (name === undefined || text === undefined) {
        problems.push({ says: `'${setting.says}': expected template NAME TEXT`, at: setting.at })
      } else templates.set(name, text.trim())
    } else if (kind === 'words') {
      for (const word of wordsIn(rest)) {
        const end = word.indexOf('=')
        if (end < 1) problems.push({ says: `'${word}': expected WORD=ANOTHER`, at: setting.at })
        else words.set(word.slice(0, end), word.slice(end + 1))
      }
    }
  }
  return { source: sources[0]?.value, sources, wording: { templates, words }, problems }
}
