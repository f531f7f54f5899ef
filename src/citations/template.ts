import type { CitationKind } from './citation.js'
import { codeSpan, escapeMarkdown } from './markdown-text.js'

/** What a template may put in, by name; null where this citation has none (a verdict nobody decides has no place). */
export type Fields = Readonly<Record<string, string | null>>

/** Where a citation stands: on lines of its own, within a line, in a cell of a table, or in HTML. */
export type Context = 'block' | 'inline' | 'cell' | 'html'

/** How citations are worded. */
export interface Wording {
  /** By the name a marker asks for, a kind (`verdict`) or a kind in a context (`verdict.block`). */
  readonly templates: ReadonlyMap<string, string>
  /** What stands for a field's value, as in another language: `operator` → `운영자`. */
  readonly words: ReadonlyMap<string, string>
}

/** The wording where the author says nothing. `[[…]]` is left out where a field in it has no value. */
const usual: Readonly<Record<CitationKind, { readonly block: string; readonly inline: string }>> = {
  verdict: {
    block: '**{verdict}**: {title}[[, if {`condition`}]][[ ({link}, kubespray {version})]]',
    inline: '**{verdict}**',
  },
  deciding: { block: '{excerpt}\n\n{link}[[ (kubespray {version})]]', inline: '{link}' },
  task: { block: '{excerpt}\n\n{link}[[ (kubespray {version})]]', inline: '{link}' },
  variable: { block: '{`name`} = {`value`}[[ ({link}, kubespray {version})]]', inline: '{`value`}' },
  condition: { block: '{`condition`}[[ ({link}, kubespray {version})]]', inline: '{`condition`}' },
  lines: { block: '{excerpt}\n\n{link}[[ (kubespray {version})]]', inline: '{link}' },
}

export const plainWording: Wording = { templates: new Map(), words: new Map() }

/** The template of a citation: the one it asks for, else the author's for its kind, else the usual one. */
export function templateFor(
  kind: CitationKind,
  context: Context,
  asked: string | undefined,
  { templates }: Wording,
): string | { readonly invalid: string } {
  const place = context === 'block' ? 'block' : 'inline'
  if (asked !== undefined) {
    const template = templates.get(asked)
    if (template !== undefined) return template
    const names = [...templates.keys()]
    return { invalid: `no template '${asked}'; there ${names.length === 0 ? 'are none' : `are ${names.join(', ')}`}` }
  }
  return templates.get(`${kind}.${place}`) ?? templates.get(kind) ?? usual[kind][place]
}

/** Fields whose value is Markdown already, or an address. */
const markdownFields: ReadonlySet<string> = new Set(['link', 'permalink', 'excerpt'])

/** Fields whose values are words of this program, which an author may say otherwise. */
const wordFields: ReadonlySet<string> = new Set(['verdict', 'now', 'afterReboot', 'status', 'runs', 'title', 'effect'])

/**
 * Puts fields into a template: `{name}` as text (escaped for Markdown), `` {`name`} `` as code, `{{` for a brace, `[[…]]` for
 * what is left out where a field in it has no value. A field that is not there is said with those there are.
 */
export function renderTemplate(
  template: string,
  fields: Fields,
  { words }: Wording,
): string | { readonly invalid: string } {
  const unknown = new Set<string>()
  const missing = (text: string): boolean =>
    [...text.matchAll(slot)].some(([, , name]) => name !== undefined && fields[name] === null)
  const shown = template.replaceAll(/\[\[((?:(?!\]\]).)*)\]\]/gs, (_, inner: string) => (missing(inner) ? '' : inner))
  const text = shown.replaceAll(slot, (whole, brace: string | undefined, name: string, tick: string | undefined) => {
    if (brace !== undefined) return '{'
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value === undefined) {
      unknown.add(name)
      return whole
    }
    const said = wordFields.has(name) ? (words.get(value ?? '') ?? value ?? '') : (value ?? '')
    if (tick !== undefined) return codeSpan(said)
    return markdownFields.has(name) ? said : escapeMarkdown(said)
  })
  if (unknown.size === 0) return text
  return { invalid: `no field ${[...unknown].join(', ')}; there are ${Object.keys(fields).join(', ')}` }
}

/** The fields a template puts in. */
export function fieldsOf(template: string): ReadonlySet<string> {
  return new Set([...template.matchAll(slot)].flatMap(([, brace, name]) => (brace === undefined ? (name ?? []) : [])))
}

const slot = /(\{\{)|\{`?([a-zA-Z]+)(`)?\}/g
