import { pathsIn } from '../../jinja/names.js'
import { parseExpression } from '../../jinja/parser.js'
import { known, type Value } from '../../jinja/value.js'
import type { Span } from '../../source/text.js'
import {
  askText,
  bothTrue,
  eitherTrue,
  isOneOfTexts,
  isSet,
  isText,
  mapText,
  membersOf,
  notTrue,
  plainPath,
  showValue,
  textOf,
} from '../argument.js'
import type { Effect } from '../effect.js'
import { patternAsPieces } from '../programs.js'
import { isSysctlDirectoryFile } from '../settings-files.js'
import { type ModuleCall, type ModuleEffects, required } from './call.js'

/**
 * ansible.posix.mount. `absent` unmounts and removes the lines of fstab whose mount point is `path`; `fstype` has no say
 * in it, `src` only for swap (semantics of the module's unset_mount).
 */
export const mount: ModuleEffects = call => {
  const path = required(call, 'path', 'name')
  const entry = {
    file: plainPath(call.argument('fstab') ?? known('/etc/fstab')),
    mountPoint: path,
    fstype: call.argument('fstype'),
    source: call.argument('src'),
    at: call.at,
  }
  const state = required(call, 'state')
  const states: Readonly<Record<string, readonly Effect[]>> = {
    absent: [
      { kind: 'fstab-entries-removed', ...entry },
      { kind: 'mount', state: 'unmounted', path, at: call.at },
    ],
    absent_from_fstab: [{ kind: 'fstab-entries-removed', ...entry }],
    present: [{ kind: 'fstab-entry-written', ...entry }],
    mounted: [
      { kind: 'fstab-entry-written', ...entry },
      { kind: 'mount', state: 'mounted', path, at: call.at },
    ],
    unmounted: [{ kind: 'mount', state: 'unmounted', path, at: call.at }],
    remounted: [{ kind: 'mount', state: 'remounted', path, at: call.at }],
    ephemeral: [{ kind: 'mount', state: 'mounted', path, at: call.at }],
  }
  return byText(call, state, states)
}

/** The effects for each state the argument may have; a state the table does not have is an unmodelled use. */
function byText(call: ModuleCall, value: Value, table: Readonly<Record<string, readonly Effect[]>>): readonly Effect[] {
  const possible = Object.entries(table).filter(([text]) => isText(value, text).kind !== 'false')
  const only = possible.length === 1 && possible[0] !== undefined && isText(value, possible[0][0]).kind === 'true'
  if (possible.length === 0) {
    return [{ kind: 'unmodelled-module', module: `${call.task.task.module} (${showValue(value)})`, at: call.at }]
  }
  return possible.flatMap(([text, effects]) =>
    only ? effects : effects.map(effect => ({ ...effect, onlyIf: `state is ${text}` })),
  )
}

/** systemd, systemd_service, service, sysvinit: a unit is started, stopped, enabled, masked; without a name nothing is. */
export const unit: ModuleEffects = call => {
  const name = call.argument('name', 'service', 'unit')
  const state = call.argument('state')
  const enabled = call.argument('enabled')
  const masked = call.argument('masked')
  if (name === undefined || (state === undefined && enabled === undefined && masked === undefined)) return []
  // Units of a user, or of every user, are none of the host's.
  const ofHost = askText(call.argument('scope') ?? known('system'), text => text === 'system')
  if (ofHost.kind === 'false') return []
  const decides = ofHost.kind === 'true' ? {} : { onlyIf: 'scope is system' }
  return membersOf(name).map(each => ({ kind: 'unit', unit: each, state, enabled, masked, at: call.at, ...decides }))
}

/**
 * community.general.modprobe. `state` (default present) is about now; `persistent: present` writes
 * /etc/modules-load.d/NAME.conf, `persistent: absent` comments the module out there.
 */
export const modprobe: ModuleEffects = call => {
  const module = required(call, 'name')
  const parameters = call.argument('params')
  const absent = isText(call.argument('state'), 'absent')
  const persistent = call.argument('persistent')
  const file = mapText(module, text => `/etc/modules-load.d/${text}.conf`)
  const effects: Effect[] = [
    {
      kind: 'kernel-module',
      module,
      when: 'now',
      state: absent.kind === 'true' ? 'unloaded' : 'loaded',
      parameters,
      file: undefined,
      at: call.at,
      ...(absent.kind === 'unknown' ? { onlyIf: 'state is present' } : {}),
    },
  ]
  const boot = { kind: 'kernel-module', module, when: 'boot', parameters, file, at: call.at } as const
  const add = (state: 'loaded' | 'unloaded', text: string): void => {
    const truth = isText(persistent, text)
    if (truth.kind === 'true') effects.push({ ...boot, state })
    if (truth.kind === 'unknown') effects.push({ ...boot, state, onlyIf: `persistent is ${text}` })
  }
  add('loaded', 'present')
  add('unloaded', 'absent')
  return effects
}

/**
 * ansible.posix.sysctl. Writes `sysctl_file` (default /etc/sysctl.conf); with `reload` (default true) that file is then
 * applied with `sysctl -p`, with `sysctl_set` the key alone is set. `absent` removes the line, the kernel keeps its value.
 */
export const sysctl: ModuleEffects = call => {
  const absent = isText(call.argument('state'), 'absent')
  const applied = eitherTrue(isSet(call.argument('reload'), true), isSet(call.argument('sysctl_set'), false))
  const value = call.argument('value', 'val')
  const key = required(call, 'name', 'key')
  const file = plainPath(call.argument('sysctl_file') ?? known('/etc/sysctl.conf'))
  const ignores = call.argument('ignoreerrors')
  return [
    // The name of the host is a setting of the kernel too: systemd-sysctl sets it after the name it boots with.
    ...(textOf(key) === 'kernel.hostname' && value !== undefined && absent.kind === 'false' && applied.kind !== 'false'
      ? [
          {
            kind: 'hostname',
            name: value,
            now: true,
            persisted: isSysctlDirectoryFile(file).kind === 'true',
            at: call.at,
          } as const,
        ]
      : []),
    {
      kind: 'sysctl',
      key,
      value: absent.kind === 'true' ? undefined : value === undefined ? known('') : writtenSetting(value),
      file,
      now: bothTrue(applied, notTrue(absent)),
      persisted: notTrue(absent),
      ...(ignores === undefined ? {} : { ignoresUnknownKeys: isSet(ignores, false) }),
      at: call.at,
    },
  ]
}

/** The module writes yes, true, on as 1 and no, false, off as 0. */
function writtenSetting(value: Value): Value {
  return mapText(value, text => {
    const lower = text.trim().toLowerCase()
    if (['yes', 'true', 'on'].includes(lower)) return '1'
    return ['no', 'false', 'off'].includes(lower) ? '0' : text.trim()
  })
}

/** Package managers' modules: `name` (or `pkg`, `deb`, `upgrade`), `state` by default present. */
export const packages: ModuleEffects = call => {
  const names = call.argument('name', 'pkg', 'package', 'deb', 'bundle', 'requirements')
  const upgrade = call.argument('upgrade')
  if (isSet(upgrade, false).kind !== 'false' || isOneOfTexts(upgrade, ['dist', 'full', 'safe']).kind !== 'false') {
    return [{ kind: 'package', names: names ?? known('*'), state: known('latest'), at: call.at }]
  }
  if (names === undefined || call.argument('list') !== undefined || membersOf(names).length === 0) return []
  const members = membersOf(names)
  const patterns = members.map(name => patternAsPieces(name, 'packages', call.at))
  const named = patterns.some((pattern, index) => pattern !== members[index]) ? known(patterns) : names
  const manager = /(^|\.)pip$/.test(call.invocation.module ?? call.task.task.module)
    ? ({ manager: 'pip' } as const)
    : {}
  return [{ kind: 'package', names: named, state: call.argument('state') ?? known('present'), ...manager, at: call.at }]
}

/** ansible.builtin.dpkg_selections: what dpkg may do with a package. */
export const held: ModuleEffects = call => [
  { kind: 'package', names: required(call, 'name'), state: call.argument('selection') ?? known('held'), at: call.at },
]

/** One statement of what the module is given, for effects that are told apart by kind alone. */
export const stated =
  (
    kind: 'clock' | 'account' | 'schedule' | 'storage' | 'cluster-object' | 'package-source',
    ...names: readonly string[]
  ): ModuleEffects =>
  call => [{ kind, says: statement(call, names), at: call.at }]

function statement(call: ModuleCall, names: readonly string[]): Value {
  const parts = names.flatMap(name => {
    const value = call.argument(name)
    return value === undefined ? [] : [`${name}=${showValue(value)}`]
  })
  return known([call.task.task.action, ...parts].join(' '))
}

function turnsUfw(call: ModuleCall): { readonly turns?: Value } {
  const turns = /(^|\.)ufw$/.test(call.invocation.module ?? call.task.task.module) ? call.argument('state') : undefined
  return turns === undefined ? {} : { turns }
}

/** A rule of a firewall, as the module is given it. */
export const firewall: ModuleEffects = call => [
  {
    kind: 'firewall',
    tool: call.task.task.action.split('.').at(-1) ?? call.task.task.action,
    says: statement(call, [
      'table',
      'chain',
      'policy',
      'flush',
      'jump',
      'service',
      'port',
      'rule',
      'state',
      'destination_port',
    ]),
    ...turnsUfw(call),
    at: call.at,
  },
]

/**
 * ansible.posix.selinux: the mode it asks for, in /etc/selinux/config and at once (`disabled` is permissive until the next
 * boot).
 */
export const selinux: ModuleEffects = call => [
  { kind: 'selinux', sets: 'mode', state: required(call, 'state'), persisted: true, at: call.at },
]
/** ansible.posix.seboolean: one switch of the policy. */
export const seboolean: ModuleEffects = call => [
  {
    kind: 'selinux',
    sets: 'boolean',
    state: known(`${showValue(call.argument('name'))}=${showValue(call.argument('state'))}`),
    persisted: isSet(call.argument('persistent'), false).kind === 'true',
    at: call.at,
  },
]
/** ansible.builtin.hostname: the name at once and at each boot. */
export const hostname: ModuleEffects = call => [
  { kind: 'hostname', name: required(call, 'name'), now: true, persisted: true, at: call.at },
]
/** ansible.builtin.reboot. */
export const reboot: ModuleEffects = call => [{ kind: 'reboot', at: call.at }]

/** The Docker modules: an image, or a container that is there after the task or not. */
export const container: ModuleEffects = call => {
  const image = call.task.task.module.endsWith('_image')
  const state = call.argument('state')
  const stops = isOneOfTexts(state, ['absent', 'stopped']).kind !== 'false'
  return [
    {
      kind: 'container',
      runtime: 'docker',
      action: image ? 'image' : stops ? 'removed' : 'started',
      arguments: [...call.invocation.arguments.values()],
      at: call.at,
    },
  ]
}

/** assert: each condition of `that`, which decide it; fail: its message, and the conditions of the task decide it. */
export const stops: ModuleEffects = call => {
  const that = call.argument('that')
  const deciding = call.invocation.asserted ?? call.task.conditions.filter(({ from }) => from === 'task')
  const names = deciding.flatMap(condition => condition.names.map(({ name }) => name))
  // An assert that does not run was not evaluated: what it would look at stands in its text.
  const written = call.invocation.asserted === undefined && that !== undefined ? pathsOf(that, call.at) : []
  const says = that ?? call.argument('msg') ?? known('Failed as requested from task')
  return [{ kind: 'stop-if', says, reads: [...new Set([...names, ...written])], at: call.at }]
}

/** What conditions look at: one text, or a list of them. */
function pathsOf(conditions: Value, at: Span): readonly string[] {
  const text = textOf(conditions)
  if (text === undefined) return membersOf(conditions).flatMap(each => (each === conditions ? [] : pathsOf(each, at)))
  const expression = parseExpression(text, at)
  return expression.kind === 'syntax-problem' ? [] : pathsIn(expression)
}

/** Modules that change nothing on the host: they read, wait, talk to the network, or are about the run itself. */
export const nothing: ModuleEffects = () => []
