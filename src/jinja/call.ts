import type { Span } from '../source/text.js'
import { applyToData } from './apply.js'
import type { Environment } from './environment.js'
import { raise } from './python.js'
import type { Data, Value } from './value.js'
import { known } from './value.js'

/** What filters, tests and functions can reach besides their arguments. */
export interface Context {
  readonly at: Span
  readonly environment: Environment
  readonly filter: (
    name: string,
    input: Value,
    positional: readonly Value[],
    named: ReadonlyMap<string, Value>,
  ) => Value
  readonly test: (name: string, input: Value, positional: readonly Value[], named: ReadonlyMap<string, Value>) => Value
}

/** The arguments of one use of a filter, test or function. */
export interface Given {
  readonly positional: readonly Value[]
  readonly named: ReadonlyMap<string, Value>
  readonly context: Context
}

/** A filter: the input may be undefined or unknown; failing inputs and alternatives were dealt with before. */
export type FilterFunction = (input: Value, given: Given) => Value
export type FilterTable = Readonly<Record<string, FilterFunction>>
/** A test gives a bool, Unknown or a Failure. */
export type TestFunction = FilterFunction
export type TestTable = FilterTable

/** A parameter: a name that must be given, or a name with the data it has when it is not. */
export type ParameterSpec = string | readonly [name: string, fallback: Data]

/** Binds arguments to parameters as Python does. Raises for missing, doubled and unexpected ones. */
export function bind(
  callee: string,
  parameters: readonly ParameterSpec[],
  given: Omit<Given, 'context'>,
): readonly Value[] {
  if (given.positional.length > parameters.length) {
    raise(`${callee}() takes ${parameters.length} arguments but ${given.positional.length} were given`)
  }
  const names = parameters.map(parameter => (typeof parameter === 'string' ? parameter : parameter[0]))
  for (const name of given.named.keys()) {
    const index = names.indexOf(name)
    if (index === -1) raise(`${callee}() got an unexpected keyword argument '${name}'`)
    if (index < given.positional.length) raise(`${callee}() got multiple values for argument '${name}'`)
  }
  return parameters.map((parameter, index) => {
    const value = given.positional[index] ?? given.named.get(names[index] as string)
    if (value !== undefined) return value
    if (typeof parameter === 'string')
      return raise(`${callee}() missing 1 required positional argument: '${parameter}'`)
    return known(parameter[1])
  })
}

/** A filter of data: undefined input fails, unknown input or arguments give Unknown. */
export function pure(
  name: string,
  parameters: readonly ParameterSpec[],
  work: (input: Data, args: readonly Data[], context: Context) => Value,
): FilterFunction {
  return (input, given) =>
    applyToData([input, ...bind(name, parameters, given)], given.context.at, ([data, ...args]) =>
      work(data as Data, args, given.context),
    )
}

/** A test of data, see `pure`. */
export function pureTest(
  name: string,
  parameters: readonly ParameterSpec[],
  work: (input: Data, args: readonly Data[], context: Context) => boolean,
): TestFunction {
  return pure(name, parameters, (input, args, context) => known(work(input, args, context)))
}
