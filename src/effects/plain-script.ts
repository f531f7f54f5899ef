import {
  type CommandNode,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
  type Word,
  type WordPart,
} from 'unbash'

/**
 * A shell text of the plain kind: simple commands with words that are as written, in pipes and lists. What a shell would do
 * with it can be worked out command by command.
 */
export interface PlainScript {
  readonly lists: readonly PlainList[]
}

/** Pipelines one after the other: each runs if the one before succeeded (`&&`) or failed (`||`). */
export interface PlainList {
  readonly first: PlainPipeline
  readonly rest: readonly { readonly operator: '&&' | '||'; readonly pipeline: PlainPipeline }[]
}

/** Commands of which each reads what the one before prints; `negated` turns the exit status round. */
export interface PlainPipeline {
  readonly negated: boolean
  readonly commands: readonly PlainCommand[]
}

/** One command: its words, variables that are set for it alone, and what becomes of its output. */
export interface PlainCommand {
  /** Never empty; the first is the program. */
  readonly words: readonly PlainWord[]
  readonly assigned: readonly string[]
  /** Where standard output and standard error go: on, nowhere (`/dev/null`), or into the other one. */
  readonly output: 'on' | 'nowhere' | 'as errors'
  readonly errors: 'on' | 'nowhere' | 'as output'
}

/** The pieces of a word: text, or what a script prints (`$(uname -r)`). */
export type PlainWord = readonly (string | PlainScript)[]

/** Reads a shell text; undefined where it has anything beyond plain commands, pipes, lists and `$(…)`. */
export function readPlainScript(text: string): PlainScript | undefined {
  const script = parse(text)
  return (script.errors?.length ?? 0) > 0 ? undefined : scriptOf(script.commands)
}

function scriptOf(statements: readonly Statement[]): PlainScript | undefined {
  const lists = statements.map(({ command, background }) => (background ? undefined : listOf(command)))
  return allOf(lists, found => ({ lists: found }))
}

function listOf(node: Statement['command']): PlainList | undefined {
  if (node.type !== 'AndOr') {
    const only = pipelineOf(node)
    return only && { first: only, rest: [] }
  }
  return allOf(node.commands.map(pipelineOf), ([first, ...others]) => {
    if (first === undefined) return undefined
    const rest = others.map((pipeline, index) => ({ operator: node.operators[index] ?? '&&', pipeline }))
    return { first, rest }
  })
}

function pipelineOf(node: PipelineNode): PlainPipeline | undefined {
  if (node.type !== 'Pipeline') {
    const only = commandOf(node)
    return only && { negated: false, commands: [only] }
  }
  if (node.operators.some(operator => operator !== '|') || node.prefixes.some(({ type }) => type !== 'Negation'))
    return undefined
  return allOf(node.commands.map(commandOf), commands => ({ negated: node.prefixes.length % 2 === 1, commands }))
}

function commandOf(node: CommandNode): PlainCommand | undefined {
  if (node.type !== 'Command' || node.name === undefined) return undefined
  const assigned: string[] = []
  for (const part of node.prefix) if (part.type === 'Assignment') assigned.push(part.name)
  const words: (PlainWord | undefined)[] = [wordOf(node.name)]
  for (const argument of node.args) words.push(argument.type === 'Word' ? wordOf(argument) : undefined)
  const flow = flowOf(node.redirects)
  return flow && allOf(words, found => ({ words: found, assigned, ...flow }))
}

/** Only what is thrown away, or joined with the other: no file is read or written. */
function flowOf(redirects: readonly Redirection[]): Pick<PlainCommand, 'output' | 'errors'> | undefined {
  let output: PlainCommand['output'] = 'on'
  let errors: PlainCommand['errors'] = 'on'
  for (const redirect of redirects) {
    if (redirect.type !== 'Redirect' || redirect.descriptor?.type === 'FileDescriptorVariable') return undefined
    const { operator } = redirect
    const to = redirect.target?.value
    const from = redirect.descriptor?.value ?? 1
    const isNull = to === '/dev/null'
    if (operator === '<' && isNull && (redirect.descriptor?.value ?? 0) === 0) continue
    if (operator === '&>' && isNull) {
      output = 'nowhere'
      errors = 'nowhere'
    } else if ((operator === '>' || operator === '>>') && isNull && from === 1) output = 'nowhere'
    else if ((operator === '>' || operator === '>>') && isNull && from === 2) errors = 'nowhere'
    // `2>&1`: where the output goes at this point.
    else if (operator === '>&' && from === 2 && to === '1' && output !== 'as errors')
      errors = output === 'nowhere' ? 'nowhere' : 'as output'
    else if (operator === '>&' && from === 1 && to === '2' && errors === 'on') output = 'as errors'
    else return undefined
  }
  return { output, errors }
}

function wordOf(word: Word): PlainWord | undefined {
  // `[` alone is a program, and `]` its last word.
  if (word.parts === undefined)
    return /^[[\]]$/.test(word.text) || !/[*?[\]~$`{}]/.test(word.text) ? [word.value] : undefined
  return piecesOf(word.parts, false)
}

function piecesOf(parts: readonly WordPart[], quoted: boolean): PlainWord | undefined {
  const pieces: (string | PlainScript)[] = []
  for (const part of parts) {
    switch (part.type) {
      case 'Literal':
        // A tilde before a path is the home directory.
        if (!quoted && /^~/.test(part.text) && pieces.length === 0) return undefined
        pieces.push(part.value)
        break
      case 'SingleQuoted':
        pieces.push(part.value)
        break
      case 'DoubleQuoted': {
        const inner = piecesOf(part.parts, true)
        if (inner === undefined) return undefined
        pieces.push(...inner)
        break
      }
      case 'CommandExpansion': {
        const script = part.script === undefined ? undefined : scriptOf(part.script.commands)
        if (script === undefined) return undefined
        pieces.push(script)
        break
      }
      default:
        return undefined
    }
  }
  return pieces
}

function allOf<T, R>(found: readonly (T | undefined)[], make: (all: readonly T[]) => R | undefined): R | undefined {
  const all = found.flatMap(each => (each === undefined ? [] : [each]))
  return all.length === found.length ? make(all) : undefined
}
