import { type Dict, known, type Unknown, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import type { Layer } from './scope.js'

/** Names that look like facts but are set by people or by Ansible itself; without a definition they are undefined. */
const noFacts =
  /^ansible_(?:(?:host|port|user|password|connection|timeout)$|ssh_(?!host_key_)|scp_|sftp_|become|shell_|python_interpreter|remote_tmp|async_dir|private_key_file|winrm_|psrp_|paramiko_|pipelining|ssh$|facts_parallel|facts_modules|failed_|loop|index_var|parent_role|role_name|collection_name|group_priority|host_key|limit$|inventory_sources$|forks$|verbosity$)/

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
  /** A fact that hides what the inventory says of its name, once it is gathered; undefined where it cannot be one. */
  readonly perhaps: (name: string) => Unknown | undefined
}

/** Names that the setup module gathers on any host. */
const gathered =
  /^ansible_(?:all_ipv[46]_addresses|apparmor|architecture|bios_|board_|chassis_|cmdline|date_time|default_ipv[46]|devices?$|device_links|distribution|dns|domain|effective_|env|fibre_channel_wwn|fips|form_factor|fqdn|hostname|hostnqn|interfaces|is_chroot|iscsi_iqn|kernel|lo$|local$|loadavg|locally_reachable_ips|lsb|lvm|machine|mem(?:free|ory|total)_mb|mounts|nodename|os_family|pkg_mgr|proc_cmdline|processor|product_|python$|python_version|real_|selinux|service_mgr|swap(?:free|total)_mb|system|uptime_seconds|user_(?:dir|gecos|gid|id|shell|uid)|userspace_|virtualization_)/

/** A file with fewer facts than this that does not say what it was gathered with is one of somebody's own making. */
const fewFacts = 30

/**
 * Whether facts are all a host has, so that a name that is not among them is undefined: what the setup module prints or a
 * fact cache holds. Both say what was gathered (`gather_subset`, which has to be everything, or `module_setup`); a file
 * that does not say it counts as whole when it has more facts than anyone writes down by hand.
 */
function areComplete(dict: Dict): boolean {
  const subset = dict.get('gather_subset')
  if (subset?.kind === 'known' && Array.isArray(subset.data)) {
    const texts = subset.data.map(item => (item.kind === 'known' ? item.data : undefined))
    return texts.includes('all') && !texts.some(text => typeof text !== 'string' || text.startsWith('!'))
  }
  return dict.has('module_setup') || dict.size > fewFacts
}

/**
 * A host's facts: `ansible_facts`, and what Ansible makes of them as variables. Without captured facts each is unknown, and
 * so is each that is missing where only some were given.
 */
export function factsOf(dict: Dict | undefined, at: Span, host: string): Facts {
  const origin = 'host facts'
  const notGathered = (name: string): Value | undefined =>
    name.startsWith('ansible_') && !noFacts.test(name) ? unknownFact(name, at, host) : undefined
  if (dict === undefined) {
    return {
      all: unknownFact('ansible_facts', at, host),
      injected: notGathered,
      perhaps: name => (gathered.test(name) ? unknownFact(name, at, host) : undefined),
      layer: { entries: () => [], names: () => [] },
    }
  }
  const complete = areComplete(dict)
  const given = (name: string): Value | undefined => {
    const found = name.startsWith('ansible_') ? dict.get(name.slice('ansible_'.length)) : undefined
    return found ?? (name.startsWith('ansible_') ? undefined : dict.get(name))
  }
  return {
    all: complete ? known(dict) : { ...unknownFact('ansible_facts', at, host), fields: fieldsOf(dict) },
    injected: complete ? given : name => given(name) ?? notGathered(name),
    perhaps: name =>
      complete || given(name) !== undefined || !gathered.test(name) ? undefined : unknownFact(name, at, host),
    layer: {
      entries: name => {
        const value = given(name)
        return value === undefined ? [] : [{ origin, at, content: { value } }]
      },
      names: () => [...dict.keys()].flatMap(key => [`ansible_${key}`, String(key)]),
    },
  }
}

/** The facts themselves, not a copy: what is not asked of them need not be told. Their names are texts, as keys of JSON are. */
function fieldsOf(dict: Dict): ReadonlyMap<string, Value> {
  return dict as ReadonlyMap<string, Value>
}

function unknownFact(name: string, at: Span, host: string): Unknown {
  return unknown([{ says: `${name} is gathered from ${host}`, at, name }])
}
