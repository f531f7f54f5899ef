import { type LanguageRules, rulesFor, rulesOfAll } from '../ansible/language.js'
import { knownCores } from '../ansible/packages.js'
import type { Definition, Play, Statement, Task } from '../ansible/statement.js'
import { compareVersions } from '../ansible/versions.js'
import { evaluateTemplate } from '../jinja/template.js'
import { type Key, known, unknown, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { type Changes, layerOf, valuesLayer } from '../variables/layers.js'
import { createScope, type Scope } from '../variables/scope.js'
import type { Node } from '../yaml/node.js'
import { evaluateWhen } from './conditions.js'
import { type Requirement, readRequirements } from './requirements.js'
import { placeOfRun, type RunState } from './state.js'

/** The Ansible a run is read for, and how that was decided. */
export interface AnsibleVersion {
  /** Of ansible-core; undefined where nothing in the tree says it. */
  readonly version: string | undefined
  readonly rules: LanguageRules
  /** The line of a requirements file that pins it; absent where the user named it, or nothing does. */
  readonly requirement?: Pick<Requirement, 'text' | 'at'>
  /** Where the plays check the version; of several places the first. */
  readonly window?: Span
  /** Whether what was decided passes that check. */
  readonly accepted: boolean
  /** True where the user named it. */
  readonly asked: boolean
}

/** Before it is decided, and where nothing decides it. */
export const undecided: AnsibleVersion = {
  version: undefined,
  rules: rulesOfAll,
  accepted: true,
  asked: false,
}

/**
 * Which ansible-core a tree is for. What the requirements files at its top allow is tried against what the plays assert of
 * `ansible_version`: the newest that passes counts, where either bounds it from above, else the oldest. Without such files
 * every version known is tried; without such an assert the newest allowed counts. Where neither is there, no version is
 * claimed, and the rules are those that 2.16 to 2.18 have in common. A version the user names settles it.
 */
export function chooseAnsible(
  state: Pick<RunState, 'code' | 'changes' | 'options'>,
  plays: readonly Play[],
): AnsibleVersion {
  const checks = plays.flatMap(versionChecks)
  const accepts = (version: string): boolean => checks.every(check => passes(state, check, version))
  const window = checks[0] && { window: checks[0].task.at }
  const { ansible } = state.options
  if (ansible !== undefined) {
    return { version: ansible, rules: rulesFor(ansible), ...window, accepted: accepts(ansible), asked: true }
  }
  const requirements = readRequirements(state.code.tree)
  const pinned = requirements.flatMap(({ versions, bounded, ...requirement }) =>
    versions.map(version => ({ version, bounded, requirement })),
  )
  if (pinned.length === 0 && checks.length === 0) return undecided
  const candidates: readonly { version: string; bounded: boolean; requirement?: AnsibleVersion['requirement'] }[] =
    requirements.length > 0 ? pinned : knownCores.map(version => ({ version, bounded: false }))
  const fitting = candidates.filter(({ version }) => accepts(version))
  const ordered = (fitting.length > 0 ? fitting : pinned).toSorted((a, b) => compareVersions(a.version, b.version))
  // A check that takes any later version sets no upper bound.
  const bounded = !accepts('999.0.0') || ordered.some(each => each.bounded)
  const chosen = bounded ? ordered.at(-1) : ordered[0]
  if (chosen === undefined) return { ...undecided, ...window, accepted: false }
  const { version, requirement } = chosen
  return {
    version,
    rules: rulesFor(version),
    ...(requirement && { requirement: { text: requirement.text, at: requirement.at } }),
    ...window,
    accepted: fitting.length > 0,
    asked: false,
  }
}

/** What `ansible_version` is in a play, as Ansible's `CLI.version_info` makes it. */
export function versionValue(version: string): Value {
  const numbers = version.split('.').map(part => (/^\d+$/.test(part) ? BigInt(part) : part))
  const member = (index: number): Value => known(numbers[index] ?? 0n)
  return known(
    new Map<Key, Value>([
      ['string', known(version)],
      ['full', known(version)],
      ['major', member(0)],
      ['minor', member(1)],
      ['revision', member(2)],
    ]),
  )
}

/** A task of a play that asserts something of the Ansible that runs it. */
interface VersionCheck {
  readonly task: Task
  readonly that: readonly Node[]
  readonly vars: readonly Definition[]
}

/** The asserts that stand in a play itself and read `ansible_version`. */
function versionChecks(play: Play): readonly VersionCheck[] {
  const found: VersionCheck[] = []
  const search = (statements: readonly Statement[], vars: readonly Definition[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'block') search(statement.block, [...statement.vars, ...vars])
      if (statement.kind !== 'task' || statement.module !== 'ansible.builtin.assert') continue
      const that = thatOf(statement)
      const reads = that.some(node => node.kind === 'scalar' && /\bansible_version\b/.test(String(node.data)))
      if (reads) found.push({ task: statement, that, vars: [...statement.vars, ...vars] })
    }
  }
  for (const section of [play.preTasks, play.tasks, play.postTasks]) search(section, play.vars)
  return found
}

function thatOf({ arguments: { named } }: Task): readonly Node[] {
  const that = named.get('that')
  return that === undefined ? [] : that.kind === 'list' ? that.items : [that]
}

/** Whether a check lets a version pass: what it cannot be told of does not stop it. */
function passes(
  state: Pick<RunState, 'changes' | 'options'>,
  { task, that, vars }: VersionCheck,
  version: string,
): boolean {
  const scope = scopeWith(state, version, vars)
  const fails = (node: Node): boolean => evaluateWhen(node, 'task', scope).truth.kind === 'false'
  return task.when.some(fails) || !that.some(fails)
}

const place = placeOfRun('the version of Ansible')

function scopeWith(
  { changes, options }: { readonly changes: Changes; readonly options: RunState['options'] },
  version: string,
  vars: readonly Definition[],
): Scope {
  const layers = [
    valuesLayer('magic variable', place, new Map([['ansible_version', versionValue(version)]])),
    layerOf('extra vars', options.extraVars),
    layerOf('play vars', vars),
  ]
  const open = (name: string): Value =>
    unknown([{ says: `${name} is not looked at to tell the version of Ansible`, at: place, name }])
  return createScope(layers, {
    changes,
    missing: open,
    assume: () => undefined,
    lookup: () => () => undefined,
    template: scope => (text, at) => evaluateTemplate(text, at, scope),
    readYaml: () => open('YAML text'),
    // The check is evaluated again in the run, which tells.
    unmodelled: () => {},
    mergesMappings: false,
  })
}
