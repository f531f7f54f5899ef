import type { Value } from '../../jinja/value.js'
import { membersOf, piecesOf, showValue, textOf } from '../argument.js'
import { effectsOfReading, effectsOfScriptText } from '../commands.js'
import { type Effect, onlyIf } from '../effect.js'
import { readCommandLine, readShell, type ShellReading, type ShellStart } from '../shell.js'
import type { ModuleCall, ModuleEffects } from './call.js'

function textOfCall(call: ModuleCall): Value | undefined {
  return call.raw ?? call.argument('cmd', '_raw_params')
}

const noText = (call: ModuleCall): readonly Effect[] => [
  { kind: 'unreadable-command', says: `${call.task.task.action} has no command`, at: call.at },
]

/** `creates` and `removes` skip the command when the file is there, or is not. */
function guarded(call: ModuleCall, effects: readonly Effect[]): readonly Effect[] {
  const creates = call.argument('creates')
  const removes = call.argument('removes')
  const conditions = [
    ...(creates === undefined ? [] : [`${showValue(creates)} does not exist`]),
    ...(removes === undefined ? [] : [`${showValue(removes)} exists`]),
  ]
  const condition = conditions.length === 0 ? undefined : conditions.join(' and ')
  return effects.map(effect => onlyIf(effect, condition))
}

/** `stdin` is what each command reads that has no input of its own. */
function withInput(call: ModuleCall, reading: ShellReading): ShellReading {
  const input = call.argument('stdin')
  if (input === undefined) return reading
  const commands = reading.commands.map(each =>
    each.stdin === undefined && !each.redirects.some(redirect => redirect.operator.startsWith('<'))
      ? { ...each, redirects: [...each.redirects, { operator: '<<<', target: input }] }
      : each,
  )
  return { ...reading, commands }
}

/** Where it is run, and by which shell. */
function startOf(call: ModuleCall): ShellStart {
  const shell = textOf(call.argument('executable'))?.split('/').at(-1)
  return { cwd: call.argument('chdir'), ...(shell === undefined ? {} : { shell }) }
}

/** ansible.builtin.command: words, no shell; `argv` gives them one by one. */
export const command: ModuleEffects = call => {
  const argv = call.argument('argv')
  if (argv !== undefined) {
    const words = membersOf(argv)
    if (words.length === 0) return noText(call)
    const { cwd } = startOf(call)
    const reading: ShellReading = {
      commands: [
        {
          words: words.map(value => ({ value, from: [] })),
          redirects: [],
          onlyIf: undefined,
          stdin: undefined,
          ...(cwd === undefined ? {} : { cwd }),
        },
      ],
      redirects: [],
      unreadable: [],
    }
    return guarded(call, effectsOfReading(withInput(call, reading), call.at, call.script))
  }
  const text = textOfCall(call)
  if (text === undefined) return noText(call)
  return guarded(
    call,
    effectsOfReading(withInput(call, readCommandLine(text, call.at, startOf(call))), call.at, call.script),
  )
}

/** ansible.builtin.shell and raw: a text for a shell. */
export const shell: ModuleEffects = call => {
  const text = textOfCall(call)
  if (text === undefined) return noText(call)
  return guarded(call, effectsOfReading(withInput(call, readShell(text, call.at, startOf(call))), call.at, call.script))
}

/** ansible.builtin.script: the first word is a file of the role that is copied over and run. */
export const script: ModuleEffects = call => {
  const text = textOfCall(call)
  const words = text === undefined ? [] : readCommandLine(text, call.at).commands[0]?.words
  const path = words?.[0]?.value
  if (path === undefined) return noText(call)
  const content = call.roleText('file', path)
  const name = (piecesOf(path) ?? []).map(piece => piece ?? '…').join('')
  const own: Effect = {
    kind: 'command',
    program: name.split('/').at(-1) ?? name,
    arguments: (words ?? []).slice(1).map(word => word.value),
    powers: [],
    unfamiliar: false,
    at: call.at,
  }
  if (content.kind === 'unknown' && content.text === undefined) {
    return guarded(call, [
      own,
      { kind: 'unreadable-command', says: `the script ${name} could not be read`, at: call.at },
    ])
  }
  return guarded(call, [own, ...effectsOfScriptText(name, content, call.at, call.script, 0, call.argument('chdir'))])
}

/** ansible.builtin.expect: one command, its answers typed in. */
export const expect: ModuleEffects = call => {
  const text = call.argument('command')
  return text === undefined
    ? noText(call)
    : guarded(call, effectsOfReading(readCommandLine(text, call.at, startOf(call)), call.at, call.script))
}
