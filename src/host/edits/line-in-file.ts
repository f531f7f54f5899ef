import type { Matcher } from '../../jinja/regex.js'
import { type Edited, linesWithEnds } from './lines.js'

/** The options of `lineinfile` that decide about the text; patterns are Python's, compiled. */
export interface LineOptions {
  readonly line?: string
  readonly regexp?: Matcher
  readonly searchString?: string
  readonly insertAfter?: Matcher | 'EOF' | 'BOF'
  readonly insertBefore?: Matcher | 'BOF'
  readonly firstMatch?: boolean
}

/**
 * `lineinfile` with `state: present`: the last line that matches (the first, with `firstMatch`) becomes the line; without a match the line is
 * put in where `insertAfter` or `insertBefore` say, unless it is there. `undefined` for a file that is not there (`create: true`).
 * Source: ansible-core lib/ansible/modules/lineinfile.py present; `backrefs` is not done here.
 */
export function textWithLine(text: string | undefined, options: LineOptions & { readonly line: string }): Edited {
  const lines = linesWithEnds(text ?? '')
  const { line, regexp, searchString, insertBefore, firstMatch = false } = options
  const insertAfter = options.insertAfter ?? (insertBefore === undefined ? 'EOF' : undefined)
  const same = (at: number): boolean => withoutEnd(lines[at] ?? '') === line
  const done = (changed: boolean): Edited => ({ text: changed ? lines.join('') : (text ?? ''), changed })

  const matched = searchString === undefined ? -1 : indexOf(lines, each => each.includes(searchString), firstMatch)
  const matches = regexp === undefined ? matched : indexOf(lines, each => regexp.search(each) !== null, firstMatch)
  if (matches !== -1) return replaced(lines, matches, line, done)

  let exact = -1
  let at = -1
  const anchor = anchorOf(insertAfter) ?? anchorOf(insertBefore)
  for (const [index, each] of lines.entries()) {
    if (withoutEnd(each) === line) exact = index
    else if (anchor !== undefined && anchor.search(each) !== null) {
      at = insertAfter === undefined ? index : index + 1
      if (firstMatch) break
    }
  }
  if (exact !== -1) return replaced(lines, exact, line, done)
  if (insertBefore === 'BOF' || insertAfter === 'BOF') {
    lines.unshift(`${line}\n`)
    return done(true)
  }
  if (insertAfter === 'EOF' || at === -1) {
    if (lines.length > 0 && !/[\n\r]$/.test(lines.at(-1) ?? '')) lines.push('\n')
    lines.push(`${line}\n`)
    return done(true)
  }
  if (insertAfter !== undefined) {
    if (lines.length === at) {
      // The module does not look whether the last line ends: the new one is glued to it.
      if (same(at - 1)) return done(false)
      lines.push(`${line}\n`)
      return done(true)
    }
    if (same(at)) return done(false)
  }
  lines.splice(at, 0, `${line}\n`)
  return done(true)
}

function replaced(lines: string[], at: number, line: string, done: (changed: boolean) => Edited): Edited {
  const next = line.endsWith('\n') ? line : `${line}\n`
  if (lines[at] === next) return done(false)
  lines[at] = next
  return done(true)
}

function anchorOf(place: Matcher | 'EOF' | 'BOF' | undefined): Matcher | undefined {
  return typeof place === 'string' ? undefined : place
}

function indexOf(lines: readonly string[], test: (line: string) => boolean, first: boolean): number {
  return first ? lines.findIndex(test) : lines.findLastIndex(test)
}

function withoutEnd(line: string): string {
  return line.replace(/[\r\n]+$/, '')
}

/** `lineinfile` with `state: absent`: every line that matches goes; without a pattern, every line that is the line. */
export function textWithoutLine(text: string, options: LineOptions): Edited {
  const { line, regexp, searchString } = options
  const goes = (each: string): boolean => {
    if (regexp !== undefined) return regexp.search(each) !== null
    if (searchString !== undefined) return each.includes(searchString)
    return line !== undefined && withoutEnd(each) === line
  }
  const lines = linesWithEnds(text)
  const kept = lines.filter(each => !goes(each))
  return { text: kept.join(''), changed: kept.length < lines.length }
}
