/** One fenced block of a Markdown page. */
export interface Block {
  readonly language: string
  readonly text: string
  readonly line: number
}

/** A command of an ```sh block, and the output that the block after it quotes. */
export interface Example {
  readonly command: string
  readonly line: number
  /** What `# ends with N` behind the command says; 0 where nothing is said. */
  readonly status: number
  readonly quoted: readonly string[]
}

/** The fenced blocks of a page, in order. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; lines: string[] } | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === undefined) open = { language: fence[1] ?? '', line: index + 1, lines: [] }
    else {
      blocks.push({ language: open.language, line: open.line, text: open.lines.join('\n') })
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: a block without an end`)
  return blocks
}

/**
 * The commands of a page. A `text` or `json` block right after a command quotes what that command prints: each of its
 * lines, in that order, `…` standing for any lines between.
 */
export function examplesOf(blocks: readonly Block[]): readonly Example[] {
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh') return []
    const next = blocks[index + 1]
    const quoted = next !== undefined && ['text', 'json'].includes(next.language) ? next.text.split('\n') : []
    const commands = block.text.split('\n').filter(line => line.trim() !== '')
    return commands.map((text, at) => ({
      command: text.replace(/\s+# ends with \d$/, ''),
      line: block.line + 1 + at,
      status: Number(/# ends with (\d)$/.exec(text)?.[1] ?? 0),
      quoted: at === commands.length - 1 ? quoted : [],
    }))
  })
}

/** Files a page shows: `yaml`, `ts` and `md` blocks that begin with their path as a comment. */
export function filesOf(blocks: readonly Block[]): ReadonlyMap<string, string> {
  return new Map(
    blocks
      .filter(({ language }) => ['yaml', 'ts', 'md', 'conf'].includes(language))
      .flatMap(({ text }) => {
        const path = /^(?:#|\/\/|<!--) (\S+\/\S+)(?: -->)?\n/.exec(text)?.[1]
        return path === undefined ? [] : [[path, `${text}\n`] as const]
      }),
  )
}

/** The first quoted line that the output does not have where it should be; undefined where all are there. */
export function missingLine(quoted: readonly string[], output: string): string | undefined {
  const lines = output.split('\n')
  let at = 0
  let gap = true
  for (const line of quoted) {
    if (line === '…') {
      gap = true
      continue
    }
    const found = lines.indexOf(line, at)
    if (found < 0 || (!gap && found !== at)) return line
    at = found + 1
    gap = false
  }
  return undefined
}
