import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { longestRun } from '../reports/page-markdown.js'

/** Text that stays text in Markdown: what could be a mark of it is escaped. */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]{}<>#|~$]/g, mark => (mark === '<' ? '&lt;' : `\\${mark}`))
}

/** A code span whose fence is longer than any run of backticks in it. */
export function codeSpan(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line === '') return ''
  const fence = '`'.repeat(longestRun(line) + 1)
  return line.startsWith('`') || line.endsWith('`') ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`
}

/** Lines of code in a fence that none of them can end. */
export function fencedCode(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}${language}\n${text}\n${fence}`
}

/** The same as HTML, where Markdown is not read; a single paragraph without its tags. */
export function htmlOf(markdown: string): string {
  const html = micromark(markdown, { extensions: [gfm()], htmlExtensions: [gfmHtml()] }).trim()
  const [, only] = /^<p>((?:(?!<p>).)*)<\/p>$/s.exec(html) ?? []
  return only ?? html
}
