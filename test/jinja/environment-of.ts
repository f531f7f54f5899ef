import { dataValue } from '../../src/inventory/data.js'
import type { Environment } from '../../src/jinja/environment.js'
import { fromJson } from '../../src/jinja/python.js'
import { asStored, evaluateTemplate } from '../../src/jinja/template.js'
import type { Value } from '../../src/jinja/value.js'
import { failure, known } from '../../src/jinja/value.js'
import type { Span } from '../../src/source/text.js'
import { readYamlText } from '../../src/yaml/read.js'

export const here: Span = { file: { path: 'roles/demo/tasks/main.yml', text: 'x\n' }, start: 0, end: 1 }

/** Variables as JSON, templated when they are read, the way a play would hold them; Values are taken as they are. */
export function environmentOf(
  variables: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, Value>> = {},
): Environment {
  const open = new Set<string>()
  const environment: Environment = {
    variable: name => {
      const value = values[name]
      if (value !== undefined) return value
      if (!Object.hasOwn(variables, name)) return { kind: 'undefined', says: `'${name}' is undefined`, at: here }
      if (open.has(name)) return failure(`recursive loop detected in template string: ${name}`, here)
      open.add(name)
      try {
        return templated(known(fromJson(variables[name])), environment)
      } finally {
        open.delete(name)
      }
    },
    variableNames: () => [...Object.keys(variables), ...Object.keys(values)],
    lookup: plugin =>
      plugin === 'env' ? known([known('')]) : plugin === 'first_found' ? failure('No file was found', here) : undefined,
    template: (text, at) => evaluateTemplate(text, at, environment),
    readYaml: (text, at) => {
      const node = readYamlText(text, () => {})
      return node.kind === 'unreadable' ? failure(node.says, at) : dataValue(node)
    },
  }
  return environment
}

/** Texts inside containers are templated too; one that fails makes the whole fail, as in Ansible. */
function templated(value: Value, environment: Environment): Value {
  if (value.kind !== 'known') return value
  const { data } = value
  if (typeof data === 'string') return evaluateTemplate(data, here, environment)
  if (Array.isArray(data)) {
    const items = data.map(item => asStored(templated(item, environment)))
    return items.find(item => item.kind === 'failure') ?? known(items)
  }
  if (data instanceof Map) {
    const entries = [...data].map(([key, item]) => [key, asStored(templated(item, environment))] as const)
    return entries.find(([, item]) => item.kind === 'failure')?.[1] ?? known(new Map(entries))
  }
  return value
}
