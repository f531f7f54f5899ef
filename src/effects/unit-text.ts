import { type Cause, known, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { causesOf, piecesOf } from './argument.js'

type Pieces = readonly (string | null)[]

/** What the text of a unit file runs at each start of the unit. */
export interface UnitText {
  /** Command lines in their order, without the marks before the program. */
  readonly commands: readonly Value[]
  /** Why it may run more: lines of which nothing is known. */
  readonly unseen: readonly Cause[]
}

/** Settings whose commands run on the way to a started unit (man systemd.service, systemd.socket). */
const AT_START = /^Exec(?:Condition|StartPre|Start|StartPost)\s*=/

/** Sections that have such settings; a text without any section is an edit of one. */
const WITH_COMMANDS = new Set(['Service', 'Socket', 'Mount', 'Swap'])

/**
 * The commands of a unit file, by the syntax of man systemd.syntax: a backslash at the end goes on in the next line, also
 * over comments; an empty assignment takes back what stood before; ` ; ` begins another command.
 */
export function readUnitText(lines: readonly Value[], at: Span): UnitText {
  const byName = new Map<string, Value[]>()
  const unseen: Cause[] = []
  let section: string | undefined
  for (const line of logicalLines(lines)) {
    const [first, ...rest] = line.pieces
    section = /^\s*\[(\w+)\]/.exec(first ?? '')?.[1] ?? section
    if (section !== undefined && !WITH_COMMANDS.has(section)) continue
    if (line.pieces.length > 0 && line.pieces.every(piece => piece === null)) unseen.push(...line.causes)
    if (typeof first !== 'string') continue
    const start = first.trimStart()
    const setting = AT_START.exec(start)?.[0]
    if (setting === undefined) continue
    const name = setting.replace(/\s*=$/, '')
    const given = [start.slice(setting.length), ...rest]
    if (given.every(piece => piece?.trim() === '')) byName.set(name, [])
    else
      byName.set(name, [...(byName.get(name) ?? []), ...commandsOf(given).map(each => asValue(each, line.causes, at))])
  }
  return { commands: [...byName.values()].flat(), unseen }
}

interface Line {
  readonly pieces: Pieces
  readonly causes: readonly Cause[]
}

function logicalLines(lines: readonly Value[]): readonly Line[] {
  const logical: Line[] = []
  let open: Line | undefined
  for (const line of lines) {
    const pieces = piecesOf(line) ?? [null]
    if (/^\s*[#;]/.test(pieces[0] ?? '')) continue
    const whole: Line = {
      pieces: [...(open?.pieces ?? []), ...pieces],
      causes: [...(open?.causes ?? []), ...causesOf(line)],
    }
    const last = pieces.at(-1)
    const goesOn = typeof last === 'string' && /(?<!\\)(?:\\\\)*\\$/.test(last)
    open = goesOn ? { ...whole, pieces: [...whole.pieces.slice(0, -1), `${last.slice(0, -1)} `] } : undefined
    if (!goesOn) logical.push(whole)
  }
  return open === undefined ? logical : [...logical, open]
}

/** One setting's commands: split at a `;` that stands alone outside quotes. */
function commandsOf(given: Pieces): readonly Pieces[] {
  const commands: (string | null)[][] = [[]]
  let quote = ''
  for (const piece of given) {
    if (piece === null) {
      commands.at(-1)?.push(null)
      continue
    }
    let from = 0
    for (let at = 0; at < piece.length; at++) {
      const char = piece.charAt(at)
      if (char === '\\') at++
      else if (quote !== '') quote = char === quote ? '' : quote
      else if (char === '"' || char === "'") quote = char
      else if (char === ';' && /\s/.test(piece.charAt(at - 1)) && /^(\s|$)/.test(piece.slice(at + 1, at + 2))) {
        commands.at(-1)?.push(piece.slice(from, at))
        commands.push([])
        from = at + 1
      }
    }
    commands.at(-1)?.push(piece.slice(from))
  }
  return commands.map(withoutMarks).filter(pieces => pieces.some(piece => piece === null || piece.trim() !== ''))
}

/** The marks before a program (`-`, `+`, `!`, `:`, `@`) say how it is run; with `@` the next word is only a name for it. */
function withoutMarks(pieces: Pieces): Pieces {
  const [first, ...rest] = pieces
  if (typeof first !== 'string') return pieces
  const marks = /^\s*[-@:+!|]*/.exec(first)?.[0] ?? ''
  const command = first.slice(marks.length)
  return [marks.includes('@') ? command.replace(/^(\S+)\s+\S+/, '$1') : command, ...rest]
}

/** systemd puts in `$NAME`, `${NAME}` and `%i` when it runs the command: pieces that are not known here. */
function asValue(pieces: Pieces, causes: readonly Cause[], at: Span): Value {
  const put: Cause[] = []
  const parts = pieces.flatMap((piece): readonly (string | null)[] => {
    if (piece === null) return [null]
    return piece.split(/(\$\$|%%|\$\{\w+\}|\$\w+|%[a-zA-Z])/).map((part, index) => {
      if (index % 2 === 0) return part
      if (part === '$$' || part === '%%') return part.charAt(0)
      put.push({ says: `systemd puts \`${part}\` in at the start`, at })
      return null
    })
  })
  const text = parts.filter(part => part !== '')
  return text.includes(null) ? { kind: 'unknown', causes: [...causes, ...put], text } : known(text.join(''))
}
