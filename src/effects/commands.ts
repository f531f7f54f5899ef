import { known, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import { joinedPieces, mapText, optionsOf, pathIn, piecesOf, showValue, textOf } from './argument.js'
import { type Effect, EVERY_POWER, type FileChange, onlyIf } from './effect.js'
import { inNetwork, inRoot, unread } from './elsewhere.js'
import { outputOf } from './output.js'
import { hasOption, operandsOf, optionValue, readProgram } from './programs.js'
import { programName, readShell, type ShellReading, type ShellRedirect, type SimpleCommand } from './shell.js'

/** A script by its path on the host, where an earlier task of the run put it there. */
export type ScriptOnHost = (path: Value) => ScriptText | undefined

export interface ScriptText {
  readonly content: Value
  /** Why parts of it may not be there: a template that was not rendered. */
  readonly unsure: string | undefined
}

const MAX_DEPTH = 8

/** The effects of everything a command line or script runs: one `command` effect a simple command, and what each does. */
export function effectsOfReading(reading: ShellReading, at: Span, script: ScriptOnHost, depth = 0): readonly Effect[] {
  const effects: Effect[] = reading.unreadable.map(says => ({ kind: 'unreadable-command', says, at }))
  for (const says of reading.fails ?? []) {
    effects.push({ kind: 'stop-if', says: known(`the command cannot be made: ${says}`), reads: [], at })
  }
  for (const command of reading.commands) {
    for (const effect of effectsOfCommand(command, at, script, depth))
      effects.push(...withHostname(placed(effect, command.cwd), depth).map(each => onlyIf(each, command.onlyIf)))
  }
  for (const redirect of reading.redirects) {
    for (const effect of effectsOfRedirect(redirect, undefined, at))
      effects.push(...withHostname(placed(effect, redirect.cwd), depth).map(each => onlyIf(each, redirect.onlyIf)))
  }
  return effects
}

/** An effect on a path, as that is meant in the directory the command is run in. */
function placed(effect: Effect, cwd: Value | undefined): Effect {
  return effect.kind === 'file' || effect.kind === 'mount'
    ? { ...effect, path: pathIn(cwd, effect.path, effect.at) }
    : effect
}

/** The name of the host is a file of the kernel as well. */
function withHostname(effect: Effect, depth: number): readonly Effect[] {
  if (depth > 0 || effect.kind !== 'file' || textOf(effect.path) !== '/proc/sys/kernel/hostname') return [effect]
  const unseen: Value = {
    kind: 'unknown',
    causes: [{ says: 'what is written there is not known', at: effect.at, unread: true }],
  }
  const name = effect.content === undefined ? unseen : mapText(effect.content, text => text.trim())
  return [effect, { kind: 'hostname', name, now: true, persisted: false, at: effect.at }]
}

function effectsOfCommand(command: SimpleCommand, at: Span, script: ScriptOnHost, depth: number): readonly Effect[] {
  const redirects = command.redirects.flatMap(redirect => effectsOfRedirect(redirect, command, at))
  const [program, ...words] = command.words.map(word => word.value)
  if (program === undefined) return redirects
  return [...effectsOfProgram(program, words, command, at, script, depth), ...redirects]
}

/** Wrappers: the options that take the next word, and how many words stand before the command they run. */
const WRAPPERS: Readonly<Record<string, { readonly withValue: readonly string[]; readonly before: number }>> = {
  sudo: {
    withValue: ['-u', '-g', '-h', '-p', '-C', '-r', '-t', '-U', '-D', '-R', '-T', '--user', '--group'],
    before: 0,
  },
  doas: { withValue: ['-u', '-C'], before: 0 },
  env: { withValue: ['-u', '--unset', '-C', '--chdir', '-S'], before: 0 },
  timeout: { withValue: ['-k', '--kill-after', '-s', '--signal'], before: 1 },
  nohup: { withValue: [], before: 0 },
  nice: { withValue: ['-n', '--adjustment'], before: 0 },
  ionice: { withValue: ['-c', '-n', '-p', '--class', '--classdata'], before: 0 },
  setsid: { withValue: [], before: 0 },
  stdbuf: { withValue: ['-i', '-o', '-e'], before: 0 },
  time: { withValue: ['-f', '-o'], before: 0 },
  exec: { withValue: ['-a'], before: 0 },
  command: { withValue: [], before: 0 },
  builtin: { withValue: [], before: 0 },
  flock: { withValue: ['-w', '-E', '--wait', '--timeout'], before: 1 },
  chroot: { withValue: [], before: 1 },
  xargs: {
    withValue: [
      '-I',
      '-n',
      '-P',
      '-d',
      '-L',
      '-s',
      '-a',
      '-E',
      '--max-args',
      '--max-procs',
      '--delimiter',
      '--arg-file',
    ],
    before: 0,
  },
  'systemd-run': {
    withValue:
      '-u --unit -p --property -M --machine -H --host --slice -E --setenv --description --service-type --uid --gid --nice --working-directory --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar --timer-property --path-property --socket-property'.split(
        ' ',
      ),
    before: 0,
  },
  'systemd-inhibit': { withValue: [], before: 0 },
  nsenter: { withValue: ['-t', '--target', '-S', '-G', '-r', '-w'], before: 0 },
}
/** Options of wrappers for the directory the command is run in. */
const IN_DIRECTORY: Readonly<Record<string, readonly string[]>> = {
  env: ['-C', '--chdir'],
  sudo: ['-D', '--chdir'],
  'systemd-run': ['--working-directory'],
}
export const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh'])

function effectsOfProgram(
  program: Value,
  words: readonly Value[],
  command: SimpleCommand,
  at: Span,
  script: ScriptOnHost,
  depth: number,
): readonly Effect[] {
  const name = programName(program)
  if (depth > MAX_DEPTH) return [{ kind: 'unreadable-command', says: 'commands are nested too deeply', at }]
  if (name === undefined) return [bare(undefined, words, at, true)]
  if (command.runsListed) return [bare(name, words, at, false)]
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (wrapper !== undefined) {
    const own = bare(name, words, at, false)
    // `command -v x` only looks whether there is an x; `env -S text` splits a text into a command.
    if (name === 'command' && /^-\w*[vV]/.test(textOf(words[0]) ?? '')) return [own]
    if (name === 'env' && words.some(word => /^(-\w*S|--split-string)/.test(textOf(word) ?? '')))
      return [own, { kind: 'unreadable-command', says: 'env splits its text into a command', at }]
    const inner = wrappedCommand(words, wrapper)
    const [next, ...rest] = inner
    if (next === undefined) return [own]
    // xargs adds words that are only known on the host.
    const added: readonly Value[] =
      name === 'xargs' ? [{ kind: 'unknown', causes: [{ says: 'xargs adds words from its input', at }] }] : []
    const marker = name === 'xargs' ? optionValue(words, '-I') : undefined
    const given =
      marker === undefined ? [...rest, ...added] : rest.map(word => filledIn(word, textOf(marker), null, at))
    const inside = effectsOfProgram(next, given, command, at, script, depth + 1)
    const before = words.slice(0, words.length - inner.length)
    const directory = (IN_DIRECTORY[name] ?? []).flatMap(option => optionValue(before, option) ?? [])[0]
    const cwd = directory === undefined ? undefined : pathIn(command.cwd, directory, at)
    const there = cwd === undefined ? inside : inside.map(effect => placed(effect, cwd))
    return [own, ...whereWrapped(name, before, there)]
  }
  // A script of an old init is called by the name of its service.
  if (/^\/etc\/(rc\.d\/)?init\.d\/[^/]+$/.test(textOf(program) ?? '') && script(program) === undefined)
    return effectsOfCall('service', [known(name), ...words], command, at)
  if (SHELLS.has(name)) return effectsOfShellCall(name, words, command, at, script, depth)
  if (name === 'eval') {
    const pieces: (string | null)[] = words.flatMap((word, index) => {
      const own = piecesOf(word) ?? [null]
      return index === 0 ? own : [' ', ...own]
    })
    const text: Value = pieces.includes(null)
      ? { kind: 'unknown', causes: words.flatMap(word => (word.kind === 'unknown' ? word.causes : [])), text: pieces }
      : known(pieces.join(''))
    const inside = readShell(text, at, { cwd: command.cwd })
    return [bare(name, words, at, false), ...effectsOfReading(inside, at, script, depth + 1)]
  }
  if (name === 'trap') {
    const [text, ...signals] = operandsOf(words)
    const own = bare(name, words, at, false)
    if (text === undefined || signals.length === 0 || textOf(text) === '-') return [own]
    const when = `${signals.map(showValue).join(' or ')} is trapped`
    const trapped = effectsOfReading(readShell(text, at), at, script, depth + 1)
    return [own, ...trapped.map(effect => onlyIf(effect, when))]
  }
  if (name === 'ip') {
    const exec = words.findIndex(
      (word, index) => textOf(word) === 'exec' && ['netns', 'vrf'].includes(textOf(words[index - 1]) ?? ''),
    )
    const [next, ...rest] = exec === -1 ? [] : words.slice(exec + 2)
    if (next !== undefined) {
      const inside = effectsOfProgram(next, rest, command, at, script, depth + 1)
      const own = textOf(words[exec - 1]) === 'netns'
      return [bare(name, words, at, false), ...(own ? inNetwork(inside, showValue(words[exec + 1])) : inside)]
    }
  }
  if (name === '.' || name === 'source') return effectsOfScript(name, words[0], words, command, at, script, depth)
  if (name === 'find') {
    const start = words[0]
    const inner = findExecutes(words).flatMap(([next, ...rest]) => {
      const given = rest.map(word => filledIn(word, '{}', start ?? null, at))
      return next === undefined ? [] : effectsOfProgram(next, given, command, at, script, depth + 1)
    })
    return [...effectsOfCall(name, words, command, at), ...inner]
  }
  if (name === 'ssh') {
    // The command runs on another host.
    return [bare(name, words, at, false)]
  }
  if (name === 'coreos-cloudinit') return effectsOfCloudConfig(name, words, command, at, script)
  const path = textOf(program)?.includes('/') ? inKnown(command.cwd, program, at) : program
  if (script(path) !== undefined) return effectsOfScript(name, path, words, command, at, script, depth)
  return effectsOfCall(name, words, command, at)
}

function effectsOfCall(name: string, words: readonly Value[], command: SimpleCommand, at: Span): readonly Effect[] {
  const read = readProgram({ program: name, arguments: words, command, at })
  const own: Effect = {
    kind: 'command',
    program: name,
    arguments: words,
    powers: read.powers,
    unfamiliar: read.unfamiliar,
    at,
  }
  return [own, ...read.effects]
}

/**
 * `coreos-cloudinit --from-file FILE` does what the sections of the file say. One with `write_files` alone only writes files;
 * which ones is not worked out.
 */
function effectsOfCloudConfig(
  name: string,
  words: readonly Value[],
  command: SimpleCommand,
  at: Span,
  script: ScriptOnHost,
): readonly Effect[] {
  const path = optionValue(words, '--from-file') ?? optionValue(words, '-from-file')
  const config = path === undefined ? undefined : script(path)
  const called = effectsOfCall(name, words, command, at)
  // Where the text could not be made, the task that writes the file failed.
  const made = config === undefined ? [] : optionsOf(config.content).filter(({ value }) => value.kind !== 'failure')
  const texts = made.map(({ value }) => piecesOf(value))
  const onlyFiles = texts.length > 0 && texts.every(pieces => pieces !== undefined && hasOnlyFiles(pieces))
  if (!onlyFiles) return called
  return called.map(effect => (effect.kind === 'command' ? { ...effect, powers: ['writes-files'] } : effect))
}

function hasOnlyFiles(pieces: readonly (string | null)[]): boolean {
  const lines = joinedPieces(pieces).split('\n')
  const sections = lines.filter(line => !/^(\s|#|-|$)/.test(line))
  return lines[0]?.startsWith('#cloud-config') === true && sections.every(line => /^write_files:\s*$/.test(line))
}

function bare(program: string | undefined, words: readonly Value[], at: Span, unfamiliar: boolean): Effect {
  return { kind: 'command', program, arguments: words, powers: unfamiliar ? EVERY_POWER : [], unfamiliar, at }
}

/** The words of the command a wrapper runs: after its options, its own words and (for env, sudo) its assignments. */
function wrappedCommand(
  words: readonly Value[],
  wrapper: { readonly withValue: readonly string[]; readonly before: number },
): readonly Value[] {
  let index = 0
  let before = wrapper.before
  while (index < words.length) {
    const word = words[index]
    const first = word === undefined ? undefined : piecesOf(word)?.[0]
    if (typeof first === 'string' && first === '--') {
      index++
      if (before === 0) break
      continue
    }
    if (typeof first === 'string' && first.startsWith('-') && first !== '-') {
      index += wrapper.withValue.includes(first) && word?.kind === 'known' ? 2 : 1
      continue
    }
    if (typeof first === 'string' && /^\w+=/.test(first)) {
      index++
      continue
    }
    if (before === 0) break
    before--
    index++
  }
  return words.slice(index)
}

/** A word with what stands for names that are only known on the host, which begin with `start`. */
function filledIn(word: Value, marker: string | undefined, start: Value | null, at: Span): Value {
  const text = textOf(word)
  if (text === undefined || marker === undefined || marker === '' || !text.includes(marker)) return word
  const begins = start === null ? [] : (piecesOf(start) ?? [])
  const pieces = text.split(marker).flatMap((part, index) => [...(index === 0 ? [] : [...begins, null]), part])
  const causes = [{ says: `what \`${marker}\` stands for is only known on the host`, at }]
  return { kind: 'unknown', causes, text: pieces.filter(piece => piece !== '') }
}

const TIMERS = /^--(on-\w[\w-]*|timer-property|path-property|socket-property)(=|$)/

/** What a wrapped command does, given where and when the wrapper has it run; `words` are the wrapper's own. */
function whereWrapped(name: string, words: readonly Value[], inside: readonly Effect[]): readonly Effect[] {
  switch (name) {
    case 'chroot': {
      const root = operandsOf(words)[0]
      return root === undefined ? inside : inRoot(inside, root)
    }
    case 'sudo': {
      const root = optionValue(words, '-R') ?? optionValue(words, '--chroot')
      return root === undefined ? inside : inRoot(inside, root)
    }
    case 'systemd-run': {
      if (hasOption(words, ['-H', '--host', '-M', '--machine'], ['-u', '-p', '-E'])) return []
      const later = words.some(word => TIMERS.test(piecesOf(word)?.[0] ?? ''))
      return later ? inside.map(effect => onlyIf(effect, 'what systemd-run waits for comes about')) : inside
    }
    case 'nsenter': {
      const target = optionValue(words, '-t') ?? optionValue(words, '--target')
      return textOf(target) === '1' ? inside : unread(inside, 'which namespaces nsenter enters is not worked out')
    }
    default:
      return inside
  }
}

/** The commands `find` runs, one for each `-exec`. */
function findExecutes(words: readonly Value[]): readonly (readonly Value[])[] {
  const start = words.findIndex(word => ['-exec', '-execdir', '-ok', '-okdir'].includes(textOf(word) ?? ''))
  if (start === -1) return []
  const rest = words.slice(start + 1)
  const end = rest.findIndex(word => [';', '+', '\\;'].includes(textOf(word) ?? ''))
  return end === -1 ? [rest] : [rest.slice(0, end), ...findExecutes(rest.slice(end + 1))]
}

const SHELL_OPTIONS = ['-o', '-O', '--rcfile', '--init-file']

/** `bash -c TEXT`, `bash SCRIPT`, or what comes in by standard input: a here-document, a pipe, a file. */
function effectsOfShellCall(
  name: string,
  words: readonly Value[],
  command: SimpleCommand,
  at: Span,
  script: ScriptOnHost,
  depth: number,
): readonly Effect[] {
  const own = bare(name, words, at, false)
  if (hasOption(words, ['--version', '--help'])) return [own]
  // `+x` and `+o name` switch off what `-x` and `-o name` switch on.
  const options = words.map(word =>
    /^\+[a-zA-Z]/.test(textOf(word) ?? '') ? known(`-${(textOf(word) ?? '').slice(1)}`) : word,
  )
  const [first] = operandsOf(options, SHELL_OPTIONS)
  if (hasOption(options, ['-c'], SHELL_OPTIONS)) {
    if (first === undefined) return [own]
    return [own, ...effectsOfReading(readShell(first, at, { cwd: command.cwd, shell: name }), at, script, depth + 1)]
  }
  if (first !== undefined && !hasOption(options, ['-s'], SHELL_OPTIONS))
    return effectsOfScript(name, inKnown(command.cwd, first, at), words, command, at, script, depth)
  const input = command.redirects.findLast(redirect => redirect.operator.startsWith('<'))
  if (input?.operator === '<') {
    return textOf(input.target) === '/dev/null'
      ? [own]
      : effectsOfScript(name, inKnown(command.cwd, input.target, at), words, command, at, script, depth)
  }
  const text = input?.target ?? (command.stdin === undefined ? undefined : outputOf(command.stdin))
  if (text === undefined || text.kind === 'undefined') {
    return [own, { kind: 'unreadable-command', says: `what ${name} reads from its input is not known`, at }]
  }
  return [own, ...effectsOfReading(readShell(text, at, { cwd: command.cwd, shell: name }), at, script, depth + 1)]
}

function effectsOfScript(
  name: string,
  path: Value | undefined,
  words: readonly Value[],
  command: SimpleCommand,
  at: Span,
  script: ScriptOnHost,
  depth: number,
): readonly Effect[] {
  const text = path === undefined ? undefined : script(path)
  if (path === undefined || text === undefined) {
    return [
      bare(name, words, at, false),
      { kind: 'unreadable-command', says: `the script ${showValue(path)} is not known here`, at },
    ]
  }
  const inside = effectsOfScriptText(showValue(path), text.content, at, script, depth + 1, command.cwd)
  const { unsure } = text
  return [
    bare(name, words, at, false),
    ...(unsure === undefined ? inside : inside.map(effect => ({ ...effect, unread: unsure }))),
  ]
}

/** A path in the directory the command is run in, where that is known. */
function inKnown(cwd: Value | undefined, path: Value, at: Span): Value {
  return cwd === undefined ? path : pathIn(cwd, path, at)
}

/** The effects of running a script with this text; one for another interpreter than a shell is unreadable. */
export function effectsOfScriptText(
  name: string,
  text: Value,
  at: Span,
  script: ScriptOnHost,
  depth = 0,
  cwd?: Value,
): readonly Effect[] {
  if (text.kind === 'one-of') {
    return text.options.flatMap(({ value, because }) =>
      effectsOfScriptText(name, value, at, script, depth, cwd).map(effect =>
        onlyIf(effect, because[0]?.says ?? 'the script has this text'),
      ),
    )
  }
  const start = piecesOf(text)?.[0]
  const interpreter = typeof start === 'string' ? start.match(/^#!\s*(\S+)(?:[ \t]+(\S+))?/) : null
  const program = (interpreter?.[1]?.endsWith('/env') ? interpreter[2] : interpreter?.[1])?.split('/').at(-1)
  if (program !== undefined && !SHELLS.has(program)) {
    return [{ kind: 'unreadable-command', says: `${name} is a script for ${program}, not for a shell`, at }]
  }
  return effectsOfReading(readShell(text, at, { cwd, shell: program }), at, script, depth)
}

const WRITES = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&'])

function effectsOfRedirect(
  redirect: ShellRedirect,
  command: SimpleCommand | undefined,
  at: Span,
): readonly FileChange[] {
  if (!WRITES.has(redirect.operator)) return []
  const target = textOf(redirect.target)
  // `>&2` and `>&-` copy or close a descriptor; /dev/null and the terminal keep nothing.
  if (redirect.operator === '>&' && target !== undefined && /^(\d+-?|-)$/.test(target)) return []
  if (target !== undefined && /^\/dev\/(null|stdout|stderr|tty|fd\/)/.test(target)) return []
  return [
    {
      kind: 'file',
      path: redirect.target,
      change:
        redirect.operator === '>' || redirect.operator === '>|' || redirect.operator === '&>' ? 'written' : 'line',
      content: command === undefined ? undefined : outputOf(command),
      target: undefined,
      at,
    },
  ]
}
