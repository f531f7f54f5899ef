import type { Span } from '../source/text.js'
import type { Data } from './value.js'

/** What every node carries: its slice of the template text (UTF-16 offsets, `end` exclusive), and how deep it nests. */
interface Place {
  readonly start: number
  readonly end: number
  readonly depth: number
}

/** Arguments of a call, filter or test; `spread` is `*list`, `spreadNamed` is `**dict`. */
export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly NamedArgument[]
  readonly spread: Expression | null
  readonly spreadNamed: Expression | null
}
export interface NamedArgument {
  readonly name: string
  readonly value: Expression
}

export interface Constant extends Place {
  readonly kind: 'constant'
  readonly data: Data & (null | boolean | bigint | number | string)
}
export interface Name extends Place {
  readonly kind: 'name'
  readonly name: string
}
export interface ListLiteral extends Place {
  readonly kind: 'list' | 'tuple'
  readonly items: readonly Expression[]
}
export interface DictLiteral extends Place {
  readonly kind: 'dict'
  readonly entries: readonly { readonly key: Expression; readonly value: Expression }[]
}
/** `a.b`: a Python attribute first, then a key. */
export interface Attribute extends Place {
  readonly kind: 'attribute'
  readonly of: Expression
  readonly name: string
}
/** `a[b]` and `a.0`: a key or index first, then a Python attribute. */
export interface Item extends Place {
  readonly kind: 'item'
  readonly of: Expression
  readonly index: Expression
}
/** `a[from:to:step]` */
export interface Slice extends Place {
  readonly kind: 'slice'
  readonly of: Expression
  readonly from: Expression | null
  readonly to: Expression | null
  readonly step: Expression | null
}
export interface Call extends Place {
  readonly kind: 'call'
  readonly of: Expression
  readonly args: Arguments
}
export interface Filter extends Place {
  readonly kind: 'filter'
  /** Null in a filter block and in a block set, where the text of the body is the input. */
  readonly of: Expression | null
  readonly name: string
  readonly args: Arguments
}
export interface Test extends Place {
  readonly kind: 'test'
  readonly of: Expression
  readonly name: string
  readonly args: Arguments
}
export interface Not extends Place {
  readonly kind: 'not'
  readonly of: Expression
}
export interface Sign extends Place {
  readonly kind: 'sign'
  readonly operator: '-' | '+'
  readonly of: Expression
}
export type BinaryOperator = '+' | '-' | '~' | '*' | '/' | '//' | '%' | '**'
export interface Binary extends Place {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
}
export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in'
/** A chain as Python has it: `a < b < c` holds when both links hold. */
export interface Comparison extends Place {
  readonly kind: 'comparison'
  readonly first: Expression
  readonly links: readonly { readonly comparator: Comparator; readonly right: Expression }[]
}
export interface Logical extends Place {
  readonly kind: 'and' | 'or'
  readonly left: Expression
  readonly right: Expression
}
/** `chosen if test else otherwise`; without `else` a failed test gives undefined. */
export interface Conditional extends Place {
  readonly kind: 'conditional'
  readonly test: Expression
  readonly chosen: Expression
  readonly otherwise: Expression | null
}

export type Expression =
  | Constant
  | Name
  | ListLiteral
  | DictLiteral
  | Attribute
  | Item
  | Slice
  | Call
  | Filter
  | Test
  | Not
  | Sign
  | Binary
  | Comparison
  | Logical
  | Conditional

/** What `set` and `for` assign to: a name, names in a tuple, or an attribute of a namespace. */
export type Target =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'tuple'; readonly items: readonly Target[] }
  | { readonly kind: 'member'; readonly of: string; readonly name: string }

export interface Parameter {
  readonly name: string
  readonly fallback: Expression | null
}

export type Body = readonly Statement[]
export type Statement =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly expression: Expression }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Body }
  | ForLoop
  | { readonly kind: 'set'; readonly target: Target; readonly value: Expression }
  | { readonly kind: 'set-block'; readonly target: Target; readonly filter: Expression | null; readonly body: Body }
  | { readonly kind: 'with'; readonly bindings: readonly Binding[]; readonly body: Body }
  | { readonly kind: 'do'; readonly expression: Expression }
  | { readonly kind: 'filter-block'; readonly filter: Expression; readonly body: Body }
  | Macro
  | {
      readonly kind: 'call-block'
      readonly parameters: readonly Parameter[]
      readonly call: Expression
      readonly body: Body
    }
  | { readonly kind: 'block'; readonly name: string; readonly body: Body }
  /** `include`, `import`, `from … import`, `extends`: text that stands in another file; `binds` are the names it sets. */
  | {
      readonly kind: 'other-file'
      readonly tag: string
      readonly source: Expression
      readonly binds: readonly string[]
    }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }
export interface Branch {
  readonly test: Expression
  readonly body: Body
}
export interface Binding {
  readonly target: Target
  readonly value: Expression
}
export interface ForLoop {
  readonly kind: 'for'
  readonly target: Target
  readonly over: Expression
  readonly only: Expression | null
  readonly recursive: boolean
  readonly body: Body
  readonly otherwise: Body
}
export interface Macro {
  readonly kind: 'macro'
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly body: Body
}

export interface Template {
  readonly kind: 'template'
  readonly text: string
  readonly body: Body
}

/** Text that Jinja2 would reject; `offset` is into the text. */
export interface SyntaxProblem {
  readonly kind: 'syntax-problem'
  readonly says: string
  readonly offset: number
  readonly at: Span
}

/** The expressions directly inside an expression. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'constant':
    case 'name':
      return []
    case 'list':
    case 'tuple':
      return expression.items
    case 'dict':
      return expression.entries.flatMap(entry => [entry.key, entry.value])
    case 'attribute':
    case 'not':
    case 'sign':
      return [expression.of]
    case 'item':
      return [expression.of, expression.index]
    case 'slice':
      return [expression.of, expression.from, expression.to, expression.step].filter(part => part !== null)
    case 'call':
    case 'test':
      return [expression.of, ...argumentsOf(expression.args)]
    case 'filter':
      return expression.of === null ? argumentsOf(expression.args) : [expression.of, ...argumentsOf(expression.args)]
    case 'binary':
    case 'and':
    case 'or':
      return [expression.left, expression.right]
    case 'comparison':
      return [expression.first, ...expression.links.map(link => link.right)]
    case 'conditional':
      return expression.otherwise === null
        ? [expression.test, expression.chosen]
        : [expression.test, expression.chosen, expression.otherwise]
  }
}

function argumentsOf(args: Arguments): Expression[] {
  const all = [...args.positional, ...args.named.map(argument => argument.value)]
  if (args.spread !== null) all.push(args.spread)
  if (args.spreadNamed !== null) all.push(args.spreadNamed)
  return all
}
