import { problems } from '../rules/index.js'
import { type Addresses, addressesIn } from './addresses/addressed.js'
import { roleTexts } from './effects/role-text.js'
import { effectsOfRun, type RunEffects } from './effects/run-effects.js'
import type { Evidence } from './evidence/evidence.js'
import { evidenceHosts } from './evidence/open.js'
import { afterBoot } from './host/after-boot.js'
import { followHost, type HostAlong } from './host/along.js'
import { capturedMoment } from './host/captured.js'
import { factsOf } from './host/facts/facts.js'
import type { ForeseenFailure } from './host/host-state.js'
import type { Moment } from './host/moment.js'
import { defaultInventory } from './inventory/default-inventory.js'
import { readAssumptions, readExtraVars } from './inventory/extra-vars.js'
import { ANY_HOST, readFacts } from './inventory/facts.js'
import { readGroupVars, readInventoryVars, unmatchedNames, type VariableFile } from './inventory/group-vars.js'
import { type Definition, groupNamesOf, hostsOf, type Inventory } from './inventory/inventory.js'
import { readInventory } from './inventory/read.js'
import { readInventorySettings, readMergesMappings } from './inventory/settings.js'
import type { Dict } from './jinja/value.js'
import { withoutExpressions } from './recorded/without-code.js'
import { stopText } from './reports/stops.js'
import type { AnsibleVersion } from './run/ansible-version.js'
import { typedHint } from './run/checks.js'
import { type Code, openCode } from './run/code.js'
import type { Answered, HostView } from './run/host-view.js'
import { type Listing, listPlaybook } from './run/listing.js'
import { openPlaybook } from './run/plays.js'
import { type Role, type RoleCode, readRole, roleDirectories } from './run/role.js'
import { type Observer, runPlaybook } from './run/run.js'
import type { RunOptions } from './run/state.js'
import type { Run } from './run/task-run.js'
import { type Diagnostic, type Report, UsageError } from './source/diagnostic.js'
import { once } from './source/once.js'
import { placeOf, type Span } from './source/text.js'
import type { SourceTree, TreeOrigin } from './source/tree.js'
import { gatherAssumptions } from './variables/assumptions.js'
import { hostLayers } from './variables/host-layers.js'
import type { ResolvedVariable } from './variables/resolved.js'
import type { Layer, Scope } from './variables/scope.js'
import { type Contradiction, contradictionsIn, documentsOf } from './verdicts/contradictions.js'
import { judgeAll, type Verdict } from './verdicts/judge.js'
import { type HostMoments, type HostVerdict, judgeHost } from './verdicts/on-host.js'
import type { Problem } from './verdicts/problem.js'

/** What an analysis is asked for; texts as the user gave them. */
export interface AnalysisRequest {
  readonly playbook: string
  readonly inventory: readonly string[]
  readonly host?: string
  readonly extraVars: readonly string[]
  readonly facts?: string
  /** A captured host, or a directory of them by name (`whofixes collect`): a path. */
  readonly evidence?: string
  /** What was captured of the host, where that was opened before; in place of `evidence`. */
  readonly hostEvidence?: Evidence
  /** False where the answer is about role code: of the evidence only the facts count, the run is not followed on the host. */
  readonly followsHost?: boolean
  /** The host of `hostEvidence` before the run, where that was worked out before. */
  readonly hostMoment?: Moment
  /** The inventory with the variable files beside it, read before; in place of what `inventory` names. */
  readonly opened?: OpenedInventory
  /** Facts by host, read before; in place of those of `facts` and of the evidence. */
  readonly hostFacts?: ReadonlyMap<string, Dict>
  /** Facts of every host, in place of those of a file; what is not among them is unknown. */
  readonly commonFacts?: Dict
  readonly assume: readonly string[]
  readonly tags: readonly string[]
  readonly skipTags: readonly string[]
  /** The version of ansible-core; what the role code pins and checks where absent. */
  readonly ansible?: string
  /** The control host's environment variables; none where absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** The host itself, as far as it is known: it answers tasks that only look. */
  readonly hostView?: HostView
  /** Which variables of a role to resolve when it begins; none where absent. */
  readonly variables?: (role: Role, scope: Scope) => readonly string[]
  /** Problems to judge beside those of the catalogue. */
  readonly beside?: readonly Problem[]
  /** False where the answer is recorded: verdicts then name places and names, but quote no conditions. */
  readonly quoteCode?: boolean
}

/** An inventory with the variable files beside it. */
export interface OpenedInventory {
  readonly inventory: Inventory
  readonly beside: readonly VariableFile[]
}

/** Reads the inventory of a request (the default one where it names none) with the variable files beside it. */
export function openInventory(tree: SourceTree, request: AnalysisRequest, report: Report): OpenedInventory {
  if (request.inventory.length === 0) return { inventory: defaultInventory(tree, report), beside: [] }
  const inventory = readInventory(request.inventory, report, readInventorySettings(tree))
  return { inventory, beside: readInventoryVars(inventory, report) }
}

/** The variables every report shows: where kernel settings go, and what kubespray asks of memory. */
export const shownVariables: readonly string[] = ['sysctl_file_path', 'minimal_master_memory_mb']

/** The names a role's tasks see from role defaults, vars and parameters: its own and those of the roles around it. */
export function roleVariables(_role: Role, scope: Scope): readonly string[] {
  return scope.namesAt(['role defaults', 'role vars', 'role params'])
}

export const defaultRequest: AnalysisRequest = {
  playbook: 'cluster.yml',
  inventory: [],
  extraVars: [],
  assume: [],
  tags: [],
  skipTags: [],
}

/** A role where it first stands in the playbook, with the variables that were asked for as its tasks see them. */
export interface RoleStart {
  readonly role: Role
  readonly variables: ReadonlyMap<string, ResolvedVariable>
}

/** The run of a playbook for one host, and what it was made from. */
export interface RunAnalysis {
  /** The role code that was read, each file once. */
  readonly code: Code
  readonly origin: TreeOrigin
  readonly inventory: Inventory
  readonly variableFiles: readonly VariableFile[]
  readonly run: Run
  readonly roles: readonly RoleStart[]
  /** What each task of the tree is, apart from where it stands. */
  readonly addresses: Addresses
  /** The facts of the host, given or as its evidence says them; absent where there are none. */
  readonly facts: Dict | undefined
  /** The captured host the run was followed on; absent where there is no evidence of it. */
  readonly along: HostAlong | undefined
  /** Roles of the tree that this run does not reach. */
  readonly unreachedRoles: () => readonly RoleCode[]
  /** Everything found wrong with the input, without repeats. */
  readonly diagnostics: readonly Diagnostic[]
}

/** A playbook's static tasks, and what was found wrong on the way. */
export interface ListingAnalysis {
  readonly listing: Listing
  readonly diagnostics: readonly Diagnostic[]
}

/** A run with what it does to the host and who fixes each problem. */
export interface Analysis extends RunAnalysis {
  readonly effects: RunEffects
  readonly verdicts: readonly Verdict[]
  /** The host before the run, after it and after the next boot; absent where there is no evidence of it. */
  readonly onHost: OnHost | undefined
  /** What kubespray's documentation says otherwise; its pages are read when this is first asked. */
  readonly contradictions: () => readonly Contradiction[]
}

/** The evidence of one host at a path: the only one there, or the one of its name. Throws UsageError where there is none. */
function evidenceOf(path: string, host: string, report: Report): Evidence {
  const hosts = evidenceHosts(path, report)
  const found = hosts.length === 1 ? hosts[0] : hosts.find(each => each.host === host)
  if (found !== undefined) return found.open()
  const some = hosts.slice(0, 8).map(each => each.host)
  throw new UsageError(
    `${path}: no evidence of ${host} in it; it has ${some.join(', ')}${hosts.length > 8 ? ', …' : ''}`,
  )
}

/** A captured host as it is, and as its next boot would make it. No role code is read. */
export function momentsOf(path: string, name: string): Pick<HostMoments, 'now' | 'booted'> & { readonly host: string } {
  const evidence = evidenceOf(path, name, () => {})
  const now = capturedMoment(evidence)
  return { now, booted: afterBoot(now, now, evidence), host: evidence.host }
}

/** What becomes of a captured host. */
export interface OnHost {
  readonly evidence: Evidence
  readonly moments: HostMoments
  readonly verdicts: readonly HostVerdict[]
  /** The paths that the run changes, or may, in the order in which it touches them first. */
  readonly changedPaths: readonly string[]
  /** Tasks that certainly fail on it, in run order. */
  readonly failures: readonly ForeseenFailure[]
}

/**
 * The whole pipeline: inventory and facts → the run of the playbook for one host → what it does to the host → who fixes
 * each problem. Throws UsageError where the request names what is not there.
 */
export function analyze(tree: SourceTree, request: AnalysisRequest): Analysis {
  const analysis = analyzeRun(tree, request)
  const judged = request.quoteCode === false ? withoutExpressions(analysis.run) : analysis.run
  const { along } = analysis
  const effects = along?.effects(judged) ?? effectsOfRun(judged, roleTexts(tree))
  const verdicts = judgeAll([...problems, ...(request.beside ?? [])], effects)
  const onHost = along === undefined ? undefined : lookAtHost(along, verdicts, effects)
  const contradictions = once(() => contradictionsIn(documentsOf(tree), verdicts, judged))
  return { ...analysis, effects, verdicts, onHost, contradictions }
}

function lookAtHost(along: HostAlong, verdicts: readonly Verdict[], effects: RunEffects): OnHost {
  const { evidence, before: now } = along
  const afterRun = along.now()
  const moments: HostMoments = {
    now,
    booted: afterBoot(now, now, evidence),
    afterRun,
    afterReboot: afterBoot(afterRun, now, evidence),
  }
  const { inventory, host } = effects.run
  const groups = new Set(groupNamesOf(inventory, host))
  return {
    evidence,
    moments,
    verdicts: judgeHost(verdicts, moments, effects, groups),
    changedPaths: along.changedPaths(),
    failures: along.failures(),
  }
}

/**
 * What becomes of another host by the run of this analysis; undefined where its run is not the same. Nothing but the captured
 * host is looked at: that facts, groups and variables are the same is for the caller to know, and names have to be those of the
 * run's own host.
 */
export function lookAtAnother(
  tree: SourceTree,
  { along, verdicts, effects }: Analysis,
  evidence: Evidence,
  moment: Moment,
  text: (answered: Answered | undefined) => string,
): OnHost | undefined {
  if (along === undefined) return undefined
  const other = followHost(evidence, roleTexts(tree), moment)
  return other.replay(along.events, text) ? lookAtHost(other, verdicts, effects) : undefined
}

/** The pipeline up to the run: for what needs no verdicts. */
export function analyzeRun(tree: SourceTree, request: AnalysisRequest): RunAnalysis {
  const { code, options, along, beside, playbookFiles, report, diagnostics } = openRun(tree, request)
  const roles = new Map<string, RoleStart>()
  const observer: Observer = {
    roleStarts: (role, scope) => {
      if (roles.has(role.code.path)) return
      const names = request.variables?.(role, scope) ?? []
      roles.set(role.code.path, { role, variables: new Map(names.map(name => [name, scope.resolve(name)])) })
    },
  }
  const run = runPlaybook(code, options, observer)
  for (const diagnostic of [
    ...unreadVars(run, beside, playbookFiles),
    ...stopsOf(run),
    ...textsAsBooleans(run, options.extraVars),
  ]) {
    report(diagnostic)
  }
  return {
    code,
    origin: tree.origin,
    inventory: options.inventory,
    variableFiles: beside,
    run,
    roles: [...roles.values()],
    addresses: addressesIn(code),
    facts: options.facts.get(options.host) ?? options.facts.get(ANY_HOST),
    along,
    unreachedRoles: () => {
      const reached = new Set([...roles.values()].map(({ role }) => role.code.directory))
      return roleDirectories(code)
        .filter(directory => !reached.has(directory))
        .map(directory => readRole(code, directory, {}))
    },
    // Effects are worked out later, and may come upon more.
    get diagnostics() {
      return diagnostics()
    },
  }
}

/** What `ansible-playbook --list-tasks` lists: the playbook before anything of it runs. */
export function analyzeListing(tree: SourceTree, request: AnalysisRequest): ListingAnalysis {
  const { code, options, diagnostics } = openRun(tree, request)
  const listing = listPlaybook(code, options)
  return { listing, diagnostics: diagnostics() }
}

/** The Ansible a playbook is for, and whether its own check takes it: the run up to its first play. */
export function ansibleOf(tree: SourceTree, request: AnalysisRequest): AnsibleVersion {
  const { code, options } = openRun(tree, request)
  return openPlaybook(code, options, []).state.ansible
}

/** What a run starts from: the role code, and the request with its files read. */
interface OpenRun {
  readonly code: Code
  readonly options: RunOptions
  readonly along: HostAlong | undefined
  /** Variable files beside the inventories. */
  readonly beside: readonly VariableFile[]
  /** Variable files beside the playbooks, as far as they were asked for. */
  readonly playbookFiles: readonly VariableFile[]
  readonly report: Report
  /** Everything found wrong with the input so far, without repeats. */
  readonly diagnostics: () => readonly Diagnostic[]
}

function openRun(tree: SourceTree, request: AnalysisRequest): OpenRun {
  const diagnostics = collectDiagnostics()
  const code = openCode(tree, diagnostics.report)
  requirePlaybook(tree, request.playbook)

  const { inventory, beside } = request.opened ?? openInventory(tree, request, diagnostics.report)
  const host = chooseHost(inventory, request.host)
  if (request.host === undefined && controlPlaneOf(inventory).length === 0) {
    const message = `no host is in ${controlPlaneGroups.join(' or ')}; the answer is about ${host}`
    diagnostics.report({
      code: 'inventory-group',
      severity: 'warning',
      message,
      at: startOf(request.inventory[0] ?? ''),
    })
  }
  const playbookFiles: VariableFile[] = []
  const besidePlaybook = remembered((directory: string) => {
    const files = readGroupVars(tree, directory, 'playbook', diagnostics.report)
    playbookFiles.push(...files)
    return files
  })
  const evidence =
    request.hostEvidence ??
    (request.evidence === undefined ? undefined : evidenceOf(request.evidence, host, diagnostics.report))
  const isFollowed = evidence !== undefined && request.followsHost !== false
  const along = isFollowed ? followHost(evidence, roleTexts(tree), request.hostMoment) : undefined
  const facts = factsFor(request, diagnostics.report, inventory.hosts.keys(), host, evidence)
  const extraVars = readExtraVars(request.extraVars, diagnostics.report)
  const options: RunOptions = {
    playbook: request.playbook,
    host,
    inventory,
    hostLayers: rememberedLayers((current, name, directory, added) =>
      hostLayers(current, name, [...beside, ...besidePlaybook(directory)], added),
    ),
    extraVars,
    facts,
    environment: new Map(
      Object.entries(request.environment ?? {}).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      ),
    ),
    assumptions: gatherAssumptions(readAssumptions(request.assume)),
    mergesMappings: readMergesMappings(tree, request.environment?.ANSIBLE_HASH_BEHAVIOUR),
    tags: request.tags,
    skipTags: request.skipTags,
    ...(request.ansible === undefined ? {} : { ansible: request.ansible }),
    ...(along === undefined
      ? request.hostView === undefined
        ? {}
        : { hostView: request.hostView }
      : { hostView: along.view }),
  }
  return {
    code,
    options,
    along,
    beside,
    playbookFiles,
    report: diagnostics.report,
    diagnostics: () => [...diagnostics.all(), ...tree.diagnostics()],
  }
}

/**
 * Files of variables that no group or host of the run reads. Beside a playbook such files often wait for groups that an
 * inventory may or may not have: there only those count that look like a slip.
 */
function unreadVars(
  { inventory, groupsComplete }: Run,
  beside: readonly VariableFile[],
  playbookFiles: readonly VariableFile[],
): readonly Diagnostic[] {
  const found = [
    ...unmatchedNames(beside, inventory),
    ...(beside.length === 0
      ? []
      : unmatchedNames(playbookFiles, inventory).filter(({ likely }) => likely !== undefined)),
  ]
  return found.flatMap(({ kind, name, file, likely }) => {
    if (kind === 'group' && !groupsComplete) return []
    const message = `Ansible does not read it: no ${kind} is called ${name}${likely === undefined ? '' : `; there is ${likely}`}`
    return { code: 'inventory-group', severity: 'warning', message, at: startOf(file.file.path) }
  })
}

/** The playbook's own checks that end the run. */
function stopsOf({ checks, ansible }: Run): readonly Diagnostic[] {
  const stops = checks.filter(({ outcome }) => outcome === 'stops')
  const found = stops.map(check => stop([stopText(check), ...check.hints].join('; '), check.task.task.at))
  const { window, version, accepted } = ansible
  if (window === undefined || accepted || stops.some(({ task }) => task.task.at === window)) return found
  // The check may be the control host's alone; where it fails there, no other play begins.
  return [stop(`it does not take ansible-core ${version ?? 'of any version that is known'}`, window), ...found]
}

function stop(says: string, at: Span): Diagnostic {
  return { code: 'run-stops', severity: 'warning', message: `the run stops here: ${says}`, at }
}

/** `-e NAME=false` is a text, and true where a condition is just its name: said once a variable. */
function textsAsBooleans({ tasks }: Run, extraVars: readonly Definition[]): readonly Diagnostic[] {
  return extraVars.flatMap(({ name, node, at }) => {
    const text = node.kind === 'scalar' && typeof node.data === 'string' ? node.data : ''
    const hint = typedHint(name, text, at)
    if (hint === undefined || !/^(?:false|no|off|0)$/i.test(text)) return []
    const bare = new RegExp(`^(?:not )?${name.replaceAll(/\W/g, '')}$`)
    const condition = tasks.flatMap(task => task.conditions).find(each => bare.test(each.text.trim()))
    if (condition === undefined) return []
    const message = `\`when: ${condition.text.trim()}\` takes '${text}' for true, as it does any text; ${hint}`
    return { code: 'extra-vars-text', severity: 'warning', message, at: condition.at }
  })
}

function factsFor(
  { facts, commonFacts, hostFacts, inventory }: AnalysisRequest,
  report: Report,
  hosts: Iterable<string>,
  host: string,
  evidence: Evidence | undefined,
): ReadonlyMap<string, Dict> {
  if (hostFacts !== undefined) return hostFacts
  if (commonFacts !== undefined) return new Map([[ANY_HOST, commonFacts]])
  const read = facts === undefined ? new Map<string, Dict>() : readFacts(facts, report, hosts)
  const [only] = read.values()
  // Without an inventory the run has one host of a made-up name; facts of one host are meant for it.
  const given = only !== undefined && read.size === 1 && inventory.length === 0 ? new Map([[host, only]]) : read
  if (facts !== undefined && !given.has(host) && !given.has(ANY_HOST)) {
    const message = `no facts of ${host} in it; it has ${[...given.keys()].slice(0, 8).join(', ') || 'none'}`
    report({ code: 'facts-malformed', severity: 'warning', message, at: startOf(facts) })
  }
  if (evidence === undefined || given.has(host) || given.has(ANY_HOST)) return given
  return new Map([...given, [host, factsOf(evidence)]])
}

/** The host the answer is about: the one asked for, else the first of the control plane, else the first of all. */
function chooseHost(inventory: Inventory, asked: string | undefined): string {
  if (asked !== undefined) {
    if (inventory.hosts.has(asked)) return asked
    const hosts = [...inventory.hosts.keys()]
    const some = hosts.slice(0, 8).join(', ') + (hosts.length > 8 ? ', …' : '')
    throw new UsageError(`--host ${asked}: no such host in the inventory; it has ${some || 'no hosts at all'}`)
  }
  const host = controlPlaneOf(inventory)[0] ?? inventory.hosts.keys().next().value
  if (host === undefined) {
    const [refused] = inventory.refused
    const isDirectory = inventory.sources.some(({ path, directory }) => directory === path)
    const hint = isDirectory
      ? '; in a directory Ansible passes over *.ini, *.cfg and the like: name such a file itself'
      : ''
    throw new UsageError(`the inventory has no hosts${refused === undefined ? hint : `: ${refused.says}`}`)
  }
  return host
}

/** The control plane's group: its name today, and up to v2.15. */
const controlPlaneGroups = ['kube_control_plane', 'kube-master']

function controlPlaneOf(inventory: Inventory): readonly string[] {
  return controlPlaneGroups.flatMap(group => hostsOf(inventory, group))
}

/** The place of a statement about a file of the user's as a whole. */
function startOf(path: string): Span {
  return { file: { path, text: '' }, start: 0, end: 0 }
}

function requirePlaybook(tree: SourceTree, playbook: string): void {
  if (tree.entryKind(playbook) === 'file') return
  const there = ['', 'playbooks'].flatMap(directory =>
    tree
      .list(directory)
      .flatMap(name => (/\.ya?ml$/.test(name) ? [directory === '' ? name : `${directory}/${name}`] : [])),
  )
  const hint = there.length === 0 ? 'there are no playbooks in it' : `it has ${there.slice(0, 8).join(', ')}`
  throw new UsageError(`--playbook ${playbook}: no such file in ${nameOfOrigin(tree.origin)}; ${hint}`)
}

/** A tree's origin as the user knows it. */
export function nameOfOrigin(origin: TreeOrigin): string {
  return origin.revision === undefined ? origin.path : `${origin.path}@${origin.revision}`
}

function collectDiagnostics(): { report: (diagnostic: Diagnostic) => void; all: () => readonly Diagnostic[] } {
  const found = new Map<string, Diagnostic>()
  return {
    report: diagnostic => {
      const key = `${diagnostic.code} ${placeOf(diagnostic.at)} ${diagnostic.message}`
      if (!found.has(key)) found.set(key, diagnostic)
    },
    all: () => [...found.values()],
  }
}

/** Each scope asks for a host's layers; they change where a task makes another inventory of it. What is added is one layer a host. */
function rememberedLayers(compute: RunOptions['hostLayers']): RunOptions['hostLayers'] {
  const known = new WeakMap<Inventory, Map<string, readonly Layer[]>>()
  return (inventory, host, directory, added) => {
    const ofInventory = known.get(inventory) ?? new Map<string, readonly Layer[]>()
    known.set(inventory, ofInventory)
    const key = `${host}\n${directory}`
    const layers = ofInventory.get(key) ?? compute(inventory, host, directory, added)
    ofInventory.set(key, layers)
    return layers
  }
}

function remembered<K, V>(compute: (key: K) => V): (key: K) => V {
  const values = new Map<K, V>()
  return key => {
    const before = values.get(key)
    if (before !== undefined) return before
    const value = compute(key)
    values.set(key, value)
    return value
  }
}
