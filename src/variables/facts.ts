import { type Dict, known, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Layer } from './scope.js'

/** Names that look like facts but are set by people or by Ansible itself; without a definition they are undefined. */
const noFacts =
  /^ansible_(?:host|port|user|password|connection|ssh_|scp_|sftp_|become|shell_|python_interpreter|remote_tmp|async_dir|timeout|private_key_file|winrm_|psrp_|paramiko_|pipelining|ssh$|facts_parallel|facts_modules|failed_|loop|index_var|parent_role|role_name|group_priority|host_key)/

/**
 * The facts of one host. `undefined` when none were given: every `ansible_…` name that nothing else defines is then a fact
 * that only the host can tell. Names in the dict have no `ansible_` prefix.
 */
export interface Facts {
  /** `ansible_facts`. */
  readonly all: Value
  /** `ansible_x`, as Ansible injects facts; undefined where there is no such fact. */
  readonly injected: (name: string) => Value | undefined
  readonly layer: Layer
}

/**
 * A host's facts: `ansible_facts`, and what Ansible makes of them as variables. Without captured facts each is unknown.
 */
export function factsOf(dict: Dict | undefined, at: Span, host: string): Facts {
  const origin = 'host facts'
  if (dict === undefined) {
    const injected = (name: string): Value | undefined =>
      name.startsWith('ansible_') && !noFacts.test(name) ? unknownFact(name, at, host) : undefined
    return {
      all: unknownFact('ansible_facts', at, host),
      injected,
      layer: { entries: () => [], names: () => [] },
    }
  }
  const injected = (name: string): Value | undefined => {
    const found = name.startsWith('ansible_') ? dict.get(name.slice('ansible_'.length)) : undefined
    return found ?? (name.startsWith('ansible_') ? undefined : dict.get(name))
  }
  return {
    all: known(dict),
    injected,
    layer: {
      entries: name => {
        const value = injected(name)
        return value === undefined ? [] : [{ origin, at, content: { value } }]
      },
      names: () => [...dict.keys()].map(key => `ansible_${key}`),
    },
  }
}

function unknownFact(name: string, at: Span, host: string): Value {
  return unknown([{ says: `${name} is gathered from ${host}`, at, name }])
}
