import { posix } from 'node:path'
import { readPlaybook } from '../ansible/read-plays.js'
import { readDefinitions } from '../ansible/read-tasks.js'
import type { Directives, Play } from '../ansible/statement.js'
import { matchHosts } from '../inventory/patterns.js'
import { strOf } from '../jinja/python.js'
import { type Cause, FALSE, known, TRUE, type Truth, unknown, type Value } from '../jinja/value.js'
import { placeOf, type Span } from '../source/text.js'
import { layerOf, uncertain } from '../variables/layers.js'
import { evaluateNode, literalValue } from '../variables/node-value.js'
import type { Layer, Scope } from '../variables/scope.js'
import { entryOf, type Node } from '../yaml/node.js'
import { chooseAnsible, undecided } from './ansible-version.js'
import { type Code, directoryOf, firstFile } from './code.js'
import { type CompiledPlay, type Compiler, createCompiler } from './compile.js'
import { chainOf, type Frame } from './frame.js'
import { createScopes, type PlayVariables, type Scopes } from './scopes.js'
import { type Found, fileNamed, findFiles } from './search.js'
import { createRunState, possibleInventory, type RunOptions, type RunState } from './state.js'
import { tagsOfFrame } from './tags.js'
import type { Gap, PlayRun } from './task-run.js'

/** A play with the chain of playbooks around it. */
export interface PlacedPlay {
  readonly play: Play
  /** The chain of playbooks it was imported through. */
  readonly parent: Frame
}

const noDirectives = (at: Span): Directives => ({
  name: undefined,
  when: [],
  tags: [],
  vars: [],
  keywords: new Map(),
  at,
})

/** A playbook before its first play: the plays in order, and the Ansible whose rules they follow. */
export function openPlaybook(
  code: Code,
  options: RunOptions,
  gaps: Gap[],
): { readonly state: RunState; readonly placedPlays: readonly PlacedPlay[] } {
  const early = createRunState(code, options, undecided)
  const placedPlays = playsOf(early, gaps)
  const ansible = chooseAnsible(
    early,
    placedPlays.map(({ play }) => play),
  )
  return { state: { ...early, ansible }, placedPlays }
}

/** The plays of a playbook with `import_playbook` put in place (rule 98). */
function playsOf(state: RunState, gaps: Gap[]): readonly PlacedPlay[] {
  const { code } = state
  const { playbook } = state.options
  const file = code.tree.read(playbook)
  const at: Span = { file: file ?? { path: playbook, text: '' }, start: 0, end: 0 }
  const frame = playbookFrame(undefined, playbook, noDirectives(at))
  return readPlays(frame)

  function readPlays(inside: Frame): readonly PlacedPlay[] {
    const node = code.document(inside.file)
    if (node === undefined) return []
    return readPlaybook(node, code.report).flatMap(entry => {
      if (entry.kind === 'unreadable') {
        gaps.push({ says: entry.says, at: entry.at, via: [inside.step], runs: TRUE })
        return []
      }
      if (entry.kind === 'play') return [{ play: entry, parent: inside }]
      const name = staticValue({ kind: 'scalar', data: entry.file, span: entry.at }, inside)
      const path = fileNamed(code, name, [directoryOf(inside.file)])
      const cycle = path !== undefined && chainOf(inside).some(({ file }) => file === path)
      if (path === undefined || cycle) {
        const says = cycle
          ? `playbooks import each other without end: ${entry.file}`
          : `import_playbook: no file '${entry.file}'`
        code.report({ code: cycle ? 'import-cycle' : 'import-missing', severity: 'error', message: says, at: entry.at })
        gaps.push({ says, at: entry.at, via: [inside.step], runs: TRUE })
        return []
      }
      return readPlays(playbookFrame(inside, path, entry))
    })
  }

  function staticValue(node: Node, frame: Frame): Value {
    return evaluateNode(node, createScopes(state, noVariables).ofPlay(frame))
  }
}

function playbookFrame(parent: Frame | undefined, file: string, directives: Directives): Frame {
  const step = { kind: 'playbook', what: `playbook ${file}`, at: directives.at } as const
  return { parent, kind: 'playbook', step, directives, role: undefined, file, playbookDirectory: directoryOf(file) }
}

const noVariables: PlayVariables = { play: [], prompts: [], files: [], roles: [], hosts: [], name: known('') }

/** A play with everything static in place: what Ansible has of it before it runs the first task. */
export interface PreparedPlay {
  /** The play as a run shows it. */
  readonly shown: PlayRun
  readonly hosts: readonly string[]
  readonly compiler: Compiler
  readonly compiled: CompiledPlay
  readonly scopes: Scopes
}

/** Puts a play's static parts in place, with the variables it makes visible; files it misses become gaps. */
export function preparePlay(state: RunState, { play, parent }: PlacedPlay, gaps: Gap[]): PreparedPlay {
  const step = { kind: 'play', what: play.name === undefined ? 'play' : `play "${play.name}"`, at: play.at } as const
  const frame: Frame = { ...parent, parent, kind: 'play', step, directives: play }
  const imported = chainOf(parent).flatMap(({ directives }) => directives.vars)
  const bare: PlayVariables = { ...noVariables, play: [...play.vars, ...imported], prompts: promptsOf(play) }
  // Which files they are may depend on the host; what needs them before it is known has to do with the others (rule 94).
  const early = { ...bare, files: varsFilesOf(state, play, frame, createScopes(state, bare).ofPlay(frame), undefined) }
  const beforeHosts = createScopes(state, early)
  const compiler = createCompiler(
    state.code,
    (node, at, roles) => {
      const scopes = roles.length === 0 ? beforeHosts : createScopes(state, { ...early, roles })
      return literalValue(node) ?? evaluateNode(node, scopes.ofPlay(at))
    },
    state.statements,
    state.ansible.rules,
  )
  const compiled = compiler.compilePlay(play, frame)
  // Hosts and name of a play know what its roles define, those that imports bring in among them.
  const ofPlay = createScopes(state, { ...early, roles: compiled.visibleRoles }).ofPlay(frame)
  const { patterns, hosts, inPlay } = hostsOfPlay(state, play, ofPlay)
  const name = nameOfPlay(play, ofPlay)
  const withRoles = { ...bare, roles: compiled.visibleRoles, hosts, name }
  const files = varsFilesOf(state, play, frame, createScopes(state, withRoles).ofVarsFiles(frame), gaps)
  const scopes = createScopes(state, { ...withRoles, files })
  const shown = {
    name: name.kind === 'known' ? strOf(name.data) : writtenName(play),
    hosts: patterns,
    tags: tagsOfFrame(frame, scopes.ofPlay(frame)),
    inPlay,
    at: play.at,
  }
  return { shown, hosts, compiler, compiled, scopes }
}

/** A play without a name is called what its hosts are, as text. */
function writtenName(play: Play): string {
  return play.name ?? textsIn(play.hosts).join(',')
}

function nameOfPlay(play: Play, scope: Scope): Value {
  return scope.template(writtenName(play), play.at)
}

function hostsOfPlay(
  state: RunState,
  play: Play,
  scope: Scope,
): { patterns: readonly string[]; hosts: readonly string[]; inPlay: Truth } {
  const node = play.hosts
  const value = node === undefined ? known([]) : evaluateNode(node, scope)
  if (value.kind === 'undefined' || value.kind === 'failure') {
    const message = `hosts: ${value.says}`
    state.code.report({ code: 'play-malformed', severity: 'error', message, at: node?.span ?? play.at })
  }
  const items = value.kind === 'known' && Array.isArray(value.data) ? value.data : [value]
  const patterns = items.flatMap(item => (item.kind === 'known' && typeof item.data === 'string' ? item.data : []))
  if (patterns.length < items.length) {
    const says = `which hosts the play is for cannot be told before the run`
    return {
      patterns: textsIn(node),
      hosts: [state.options.host],
      inPlay: unknown([{ says, at: node?.span ?? play.at }]),
    }
  }
  if (node === undefined) {
    // Ansible refuses such a playbook; nobody can tell which hosts were meant.
    const says = "the play has no 'hosts'"
    return { patterns, hosts: [state.options.host], inPlay: unknown([{ says, at: play.at, unread: true }]) }
  }
  const hosts = matchHosts(patterns, state.inventory)
  if (state.perhaps.length === 0) return { patterns, hosts, inPlay: hosts.includes(state.options.host) ? TRUE : FALSE }
  const possible = matchHosts(patterns, possibleInventory(state))
  return {
    patterns,
    hosts: [...new Set([...hosts, ...possible])],
    inPlay: perhapsInPlay(state, patterns, hosts, possible),
  }
}

/**
 * Whether the host is in a play where memberships are left open. A union of groups only grows with them; any other pattern
 * is decided only where one membership is open and both ways come to the same.
 */
function perhapsInPlay(
  { perhaps, options: { host }, inventory }: RunState,
  patterns: readonly string[],
  certain: readonly string[],
  possible: readonly string[],
): Truth {
  const causes = perhaps.flatMap(each => each.causes)
  const isIn = certain.includes(host)
  const same = isIn === possible.includes(host)
  const grows = !patterns.some(pattern => /[!&[~]/.test(pattern))
  const namesHosts = patterns.every(pattern => inventory.hosts.has(pattern))
  const anyGroup = perhaps.some(({ group }) => group === undefined) && !namesHosts
  const decided = grows ? isIn || (same && !anyGroup) : same && perhaps.length === 1 && !anyGroup
  return decided ? (isIn ? TRUE : FALSE) : unknown(causes)
}

/** A text, or the texts of a list, as written. */
function textsIn(node: Node | undefined): readonly string[] {
  if (node?.kind === 'list') return node.items.flatMap(textsIn)
  return node?.kind === 'scalar' ? [String(node.data)] : []
}

/**
 * The layers of `vars_files`, strongest first: of a nested list the first file that is there. A name that rests on an
 * undefined variable is passed over, as Ansible does as long as it has no facts. Without `gaps` nothing is missed yet.
 */
function varsFilesOf(
  { code }: RunState,
  play: Play,
  frame: Frame,
  scope: Scope,
  gaps: Gap[] | undefined,
): readonly Layer[] {
  const node = play.keywords.get('vars_files')?.value
  const groups = node === undefined ? [] : node.kind === 'list' ? node.items : [node]
  const directories = [posix.join(frame.playbookDirectory, 'vars'), frame.playbookDirectory]
  return groups.toReversed().flatMap(group => {
    const missed = (says: string): void => {
      const via = [frame.step]
      gaps?.push({ says: `vars_files: ${says} (${placeOf(group.span)})`, at: group.span, via, runs: TRUE })
    }
    const layers: Layer[] = []
    // Why none of the files so far may be there.
    const doubts: Cause[] = []
    for (const item of group.kind === 'list' ? group.items : [group]) {
      const name = evaluateNode(item, scope)
      if (name.kind === 'failure' && name.undefined) {
        missed(`its name cannot be told: ${name.says}`)
        return layers
      }
      const { candidates, otherwise } = filesNamed(code, name, directories)
      if (candidates.length === 0 && otherwise.length > 0) {
        const says = 'which file of vars_files it is cannot be told'
        missed('which file it is cannot be told')
        layers.push(layerOf('play vars_files', readDefinitions({ kind: 'unreadable', says, span: item.span })))
      }
      for (const { path, because } of candidates) {
        const layer = layerOf('play vars_files', readDefinitions(code.document(path)))
        const open = [...doubts, ...because, ...otherwise]
        layers.push(open.length === 0 ? layer : uncertain(layer, open))
      }
      if (candidates.length > 0 && otherwise.length === 0) return layers
      doubts.push(...otherwise)
    }
    if (layers.length === 0) missed('no such file')
    return layers
  })
}

/** One that the tree refuses is found too: it may define anything. */
function filesNamed(code: Code, name: Value, directories: readonly string[]): Pick<Found, 'candidates' | 'otherwise'> {
  if (name.kind !== 'known' || typeof name.data !== 'string') return findFiles(code, name, directories)
  const path = firstFile(code.tree, directories, [name.data])
  return { candidates: path === undefined ? [] : [{ path, because: [] }], otherwise: [] }
}

function promptsOf(play: Play): readonly string[] {
  const node = play.keywords.get('vars_prompt')?.value
  // One prompt may stand without a list (`preprocess_vars`).
  const prompts = node?.kind === 'list' ? node.items : node?.kind === 'map' ? [node] : []
  return prompts.flatMap(item => {
    const name = item.kind === 'map' ? entryOf(item, 'name')?.value : undefined
    return name?.kind === 'scalar' ? String(name.data) : []
  })
}
