import { known, type Truth, type Value } from '../jinja/value.js'
import type { Invocation, Run, TaskRun } from '../run/task-run.js'
import type { Node } from '../yaml/node.js'
import { causesOf, causeText, isText, mapText, optionsOf, piecesCanBe, piecesOf, textOf } from './argument.js'
import { invocationsAsWritten } from './as-written.js'
import { effectsOfReading, type ScriptOnHost, type ScriptText } from './commands.js'
import { type Effect, onlyIf } from './effect.js'
import type { ModuleCall } from './modules/call.js'
import { nothing } from './modules/host.js'
import { moduleEffects } from './modules/table.js'
import { PROGRAMS } from './programs.js'
import { type ReadRoleText, templateText } from './role-text.js'
import { effectsOfFile, type TextAsWritten } from './settings-files.js'
import { readCommandLine, readShell } from './shell.js'

/** An effect with the task and the invocation that has it. */
export interface TaskEffect {
  readonly effect: Effect
  readonly task: TaskRun
  readonly invocation: Invocation
  /** True for a task that does not run: its arguments are taken as written. */
  readonly asWritten: boolean
}

/** An effect at its place in a whole run. */
export interface Occurrence extends TaskEffect {
  /** The run it belongs to: what a registered result says is known from the task that registers it. */
  readonly run: Run
}

/** Everything the run does to the host, in order, with what was looked at. */
export interface RunEffects {
  readonly run: Run
  readonly occurrences: readonly Occurrence[]
  /** Simple commands that were read in tasks that may run. */
  readonly commands: number
}

/** Nothing of the role's files can be read: contents are unknown. */
export const NO_ROLE_TEXT: ReadRoleText = () => undefined

/**
 * The effects of every task of a run, also of those that do not run (they are what came near). A script that a task wrote to
 * the host is read where another runs it: the text an earlier task wrote, else what a later one writes, since the host has
 * it then from a run before this one.
 */
export function effectsOfRun(run: Run, readRoleText: ReadRoleText): RunEffects {
  const growing = growingEffects(readRoleText)
  for (const task of run.tasks) growing.add(task)
  return growing.of(run)
}

/** The effects of a run while it goes on. */
export interface GrowingEffects {
  /** The effects of the next task, with the scripts that tasks before it wrote. */
  readonly add: (task: TaskRun) => readonly TaskEffect[]
  /** All of them, once the run is through. */
  readonly of: (run: Run) => RunEffects
}

/** The effects of a run of which the tasks come one by one, in run order. */
export function growingEffects(readRoleText: ReadRoleText): GrowingEffects {
  const written: Written = new Map()
  const results: Result[] = []
  return {
    add: task => {
      const asWritten = task.invocations.length === 0
      const added = (asWritten ? invocationsAsWritten(task) : task.invocations).map((invocation): Result => {
        const missed: Value[] = []
        const effects = effectsOfInvocation(task, invocation, readRoleText, path => {
          const script = scriptAt(written, path)
          if (script === undefined) missed.push(path)
          return script
        })
        if (!asWritten) for (const effect of effects) remember(written, effect)
        return { task, invocation, asWritten, effects, missed }
      })
      results.push(...added)
      return added.flatMap(({ invocation, effects }) =>
        effects.map(effect => ({ effect, task, invocation, asWritten })),
      )
    },
    of: run => {
      const occurrences = results.flatMap(({ task, invocation, asWritten, effects, missed }) => {
        const again = missed.some(path => scriptAt(written, path) !== undefined)
          ? effectsOfInvocation(task, invocation, readRoleText, path => ofFormerRun(scriptAt(written, path)))
          : effects
        return again.map(effect => ({ effect, task, invocation, asWritten, run }))
      })
      const commands = occurrences.filter(each => !each.asWritten && each.effect.kind === 'command').length
      return { run, occurrences, commands }
    },
  }
}

interface Result {
  readonly task: TaskRun
  readonly invocation: Invocation
  readonly asWritten: boolean
  readonly effects: readonly Effect[]
  /** Programs whose script was not on the host yet. */
  readonly missed: readonly Value[]
}

function ofFormerRun(script: ScriptText | undefined): ScriptText | undefined {
  if (script === undefined) return undefined
  return { ...script, unsure: script.unsure ?? 'the script is there only if a former run wrote it' }
}

/** What one invocation of a task's module does. */
export function effectsOfInvocation(
  task: TaskRun,
  invocation: Invocation,
  readRoleText: ReadRoleText,
  script: ScriptOnHost,
): readonly Effect[] {
  const at = task.task.at
  const module = invocation.module ?? task.task.module
  // A template that gives no name: Ansible finds no module and the task fails.
  if (module === '') return [{ kind: 'stop-if', says: known('the task names no module'), reads: [], at }]
  const model = moduleEffects(module)
  if (model === undefined) return [{ kind: 'unmodelled-module', module, at }]
  if (invocation.openArguments !== undefined && model !== nothing) {
    const [cause] = invocation.openArguments
    const why = cause === undefined ? 'not known' : causeText(cause)
    return [{ kind: 'unmodelled-module', module: `${module} (its arguments are not known: ${why})`, at }]
  }
  let unsure: string | undefined
  const call: ModuleCall = {
    task,
    invocation,
    at,
    raw: invocation.raw === undefined ? undefined : withWrittenText(invocation.raw, task.task.arguments.raw),
    argument: (...names) => {
      for (const name of names) {
        const value = invocation.arguments.get(name)
        if (value !== undefined && value.kind !== 'undefined')
          return withWrittenText(value, task.task.arguments.named.get(name))
      }
      return undefined
    },
    roleText: (kind, name) => {
      const rendered = invocation.content
      if (rendered !== undefined && (rendered.kind !== 'unknown' || rendered.text !== undefined)) return rendered
      const read = readRoleText(task, kind, name)
      if (read === undefined) {
        const causes = causesOf(name)
        const says = `the ${kind} ${textOf(name) ?? 'named there'} could not be read`
        return { kind: 'unknown', causes: causes.length > 0 ? causes : [{ says, at, unread: true }] }
      }
      unsure = read.unsure
      return read.content
    },
    roleFiles: name => readRoleText(task, 'file', name)?.files,
    script,
  }
  const effects = withFileMeanings(model(call), script, () => {
    const name = call.argument('src')
    const isTemplate = /(^|\.)template$/.test(module)
    return name === undefined || !isTemplate ? undefined : readRoleText(task, 'template', name)?.content
  })
  const beside = [...effects.map(effect => withJob(effect, call)), ...ofValidation(call)]
  if (unsure === undefined) return beside
  // The file itself is written all the same; what its text means is what is not sure.
  const because = unsure
  return beside.map(effect => {
    if (effect.kind === 'file') return { ...effect, contentUnsure: because }
    return effect.kind === 'command' && effect === beside[0] ? effect : { ...effect, unread: because }
  })
}

/** A job of cron runs its text later, with the shell. */
function withJob(effect: Effect, call: ModuleCall): Effect {
  const job = call.argument('job')
  if (effect.kind !== 'schedule' || job === undefined || isText(call.argument('state'), 'absent').kind === 'true') {
    return effect
  }
  const when = isText(call.argument('special_time'), 'reboot').kind === 'true' ? 'boot' : 'clock'
  return { ...effect, runs: effectsOfReading(readShell(job, call.at), call.at, call.script), when }
}

/** `validate` runs a command over the new text before it takes the place of the old one. */
function ofValidation(call: ModuleCall): readonly Effect[] {
  const given = call.argument('validate')
  if (given === undefined) return []
  const command = mapText(given, text => text.replaceAll('%s', '/tmp/validated'))
  return effectsOfReading(readCommandLine(command, call.at), call.at, call.script)
}

/** Each file change, whoever makes it, is followed by what the file means where it stands, under the same conditions. */
function withFileMeanings(effects: readonly Effect[], script: ScriptOnHost, written: TextAsWritten): readonly Effect[] {
  return effects.flatMap(effect => {
    if (effect.kind !== 'file') return [effect]
    const { onlyIf: condition, unread } = effect
    return [
      effect,
      ...effectsOfFile(effect, script, written).map(each => ({
        ...onlyIf(each, condition),
        ...(unread === undefined ? {} : { unread }),
      })),
    ]
  })
}

/** A text of which nothing is known keeps the pieces of it that stand in the role code as they are. */
function withWrittenText(value: Value, node: Node | undefined): Value {
  if (value.kind !== 'unknown' || value.text !== undefined) return value
  if (node?.kind !== 'scalar' || typeof node.data !== 'string' || node.tag !== undefined) return value
  const pieces = piecesOf(templateText(node.data, node.span).content)
  return pieces === undefined || !pieces.some(piece => piece !== null) ? value : { ...value, text: pieces }
}

/** Files the run has written so far whose content is known, by base name, the latest last. */
type Written = Map<string, { readonly path: Value; readonly text: ScriptText }[]>

function remember(written: Written, effect: Effect): void {
  if (effect.kind !== 'file' || effect.change === 'attributes') return
  for (const { value: path } of optionsOf(effect.path)) {
    const name = baseName(path)
    if (name === undefined) continue
    const before = (written.get(name) ?? []).filter(
      each => textOf(each.path) !== textOf(path) || textOf(path) === undefined,
    )
    if (effect.change === 'written' && effect.content !== undefined) {
      before.push({ path, text: { content: effect.content, unsure: effect.contentUnsure } })
    }
    written.set(name, before)
  }
}

function baseName(path: Value): string | undefined {
  const last = piecesOf(path)?.at(-1)
  if (typeof last !== 'string' || last.endsWith('/')) return undefined
  return last.split('/').at(-1)
}

/** The latest file that can be the one of this path: the same path, or the same name where a directory is not known. */
function scriptAt(written: Written, path: Value): ScriptText | undefined {
  for (const { value } of optionsOf(path)) {
    const name = baseName(value)
    if (name === undefined) continue
    const text = textOf(value)
    const byName = !PROGRAMS.has(name)
    const found = written.get(name)?.findLast(each => {
      if (text?.includes('/')) return textOf(each.path) === text || (byName && canBe(each.path, text))
      return byName && isProgramPath(each.path)
    })
    if (found !== undefined) return found.text
  }
  return undefined
}

/** Whether a path is in a directory where programs are looked for, or in one that is not known. */
function isProgramPath(path: Value): boolean {
  const text = textOf(path)
  return text === undefined || /\bs?bin\/[^/]+$/.test(text)
}

function canBe(path: Value, text: string): boolean {
  const pieces = piecesOf(path)
  return pieces !== undefined && piecesCanBe(pieces, text)
}

/** Whether the effect happens as far as its own conditions inside the task go: true unless something is left open. */
export function isUnconditional(effect: Effect): boolean {
  return effect.onlyIf === undefined && effect.unread === undefined
}

/** The truth of an invocation, together with that of its task. */
export function runsOf(occurrence: TaskEffect): Truth {
  return occurrence.asWritten ? occurrence.task.runs : occurrence.invocation.runs
}
