import { apply } from '../apply.js'
import { itemOf } from '../attributes.js'
import { bind, type FilterFunction, type FilterTable, pure } from '../call.js'
import { dataOf, isList, raise, strOf, truthOfData, typeName } from '../python.js'
import type { Value } from '../value.js'
import { failure, known, unknown } from '../value.js'

/** Only undefined gives way, or with the second argument everything false. Unused defaults may be undefined. */
const fallBack: FilterFunction = (input, given) => {
  const [other, boolean] = bind(
    'default',
    [
      ['default_value', ''],
      ['boolean', false],
    ],
    given,
  ) as readonly [Value, Value]
  if (input.kind === 'undefined') return other
  if (input.kind === 'unknown') {
    return unknown(other.kind === 'unknown' ? [...input.causes, ...other.causes] : input.causes)
  }
  return truthOfData(dataOf(boolean)) && !truthOfData(dataOf(input)) ? other : input
}

const ternary: FilterFunction = (input, given) => {
  const [yes, no, none] = bind('ternary', ['true_val', 'false_val', ['none_val', null]], given) as readonly [
    Value,
    Value,
    Value,
  ]
  if (input.kind === 'undefined') return failure(input.says, given.context.at, true)
  const data = dataOf(input)
  if (data === null && !(none.kind === 'known' && none.data === null)) return none
  return truthOfData(data) ? yes : no
}

const mandatory: FilterFunction = (input, given) => {
  if (input.kind !== 'undefined') return input
  const [message] = bind('mandatory', [['msg', null]], given) as readonly [Value]
  const words =
    message.kind === 'known' && message.data !== null
      ? strOf(message.data)
      : `Mandatory variable not defined: ${input.says}`
  return failure(words, given.context.at)
}

const extract: FilterFunction = (input, given) => {
  const [container, more] = bind('extract', ['container', ['morekeys', null]], given) as readonly [Value, Value]
  return apply([input, container, more], given.context.at, ([key, from, rest]) => {
    const keys: Value[] = [key as Value]
    if (rest?.kind === 'known') {
      if (isList(rest.data)) keys.push(...rest.data)
      else if (rest.data !== null) keys.push(rest)
    } else if (rest !== undefined) keys.push(rest)
    return keys.reduce<Value>(
      (value, step) =>
        apply([value, step], given.context.at, ([base, index]) =>
          index === undefined || base === undefined || index.kind === 'undefined'
            ? failure(index?.kind === 'undefined' ? index.says : 'extract', given.context.at, true)
            : itemOf(base, index, given.context.at),
        ),
      from as Value,
    )
  })
}

/** `bool`: only yes, on, 1 and true (any case) and the number 1 are true; none stays none. */
const bool = pure('bool', [], data => {
  if (data === null || typeof data === 'boolean') return known(data)
  if (typeof data === 'string') return known(['yes', 'on', '1', 'true'].includes(data.toLowerCase()))
  return known(data === 1n || data === 1)
})

/** What differs from run to run is unknown, with what the choice is made from in its words. */
const random: FilterFunction = (input, given) => {
  if (input.kind === 'undefined') return failure(input.says, given.context.at, true)
  const causes = input.kind === 'unknown' ? input.causes : []
  if (input.kind === 'known') {
    const { data } = input
    if (isList(data) && data.length === 1 && given.positional.length === 0) return data[0] as Value
    if (data === null || typeof data === 'boolean') return raise('random can only be used on sequences and integers')
  }
  return unknown([{ says: 'a random choice of the run', at: given.context.at }, ...causes])
}

function onlyInTheRun(says: string): FilterFunction {
  return (input, given) =>
    input.kind === 'undefined'
      ? failure(input.says, given.context.at, true)
      : unknown([{ says, at: given.context.at }, ...(input.kind === 'unknown' ? input.causes : [])])
}

export const choiceFilters: FilterTable = {
  default: fallBack,
  ternary,
  mandatory,
  extract,
  bool,
  random,
  shuffle: onlyInTheRun('a random order of the run'),
  password_hash: onlyInTheRun('a password hash with a salt of the run'),
  random_mac: onlyInTheRun('a random address of the run'),
  type_debug: (input, given) => {
    if (input.kind === 'undefined') return known('AnsibleUndefined')
    if (input.kind === 'known' && input.lookedUp) {
      return known(input.protected ? 'NativeJinjaUnsafeText' : 'AnsibleUnsafeText')
    }
    return pure('type_debug', [], data => known(typeName(data)))(input, given)
  },
  attr: (input, given) => {
    const [name] = bind('attr', ['name'], given) as readonly [Value]
    return apply([input, name], given.context.at, ([base]) =>
      base?.kind === 'known' ? { kind: 'undefined', says: 'no such attribute', at: given.context.at } : (base as Value),
    )
  },
}
