import type { SourceFile, Span } from '../source/text.js'

/** A sentence, a heading or a row of a table, where it stands. */
export interface Sentence {
  /** Without marks of emphasis, code and links; on one line. */
  readonly text: string
  readonly at: Span
  /** Headings and (the innermost) list items it stands under, outermost first. */
  readonly under: readonly string[]
}

interface Level {
  /** The column where what belongs to the item begins. */
  readonly indent: number
  readonly text: string
}

interface Block {
  readonly start: number
  readonly under: readonly string[]
  /** The list item whose first text it is. */
  readonly item: { readonly level: number } | undefined
  end: number
}

/** More than any sentence has; what is longer is not looked at. */
const LONGEST = 4000

/** List items around a sentence that are told; nobody nests deeper. */
const DEEPEST = 12

/**
 * The sentences of a Markdown file (CommonMark and tables): paragraphs, list items, headings and rows of tables. Code blocks,
 * comments and HTML are left out. Any text is Markdown, so nothing fails.
 */
export function sentencesOf(file: SourceFile): readonly Sentence[] {
  const sentences: Sentence[] = []
  const headings: string[] = []
  const items: Level[] = []
  let block: Block | undefined
  let fence: string | undefined
  let isComment = false
  let afterBlank = true

  const close = (): void => {
    if (block === undefined) return
    const { start, end, under, item } = block
    block = undefined
    if (end - start > LONGEST) return
    const whole = plainText(file.text.slice(start, end))
    const level = item && items[item.level]
    if (item !== undefined && level !== undefined) items[item.level] = { ...level, text: whole }
    sentences.push(...split(file, start, end, under))
  }
  const above = (): readonly string[] => [
    ...headings.filter(text => text !== ''),
    ...items.slice(-DEEPEST).map(({ text }) => text),
  ]
  const heading = (level: number, start: number, end: number): void => {
    const text = plainText(file.text.slice(start, end).replace(/\s#+\s*$/, ''))
    items.length = 0
    headings.length = Math.min(headings.length, level - 1)
    while (headings.length < level - 1) headings.push('')
    sentences.push({ text, at: { file, start, end }, under: above() })
    headings.push(text)
  }

  for (const { start, end } of linesOf(file.text)) {
    const line = file.text.slice(start, Math.min(end, start + LONGEST))
    const text = line.trim()
    if (isComment) {
      isComment = !line.includes('-->')
      continue
    }
    const mark = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(text)?.[0]
    if (fence !== undefined) {
      if (mark !== undefined && text === mark && mark.startsWith(fence)) fence = undefined
      continue
    }
    if (text === '') {
      close()
      afterBlank = true
      continue
    }
    const wasBlank = afterBlank
    afterBlank = false
    const indent = line.length - line.trimStart().length
    if (mark !== undefined) {
      close()
      fence = mark
      continue
    }
    if (block !== undefined && /^(?:=+|-+)$/.test(text) && block.item === undefined && indent < 4) {
      const { start: from, end: to } = block
      block = undefined
      heading(text.startsWith('=') ? 1 : 2, from, to)
      continue
    }
    if (text.startsWith('<!--')) {
      close()
      isComment = !text.includes('-->')
      continue
    }
    const hashes = indent < 4 ? /^(#{1,6})(?:\s+|$)/.exec(text) : null
    if (hashes !== null) {
      close()
      heading(hashes[1]?.length ?? 1, start + indent + hashes[0].length, end)
      continue
    }
    const bullet = /^(?:[-*+]|\d{1,9}[.)])\s+(?=\S)/.exec(text)?.[0]
    if (bullet !== undefined && (block === undefined || indent < 4 || items.length > 0)) {
      close()
      while ((items.at(-1)?.indent ?? 0) > indent) items.pop()
      const under = above()
      items.push({ indent: indent + bullet.length, text: '' })
      block = { start: start + indent + bullet.length, end, under, item: { level: items.length - 1 } }
      continue
    }
    if (text.startsWith('|')) {
      close()
      if (!/^[|:\-\s]+$/.test(text)) {
        sentences.push({ text: plainText(text), at: { file, start: start + indent, end }, under: above() })
      }
      continue
    }
    if (block !== undefined) {
      block.end = end
      continue
    }
    if (wasBlank) while ((items.at(-1)?.indent ?? 0) > indent) items.pop()
    // Indented four columns more than what it belongs to, it is code.
    if (indent >= (items.at(-1)?.indent ?? 0) + 4) continue
    block = { start: start + indent, end, under: above(), item: undefined }
  }
  close()
  return sentences
}

function* linesOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < text.length; ) {
    const at = text.indexOf('\n', start)
    const end = at === -1 ? text.length : at
    yield { start, end }
    start = end + 1
  }
}

/** Cuts a block behind full stops, question and exclamation marks that a blank follows. */
function split(file: SourceFile, start: number, end: number, under: readonly string[]): readonly Sentence[] {
  const found: Sentence[] = []
  let from = start
  const cut = (to: number): void => {
    const text = plainText(file.text.slice(from, to))
    while (from < to && /\s/.test(file.text[from] ?? '')) from++
    if (text !== '') found.push({ text, at: { file, start: from, end: to }, under })
    from = to
  }
  for (let at = start; at < end; at++) {
    if (/[.!?]/.test(file.text[at] ?? '') && /\s/.test(file.text[at + 1] ?? ' ')) cut(at + 1)
  }
  cut(end)
  return found
}

function plainText(source: string): string {
  return source
    .replaceAll(/^[ \t]*>+[ \t]?/gm, '')
    .replaceAll(/\]\([^()\s]{0,500}\)/g, ']')
    .replaceAll(/<[a-z]+:[^<>\s]{0,500}>/gi, '')
    .replaceAll(/[*`[\]\\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
