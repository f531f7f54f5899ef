import { visibleLine, visibleText } from '../source/visible.js'
import type { Block, Inline, Line, ListItem } from './page.js'

/** Plain in both colour schemes, without anything from elsewhere. */
const style = `
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .3rem .6rem; text-align: left; vertical-align: top }
code, pre { font: .875em/1.4 ui-monospace, monospace }
code { overflow-wrap: anywhere }
pre { overflow-x: auto; padding: .6rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent) }
details { margin: .4rem 0; padding-left: .4rem }
summary { cursor: pointer }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid color-mix(in srgb, currentColor 40%, transparent) }
`.trim()

/** One page that holds all it needs: no scripts, nothing to load, readable in light and dark. */
export function renderHtmlPage(title: string, blocks: readonly Block[]): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escapeHtml(visibleText(title))}</title>`,
    `<style>\n${style}\n</style>`,
    '</head>',
    '<body>',
    ...blocks.map(blockHtml),
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.depth}>${lineHtml(block.line)}</h${block.depth}>`
    case 'paragraph':
      return `<p>${lineHtml(block.line)}</p>`
    case 'quote':
      return `<blockquote><p>${lineHtml(block.line)}</p></blockquote>`
    case 'list':
      return `<ul>\n${block.items.map(itemHtml).join('\n')}\n</ul>`
    case 'table':
      return [
        '<table>',
        `<thead><tr>${block.head.map(cell => `<th scope="col">${lineHtml([cell])}</th>`).join('')}</tr></thead>`,
        '<tbody>',
        ...block.rows.map(row => `<tr>${row.map(cell => `<td>${lineHtml(cell)}</td>`).join('')}</tr>`),
        '</tbody>',
        '</table>',
      ].join('\n')
    case 'listing':
      return `<pre><code>${block.lines.map(line => escapeHtml(visibleLine(line))).join('\n')}</code></pre>`
    case 'details':
      return `<details><summary>${lineHtml(block.summary)}</summary>\n${block.inside.map(blockHtml).join('\n')}\n</details>`
  }
}

function itemHtml({ line, below = [] }: ListItem): string {
  return `<li>${[lineHtml(line), ...below.map(blockHtml)].join('\n')}</li>`
}

/** A line as HTML; `text` says what becomes of plain text after escaping. */
export function lineHtml(line: Line, text: (escaped: string) => string = same): string {
  return line.map(piece => inlineHtml(piece, text)).join('')
}

function inlineHtml(piece: Inline, text: (escaped: string) => string): string {
  if (typeof piece === 'string') return text(escapeHtml(spaced(piece)))
  switch (piece.kind) {
    case 'code':
      return `<code>${escapeHtml(visibleText(piece.text))}</code>`
    case 'strong':
      return `<strong>${text(escapeHtml(visibleText(piece.text)))}</strong>`
    case 'link':
      return `<a href="${escapeHtml(piece.to)}">${inlineHtml(piece.shown, text)}</a>`
    case 'break':
      return '<br>'
  }
}

const same = (text: string): string => text

/** Text between other pieces keeps the blank at its ends. */
function spaced(text: string): string {
  return visibleLine(text.replaceAll(/\s+/g, ' '))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, char => entities[char] ?? char)
}
