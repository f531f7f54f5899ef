import { posix } from 'node:path'
import { ANY_NAME, type Definition, type Task } from '../ansible/statement.js'
import { dataValue } from '../inventory/data.js'
import { groupNamesOf, hostsOf, type Inventory, shortName } from '../inventory/inventory.js'
import { evaluateTemplate } from '../jinja/template.js'
import { type Cause, type Dict, failure, type Key, known, type Truth, unknown, type Value } from '../jinja/value.js'
import { once } from '../source/once.js'
import { assumed } from '../variables/assumptions.js'
import { type Facts, factsOf } from '../variables/facts.js'
import { deferredLayer, growingLayer, layerOf, uncertain, valuesLayer } from '../variables/layers.js'
import { LazyDict } from '../variables/lazy-dict.js'
import type { Origin } from '../variables/resolved.js'
import { createScope, type Entry, type Layer, type Scope, type ScopeOptions } from '../variables/scope.js'
import { readYamlText } from '../yaml/read.js'
import { versionValue } from './ansible-version.js'
import { chainOf, type Frame, rolesOf } from './frame.js'
import { lookupFor } from './lookups.js'
import type { Role } from './role.js'
import { inCheckout } from './search.js'
import { placeOfRun, possibleInventory, type RunState } from './state.js'

/** Stands for an argument that `default(omit)` leaves out. */
export const omitted = '__omit_place_holder__'

/** Everything a play makes visible to all its statements. */
export interface PlayVariables {
  readonly play: readonly Definition[]
  readonly prompts: readonly string[]
  /** What `vars_files` define, strongest first. */
  readonly files: readonly Layer[]
  readonly roles: readonly Role[]
  readonly hosts: readonly string[]
  /** The play's name, which is its hosts where it has none of its own. */
  readonly name: Value
}

/** The variables of one host, beside those that all hosts of a play see. */
export interface OfOneHost {
  /** What the run set for it, facts that were given, the inventory, variable files. */
  readonly layers: readonly Layer[]
  /** What there is of a name in these, the strongest first; also facts that nobody gave. */
  readonly entries: (name: string) => readonly Entry[]
  /** `group_names`; undefined where it is not known. */
  readonly groups: readonly string[] | undefined
}

/** Builds the scopes of a play's statements; each frame's scope is made once. */
export interface Scopes {
  readonly ofFrame: (frame: Frame) => Scope
  /** The scope of a task: its frame's with `vars:` of the task and the items of its loop. */
  readonly ofTask: (frame: Frame, task: Task, items: ReadonlyMap<string, Value>) => Scope
  /** What can be told before a host is at hand: names of imports, `hosts:` (rule 94). */
  readonly ofPlay: (frame: Frame) => Scope
  /** What decides the names of `vars_files` once the host is known: all that is weaker, and extra vars. */
  readonly ofVarsFiles: (frame: Frame) => Scope
  /** Makes a role's defaults and vars visible to the whole play, behind those that already are: they win over these. */
  readonly show: (role: Role, truth: Truth) => void
  /** What a host has for itself, whatever the statement; no magic variables. */
  readonly ofOneHost: (host: string, frame: Frame) => OfOneHost
  /** A task as another host of the play sees it. */
  readonly ofHost: (host: string, frame: Frame, task: Task, items: ReadonlyMap<string, Value>) => Scope
}

/** `groups`, which every scope may ask for: made once until a task changes the inventory. */
function groupsOf(inventory: Inventory): ReadonlyMap<Key, Value> {
  const before = groupsMade.get(inventory)
  if (before !== undefined) return before
  const names = [...inventory.groups.keys()]
  const groups = new Map(names.map(name => [name as Key, texts(hostsOf(inventory, name))]))
  groupsMade.set(inventory, groups)
  return groups
}

const groupsMade = new WeakMap<Inventory, ReadonlyMap<Key, Value>>()

function texts(items: readonly string[]): Value {
  return known(items.map(item => known(item)))
}

/** Names of the control host, which is there also where no inventory names it. */
const controlHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

const playHostNames = ['play_hosts', 'ansible_play_hosts', 'ansible_play_hosts_all', 'ansible_play_batch']

/** Magic variables that nothing has before a host is at hand. */
const notHostless: ReadonlySet<string> = new Set([
  ...[
    'inventory_hostname',
    'inventory_hostname_short',
    'group_names',
    'ansible_facts',
    'inventory_file',
    'inventory_dir',
  ],
  // The variables of the run's own host, which is not at hand.
  'vars',
])

const magicPlace = placeOfRun('magic variables')
const factsPlace = placeOfRun('facts of the host')

/** The scopes of one play. Layers that do not change within the play are made once. */
export function createScopes(state: RunState, variables: PlayVariables): Scopes {
  const frames = new Map<Frame, Scope>()
  const factsByHost = new Map<string, { readonly facts: Facts; readonly gathered: ReadonlyMap<string, Value> }>()
  const { options } = state

  const factsOfHost = (host: string): Facts => {
    const { gathered } = state
    const before = factsByHost.get(host)
    if (before?.gathered === gathered) return before.facts
    const given = options.facts.get(host) ?? options.facts.get('*')
    const isOwn = host === options.host && gathered.size > 0
    const facts = factsOf(isOwn ? withGathered(given, gathered) : given, factsPlace, host)
    factsByHost.set(host, { facts, gathered })
    return facts
  }

  const scopeOptions = (frame: Frame, host: string | undefined): ScopeOptions => ({
    rules: state.ansible.rules,
    changes: state.changes,
    missing: name => {
      const fact = host === undefined ? undefined : factsOfHost(host).injected(name)
      return fact ?? { kind: 'undefined', says: `'${name}' is undefined`, at: frame.step.at }
    },
    assume: (name, value) => assumed(options.assumptions, name, value, frame.step.at),
    lookup: scope => lookupFor(state, frame, scope),
    mergesMappings: options.mergesMappings,
    template: scope => (text, at) => evaluateTemplate(text, at, scope),
    unmodelled: (message, at) => {
      state.code.report({ code: 'jinja-unmodelled', severity: 'warning', message, at })
    },
    readYaml: (text, at) => {
      const node = readYamlText(text, () => {})
      return node.kind === 'unreadable' ? failure(node.says, at) : dataValue(node)
    },
  })

  const openFor = (host: string): readonly Cause[] =>
    state.perhaps.flatMap(each => (each.host === host ? each.causes : []))

  /** What groups define that the host may have come into. */
  const perhapsLayersOf = (host: string, frame: Frame): readonly Layer[] => {
    const open = openFor(host)
    if (open.length === 0) return []
    const layers = options.hostLayers(
      possibleInventory(state),
      host,
      frame.playbookDirectory,
      state.storesOf(host).added,
    )
    return layers.map(layer => uncertain(layer, open))
  }

  const hostLayersOf = (host: string, frame: Frame): readonly Layer[] => {
    const facts = factsOfHost(host)
    const { added } = state.storesOf(host)
    const inventoryLayers = [
      ...perhapsLayersOf(host, frame),
      ...options.hostLayers(state.inventory, host, frame.playbookDirectory, added),
    ]
    // A fact of which nothing is known hides what the inventory says of its name, if it is gathered.
    const perhapsFacts: Layer = {
      entries: name => {
        const fact = facts.perhaps(name)
        if (fact === undefined || !inventoryLayers.some(layer => layer.entries(name).length > 0)) return []
        return [{ origin: 'host facts', at: factsPlace, content: { value: fact }, maybe: fact.causes }]
      },
      names: () => [],
    }
    return [facts.layer, perhapsFacts, ...inventoryLayers]
  }

  const ofThePlay: readonly Layer[] = [
    ...variables.files,
    valuesLayer(
      'play vars_prompt',
      magicPlace,
      new Map(
        variables.prompts.map(name => [
          name,
          unknown([{ says: `${name} is asked for at the prompt`, at: magicPlace, name }]),
        ]),
      ),
    ),
    layerOf('play vars', variables.play),
  ]

  const visible = {
    vars: growingLayer(deferredLayer(() => layerOf('role vars', variables.roles.flatMap(allVars)))),
    defaults: growingLayer(deferredLayer(() => layerOf('role defaults', variables.roles.flatMap(allDefaults)))),
  }

  const rolesOfPlay = [...variables.roles]
  const playHosts = once(() => texts(variables.hosts))

  const show = (role: Role, truth: Truth): void => {
    const vars = allVars(role)
    const defaults = allDefaults(role)
    const maybe = truth.kind === 'unknown' ? truth.causes : undefined
    visible.vars.put(layerOf('role vars', vars), maybe)
    visible.defaults.put(layerOf('role defaults', defaults), maybe)
    rolesOfPlay.push(role)
    for (const name of ofAllRoles) state.changes.note(name)
    for (const { name } of [...vars, ...defaults]) state.changes.note(name)
  }

  /** From the strongest to the weakest, rule 65; `task` and `items` belong to one task. */
  const layersFor = (
    frame: Frame,
    task: Task | undefined,
    items: ReadonlyMap<string, Value>,
    host = options.host,
  ): readonly Layer[] => {
    const chain = chainOf(frame).toReversed()
    const roles = rolesOf(frame).toReversed()
    const bound = new Map<string, Value>(items)
    for (const { include } of chain) {
      for (const [name, value] of include?.items ?? []) if (!bound.has(name)) bound.set(name, value)
    }
    const layers: Layer[] = [
      valuesLayer('loop item', frame.step.at, bound),
      magicLayer(frame, host),
      layerOf('extra vars', options.extraVars),
    ]
    for (const { include } of chain) add(layers, 'include params', include?.parameters)
    for (const role of roles) add(layers, 'role params', role.parameters)
    layers.push(...setDuringRun(host))
    add(layers, 'task vars', task?.vars)
    const { entryVarsWin } = state.ansible.rules
    for (const { kind, directives, include } of chain) {
      if (kind === 'block' || kind === 'import' || (kind === 'role' && entryVarsWin))
        add(layers, 'block vars', directives.vars)
      add(layers, 'block vars', include?.apply?.vars)
    }
    for (const [index, role] of roles.entries()) {
      layers.push(roleLayer(role, 'vars', false))
      if (index === 0) layers.push(roleLayer(role, 'vars', true))
    }
    layers.push(visible.vars.layer)
    for (const { kind, directives } of entryVarsWin ? [] : chain) {
      if (kind === 'role') add(layers, 'block vars', directives.vars)
    }
    layers.push(...ofThePlay, ...hostLayersOf(host, frame))
    for (const role of roles) layers.push(roleLayer(role, 'defaults', false))
    for (const role of roles.slice(0, 1)) layers.push(roleLayer(role, 'defaults', true))
    layers.push(visible.defaults.layer)
    return layers
  }

  const ofFrame = (frame: Frame): Scope => {
    const before = frames.get(frame)
    if (before) return before
    const plain = (frame.kind === 'import' || frame.kind === 'block') && frame.directives.vars.length === 0
    const scope =
      plain && frame.parent
        ? ofFrame(frame.parent)
        : createScope(layersFor(frame, undefined, new Map()), scopeOptions(frame, options.host))
    frames.set(frame, scope)
    return scope
  }

  const ofTask = (frame: Frame, task: Task, items: ReadonlyMap<string, Value>): Scope => {
    const scope = ofFrame(frame)
    if (task.vars.length === 0 && items.size === 0) return scope
    if (task.vars.some(({ name }) => name === ANY_NAME)) {
      return createScope(layersFor(frame, task, items), scopeOptions(frame, options.host))
    }
    const differs = new Set([...task.vars.map(({ name }) => name), ...items.keys()])
    return createScope(layersFor(frame, task, items), scopeOptions(frame, options.host), { scope, differs })
  }

  const ofPlay = (frame: Frame): Scope => {
    const roles = rolesOf(frame).toReversed()
    const layers: Layer[] = [hostlessLayer(frame), layerOf('extra vars', options.extraVars)]
    for (const role of roles) add(layers, 'role params', role.parameters)
    for (const { kind, directives } of chainOf(frame).toReversed())
      if (kind !== 'play') add(layers, 'block vars', directives.vars)
    for (const role of roles) layers.push(roleLayer(role, 'vars', false))
    layers.push(visible.vars.layer, ...ofThePlay)
    for (const role of roles) layers.push(roleLayer(role, 'defaults', false))
    layers.push(visible.defaults.layer)
    return createScope(layers, scopeOptions(frame, undefined))
  }

  const ofVarsFiles = (frame: Frame): Scope => {
    const { host } = options
    const own = [...ofThePlay, ...hostLayersOf(host, frame), visible.defaults.layer]
    return createScope(
      [magicLayer(frame, host), layerOf('extra vars', options.extraVars), ...own],
      scopeOptions(frame, host),
    )
  }

  const ofHost = (host: string, frame: Frame, task: Task, items: ReadonlyMap<string, Value>): Scope => {
    if (host === options.host) return ofTask(frame, task, items)
    return createScope(layersFor(frame, task, items, host), scopeOptions(frame, host))
  }

  const ofOneHost = (host: string, frame: Frame): OfOneHost => {
    const layers = [...setDuringRun(host), ...hostLayersOf(host, frame)]
    const { injected } = factsOfHost(host)
    return {
      layers,
      groups: openFor(host).length > 0 ? undefined : groupNamesOf(state.inventory, host),
      entries: name => {
        const entries = layers.flatMap(layer => layer.entries(name))
        const fact = entries.length === 0 ? injected(name) : undefined
        return fact === undefined ? entries : [{ origin: 'host facts', at: factsPlace, content: { value: fact } }]
      },
    }
  }

  const magicLayer = (frame: Frame, host: string): Layer => computedLayer(magicOf(frame, host))

  /** Those magic variables that are no host's. */
  const hostlessLayer = (frame: Frame): Layer => {
    const says = 'the hosts of the play are not known yet'
    const notYet: [string, () => Value][] = playHostNames.map(name => [
      name,
      () => unknown([{ says, at: magicPlace, name }]),
    ])
    const all = [...magicOf(frame, options.host), ...notYet]
    return computedLayer(new Map(all.filter(([name]) => !notHostless.has(name))))
  }

  const magicOf = (frame: Frame, host: string): ReadonlyMap<string, () => Value> => {
    const { inventory } = state
    const source = inventory.hosts.get(host)?.source
    const values: [string, () => Value][] = [
      ['inventory_hostname', () => known(host)],
      ['inventory_hostname_short', () => known(shortName(host))],
      [
        'group_names',
        () => (openFor(host).length > 0 ? unknown(openFor(host)) : texts(groupNamesOf(state.inventory, host))),
      ],
      ['groups', groupsDict],
      [
        'hostvars',
        () =>
          known(
            new LazyDict(
              () => state.inventory.hosts.keys(),
              name => hostVariables(String(name), frame),
            ),
          ),
      ],
      ...playHostNames.map((name): [string, () => Value] => [name, playHosts]),
      ['ansible_play_name', () => variables.name],
      ['ansible_facts', () => factsOfHost(host).all],
      ['ansible_check_mode', () => known(false)],
      ['ansible_diff_mode', () => known(false)],
      ['ansible_run_tags', () => texts(options.tags.length === 0 ? ['all'] : options.tags)],
      ['ansible_skip_tags', () => texts(options.skipTags)],
      ['ansible_version', () => ansibleVersion(state.ansible.version)],
      ['ansible_playbook_python', () => controlHost('ansible_playbook_python')],
      ['ansible_config_file', () => controlHost('ansible_config_file')],
      ['ansible_forks', () => controlHost('ansible_forks')],
      ['ansible_verbosity', () => controlHost('ansible_verbosity')],
      ['ansible_inventory_sources', () => controlHost('ansible_inventory_sources')],
      ['ansible_play_role_names', () => texts(rolesOfPlay.map(({ name }) => name))],
      ['role_names', () => texts(rolesOfPlay.map(({ name }) => name))],
      ['ansible_dependent_role_names', () => texts(dependencyNames(rolesOfPlay))],
      [
        'ansible_role_names',
        () => texts([...new Set([...rolesOfPlay.map(({ name }) => name), ...dependencyNames(rolesOfPlay)])]),
      ],
      ['playbook_dir', () => inCheckout(frame.playbookDirectory)],
      ['omit', () => known(omitted)],
      [
        'vars',
        () =>
          known(
            new LazyDict(
              () =>
                ofFrame(frame)
                  .variableNames()
                  .filter(name => name !== 'vars'),
              name => memberOfVars(ofFrame(frame), String(name)),
            ),
          ),
      ],
    ]
    // Where no inventory is given it is left open which one the run has.
    if (source === undefined && inventory.sources.length === 0) {
      values.push(['inventory_file', () => besideInventory('')], ['inventory_dir', () => besideInventory('')])
    }
    if (source !== undefined) {
      const path = posix.isAbsolute(source) ? known(source) : besideInventory(source)
      const directory = posix.isAbsolute(source) ? known(posix.dirname(source)) : besideInventory(posix.dirname(source))
      values.push(['inventory_file', () => path], ['inventory_dir', () => directory])
    }
    const [role] = rolesOf(frame).slice(-1)
    if (role) {
      values.push(['role_name', () => known(role.name)], ['ansible_role_name', () => known(role.name)])
      values.push(['role_path', () => inCheckout(role.code.directory)])
      values.push(['ansible_collection_name', () => known(null)])
      const parents = includingRoles(frame)
      if (parents.length > 0) values.push(['ansible_parent_role_names', () => texts(parents)])
    }
    return new Map(values)
  }

  const groupsDict = (): Value => {
    const groups = groupsOf(state.inventory)
    if (state.perhaps.length === 0) return known(groups)
    // A group that may grow, or may come to be, is left out of what is known.
    const open = state.perhaps.flatMap(({ causes }) => causes)
    if (state.perhaps.some(({ group }) => group === undefined)) return unknown(open)
    const possible = possibleInventory(state)
    const same = [...groups].filter(([name]) => {
      const group = String(name)
      return hostsOf(possible, group).length === hostsOf(state.inventory, group).length
    })
    return { ...unknown(open), fields: new Map(same.map(([name, value]) => [String(name), value])) }
  }

  /** Rule 73: a host's own variables, facts and what the run set for it; not what plays and roles define. */
  const hostVariables = (host: string, frame: Frame): Value | undefined => {
    if (!state.inventory.hosts.has(host) && !controlHosts.has(host)) return undefined
    const layers = [
      computedLayer(magicWithoutSelf(frame, host)),
      layerOf('extra vars', options.extraVars),
      ...setDuringRun(host),
      ...hostLayersOf(host, frame),
    ]
    const scope = createScope(layers, scopeOptions(frame, host))
    return known(
      new LazyDict(
        () => scope.variableNames(),
        name => definedOrNothing(scope, String(name)),
      ),
    )
  }

  const magicWithoutSelf = (frame: Frame, host: string): ReadonlyMap<string, () => Value> => {
    const values = new Map(magicOf(frame, host))
    values.delete('hostvars')
    values.delete('vars')
    return values
  }

  /** What tasks set for a host. */
  const setDuringRun = (host: string): readonly Layer[] => {
    const own = state.storesOf(host)
    if (host === options.host) return [own.facts, own.includedVars]
    const followed = state.storesOf(options.host)
    return [own.facts, setElsewhere(host, followed.facts), own.includedVars, setElsewhere(host, followed.includedVars)]
  }

  /** What this run set for its own host it most likely set for the others too, with a value of their own. */
  const setElsewhere = (host: string, followed: Layer): Layer => ({
    entries: name => {
      const all = followed.entries(name)
      const first = all.find(({ everyHost }) => everyHost === undefined)
      if (first === undefined) return all
      const { origin, at } = first
      const causes = [{ says: `${name} is set on ${host} during the run`, at, name: `hostvars.${host}.${name}` }]
      const open: Entry = { origin, at, content: { value: unknown(causes) }, maybe: causes }
      return all.flatMap(entry => (entry === first ? open : entry.everyHost ? entry : []))
    },
    names: () => [],
  })

  return { ofFrame, ofTask, ofPlay, ofVarsFiles, ofHost, ofOneHost, show }
}

/** What was gathered during the run, over the facts that were given. */
function withGathered(given: Dict | undefined, gathered: ReadonlyMap<string, Value>): Dict {
  return new LazyDict(
    () => new Set([...(given?.keys() ?? []), ...gathered.keys()]),
    name => gathered.get(String(name)) ?? given?.get(name),
  )
}

function definedOrNothing(scope: Scope, name: string): Value | undefined {
  const value = scope.variable(name)
  return value.kind === 'undefined' ? undefined : value
}

function ansibleVersion(version: string | undefined): Value {
  return version === undefined ? controlHost('ansible_version') : versionValue(version)
}

/** The roles that imported or included the one a frame stands in, the nearest first; a dependency has its role's. */
function includingRoles(frame: Frame): readonly string[] {
  const names: string[] = []
  for (let at: Frame | undefined = frame; at; at = at.parent) {
    if (at.kind !== 'role' || at.parent?.kind === 'role' || at.parent?.kind === 'play') continue
    if (at.parent?.role !== undefined) names.push(at.parent.role.name)
  }
  return names
}

/** Every role that one of these depends on, however far. */
function dependencyNames(roles: readonly Role[]): readonly string[] {
  return [
    ...new Set(
      roles.flatMap(({ dependencies }) => [...dependencyNames(dependencies), ...dependencies.map(({ name }) => name)]),
    ),
  ]
}

/** An inventory's path as Ansible has it: absolute, where the end is what was given. */
function besideInventory(path: string): Value {
  const end = posix.normalize(path).replace(/^(?:\.\.?(?:\/|$))+/, '')
  const says = 'where the inventory stands on the control host'
  return unknown([{ says, at: magicPlace, name: 'inventory_dir' }], [null, end === '' ? '' : `/${end}`])
}

/** Names whose value is made of all roles of a play. */
const ofAllRoles = ['ansible_play_role_names', 'role_names', 'ansible_dependent_role_names', 'ansible_role_names']

/** `vars` does not hold itself; a variable defined by all of it would, and is a recursive loop to Ansible. */
function memberOfVars(scope: Scope, name: string): Value | undefined {
  if (name === 'vars') return undefined
  const { result, reads } = scope.withReads(() => definedOrNothing(scope, name))
  if (result === undefined || name === 'hostvars' || !reads.has('vars') || !holdsMapping(result)) return result
  return failure(`'${name}' is defined by all variables, itself among them (a recursive loop)`, magicPlace)
}

/** Whether a mapping that is computed when looked at stands anywhere in a value. */
function holdsMapping(value: Value): boolean {
  if (value.kind === 'one-of') return value.options.some(option => holdsMapping(option.value))
  if (value.kind !== 'known' || typeof value.data !== 'object' || value.data === null) return false
  const { data } = value
  if (data instanceof LazyDict) return true
  if (data instanceof Map) return [...data.values()].some(holdsMapping)
  return Array.isArray(data) && (data as readonly Value[]).some(holdsMapping)
}

function controlHost(name: string): Value {
  return unknown([{ says: `${name} depends on the control host`, at: magicPlace, name }])
}

function computedLayer(values: ReadonlyMap<string, () => Value>): Layer {
  const origin: Origin = 'magic variable'
  return {
    entries: name => {
      const value = values.get(name)
      return value === undefined ? [] : [{ origin, at: magicPlace, content: { value: value() } }]
    },
    names: () => values.keys(),
  }
}

/** A role's layers are asked for in every frame it stands in, so they are made once. */
const layersOfRoles = new WeakMap<Role, Map<string, Layer>>()

function roleLayer(role: Role, what: 'vars' | 'defaults', dependenciesOnly: boolean): Layer {
  const made = layersOfRoles.get(role) ?? new Map<string, Layer>()
  layersOfRoles.set(role, made)
  const key = `${what} ${dependenciesOnly}`
  const before = made.get(key)
  if (before) return before
  const all = what === 'vars' ? allVars : allDefaults
  const layer = deferredLayer(() => {
    const definitions = dependenciesOnly ? role.dependencies.flatMap(all) : role.code[what]
    return layerOf(what === 'vars' ? 'role vars' : 'role defaults', definitions)
  })
  made.set(key, layer)
  return layer
}

function add(layers: Layer[], origin: Origin, definitions: readonly Definition[] | undefined): void {
  if (definitions && definitions.length > 0) layers.push(layerOf(origin, definitions))
}

/** A role's vars with those of its dependencies, weakest first. */
function allVars(role: Role): readonly Definition[] {
  return [...role.dependencies.flatMap(allVars), ...role.code.vars]
}

function allDefaults(role: Role): readonly Definition[] {
  return [...role.dependencies.flatMap(allDefaults), ...role.code.defaults]
}
