import type { Definition } from '../ansible/statement.js'
import { addHost, type Inventory } from '../inventory/inventory.js'
import type { Cause, Dict, Value } from '../jinja/value.js'
import type { SourceFile, Span } from '../source/text.js'
import type { Assumptions } from '../variables/assumptions.js'
import { type Changes, createChanges, createStore, type Store } from '../variables/layers.js'
import type { Layer } from '../variables/scope.js'
import type { AnsibleVersion } from './ansible-version.js'
import type { Code } from './code.js'
import { createEffort, type Effort } from './effort.js'
import type { HostView } from './host-view.js'
import type { Check } from './task-run.js'

/** What a run is asked for. */
export interface RunOptions {
  readonly playbook: string
  readonly host: string
  readonly inventory: Inventory
  /** Inventory and group_vars/host_vars layers of a host, strongest first, for a playbook's directory. */
  readonly hostLayers: (
    inventory: Inventory,
    host: string,
    playbookDirectory: string,
    /** What `add_host` gave the host: it stands before the host's line in the inventory. */
    added: Layer,
  ) => readonly Layer[]
  readonly extraVars: readonly Definition[]
  /** Facts by host; a host that is not in it has not been asked. */
  readonly facts: ReadonlyMap<string, Dict>
  readonly assumptions: Assumptions
  /** Environment variables of the control host, which `lookup('env', …)` reads. */
  readonly environment: ReadonlyMap<string, string>
  /** `hash_behaviour = merge` of Ansible's configuration. */
  readonly mergesMappings: boolean
  readonly tags: readonly string[]
  readonly skipTags: readonly string[]
  /** The version of ansible-core the user names; otherwise the tree decides it. */
  readonly ansible?: string
  /** The host itself, as far as it is known: it answers tasks that only look. */
  readonly hostView?: HostView
}

/** What a run has set for one host. */
export interface HostStores {
  /** `set_fact` and registered results. */
  readonly facts: Store
  readonly includedVars: Store
  /** Variables that `add_host` gave it. */
  readonly added: Store
}

/** What a run sets, host by host; each host's stores are made when something is first set for it. */
function createHostStores(changes: Changes): Pick<RunState, 'storesOf' | 'setByTasks'> {
  const byHost = new Map<string, HostStores>()
  const setByTasks = new Set<string>()
  const noted: Changes = {
    ...changes,
    note: name => {
      setByTasks.add(name)
      changes.note(name)
    },
  }
  const storesOf = (host: string): HostStores => {
    const before = byHost.get(host)
    if (before) return before
    const made = { facts: createStore(noted), includedVars: createStore(noted), added: createStore(noted) }
    byHost.set(host, made)
    return made
  }
  return { storesOf, setByTasks }
}

/** What changes while the run goes on. */
export interface RunState {
  readonly code: Code
  readonly options: RunOptions
  readonly changes: Changes
  /** What was set for a host so far. The run follows one host; of the others it knows what that one sets for them. */
  readonly storesOf: (host: string) => HostStores
  /** The names that tasks set so far, for any host. */
  readonly setByTasks: ReadonlySet<string>
  /** `set_fact` and registered results of the run's own host. */
  readonly store: Store
  /** The Ansible whose rules the run follows. */
  readonly ansible: AnsibleVersion
  /** With the groups and hosts that the run has certainly made. */
  inventory: Inventory
  /** Memberships that tasks may have made. */
  perhaps: readonly PerhapsMember[]
  /** Facts of the run's own host that its tasks gathered, beside those it was given (`service_facts`). */
  gathered: ReadonlyMap<string, Value>
  readonly checks: Check[]
  /** Why nothing more is done on the run's own host: the task it failed at. */
  stopped: string | undefined
  /** What putting statements in place has cost, and what their invocations have. */
  readonly statements: Effort
  readonly invocations: Effort
}

/** The state before the first play: nothing is set yet. */
export function createRunState(code: Code, options: RunOptions, ansible: AnsibleVersion): RunState {
  const changes = createChanges()
  const { storesOf, setByTasks } = createHostStores(changes)
  return {
    code,
    options,
    changes,
    storesOf,
    setByTasks,
    store: storesOf(options.host).facts,
    ansible,
    inventory: options.inventory,
    perhaps: [],
    gathered: new Map(),
    checks: [],
    stopped: undefined,
    statements: createEffort(code.report),
    invocations: createEffort(code.report),
  }
}

/** A host that may have come into a group; which group is not known where none is named. */
export interface PerhapsMember {
  readonly host: string
  readonly group: string | undefined
  readonly causes: readonly Cause[]
}

/** The inventory if every membership that is named came about. */
export function possibleInventory({ inventory, perhaps }: RunState): Inventory {
  if (perhaps.length === 0) return inventory
  const before = possible.get(perhaps)
  if (before?.from === inventory) return before.made
  const made = perhaps.reduce(
    (before, { host, group }) => (group === undefined ? before : addHost(before, host, [group])),
    inventory,
  )
  possible.set(perhaps, { from: inventory, made })
  return made
}

/** It is asked for at every include, and changes seldom. */
const possible = new WeakMap<readonly PerhapsMember[], { readonly from: Inventory; readonly made: Inventory }>()

/** The place of statements that no file makes: magic variables, facts that were not given. */
export function placeOfRun(name: string): Span {
  const file: SourceFile = { path: name, text: '' }
  return { file, start: 0, end: 0 }
}
