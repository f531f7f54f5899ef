import { visibleLine, visibleText } from '../source/visible.js'
import { type Block, type Inline, type Line, type ListItem, paragraph } from './page.js'
import { lineHtml } from './page-html.js'

/** A comment on GitHub takes 65,536 characters; some are left for what a pipeline writes around it. */
export const LONGEST_COMMENT = 60_000

/**
 * A page as GitHub Flavored Markdown. What is text stays text: nothing in it becomes markup, HTML, an address, a mention or a
 * reference to an issue, on GitHub or GitLab.
 */
export function renderMarkdown(blocks: readonly Block[]): string {
  return `${blocks.map(block => blockLines(block).join('\n')).join('\n\n')}\n`
}

/**
 * The first draft that is no longer than a comment may be: the drafts say the same with less and less detail. Where even the
 * last one is too long, its end is cut off, and that is said.
 */
export function renderFitting(drafts: readonly (() => readonly Block[])[], longest = LONGEST_COMMENT): string {
  let last: readonly Block[] = []
  for (const draft of drafts) {
    last = draft()
    const text = renderWithin(last, longest)
    if (text !== undefined) return text
  }
  return cut(last, longest)
}

/** The whole page, or undefined as soon as it is longer than that. */
function renderWithin(blocks: readonly Block[], longest: number): string | undefined {
  const texts: string[] = []
  let length = 0
  for (const block of blocks) {
    const text = renderMarkdown([block])
    length += text.length + (texts.length === 0 ? 0 : 1)
    if (length > longest) return undefined
    texts.push(text)
  }
  return texts.join('\n')
}

/** How a page ends that was cut. */
const leftOut = paragraph('… the rest is left out: it is too long for a comment. The text report has all of it.')

function cut(blocks: readonly Block[], longest: number): string {
  const room = longest - renderMarkdown([leftOut]).length - 1
  const kept: Block[] = []
  let used = 0
  for (const block of blocks) {
    const fitting = fit(block, room - used)
    if (fitting === undefined) break
    kept.push(fitting)
    used += renderMarkdown([fitting]).length + 1
    if (fitting !== block) break
  }
  return renderMarkdown([...kept, leftOut])
}

/** A block in so much room; a table or list with as many of its rows as fit, nothing of any other that is too long. */
function fit(block: Block, room: number): Block | undefined {
  if (renderMarkdown([block]).length <= room) return block
  const all = block.kind === 'table' ? block.rows.length : block.kind === 'list' ? block.items.length : 0
  const first = (count: number): Block =>
    block.kind === 'table'
      ? { ...block, rows: block.rows.slice(0, count) }
      : block.kind === 'list'
        ? { ...block, items: block.items.slice(0, count) }
        : block
  let [fits, tooMany] = [0, all]
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2)
    if (renderMarkdown([first(middle)]).length <= room) fits = middle
    else tooMany = middle
  }
  return fits === 0 ? undefined : first(fits)
}

function blockLines(block: Block): readonly string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.depth)} ${lineText(block.line)}`]
    case 'paragraph':
      return [notAMarker(lineText(block.line))]
    case 'quote':
      return [`> ${notAMarker(lineText(block.line))}`]
    case 'list':
      return block.items.flatMap(itemLines)
    case 'table':
      return [
        row(block.head.map(escapeMarkdown)),
        `|${'---|'.repeat(block.head.length)}`,
        ...block.rows.map(cells => row(cells.map(cell => lineText(cell, true)))),
      ]
    case 'listing':
      return listingLines(block.language, block.lines)
    case 'details':
      return [
        `<details><summary>${lineHtml(block.summary, unlinked)}</summary>`,
        '',
        ...block.inside.flatMap(each => [...blockLines(each), '']),
        '</details>',
      ]
  }
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function itemLines({ line, below = [] }: ListItem): readonly string[] {
  const inside = below.flatMap(block =>
    // A list may follow its item at once; anything else would be read as more of its line.
    block.kind === 'list' ? blockLines(block) : ['', ...blockLines(block)],
  )
  return [`- ${notAMarker(lineText(line))}`, ...inside.map(each => (each === '' ? '' : `  ${each}`))]
}

/** Lines in a fence that none of them can end. */
function listingLines(language: string, lines: readonly string[]): readonly string[] {
  const shown = lines.map(visibleLine)
  const fence = '`'.repeat(Math.max(2, longestRun(shown.join('\n'))) + 1)
  return [`${fence}${language}`, ...shown, fence]
}

/** How many backticks stand together at most. */
export function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0)
}

/** A line that begins like an item of a list or an underline, and is neither. */
function notAMarker(line: string): string {
  return line
    .trimStart()
    .replace(/^[-+=]/, '\\$&')
    .replace(/^(\d+)([.)])/, '$1\\$2')
}

function lineText(line: Line, inTable = false): string {
  return line.map(piece => inlineText(piece, inTable)).join('')
}

function inlineText(piece: Inline, inTable: boolean): string {
  if (typeof piece === 'string') return escapeMarkdown(piece)
  switch (piece.kind) {
    case 'code':
      return codeSpan(piece.text, inTable)
    case 'strong': {
      const text = escapeMarkdown(visibleText(piece.text))
      return text === '' ? '' : `**${text}**`
    }
    case 'link':
      return `[${inlineText(piece.shown, inTable)}](${piece.to.replaceAll(/[()<>|\\\s]/g, encodeAscii)})`
    case 'break':
      return '<br>'
  }
}

function encodeAscii(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

/** A code span whose fence is longer than any run of backticks inside. */
function codeSpan(text: string, inTable: boolean): string {
  const shown = visibleText(text)
  if (shown === '') return ''
  // Renderers differ on a backslash before a bar in a cell; entities leave them nothing to differ on.
  if (inTable && /[|\\]/.test(shown)) {
    return `<code>${shown.replaceAll(/[\\`*_[\]<>&|~$#:@!]/g, char => `&#${char.charCodeAt(0)};`)}</code>`
  }
  const fence = '`'.repeat(longestRun(shown) + 1)
  const padded = shown.startsWith('`') || shown.endsWith('`') ? ` ${shown} ` : shown
  return `${fence}${padded}${fence}`
}

const entities: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', $: '&#36;' }

/** Not seen, but it parts a sign from the name behind it, so that no forge takes the two for a mention or a reference. */
const apart = '&#8203;'

/** Text that stays text in Markdown. */
export function escapeMarkdown(text: string): string {
  return visibleLine(text.replaceAll(/\s+/g, ' '))
    .replaceAll(/[\\`*_[\]|~#<>&$@!%]/g, (char, at: number, whole: string) => {
      const shown = entities[char] ?? (/[@!%]/.test(char) ? char : `\\${char}`)
      return /[@#!%~&$]/.test(char) && isNamed(whole, at + 1) ? shown + apart : shown
    })
    .replaceAll(/\bGH-(?=\d)/gi, found => found + apart)
    .replaceAll('://', '&#58;//')
    .replaceAll(/\bwww\.(?=\S)/gi, found => `${found.slice(0, -1)}&#46;`)
}

/** The same for text that is HTML already. */
function unlinked(html: string): string {
  return html.replaceAll(/([@!%~]|(?<!&)#|&amp;|\$)(?=[\p{L}\p{N}_"])/gu, `$1${apart}`).replaceAll('://', '&#58;//')
}

function isNamed(text: string, at: number): boolean {
  return /^[\p{L}\p{N}_"]/u.test(text.slice(at, at + 2))
}
