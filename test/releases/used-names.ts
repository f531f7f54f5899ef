import { hasTemplate, parseExpression, parseTemplate } from '../../src/jinja/parser.js'
import { type Body, childrenOf, type Expression, type Template } from '../../src/jinja/syntax.js'
import { type SourceFile, wholeFile } from '../../src/source/text.js'
import type { SourceTree } from '../../src/source/tree.js'
import type { Node, ScalarNode } from '../../src/yaml/node.js'
import { readYaml } from '../../src/yaml/read.js'

export type UseKind = 'filter' | 'test' | 'lookup' | 'function' | 'method' | 'statement'

/** One use of a name of the language. */
export interface Use {
  readonly kind: UseKind
  readonly name: string
}

/** What one file uses, and which of its texts the parser refuses. */
export interface Reading {
  readonly uses: readonly Use[]
  readonly refused: readonly string[]
  readonly texts: number
}

/** Keywords whose texts are expressions without `{{ }}`. */
const conditionKeys: ReadonlySet<string> = new Set(['when', 'changed_when', 'failed_when', 'until', 'that'])
const lookupFunctions: ReadonlySet<string> = new Set(['lookup', 'query', 'q'])
const filterTakers: ReadonlySet<string> = new Set(['map'])
const testTakers: ReadonlySet<string> = new Set(['select', 'reject'])
const attributeTestTakers: ReadonlySet<string> = new Set(['selectattr', 'rejectattr'])

const read = new Map<string, Reading>()

/** Reads every text of a file that Ansible would template. The same text is read once, whatever release it stands in. */
export function readUses(file: SourceFile): Reading {
  const key = `${file.path.slice(file.path.lastIndexOf('.'))}\0${file.text}`
  const before = read.get(key)
  if (before !== undefined) return before
  const reading = file.path.endsWith('.j2') ? readTemplateFile(file) : readYamlUses(file)
  read.set(key, reading)
  return reading
}

/** Paths of everything below a directory with one of these endings, without what stands in the paths to leave out. */
export function filesBelow(tree: SourceTree, directory: string, endings: RegExp, without: RegExp): readonly string[] {
  return tree.list(directory).flatMap(name => {
    const path = directory === '' ? name : `${directory}/${name}`
    if (without.test(path)) return []
    if (tree.entryKind(path) === 'directory') return filesBelow(tree, path, endings, without)
    return endings.test(name) ? [path] : []
  })
}

function readTemplateFile(file: SourceFile): Reading {
  const header = /^#jinja2:([^\n]*)\n/.exec(file.text)
  const body = header === null ? file.text : file.text.slice(header[0].length)
  const template = parseTemplate(body, wholeFile(file), { file: true })
  if (template.kind === 'syntax-problem') return { uses: [], refused: [template.says], texts: 1 }
  return { uses: usesInTemplate(template), refused: [], texts: 1 }
}

function readYamlUses(file: SourceFile): Reading {
  const uses: Use[] = []
  const refused: string[] = []
  let texts = 0
  const take = (parsed: Expression | Template | { kind: 'syntax-problem'; says: string }, text: string): void => {
    texts++
    if (parsed.kind === 'syntax-problem') refused.push(`${parsed.says}: ${text.slice(0, 80)}`)
    else uses.push(...(parsed.kind === 'template' ? usesInTemplate(parsed) : usesInExpression(parsed)))
  }
  const visitText = (node: ScalarNode, isCondition: boolean): void => {
    if (typeof node.data !== 'string' || node.tag !== undefined) return
    if (hasTemplate(node.data)) take(parseTemplate(node.data, node.span), node.data)
    else if (isCondition && node.data !== '')
      take(parseExpression(node.data, node.span, { inStatement: true }), node.data)
  }
  const visit = (node: Node, isCondition: boolean): void => {
    switch (node.kind) {
      case 'scalar':
        visitText(node, isCondition)
        break
      case 'list':
        for (const item of node.items) visit(item, isCondition)
        break
      case 'map':
        for (const { key, value } of node.entries) {
          visitText(key, false)
          const name = typeof key.data === 'string' ? key.data : ''
          const loop = /^with_(\w+)$/.exec(name)?.[1]
          if (loop !== undefined) uses.push({ kind: 'lookup', name: loop })
          visit(value, conditionKeys.has(name) && value.kind !== 'map')
        }
        break
      case 'unreadable':
        refused.push(`YAML: ${node.says}`)
    }
  }
  for (const document of readYaml(file, () => {})) visit(document, false)
  return { uses, refused, texts }
}

function usesInTemplate(template: Template): readonly Use[] {
  const uses: Use[] = []
  const macros = new Set(['caller'])
  const expression = (each: Expression | null): void => {
    if (each !== null) uses.push(...usesInExpression(each))
  }
  const body = (statements: Body): void => {
    for (const statement of statements) {
      if (statement.kind !== 'text' && statement.kind !== 'output') {
        const { kind } = statement
        uses.push({
          kind: 'statement',
          name: kind === 'other-file' ? statement.tag : kind === 'for' && statement.recursive ? 'recursive for' : kind,
        })
      }
      switch (statement.kind) {
        case 'output':
        case 'do':
          expression(statement.expression)
          break
        case 'if':
          for (const branch of statement.branches) {
            expression(branch.test)
            body(branch.body)
          }
          body(statement.otherwise)
          break
        case 'for':
          expression(statement.over)
          expression(statement.only)
          body(statement.body)
          body(statement.otherwise)
          break
        case 'set':
          expression(statement.value)
          break
        case 'set-block':
          expression(statement.filter)
          body(statement.body)
          break
        case 'with':
          for (const binding of statement.bindings) expression(binding.value)
          body(statement.body)
          break
        case 'filter-block':
          expression(statement.filter)
          body(statement.body)
          break
        case 'macro':
        case 'call-block':
          if (statement.kind === 'macro') macros.add(statement.name)
          for (const parameter of statement.parameters) expression(parameter.fallback)
          if (statement.kind === 'call-block') expression(statement.call)
          body(statement.body)
          break
        case 'block':
          body(statement.body)
          break
        case 'other-file':
          expression(statement.source)
          break
        default:
          break
      }
    }
  }
  body(template.body)
  return uses.filter(({ kind, name }) => kind !== 'function' || !macros.has(name))
}

function usesInExpression(expression: Expression): readonly Use[] {
  const own = ownUses(expression)
  return [...own, ...childrenOf(expression).flatMap(usesInExpression)]
}

function ownUses(expression: Expression): readonly Use[] {
  switch (expression.kind) {
    case 'filter':
      return [{ kind: 'filter', name: expression.name }, ...namedByFilter(expression)]
    case 'test':
      return [{ kind: 'test', name: expression.name }]
    case 'call': {
      const { of, args } = expression
      if (of.kind === 'attribute') return [{ kind: 'method', name: of.name }]
      if (of.kind !== 'name') return []
      const [first] = args.positional
      if (lookupFunctions.has(of.name)) {
        return [{ kind: 'lookup', name: first?.kind === 'constant' ? String(first.data) : '(an expression)' }]
      }
      return [{ kind: 'function', name: of.name }]
    }
    default:
      return []
  }
}

/** The filter or test that `map`, `select` and their like are given by name. */
function namedByFilter({ name, args }: Expression & { kind: 'filter' }): readonly Use[] {
  const text = (index: number): readonly string[] => {
    const argument = args.positional[index]
    return argument?.kind === 'constant' && typeof argument.data === 'string' ? [argument.data] : []
  }
  if (filterTakers.has(name)) return text(0).map(each => ({ kind: 'filter', name: each }))
  if (testTakers.has(name)) return text(0).map(each => ({ kind: 'test', name: each }))
  if (attributeTestTakers.has(name)) return text(1).map(each => ({ kind: 'test', name: each }))
  return []
}
