import type { Matcher } from '../../jinja/regex.js'
import { type Edited, linesWithEnds } from './lines.js'

/** The options of `blockinfile` that decide about the text. */
export interface BlockOptions {
  /** Empty: the block leaves the file. */
  readonly block: string
  readonly state?: 'present' | 'absent'
  /** Default `# {mark} ANSIBLE MANAGED BLOCK`. */
  readonly marker?: string
  readonly markerBegin?: string
  readonly markerEnd?: string
  readonly insertAfter?: Matcher | 'EOF'
  readonly insertBefore?: Matcher | 'BOF'
}

/**
 * `blockinfile`: the lines between the last two markers are replaced; without both markers the block goes where it is said, by default
 * to the end. Lines end as Python's `bytes.splitlines` ends them. Source: ansible-core lib/ansible/modules/blockinfile.py.
 */
export function textWithBlock(text: string | undefined, options: BlockOptions): Edited {
  const marker = options.marker ?? '# {mark} ANSIBLE MANAGED BLOCK'
  const begin = `${marker.replaceAll('{mark}', options.markerBegin ?? 'BEGIN')}\n`
  const end = `${marker.replaceAll('{mark}', options.markerEnd ?? 'END')}\n`
  const block = options.block === '' || options.block.endsWith('\n') ? options.block : `${options.block}\n`
  const isThere = options.state !== 'absent' && block !== ''
  const put = isThere ? [begin, ...splitLines(block), end] : []
  const lines = splitLines(text ?? '')
  const [first, last] = [lines.lastIndexOf(begin), lines.lastIndexOf(end)]
  let at: number
  if (first === -1 || last === -1) at = placeFor(lines, options)
  else {
    at = Math.min(first, last)
    lines.splice(at, Math.abs(last - first) + 1)
  }
  const before = lines[at - 1]
  if (before !== undefined && !before.endsWith('\n')) lines[at - 1] = `${before}\n`
  lines.splice(at, 0, ...put)
  const next = lines.join('')
  return { text: next, changed: next !== text }
}

function placeFor(lines: readonly string[], { insertAfter, insertBefore }: BlockOptions): number {
  if (insertAfter !== undefined && insertAfter !== 'EOF') {
    const found = lines.findLastIndex(line => insertAfter.search(line) !== null)
    return found === -1 ? lines.length : found + 1
  }
  if (insertBefore === 'BOF') return 0
  if (insertBefore === undefined || insertAfter === 'EOF') return lines.length
  const found = lines.findLastIndex(line => insertBefore.search(line) !== null)
  return found === -1 ? lines.length : found
}

/** `bytes.splitlines(True)`: at `\n`, `\r\n` and `\r`. */
function splitLines(text: string): string[] {
  return linesWithEnds(text).flatMap(line => line.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [])
}
