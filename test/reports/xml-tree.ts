import { SaxesParser } from 'saxes'

/** An element of an XML document. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

/** Reads a document; throws where it is not well-formed XML 1.0. */
export function xmlTree(document: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  const parser = new SaxesParser()
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = { name, attributes: attributes as Record<string, string>, children: [], text: '' }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  parser.on('text', text => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  })
  parser.write(document).close()
  const [top] = root.children
  if (top === undefined) throw new Error('no element')
  return top
}

/** An element and all below it. */
export function allElements(element: Element): readonly Element[] {
  return [element, ...element.children.flatMap(allElements)]
}
