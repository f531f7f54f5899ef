import type { SyntaxNodeRef, Tree } from '@lezer/common'
import { type BlockContext, GFM, type Line, type MarkdownConfig, parser } from '@lezer/markdown'
import { type Container, documentContainer, footnoteIn, itemIn, quoteIn } from './containers.js'
import { insideOfCode } from './lines.js'
import type { Code, Destination, HtmlPiece, Range, ShapeNode, Syntax } from './syntax.js'

/** Footnotes as GitHub has them: a container like a list item, whose later lines are indented by four columns. */
const footnotes: MarkdownConfig = {
  defineNodes: [
    {
      name: 'FootnoteDefinition',
      block: true,
      composite(_cx: BlockContext, line: Line): boolean {
        if (line.indent < line.baseIndent + 4 && line.next > -1) return false
        line.moveBaseColumn(line.baseIndent + 4)
        return true
      },
    },
    'FootnoteLabel',
  ],
  parseBlock: [
    {
      name: 'FootnoteDefinition',
      before: 'Blockquote',
      parse(cx: BlockContext, line: Line) {
        const label = footnoteLabel(line)
        if (label === 0) return false
        cx.startComposite('FootnoteDefinition', line.pos)
        cx.addElement(cx.elt('FootnoteLabel', cx.lineStart + line.pos, cx.lineStart + line.pos + label))
        line.moveBase(line.skipSpace(line.pos + label))
        return null
      },
      endLeaf: (_cx, line) => footnoteLabel(line) > 0,
    },
  ],
}

function footnoteLabel(line: Line): number {
  if (line.next !== 0x5b || line.indent >= line.baseIndent + 4) return 0
  return /^\[\^[^\]\s[]{1,999}\]:/.exec(line.text.slice(line.pos, line.pos + 1004))?.[0].length ?? 0
}

const grammar = parser.configure([GFM, footnotes])

const htmlBlocks = new Set(['HTMLBlock', 'CommentBlock', 'ProcessingInstructionBlock'])
const inlineHtml = new Set(['HTMLTag', 'Comment', 'ProcessingInstruction'])

interface Frame {
  readonly number: number
  readonly name: string
  container: Container
  /** A link behind whose `(` we are. */
  isOpened: boolean
}

/** Reads Markdown (CommonMark, GFM, footnotes, front matter). Any text is Markdown. */
export function parseMarkdown(text: string): Syntax {
  const { tree, offsetOf, frontMatter } = treeOf(text)
  const html: HtmlPiece[] = []
  const destinations: Destination[] = []
  const codes: Code[] = []
  const shape: ShapeNode[] = []
  const frames: Frame[] = [{ number: 0, name: '', container: documentContainer, isOpened: false }]
  let number = 0

  const enter = (node: SyntaxNodeRef): void => {
    const start = offsetOf(node.from)
    const end = offsetOf(node.to)
    const parent = frames.at(-1) as Frame
    let container = parent.container
    if (node.name === 'Blockquote') container = quoteIn(text, container, start)
    else if (node.name === 'ListMark') parent.container = itemIn(text, (frames.at(-2) as Frame).container, start, end)
    else if (node.name === 'FootnoteLabel')
      parent.container = footnoteIn(text, (frames.at(-2) as Frame).container, start, end)
    else if (node.name === 'URL') destinations.push(...destinationAt(text, start, end, parent))
    else if (node.name === 'InlineCode') codes.push({ ...insideOfCode(text, { start, end }), kind: 'span' })
    else if (node.name === 'FencedCode' || node.name === 'CodeBlock') codes.push({ start, end, kind: 'block' })
    else if (node.name === 'LinkMark' && text[start] === '(') parent.isOpened = true
    const isFlow = htmlBlocks.has(node.name)
    if (isFlow || inlineHtml.has(node.name)) {
      const isInCell = frames.some(({ name }) => name === 'TableCell')
      html.push({ start, end, place: { container, within: parent.number, isFlow, isInCell } })
    }
    if (!isFlow && node.name !== 'QuoteMark') shape.push({ type: node.name, depth: frames.length, start })
    frames.push({ number: ++number, name: node.name, container, isOpened: false })
  }
  tree.iterate({
    enter,
    leave() {
      frames.pop()
    },
  })
  return { html, comments: [], destinations, codes, frontMatter, shape }
}

/** Whether a text is one paragraph without line breaks that mean something, so that its lines can be joined. */
export function isOneParagraph(text: string): boolean {
  const { tree } = treeOf(text)
  const blocks: string[] = []
  let breaks = 0
  tree.iterate({
    enter(node) {
      if (node.node.parent?.name === 'Document') blocks.push(node.name)
      if (node.name === 'HardBreak') breaks++
    },
  })
  return blocks.length === 1 && blocks[0] === 'Paragraph' && breaks === 0
}

interface Read {
  readonly tree: Tree
  /** The offset in the text of an offset in the tree. */
  readonly offsetOf: (at: number) => number
  readonly frontMatter: Range | undefined
}

/**
 * The grammar ends lines at LF only, and knows no delimiter row of a table with blanks at its end: the CR of CRLF and such blanks are
 * left out, a lone CR becomes LF.
 */
function treeOf(text: string): Read {
  const cuts: { readonly at: number; readonly left: number }[] = []
  let left = 0
  const without = text.replace(/(?<=[-|:])[ \t]+(?=\r?\n|\r|$)|\r(?=\n)/g, (cut, at: number) => {
    cuts.push({ at: at - left, left: left + cut.length })
    left += cut.length
    return ''
  })
  const lines = without.replaceAll('\r', '\n')
  const bom = lines.charCodeAt(0) === 0xfeff ? 1 : 0
  const front = frontMatterOf(lines, bom)
  const skip = front?.end ?? bom
  const inText = (at: number): number => at + leftOutBefore(cuts, at)
  return {
    tree: grammar.parse(lines.slice(skip)),
    offsetOf: at => inText(at + skip),
    frontMatter: front && { start: inText(front.start), end: inText(front.end) },
  }
}

function leftOutBefore(cuts: readonly { readonly at: number; readonly left: number }[], at: number): number {
  let low = 0
  let high = cuts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cuts[middle]?.at ?? 0) < at) low = middle + 1
    else high = middle
  }
  return cuts[low - 1]?.left ?? 0
}

/** Front matter: from a first line `---` (YAML) or `+++` (TOML) to the next such line. */
function frontMatterOf(text: string, start: number): Range | undefined {
  const fence = text.startsWith('---', start) ? '---' : text.startsWith('+++', start) ? '+++' : undefined
  if (fence === undefined || lineAt(text, start).trimEnd() !== fence) return undefined
  for (let at = text.indexOf('\n', start); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (!text.startsWith(fence, at + 1)) continue
    const line = lineAt(text, at + 1)
    if (line.trimEnd() === fence) return { start, end: at + 1 + line.length }
  }
  return undefined
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? text.length : end)
}

function destinationAt(text: string, start: number, end: number, { name, isOpened }: Frame): readonly Destination[] {
  const inner = text[start] === '<' && text[end - 1] === '>' ? { start: start + 1, end: end - 1 } : { start, end }
  if (isOpened && name === 'Link') return [{ ...inner, kind: 'link' }]
  if (isOpened && name === 'Image') return [{ ...inner, kind: 'image' }]
  if (name === 'LinkReference') return [{ ...inner, kind: 'definition' }]
  const isMail = !/^(?:[a-z][a-z0-9+.-]*:|www\.)/i.test(text.slice(start, end))
  return isMail ? [] : [{ start, end, kind: name === 'Autolink' ? 'autolink' : 'literal' }]
}
