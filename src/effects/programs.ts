import { FALSE, known, TRUE, type Value } from '../jinja/value.js'
import type { Span } from '../source/text.js'
import {
  askText,
  causesOf,
  isPattern,
  mapText,
  matchesOf,
  optionsOf,
  pathIn,
  piecesCanBe,
  piecesOf,
  showValue,
  textOf,
} from './argument.js'
import { powersOfAwk } from './awk.js'
import { type Effect, EVERY_POWER, type FileChange, type Power, type Unit } from './effect.js'
import { isOwnRoot, unread } from './elsewhere.js'
import { outputOf } from './output.js'
import { isDirectoryPath } from './places.js'
import type { SimpleCommand } from './shell.js'
import { isSignal } from './signals.js'

/** A program as it is called. */
export interface ProgramCall {
  /** The base name. */
  readonly program: string
  readonly arguments: readonly Value[]
  readonly command: SimpleCommand
  readonly at: Span
}

/** What is known of a program: the effects of a call, and what it could do beyond them. */
export interface Program {
  readonly powers: readonly Power[]
  readonly effects?: (call: ProgramCall) => readonly Effect[]
  /** Where the powers depend on the arguments; it replaces `powers`. */
  readonly powersOf?: (call: ProgramCall) => readonly Power[]
}

/** What settings in files decide: for programs that write files which are not worked out and may be any. */
const SETTINGS_IN_FILES: readonly Power[] = EVERY_POWER.filter(
  power => !['stops-units', 'starts-units', 'signals-processes', 'manages-containers', 'reboots'].includes(power),
)

type Tool = (call: ProgramCall) => readonly Effect[]

/**
 * The options among the arguments as they were meant, and the arguments that are none. `-abc` is `-a -b -c`, up to the
 * first that takes a value. `withValue` lists the options that take the rest of their word or else the next one; one
 * listed with `?` takes only the rest of its word (`sed -i.bak`). `--` ends the options.
 */
function readOptions(
  words: readonly Value[],
  withValue: readonly string[],
): { readonly options: ReadonlySet<string>; readonly operands: readonly Value[] } {
  const options = new Set<string>()
  const operands: Value[] = []
  let skip = false
  let ended = false
  for (const word of words) {
    if (skip) {
      skip = false
      continue
    }
    const start = piecesOf(word)?.[0]
    if (ended || typeof start !== 'string' || !start.startsWith('-') || start === '-') {
      operands.push(word)
      continue
    }
    const text = textOf(word)
    if (text === '--') {
      ended = true
      continue
    }
    options.add(start.split('=')[0] ?? start)
    if (text !== undefined && withValue.includes(text)) skip = true
    else if (!start.startsWith('--')) skip = readCluster(start, options, withValue) && text !== undefined
  }
  return { options, operands }
}

/** Adds the letters of `-abc`; true where the last one takes the next word. */
function readCluster(cluster: string, options: Set<string>, withValue: readonly string[]): boolean {
  for (let at = 1; at < cluster.length; at++) {
    const option = `-${cluster.charAt(at)}`
    options.add(option)
    if (withValue.includes(`${option}?`)) return false
    if (withValue.includes(option)) return at === cluster.length - 1
  }
  return false
}

/** The arguments that are no options, see readOptions. */
export function operandsOf(words: readonly Value[], withValue: readonly string[] = []): readonly Value[] {
  return readOptions(words, withValue).operands
}

/** Whether one of these options is given; `withValue` keeps values of other options from being taken for it. */
export function hasOption(
  words: readonly Value[],
  names: readonly string[],
  withValue: readonly string[] = [],
): boolean {
  const { options } = readOptions(words, withValue)
  return names.some(name => options.has(name))
}

/** The value of an option, `--name=value` or `--name value`; also where only its beginning is known. */
export function optionValue(words: readonly Value[], name: string): Value | undefined {
  for (const [index, word] of words.entries()) {
    const text = textOf(word)
    if (text === name) return words[index + 1]
    // `-fsSLo FILE`: the last letter of a cluster takes the next word.
    if (/^-\w$/.test(name) && text !== undefined && /^-[A-Za-z]+$/.test(text) && text.endsWith(name.slice(1)))
      return words[index + 1]
    const pieces = piecesOf(word)
    const first = pieces?.[0]
    // `-C/etc`: one letter has its value behind it.
    const between = /^-\w$/.test(name) ? '' : '='
    if (typeof first !== 'string' || !first.startsWith(name + between)) continue
    const rest = first.slice(name.length + between.length)
    if (word.kind !== 'unknown') return known(rest)
    return { ...word, text: [...(rest === '' ? [] : [rest]), ...(pieces ?? []).slice(1)] }
  }
  return undefined
}

/** Words with blanks between; what is not known of one is a piece that is not known. */
function joinWords(words: readonly Value[]): Value {
  const pieces = words.flatMap((word, index) => [...(index === 0 ? [] : [' ']), ...(piecesOf(word) ?? [null])])
  if (!pieces.includes(null)) return known(pieces.join(''))
  return { kind: 'unknown', causes: words.flatMap(causesOf), text: pieces }
}

const join = (words: readonly Value[]): Value => known(words.map(showValue).join(' '))

function file(
  call: ProgramCall,
  path: Value,
  change: FileChange['change'],
  content?: Value,
  target?: Value,
): FileChange {
  return { kind: 'file', path: filesOf(call, path), change, content, target, at: call.at }
}

/** What is known of the files a word stands for, where the shell looks for them (`*.conf`). */
function filesOf({ command }: ProgramCall, word: Value): Value {
  return command.words.find(({ value }) => value === word)?.files ?? word
}

const filesWritten =
  (change: FileChange['change'], withValue: readonly string[] = []): Tool =>
  call =>
    operandsOf(call.arguments, withValue).map(path => file(call, path, change))

/** `touch` makes a file that is not there, unless it is told not to. */
const touched: Tool = call => {
  const creates = hasOption(call.arguments, ['-c', '--no-create', '-h', '--no-dereference'])
    ? {}
    : { creates: true as const }
  return operandsOf(call.arguments, ['-d', '-r', '-t']).map(path => ({ ...file(call, path, 'attributes'), ...creates }))
}

const copyOptions = ['-t', '--target-directory', '-m', '--mode', '-o', '--owner', '-g', '--group', '-S', '--suffix']

/** `cp A B`, `mv A B`, `install A B`, `ln A B`: the last is written, or each in it where it is a directory; `-t` names that. */
function landings(
  call: ProgramCall,
): readonly { readonly source: Value; readonly path: Value; readonly target: Value }[] {
  const operands = operandsOf(call.arguments, copyOptions)
  const into = optionValue(call.arguments, '-t') ?? optionValue(call.arguments, '--target-directory')
  const target = into ?? operands.at(-1)
  const sources = into === undefined ? operands.slice(0, -1) : operands
  if (target === undefined) return []
  const isDirectory = into !== undefined || sources.length > 1 || isDirectoryPath(target)
  return sources
    .map(source => filesOf(call, source))
    .map(source => ({ source, path: isDirectory ? inDirectory(target, source) : target, target }))
}

function inDirectory(directory: Value, source: Value): Value {
  const pieces = piecesOf(source) ?? [null]
  const last = pieces.at(-1)
  const base = typeof last === 'string' ? (last.split('/').at(-1) ?? '') : ''
  const whole = pieces.length === 1 || (typeof last === 'string' && last.includes('/'))
  const name = whole && typeof last === 'string' ? [base] : [null, base]
  const start = piecesOf(directory) ?? [null]
  const slash = start.at(-1)?.endsWith('/') ? [] : ['/']
  const text = [...start, ...slash, ...name].filter(piece => piece !== '')
  if (!text.includes(null)) return known(text.join('').replace(/\/{2,}/g, '/'))
  const causes = [directory, source].flatMap(value => (value.kind === 'unknown' ? value.causes : []))
  return { kind: 'unknown', causes, text }
}

const copied: Tool = call => {
  const recursive =
    call.program === 'cp' && hasOption(call.arguments, ['-r', '-R', '-a', '--recursive', '--archive'], copyOptions)
  return landings(call).flatMap(({ source, path, target }) => [
    ...(recursive ? brought(call, source, path, target) : [file(call, path, 'written')]),
    ...(call.program === 'mv' ? [file(call, source, 'removed')] : []),
  ])
}

/** What may be a file or a tree: `dir/` and `dir/.` stand for what is in the directory. */
function brought(call: ProgramCall, source: Value, path: Value, target: Value): readonly FileChange[] {
  const last = piecesOf(source)?.at(-1)
  return typeof last === 'string' && /(^|\/)\.{0,2}$/.test(last)
    ? [file(call, target, 'unpacked')]
    : [file(call, path, 'written'), file(call, path, 'unpacked')]
}

/** `install -d` makes directories, `install` else copies. */
const installed: Tool = call =>
  hasOption(call.arguments, ['-d', '--directory'], copyOptions)
    ? filesWritten('directory', copyOptions)(call)
    : copied(call)

const linked: Tool = call => landings(call).map(({ source, path }) => file(call, path, 'link', undefined, source))

/** `tee FILE`: what comes in by the pipe. */
const teed: Tool = call => {
  const here = call.command.redirects.findLast(redirect => redirect.operator.startsWith('<<'))?.target
  const content = here ?? (call.command.stdin === undefined ? undefined : outputOf(call.command.stdin))
  const change = hasOption(call.arguments, ['-a', '--append']) ? 'line' : 'written'
  return operandsOf(call.arguments).map(path => file(call, path, change, content))
}

/** Files and directories that are named by an option: `curl -o FILE`, `tar -C DIRECTORY`. */
const namedByOption =
  (change: 'written' | 'unpacked', ...names: readonly string[]): Tool =>
  call =>
    names.flatMap(name => optionValue(call.arguments, name) ?? []).map(path => file(call, path, change))

/** A file that is there and is edited, by name. */
const edited =
  (withValue: readonly string[] = []): Tool =>
  call =>
    operandsOf(call.arguments, withValue).map(path => ({ ...file(call, path, 'line'), takesOut: true }))

/** `uniq IN OUT`. */
const secondWritten: Tool = call =>
  operandsOf(call.arguments, ['-f', '-s', '-w'])
    .slice(1, 2)
    .map(path => file(call, path, 'written'))

/** `sponge FILE`: what comes in by the pipe, when all of it is there; it is not worked out. */
const sponged: Tool = call => {
  const change = hasOption(call.arguments, ['-a']) ? 'line' : 'written'
  return operandsOf(call.arguments).map(path => file(call, path, change))
}

const patchOptions = '-p -i -d -o -r -B -Y -z -F -D -g -V --strip --input --directory --output --fuzz'.split(' ')
/** `patch FILE`, or the files the patch names, which are not worked out. */
const patched: Tool = call => {
  const into = optionValue(call.arguments, '-o') ?? optionValue(call.arguments, '--output')
  if (into !== undefined) return [file(call, into, 'written')]
  return operandsOf(call.arguments, patchOptions)
    .slice(0, 1)
    .map(path => ({ ...file(call, path, 'line'), takesOut: true }))
}
const patchPowers = (call: ProgramCall): readonly Power[] => {
  if (hasOption(call.arguments, ['--dry-run', '-v', '--version', '--help'], patchOptions)) return []
  return patched(call).length > 0 ? [] : SETTINGS_IN_FILES
}

/** `go run`, `go test` and `go generate` run what they are given. */
const goPowers = (call: ProgramCall): readonly Power[] => {
  const verb = textOf(call.arguments[0])
  if (verb !== undefined && ['version', 'env', 'list', 'vet', 'doc', 'help'].includes(verb)) return []
  return verb === undefined || ['run', 'test', 'generate', 'tool'].includes(verb) ? EVERY_POWER : ['writes-files']
}

/** Where a download lands that keeps the name it has in its address. */
function downloadedInto(call: ProgramCall, directory: Value, withValue: readonly string[]): readonly FileChange[] {
  return operandsOf(call.arguments, withValue).map(url => file(call, inDirectory(directory, url), 'written'))
}

const HERE = known('.')
const curlOptions =
  '-A -b -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --cacert --cert --connect-timeout --data --header --key --max-time --output --output-dir --proxy --request --retry --retry-delay --url --user --user-agent'.split(
    ' ',
  )
const curled: Tool = call => {
  const directory = optionValue(call.arguments, '--output-dir')
  const given = [optionValue(call.arguments, '-o'), optionValue(call.arguments, '--output')].filter(
    each => each !== undefined,
  )
  const paths = given.map(path => (directory === undefined ? path : pathIn(directory, path, call.at)))
  const own = hasOption(call.arguments, ['-O', '--remote-name', '--remote-name-all'], curlOptions)
  return [
    ...paths.map(path => file(call, path, 'written')),
    ...(own ? downloadedInto(call, directory ?? HERE, curlOptions) : []),
  ]
}

const wgetOptions =
  '-o -a -e -i -B -t -O -T -w -Q -P -U -l -A -R -D -I -X --tries --timeout --output-document --directory-prefix --header --user --password --user-agent --output-file --append-output --input-file'.split(
    ' ',
  )
const wgot: Tool = call => {
  if (hasOption(call.arguments, ['--spider', '-V', '--version', '-h', '--help'], wgetOptions)) return []
  const named = optionValue(call.arguments, '-O') ?? optionValue(call.arguments, '--output-document')
  if (named !== undefined) return textOf(named) === '-' ? [] : [file(call, named, 'written')]
  const directory = optionValue(call.arguments, '-P') ?? optionValue(call.arguments, '--directory-prefix')
  return downloadedInto(call, directory ?? HERE, wgetOptions)
}

/** `tar -x` unpacks in the directory of `-C`, else where it is run; other letters make or list an archive. */
const untarred: Tool = call => {
  const [first] = call.arguments
  const clusters = call.arguments.flatMap(word => textOf(word)?.match(/^-[A-Za-z]+/)?.[0] ?? [])
  const old = textOf(first)?.match(/^[A-Za-z]+$/)?.[0] ?? ''
  const unpacks =
    hasOption(call.arguments, ['--extract', '--get']) ||
    [old, ...clusters].some(letters => letters.includes('x')) ||
    (first !== undefined && textOf(first) === undefined)
  if (!unpacks) return []
  const into = optionValue(call.arguments, '-C') ?? optionValue(call.arguments, '--directory') ?? HERE
  return [file(call, into, 'unpacked')]
}
const unzipped: Tool = call => {
  if (hasOption(call.arguments, ['-l', '-t', '-p', '-v', '-Z', '-z'], ['-d', '-x', '-P'])) return []
  return call.arguments.length === 0 ? [] : [file(call, optionValue(call.arguments, '-d') ?? HERE, 'unpacked')]
}

/** The last operand receives what the others name: `rsync a b`, `scp host:a b`. */
const received: Tool = call => {
  const operands = operandsOf(call.arguments, ['-e', '-i', '-P', '-o', '-F'])
  const target = operands.at(-1)
  if (target === undefined || textOf(target)?.includes(':')) return []
  const files = operands
    .slice(0, -1)
    .filter(source => textOf(source)?.endsWith('/') !== true)
    .map(source => (isDirectoryPath(target) ? inDirectory(target, source) : target))
  return [...files.map(path => file(call, path, 'written')), file(call, target, 'unpacked')]
}

const unitStates: Readonly<Record<string, Partial<Pick<Unit, 'state' | 'enabled' | 'masked'>>>> = {
  start: { state: known('started') },
  stop: { state: known('stopped') },
  restart: { state: known('restarted') },
  'try-restart': { state: known('restarted') },
  condrestart: { state: known('restarted') },
  'reload-or-restart': { state: known('restarted') },
  'try-reload-or-restart': { state: known('restarted') },
  reload: { state: known('reloaded') },
  'force-reload': { state: known('reloaded') },
  enable: { enabled: known(true) },
  disable: { enabled: known(false) },
  reenable: { enabled: known(true) },
  mask: { masked: known(true) },
  unmask: { masked: known(false) },
}
const systemctlOptions = [
  '-t',
  '--type',
  '-p',
  '--property',
  '-n',
  '--lines',
  '-o',
  '--output',
  '-H',
  '-M',
  '-s',
  '--signal',
  '-P',
  '--state',
  '--job-mode',
  '--kill-who',
  '--kill-whom',
  '--root',
  '--image',
]
const systemctlReads = new Set(
  'status show cat is-active is-enabled is-failed is-system-running list-units list-unit-files list-sockets list-timers list-paths list-automounts list-jobs list-machines list-dependencies get-default cancel set-environment unset-environment import-environment log-level log-target service-log-level help daemon-reload daemon-reexec reset-failed show-environment --version'.split(
    ' ',
  ),
)
const systemctlReboots = new Set('reboot poweroff halt kexec isolate rescue emergency soft-reboot'.split(' '))

function unit(call: ProgramCall, name: Value, parts: Partial<Pick<Unit, 'state' | 'enabled' | 'masked'>>): Unit {
  return { kind: 'unit', unit: name, state: undefined, enabled: undefined, masked: undefined, ...parts, at: call.at }
}

/** A pattern of units or packages is as good as its pieces; `*` alone is all of them, and a version may have wildcards. */
export function patternAsPieces(name: Value, what: 'units' | 'packages', at: Span): Value {
  const text = textOf(name)
  if (text === undefined || text === '*' || !isPattern(text.replace(/[=<>].*$/, ''))) return name
  return matchesOf(text, { says: `which ${what} \`${text}\` matches is not worked out`, at, unread: true })
}

const systemctl: Tool = call => {
  const [verb, ...units] = operandsOf(call.arguments, systemctlOptions)
  const name = textOf(verb)
  // A user's own units are none of the host's.
  if (name === undefined || hasOption(call.arguments, ['--user', '--global'], systemctlOptions)) return []
  if (systemctlReboots.has(name)) return [{ kind: 'reboot', at: call.at }]
  // A unit may start again after its processes are killed, so it is not the same as stopping it.
  if (name === 'kill') return units.map(each => signalled(call, 'unit', each))
  const parts = unitStates[name]
  if (parts === undefined) return []
  const named = units.map(each => patternAsPieces(each, 'units', call.at))
  const now = hasOption(call.arguments, ['--now'], systemctlOptions)
    ? { state: known(name === 'enable' || name === 'reenable' ? 'started' : 'stopped') }
    : {}
  return named.map(each => unit(call, each, { ...parts, ...now }))
}
const systemctlPowers = (call: ProgramCall): readonly Power[] => {
  const [verb] = operandsOf(call.arguments, systemctlOptions)
  if (verb === undefined) return []
  const name = textOf(verb)
  if (
    name !== undefined &&
    (name === 'kill' || name in unitStates || systemctlReads.has(name) || systemctlReboots.has(name))
  )
    return []
  return ['starts-units', 'stops-units', 'signals-processes', 'changes-swap', 'changes-mounts', 'reboots']
}

const service: Tool = call => {
  const [name, verb] = operandsOf(call.arguments)
  const parts = unitStates[textOf(verb) ?? '']
  return name === undefined || parts === undefined ? [] : [unit(call, name, parts)]
}
const servicePowers = (call: ProgramCall): readonly Power[] => {
  if (hasOption(call.arguments, ['--status-all', '--version', '-h', '--help'])) return []
  const verb = textOf(operandsOf(call.arguments)[1])
  return verb !== undefined && (verb in unitStates || verb === 'status') ? [] : ['starts-units', 'stops-units']
}

const swapOptions = ['-L', '-U', '-p', '--priority', '-o', '--options', '-d?']
const swapDevices = (call: ProgramCall): readonly Value[] => [
  ...operandsOf(call.arguments, swapOptions),
  ...['-L', '-U'].flatMap(name => optionValue(call.arguments, name) ?? []),
]
const swaps =
  (state: 'on' | 'off'): Tool =>
  call => {
    const reads = ['--help', '--version', '-V', '-h', ...(state === 'on' ? ['-s', '--summary', '--show'] : [])]
    if (hasOption(call.arguments, reads, swapOptions)) return []
    if (hasOption(call.arguments, ['-a', '--all'], swapOptions))
      return [{ kind: 'swap', state, which: 'all', device: undefined, at: call.at }]
    return swapDevices(call).map(device => ({ kind: 'swap', state, which: 'device', device, at: call.at }))
  }

/** A word that is not known may be the option for all of them. */
const swapPowers = (call: ProgramCall): readonly Power[] =>
  call.arguments.some(word => {
    const pieces = textOf(word) === undefined ? (piecesOf(word) ?? [null]) : []
    return ['-a', '--all'].some(all => pieces.includes(null) && piecesCanBe(pieces, all))
  })
    ? ['changes-swap']
    : []

const loadedModule = (call: ProgramCall, module: Value, state: 'loaded' | 'unloaded', parameters?: Value): Effect => ({
  kind: 'kernel-module',
  module,
  when: 'now',
  state,
  parameters,
  file: undefined,
  at: call.at,
})
const modprobeOptions = ['-C', '--config', '-d', '--dirname', '-S', '--set-version']
const modprobeReads = '-n --dry-run --show -c --showconfig --show-depends -D --resolve-alias -R -V --version -h --help'
const modprobe: Tool = call => {
  if (hasOption(call.arguments, modprobeReads.split(' '), modprobeOptions)) return []
  const operands = operandsOf(call.arguments, modprobeOptions)
  const [first, ...parameters] = operands
  if (first === undefined) return []
  if (hasOption(call.arguments, ['-r', '--remove'], modprobeOptions))
    return operands.map(module => loadedModule(call, module, 'unloaded'))
  if (hasOption(call.arguments, ['-a', '--all'], modprobeOptions))
    return operands.map(module => loadedModule(call, module, 'loaded'))
  return [loadedModule(call, first, 'loaded', parameters.length > 0 ? join(parameters) : undefined)]
}
const moduleOfPath = (path: Value): Value =>
  mapText(path, text => (text.split('/').at(-1) ?? text).replace(/\.ko(\.\w+)?$/, ''))

const sysctlOptions = ['-r', '--pattern', '-p?', '-f?']
const sysctlLoads = ['-p', '-f', '--load', '--system']
const sysctl: Tool = call => {
  if (hasOption(call.arguments, sysctlLoads, sysctlOptions)) return []
  return operandsOf(call.arguments, sysctlOptions).flatMap(word => {
    const setting = settingOf(word)
    if (setting === undefined) return []
    const { key, value } = setting
    const set = { kind: 'sysctl', key, value, file: undefined, now: TRUE, persisted: FALSE, at: call.at } as const
    // The name of the host is a setting of the kernel too.
    if (textOf(key) !== 'kernel.hostname' && textOf(key) !== 'kernel/hostname') return [set]
    return [set, { kind: 'hostname', name: value, now: true, persisted: false, at: call.at }]
  })
}

/** `key=value`, each as far as it is known; a key alone is only read, unless what is not known of it may hold the rest. */
function settingOf(word: Value): { readonly key: Value; readonly value: Value } | undefined {
  const pieces = piecesOf(word)
  if (pieces === undefined) return undefined
  const at = pieces.findIndex(piece => piece?.includes('='))
  const piece = pieces[at]
  const partOf = (part: readonly (string | null)[]): Value => {
    const own = part.filter(each => each !== '')
    return own.includes(null) ? { kind: 'unknown', causes: causesOf(word), text: own } : known(own.join('').trim())
  }
  if (typeof piece !== 'string') {
    const open = typeof pieces[0] === 'string' && pieces.at(-1) === null
    return open ? { key: partOf(pieces), value: { kind: 'unknown', causes: causesOf(word) } } : undefined
  }
  const equals = piece.indexOf('=')
  return {
    key: partOf([...pieces.slice(0, at), piece.slice(0, equals)]),
    value: partOf([piece.slice(equals + 1), ...pieces.slice(at + 1)]),
  }
}

/** A word of which nothing is known may be a setting, with `-w` or without. */
const sysctlPowers = (call: ProgramCall): readonly Power[] => {
  if (hasOption(call.arguments, sysctlLoads, sysctlOptions)) return ['changes-sysctl']
  const open = operandsOf(call.arguments, sysctlOptions).some(
    word => typeof piecesOf(word)?.[0] !== 'string' && settingOf(word) === undefined,
  )
  return open ? ['changes-sysctl'] : []
}

/** Ports named by the tool whose output gives the process ids: `lsof -ti:10250`, `fuser 10250/tcp`. */
function portsAskedFor(command: SimpleCommand | undefined): readonly Value[] {
  const program = (textOf(command?.words[0]?.value) ?? '').split('/').at(-1)
  const words = command?.words.slice(1).map(word => word.value) ?? []
  if (program === 'lsof') {
    return words.flatMap((word, index) => {
      const text = textOf(word)
      const inline = text?.match(/^-\w*i[^:]*:(.+)$/)?.[1]
      if (inline !== undefined) return inline.split(',').map(known)
      if (!text?.match(/^-\w*i$/)) return []
      const next = textOf(words[index + 1])
      return next === undefined ? (words[index + 1] ?? []) : (next.split(':').at(-1) ?? next).split(',').map(known)
    })
  }
  return program === 'fuser' ? portsOf(words) : []
}

const fuserOptions = ['-n', '--namespace']
function portsOf(words: readonly Value[]): readonly Value[] {
  const rest = words.filter(word => !isSignal(word))
  const byNumber = hasOption(rest, fuserOptions, fuserOptions)
  return operandsOf(rest, fuserOptions).flatMap(word => {
    const text = textOf(word)
    if (text === undefined) return [word]
    const slash = text.match(/^(\d+)\/(tcp|udp)$/)
    if (slash?.[1] !== undefined) return [known(slash[1])]
    return byNumber && /^\d+$/.test(text) ? [known(text)] : []
  })
}

const signalled = (call: ProgramCall, by: 'name' | 'pid' | 'port' | 'file' | 'unit', target: Value): Effect => {
  const signal = signalOf(call)
  return { kind: 'processes-signalled', by, target, ...(signal === undefined ? {} : { signal }), at: call.at }
}

/** `-$SIGNAL`, of which nothing is known. */
function isOpenSignal(word: Value): boolean {
  const pieces = piecesOf(word)
  return pieces?.[0] === '-' && pieces[1] === null
}

/** The signal that is asked for: `-KILL`, `-s KILL`, `--signal=9`; undefined where it is the default. */
function signalOf({ program, arguments: words }: ProgramCall): Value | undefined {
  const given = program === 'systemctl' ? undefined : words.find(isSignal)
  if (given !== undefined) return known((textOf(given) ?? '').slice(1))
  // `-n` is a number for kill alone; for fuser `-s` is silent.
  const names = program === 'kill' ? ['-s', '-n', '--signal'] : program === 'fuser' ? [] : ['-s', '--signal']
  const named = names.flatMap(name => (program === 'pkill' && name === '-s' ? [] : (optionValue(words, name) ?? [])))[0]
  if (named !== undefined || program === 'systemctl') return named
  const open = (program === 'kill' ? words.slice(0, 1) : words).find(isOpenSignal)
  return open?.kind === 'unknown' ? { ...open, text: [null] } : undefined
}
/** Only the first word can be a signal: behind it `-1` is every process and `-123` a group of them. */
function killTargets(words: readonly Value[]): readonly Value[] {
  const signal = words.findIndex((word, index) => isSignal(word) || (index === 0 && isOpenSignal(word)))
  const rest = signal === -1 ? words : words.filter((_, index) => index !== signal)
  const groups = rest.filter(word => /^-\d+$/.test(textOf(word) ?? ''))
  const others = rest.filter(word => !groups.includes(word))
  return [...operandsOf(others, ['-s', '--signal', '-n', '-q', '--queue']), ...groups]
}
const kill: Tool = call => {
  // `-l` and `-L` list signals; they are words of their own, or `-KILL` would be taken for one.
  if (call.arguments.some(word => /^(-l\d*|-L|--list(=.*)?|--table|-0)$/.test(textOf(word) ?? ''))) return []
  const targets = killTargets(call.arguments)
  if (optionValue(call.arguments, '-s')?.kind === 'known' && textOf(optionValue(call.arguments, '-s')) === '0')
    return []
  const sources = call.command.words.flatMap(word => word.from)
  const ports = [...sources, call.command.stdin].flatMap(portsAskedFor)
  // A range or a service's name is not worked out: then the processes are not known.
  if (ports.length > 0)
    return ports.map(port =>
      /^\d+$/.test(textOf(port) ?? '')
        ? signalled(call, 'port', port)
        : signalled(call, 'pid', onlyOnHost(call, 'which port is meant is not known')),
    )
  if (targets.length === 0 && call.command.stdin !== undefined) {
    return [signalled(call, 'pid', onlyOnHost(call, 'the process ids come from a pipe'))]
  }
  return targets.map(target => signalled(call, 'pid', target))
}
/** `pkill`, `killall`: by name, or by what else picks processes (a user, a parent, a file with their id). */
const killByName =
  (withValue: readonly string[]): Tool =>
  call => {
    if (call.arguments.some(word => ['-l', '--list', '-0', '-V', '--version'].includes(textOf(word) ?? ''))) return []
    const words = call.arguments.filter(word => !isSignal(word))
    const names = operandsOf(words, withValue)
    if (names.length > 0) return names.map(target => signalled(call, 'name', target))
    return words.length === 0 ? [] : [signalled(call, 'pid', onlyOnHost(call, 'what picks the processes is no name'))]
  }
const fuser: Tool = call => {
  const words = call.arguments.filter(word => !isSignal(word))
  if (!hasOption(words, ['-k', '--kill'], fuserOptions)) return []
  const ports = portsOf(words)
  if (ports.length > 0) return ports.map(port => signalled(call, 'port', port))
  return operandsOf(words, fuserOptions).map(path => signalled(call, 'file', path))
}

function onlyOnHost(call: ProgramCall, says: string): Value {
  return { kind: 'unknown', causes: [{ says, at: call.at }] }
}

const kubeadm: Tool = call => {
  const words = operandsOf(call.arguments, [
    '--kubeconfig',
    '--config',
    '--cert-dir',
    '-v',
    '--v',
    '--rootfs',
    '-k',
    '--token',
    '--skip-phases',
    '--ignore-preflight-errors',
  ])
  const texts = words.map(word => textOf(word))
  // `init phase certs apiserver`, `token create`, `init`: how far the name of the subcommand goes.
  const groups = ['token', 'upgrade', 'config', 'certs', 'kubeconfig', 'alpha']
  const length = texts[1] === 'phase' ? 4 : groups.includes(texts[0] ?? '') ? 2 : 1
  const names = texts.slice(0, length)
  const end = names.indexOf(undefined)
  return [
    {
      kind: 'kubeadm',
      subcommand: names.slice(0, end === -1 ? length : end).join(' '),
      arguments: call.arguments,
      ignoredPreflightErrors: optionValue(call.arguments, '--ignore-preflight-errors'),
      at: call.at,
    },
  ]
}

const containerReads = new Set(
  'ps images image inspect info version logs search history top stats port events pods inspecti inspectp imagefsinfo completion config ls list'.split(
    ' ',
  ),
)
const containerActions: Readonly<Record<string, 'started' | 'stopped' | 'removed' | 'image' | 'other'>> = {
  run: 'started',
  start: 'started',
  create: 'started',
  runp: 'started',
  restart: 'stopped',
  stop: 'stopped',
  stopp: 'stopped',
  kill: 'stopped',
  rm: 'removed',
  rmp: 'removed',
  pull: 'image',
  load: 'image',
  save: 'image',
  import: 'image',
  export: 'image',
  tag: 'image',
  push: 'image',
  rmi: 'image',
  build: 'image',
  commit: 'image',
  login: 'image',
  exec: 'other',
  attach: 'other',
  cp: 'other',
  plugin: 'other',
  network: 'other',
  volume: 'other',
  system: 'removed',
}
const containerGroups = new Set(['container', 'containers', 'c', 'task', 'tasks', 't', 'image', 'images', 'i'])
/** Things of a runtime beside containers and images: asked about by a second word. */
const containerTells = new Set(
  'network volume system plugin plugins pod namespace namespaces ns snapshot snapshots content leases manifest builder buildx context secret'.split(
    ' ',
  ),
)
const containerOptions = [
  '-n',
  '--namespace',
  '-a',
  '--address',
  '-H',
  '--host',
  '-r',
  '--runtime-endpoint',
  '-i',
  '--image-endpoint',
  '-t',
  '--timeout',
  '--log-level',
  '--config',
  '-c',
]
const containers: Tool = call => {
  const words = operandsOf(call.arguments, containerOptions)
  const first = textOf(words[0])
  if (first === undefined) return words.length === 0 ? [] : [container(call, 'other')]
  if (containerGroups.has(first) && words.length > 1) {
    const second = textOf(words[1]) ?? ''
    if (containerReads.has(second) || second === 'check') return []
    if (first.startsWith('i')) return [container(call, 'image')]
    const action = containerActions[second]
    if (action !== undefined) return [container(call, action)]
    return [container(call, second === 'delete' || second === 'prune' ? 'removed' : 'other')]
  }
  if (containerReads.has(first) || containerGroups.has(first)) return []
  const told = textOf(words[1]) ?? ''
  if (containerTells.has(first) && (containerReads.has(told) || ['df', 'tree', 'usage', 'check'].includes(told)))
    return []
  return [container(call, containerActions[first] ?? 'other')]
}
/** A container with the rights of the host may do to it whatever its image and command do. */
const containerPowers = (call: ProgramCall): readonly Power[] => {
  const starts = containers(call).some(
    effect => effect.kind === 'container' && ['started', 'other'].includes(effect.action),
  )
  const rights = call.arguments.some(word => {
    const text = textOf(word) ?? ''
    return /^--(privileged(=true)?|cap-add(=.*)?)$/.test(text)
  })
  if (!starts || !rights) return []
  const ofHost = call.arguments.some(word => /^(?:--pid=host|--pid|-v=?\/:.*|\/:.*)$/.test(textOf(word) ?? ''))
  return ofHost ? EVERY_POWER : KERNEL_POWERS
}

/** What a container with the rights of the host, but without its processes and its whole file system, can change. */
const KERNEL_POWERS: readonly Power[] = [
  'changes-swap',
  'changes-mounts',
  'changes-modules',
  'changes-sysctl',
  'changes-firewall',
  'changes-network',
  'changes-hostname',
  'changes-clock',
  'writes-files',
  'reboots',
]

function container(call: ProgramCall, action: 'started' | 'stopped' | 'removed' | 'image' | 'other'): Effect {
  return { kind: 'container', runtime: call.program, action, arguments: call.arguments, at: call.at }
}

/** What the tools of the packet filter only show, by tool; each has letters of its own. */
function readsFirewall({ program, arguments: words }: ProgramCall): boolean {
  const [verb] = operandsOf(words, ['-f', '--file', '-I', '--includepath', '-D', '--define']).map(textOf)
  switch (program) {
    case 'nft':
      return (
        ['list', 'describe', 'monitor'].includes(verb ?? '') ||
        hasOption(words, ['-c', '--check', '-v', '-V', '--version', '-h', '--help'], ['-f', '-I', '-D'])
      )
    case 'ipset':
      return ['list', 'save', 'test', 'version', 'help', '-L', '-S', '-T', '-v'].includes(textOf(words[0]) ?? '')
    case 'ipvsadm':
      return hasOption(words, ['-L', '-l', '--list', '-S', '--save', '-h', '--help'], ['-t', '-u', '-f', '-r', '-s'])
    case 'ufw':
      return verb === 'status' || verb === 'version' || verb === 'show'
    case 'firewall-cmd':
      return words.every(word =>
        /^--(state|version|help|check-config|(list|get|query|info|path)-.*|(zone|policy|permanent)(=.*)?|permanent)$/.test(
          textOf(word) ?? '',
        ),
      )
    default:
      return hasOption(
        words,
        ['-L', '-S', '--list', '--list-rules', '-V', '--version', '-C', '--check', '-h', '--help'],
        '-t -A -I -D -R -N -X -P -E -p -s -d -j -g -i -o -m'.split(' '),
      )
  }
}
const firewall: Tool = call => {
  if (readsFirewall(call)) return []
  const [verb] = call.program === 'ufw' ? operandsOf(call.arguments) : []
  const turns = askText(verb, text => ['enable', 'disable', 'reset'].includes(text)).kind === 'false' ? undefined : verb
  return [
    {
      kind: 'firewall',
      tool: call.program,
      says: join(call.arguments),
      ...(turns === undefined ? {} : { turns }),
      at: call.at,
    },
  ]
}

const packageVerbs: Readonly<Record<string, string>> = {
  install: 'present',
  reinstall: 'present',
  'bundle-add': 'present',
  update: 'latest',
  upgrade: 'latest',
  'dist-upgrade': 'latest',
  'full-upgrade': 'latest',
  'distro-sync': 'latest',
  remove: 'absent',
  erase: 'absent',
  purge: 'absent',
  uninstall: 'absent',
  autoremove: 'absent',
  hold: 'held',
  override: 'present',
  '-U': 'present',
}
const packageReads = new Set(
  'cleanup list info search show policy repolist check-update provides clean makecache refresh ref dump -q -qa -l -s --version status download source'.split(
    ' ',
  ),
)
const packages: Tool = call => {
  const verbAt = call.arguments.findIndex(word => (textOf(word) ?? '-') in packageVerbs)
  const verb = textOf(call.arguments[verbAt])
  if (verb === undefined) return []
  // `apt-get update` reads the lists again; only others install with `update`.
  if (verb === 'update' && (call.program === 'apt-get' || call.program === 'apt')) return []
  const names = operandsOf(call.arguments.slice(verbAt + 1), ['-o', '-c', '-t', '--target-release', '-x', '--exclude'])
  const state = packageVerbs[verb] ?? verb
  const patterns = names.map(name => patternAsPieces(name, 'packages', call.at))
  const manager = /^pip3?$/.test(call.program) ? ({ manager: 'pip' } as const) : {}
  return [{ kind: 'package', names: namesOr(call, patterns, state), state: known(state), ...manager, at: call.at }]
}
/** An upgrade without names is one of everything, but for what is left out. */
function namesOr(call: ProgramCall, names: readonly Value[], state: string): Value {
  if (names.length > 0 || state !== 'latest') return joinWords(names)
  return hasOption(call.arguments, ['-x', '--exclude'], ['-x', '--exclude'])
    ? onlyOnHost(call, 'some packages are left out of the upgrade')
    : known('*')
}

/** zypper and dnf also have short words for their verbs. */
const shortVerbs: Readonly<Record<string, string>> = { in: 'install', rm: 'remove', up: 'update', dup: 'dist-upgrade' }
const spelledOut = (call: ProgramCall): ProgramCall => {
  const verbAt = call.arguments.findIndex(word => !(textOf(word) ?? '-').startsWith('-'))
  const verb = shortVerbs[textOf(call.arguments[verbAt]) ?? '']
  return verb === undefined ? call : { ...call, arguments: call.arguments.with(verbAt, known(verb)) }
}

/** rpm and dpkg have a letter for what they do, among others that say how: `rpm -Uvh`, `dpkg -i`. */
const byLetter =
  (letters: Readonly<Record<string, string>>): Tool =>
  call => {
    const words = call.arguments.flatMap(word => textOf(word) ?? [])
    // `rpm -q -i`: information about a package.
    if (words.some(word => /^(-[qVK]|--(query|verify|checksig)$)/.test(word))) return []
    const stateOf = (word: string) => letters[word] ?? (/^-\w+$/.test(word) ? letters[word.slice(0, 2)] : undefined)
    const state = words.flatMap(word => stateOf(word) ?? [])[0]
    if (state === undefined) return []
    return [{ kind: 'package', names: joinWords(operandsOf(call.arguments)), state: known(state), at: call.at }]
  }
const rpm = byLetter({
  '-i': 'present',
  '-U': 'latest',
  '-F': 'latest',
  '-e': 'absent',
  '--install': 'present',
  '--upgrade': 'latest',
  '--freshen': 'latest',
  '--erase': 'absent',
})
const dpkg = byLetter({
  '-i': 'present',
  '-r': 'absent',
  '-P': 'absent',
  '--install': 'present',
  '--remove': 'absent',
  '--purge': 'absent',
})
const letterPowers =
  (tool: Tool, tells: RegExp): ((call: ProgramCall) => readonly Power[]) =>
  call => {
    const told = call.arguments.some(word => tells.test(textOf(word) ?? ''))
    return told || tool(call).length > 0 ? [] : ['changes-packages']
  }
const packagePowers = (call: ProgramCall): readonly Power[] => {
  const words = call.arguments.map(word => textOf(word) ?? '')
  return words.some(word => word in packageVerbs || packageReads.has(word)) ? [] : ['changes-packages']
}

/** `python -m pip install x` installs; `python --version` only tells; any other program text could do anything. */
const python: Tool = call =>
  pythonModule(call) === 'pip' ? packages({ ...call, program: 'pip', arguments: call.arguments.slice(2) }) : []
const pythonPowers = (call: ProgramCall): readonly Power[] => {
  const module = pythonModule(call)
  if (module === 'pip') return packagePowers({ ...call, arguments: call.arguments.slice(2) })
  if (module === 'ensurepip' || module === 'venv') return ['writes-files']
  return ['--version', '-V', '-VV'].includes(textOf(call.arguments[0]) ?? '') ? [] : EVERY_POWER
}
function pythonModule(call: ProgramCall): string | undefined {
  return textOf(call.arguments[0]) === '-m' ? textOf(call.arguments[1]) : undefined
}

const ip: Tool = call => {
  // `ip` has whole words behind one dash (`-json`), no clusters; the words that change something are plain ones.
  const words = call.arguments.filter(word => !(textOf(word) ?? '').startsWith('-'))
  const changing = new Set('add del delete set change replace append flush up down exec'.split(' '))
  if (!words.some(word => changing.has(textOf(word) ?? ''))) return []
  return [{ kind: 'network', says: join(call.arguments), at: call.at }]
}

const mountOptions = '-t -o -O -L -U --types --options --test-opts --bind --source --target'.split(' ')
const mounts =
  (state: 'mounted' | 'unmounted'): Tool =>
  call => {
    const reads = ['-l', '--show-labels', '-V', '--version', '-h', '--help', '-f', '--fake']
    if (state === 'mounted' && hasOption(call.arguments, reads, mountOptions)) return []
    const words = operandsOf(call.arguments, mountOptions)
    const path = words.at(-1)
    if (path === undefined) return []
    if (state === 'unmounted') return words.map(each => ({ kind: 'mount', state, path: each, at: call.at }))
    const options = optionValue(call.arguments, '-o') ?? optionValue(call.arguments, '--options')
    const again = (textOf(options) ?? '').split(',').includes('remount')
    return [{ kind: 'mount', state: again ? 'remounted' : state, path, at: call.at }]
  }
/** `mount -a`, `umount -a`: whatever fstab or the table of mounts names. */
const mountPowers = (call: ProgramCall): readonly Power[] =>
  hasOption(call.arguments, ['-a', '--all'], mountOptions) ? ['changes-mounts'] : []

const sedOptions = ['-e', '-f', '--expression', '--file', '-l', '--line-length', '-i?']
const sed: Tool = call => {
  if (!hasOption(call.arguments, ['-i', '--in-place'], sedOptions)) return []
  const operands = operandsOf(call.arguments, sedOptions)
  const scripted = hasOption(call.arguments, ['-e', '-f', '--expression', '--file'], sedOptions)
  return operands.slice(scripted ? 0 : 1).map(path => ({ ...file(call, path, 'line'), takesOut: true }))
}

const sedPowers = (call: ProgramCall): readonly Power[] => {
  const given = ['-e', '--expression'].flatMap(name => optionValue(call.arguments, name) ?? [])
  const fromFile = hasOption(call.arguments, ['-f', '--file'], sedOptions)
  const scripts = given.length > 0 || fromFile ? given : operandsOf(call.arguments, sedOptions).slice(0, 1)
  const runs = scripts.some(script => sedRuns((piecesOf(script) ?? []).map(piece => piece ?? '').join('')))
  return fromFile || runs ? EVERY_POWER : []
}

/** Whether a sed script has the command `e` or an `s` with the flag `e`, which run what they are given in a shell (GNU sed). */
export function sedRuns(script: string): boolean {
  let at = 0
  const upTo = (end: string): void => {
    let inClass = false
    for (; at < script.length && (inClass || script.charAt(at) !== end); at++) {
      const char = script.charAt(at)
      if (char === '\\') at++
      else if (char === '[') inClass = true
      else if (char === ']') inClass = false
    }
    at++
  }
  const line = (ends: string): void => {
    while (at < script.length && !ends.includes(script.charAt(at))) at++
  }
  while (at < script.length) {
    const char = script.charAt(at++)
    if (char === '/') upTo('/')
    else if (char === '\\') {
      const delimiter = script.charAt(at++)
      upTo(delimiter)
    } else if (char === 'e') return true
    else if (char === 's' || char === 'y') {
      const delimiter = script.charAt(at++)
      upTo(delimiter)
      // The replacement has no character classes.
      for (; at < script.length && script.charAt(at) !== delimiter; at++) if (script.charAt(at) === '\\') at++
      at++
      for (; /[a-zA-Z0-9]/.test(script.charAt(at)) && script.charAt(at) !== 'w'; at++)
        if (char === 's' && script.charAt(at) === 'e') return true
      if (script.charAt(at) === 'w') line('\n')
    } else if ('aic#rRwW'.includes(char)) line('\n')
    else if (':btT'.includes(char)) line(';\n}')
  }
  return false
}

/** What the program of the command line may do; one from a file could do anything. */
const awkPowers = (call: ProgramCall): readonly Power[] => {
  const others = ['-f', '--file', '-i', '--include', '-l', '--load', '-e', '--source', '-E', '--exec', '-W']
  const program = operandsOf(call.arguments, ['-F', '-v', '--field-separator', '--assign'])[0]
  if (hasOption(call.arguments, others, ['-F', '-v'])) return EVERY_POWER
  return program === undefined ? [] : powersOfAwk(piecesOf(program) ?? [null])
}

const find: Tool = call => {
  const start = call.arguments[0]
  if (start === undefined || !call.arguments.some(word => textOf(word) === '-delete')) return []
  return [file(call, start, 'removed')]
}

const says =
  (kind: 'clock' | 'account' | 'schedule' | 'storage' | 'cluster-object' | 'package-source'): Tool =>
  call => [{ kind, says: join([known(call.program), ...call.arguments]), at: call.at }]

/** What only shows the state of the subscription changes nothing. */
const subscriptionManager: Tool = call =>
  ['status', 'identity', 'list', 'facts', 'version'].includes(textOf(call.arguments[0]) ?? '')
    ? []
    : says('package-source')(call)

const kubectl: Tool = call => {
  const reads = new Set(
    'get describe logs version api-resources api-versions config cluster-info explain top completion wait auth diff options'.split(
      ' ',
    ),
  )
  const verb = textOf(
    operandsOf(call.arguments, ['-n', '--namespace', '--kubeconfig', '-s', '--server', '--context'])[0],
  )
  return verb === undefined || reads.has(verb) ? [] : says('cluster-object')(call)
}

const reboots: Tool = call =>
  hasOption(call.arguments, ['-c', '-k', '--show', '--help'], ['-t']) ? [] : [{ kind: 'reboot', at: call.at }]

const hostnamectl: Tool = call => {
  const [verb, name] = operandsOf(call.arguments, ['-H', '-M', '--host', '--machine'])
  if (!['set-hostname', 'hostname'].includes(textOf(verb) ?? '') || name === undefined) return []
  // Without one of them it sets all three; `--pretty` alone is a name for people.
  const kinds = ['--transient', '--static', '--pretty'].filter(kind => hasOption(call.arguments, [kind]))
  const sets = (kind: string): boolean => kinds.length === 0 || kinds.includes(kind)
  if (!sets('--transient') && !sets('--static')) return []
  // A static name also becomes the running one.
  return [{ kind: 'hostname', name, now: true, persisted: sets('--static'), at: call.at }]
}
const hostname: Tool = call => {
  const from = optionValue(call.arguments, '-F') ?? optionValue(call.arguments, '--file')
  if (from === undefined) return hostnameGiven(call)
  const says = `the name in ${showValue(from)} is not known here`
  const name: Value = { kind: 'unknown', causes: [{ says, at: call.at, unread: true }] }
  return [{ kind: 'hostname', name, now: true, persisted: false, at: call.at }]
}
const hostnameGiven: Tool = call =>
  hasOption(
    call.arguments,
    ['-s', '-f', '-i', '-I', '-d', '-A', '--short', '--fqdn', '--long', '--ip-address', '--domain'],
    ['-F'],
  )
    ? []
    : operandsOf(call.arguments).map(name => ({ kind: 'hostname', name, now: true, persisted: false, at: call.at }))
/** `nmcli general hostname NAME`, whose words may be shortened. */
const nmcli: Tool = call => {
  const [object, verb, name] = operandsOf(
    call.arguments,
    '-c -e -f -g -m -w --colors --escape --fields --mode --wait'.split(' '),
  )
  const isShort = (word: Value | undefined, full: string): boolean => {
    const text = textOf(word)
    return text !== undefined && text !== '' && full.startsWith(text)
  }
  if (name === undefined || !isShort(object, 'general') || !isShort(verb, 'hostname')) return []
  return [{ kind: 'hostname', name, now: true, persisted: true, at: call.at }]
}
const setenforce: Tool = call =>
  operandsOf(call.arguments).map(state => ({ kind: 'selinux', sets: 'mode', state, persisted: false, at: call.at }))
const setsebool: Tool = call => [
  {
    kind: 'selinux',
    sets: 'boolean',
    state: join(operandsOf(call.arguments)),
    persisted: hasOption(call.arguments, ['-P']),
    at: call.at,
  },
]
/** Only what changes something: `timedatectl` alone, `status` and `show` tell. */
const timedatectl: Tool = call => {
  const [verb, given] = operandsOf(call.arguments, ['-H', '-M', '-p', '--host', '--machine', '--property'])
  const name = textOf(verb)
  if (verb === undefined || (name !== undefined && !name.startsWith('set-'))) return []
  const says = join([known(call.program), ...call.arguments])
  const synchronised = name === 'set-ntp' && given !== undefined ? { synchronised: given } : {}
  return [{ kind: 'clock', says, ...synchronised, at: call.at }]
}

/** `grubby --args=… --remove-args=…`: parameters of the kernels that `--update-kernel` names. */
const grubby: Tool = call => [
  ...bootParameters(call, 'added', optionValue(call.arguments, '--args')),
  ...bootParameters(call, 'removed', optionValue(call.arguments, '--remove-args')),
]
const grubbyPowers = (call: ProgramCall): readonly Power[] =>
  hasOption(call.arguments, ['--info', '--default-kernel', '--default-index', '--default-title']) ||
  grubby(call).length > 0
    ? []
    : ['changes-boot']
/** `rpm-ostree kargs --append=… --delete=…`; every other verb is about packages. */
const rpmOstree: Tool = call => {
  if (textOf(operandsOf(call.arguments)[0]) !== 'kargs') return packages(call)
  const given = (...names: readonly string[]) => names.flatMap(name => optionValue(call.arguments, name) ?? [])
  return [
    ...given('--append', '--append-if-missing', '--replace').flatMap(each => bootParameters(call, 'added', each)),
    ...given('--delete', '--delete-if-present').flatMap(each => bootParameters(call, 'removed', each)),
  ]
}
const rpmOstreePowers = (call: ProgramCall): readonly Power[] => {
  const verb = textOf(operandsOf(call.arguments)[0])
  if (verb === 'kargs') return call.arguments.length > 1 && rpmOstree(call).length === 0 ? ['changes-boot'] : []
  return verb === 'cleanup' ? [] : packagePowers(call)
}
function bootParameters(
  call: ProgramCall,
  change: 'added' | 'removed',
  parameters: Value | undefined,
): readonly Effect[] {
  return parameters === undefined ? [] : [{ kind: 'boot-parameters', change, parameters, at: call.at }]
}

const reads: Program = { powers: [] }
const writesItsFiles: Program = { powers: ['writes-files'] }
const named = (names: string, program: Program): readonly (readonly [string, Program])[] =>
  names.split(' ').map(name => [name, program] as const)

/**
 * Programs by base name. A program that is not here is unfamiliar: it could do anything. Those with `powers: []` and no
 * effects only read, or change nothing but their own output and what is listed as effects.
 */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  // Reading, testing, shell built-ins, text tools.
  ...named(
    'true false test [ [[ : cat grep egrep fgrep zgrep ls stat file which type command whereis readlink realpath basename dirname pwd cd pushd popd set unset export readonly local declare typeset shift return exit wait umask ulimit shopt echo printf read getopts alias break continue let hash jobs sleep date uname arch id whoami groups who w uptime env printenv nproc free df du head tail cut tr wc tac rev paste join comm nl fold seq expr bc diff cmp od xxd hexdump strings base64 md5sum sha1sum sha256sum sha512sum cksum jq yes getent getconf lscpu lsblk blkid lsmod modinfo lsof ss netstat ps pgrep pidof dmesg journalctl lsattr findmnt mountpoint ping ping6 dig nslookup host lsb_release systemd-detect-virt systemd-analyze dpkg-query apt-cache apt-config locale tty stty logger lsns lspci crio-status etcd',
    reads,
  ),
  // `make` runs whatever the makefile says.
  ['make', { powers: EVERY_POWER }],
  // A template that was left in the text: no program is called so, and the command fails.
  ['{{', { powers: [] }],
  ...named('awk gawk mawk nawk', { powers: EVERY_POWER, powersOf: awkPowers }),
  // Programs that work on files and directories of their own and on services by network; they neither signal processes
  // nor start or stop units.
  ...named(
    'gzip gunzip zcat bzip2 xz zip sftp ssh-keygen git split csplit update-ca-certificates update-ca-trust clrtrust chmod chown chgrp chattr setfacl chcon restorecon semanage mktemp ldconfig depmod update-initramfs dracut locale-gen skopeo cosign krew cfssl cfssljson gpgconf apt-key ssh-keyscan fapolicyd-cli',
    writesItsFiles,
  ),
  // What they write is a file they are given.
  ['openssl', { powers: ['writes-files'], effects: namedByOption('written', '-out') }],
  ['gpg', { powers: ['writes-files'], effects: namedByOption('written', '-o', '--output') }],
  ['sort', { powers: [], effects: namedByOption('written', '-o', '--output') }],
  ['uniq', { powers: [], effects: call => secondWritten(call) }],
  ['sponge', { powers: [], effects: sponged }],
  ['truncate', { powers: [], effects: edited(['-s', '--size', '-r', '--reference']) }],
  [
    'yq',
    {
      powers: [],
      effects: call => (hasOption(call.arguments, ['-i', '--inplace', '--in-place']) ? edited()(call).slice(1) : []),
    },
  ],
  ['patch', { powers: [], effects: patched, powersOf: patchPowers }],
  ['go', { powers: ['writes-files'], powersOf: goPowers }],
  ['curl', { powers: ['writes-files'], effects: curled }],
  ['wget', { powers: ['writes-files'], effects: wgot }],
  ['tar', { powers: ['writes-files'], effects: untarred }],
  ['unzip', { powers: ['writes-files'], effects: unzipped }],
  ...named('rsync scp', { powers: ['writes-files'], effects: received }),
  // Clients of a cluster's API: what they change is in the cluster.
  ...named('kubectl oc', { powers: [], effects: kubectl }),
  ...named('helm calicoctl calicoctl.sh calico-upgrade cilium netctl etcdctl etcdutl cinder openstack', {
    powers: [],
    effects: says('cluster-object'),
  }),
  // What may wait for or ask about the machine's first start.
  ...named('cloud-init coreos-cloudinit', {
    // It does what the data of the machine's provider say, which may be commands.
    powers: EVERY_POWER,
    powersOf: call =>
      ['status', 'query', 'schema', 'analyze', 'features', 'collect-logs', '--version', '-v', '--help', '-h'].includes(
        textOf(call.arguments[0]) ?? '',
      )
        ? []
        : EVERY_POWER,
  }),
  ...named('python python2 python3 pypy pypy3', { powers: EVERY_POWER, effects: python, powersOf: pythonPowers }),
  ['swapoff', { powers: [], effects: swaps('off'), powersOf: swapPowers }],
  ['swapon', { powers: [], effects: swaps('on'), powersOf: swapPowers }],
  ['mkswap', { powers: [], effects: says('storage') }],
  ['sysctl', { powers: ['changes-sysctl'], effects: sysctl, powersOf: sysctlPowers }],
  ['modprobe', { powers: [], effects: modprobe }],
  [
    'rmmod',
    { powers: [], effects: call => operandsOf(call.arguments).map(module => loadedModule(call, module, 'unloaded')) },
  ],
  [
    'insmod',
    {
      powers: [],
      effects: call =>
        operandsOf(call.arguments)
          .slice(0, 1)
          .map(path => loadedModule(call, moduleOfPath(path), 'loaded')),
    },
  ],
  ['systemctl', { powers: [], effects: systemctl, powersOf: systemctlPowers }],
  ['service', { powers: [], effects: service, powersOf: servicePowers }],
  ['kill', { powers: [], effects: kill }],
  [
    'pkill',
    {
      powers: [],
      effects: killByName(
        '-F --pidfile -g --pgroup -G --group -P --parent -s --session -t --terminal -u --euid -U --uid --signal --ns --nslist -q --queue -r --runstates'.split(
          ' ',
        ),
      ),
    },
  ],
  [
    'killall',
    {
      powers: [],
      effects: killByName('-s --signal -u --user -y --younger-than -o --older-than -n --ns -Z'.split(' ')),
    },
  ],
  ['fuser', { powers: [], effects: fuser }],
  ['kubeadm', { powers: [], effects: kubeadm }],
  ['mount', { powers: [], effects: mounts('mounted'), powersOf: mountPowers }],
  ['umount', { powers: [], effects: mounts('unmounted'), powersOf: mountPowers }],
  ...named(
    'iptables ip6tables iptables-restore ip6tables-restore iptables-legacy iptables-nft arptables ebtables nft ipset ipvsadm ufw firewall-cmd',
    {
      powers: [],
      effects: firewall,
    },
  ),
  ...named('docker podman crictl nerdctl ctr buildah', { powers: [], effects: containers, powersOf: containerPowers }),
  // `crio wipe` removes containers' storage; CRI-O stops none with it.
  ...named('iptables-save ip6tables-save ebtables-save arptables-save', reads),
  // What these do as long as they run, a node is to have; it is not held for what role code does to the host.
  ...named('crio containerd dockerd cri-dockerd kubelet', { powers: ['writes-files'] }),
  ['rm', { powers: [], effects: filesWritten('removed') }],
  ['unlink', { powers: [], effects: filesWritten('removed') }],
  ['rmdir', { powers: [], effects: filesWritten('removed') }],
  ['shred', { powers: [], effects: filesWritten('removed') }],
  ['touch', { powers: [], effects: touched }],
  ['mkdir', { powers: [], effects: filesWritten('directory', ['-m', '--mode']) }],
  ['tee', { powers: [], effects: teed }],
  ...named('cp mv', { powers: [], effects: copied }),
  ['install', { powers: [], effects: installed }],
  ['ln', { powers: [], effects: linked }],
  ['sed', { powers: EVERY_POWER, effects: sed, powersOf: sedPowers }],
  ['find', { powers: [], effects: find }],
  [
    'dd',
    {
      powers: [],
      effects: call =>
        call.arguments.flatMap(word => {
          const path = optionValue([word], 'of')
          return path ? [file(call, path, 'written')] : []
        }),
    },
  ],
  ...named('apt-get apt aptitude yum microdnf tdnf pip pip3 pacman apk swupd apt-mark', {
    powers: ['changes-packages'],
    effects: packages,
    powersOf: packagePowers,
  }),
  ...named('dnf dnf5 zypper', {
    powers: ['changes-packages'],
    effects: call => packages(spelledOut(call)),
    powersOf: call => packagePowers(spelledOut(call)),
  }),
  [
    'rpm',
    {
      powers: [],
      effects: rpm,
      powersOf: letterPowers(
        rpm,
        /^(-q\w*|--query|-V\w*|--verify|-K|--checksig|--version|--import|--eval|-E|--showrc)$/,
      ),
    },
  ],
  [
    'dpkg',
    {
      powers: [],
      effects: dpkg,
      powersOf: letterPowers(
        dpkg,
        /^(-[lLsSpIcCV]|--(list|listfiles|status|search|print-\S+|info|contents|audit|get-selections|version|compare-versions|verify))$/,
      ),
    },
  ],
  ['rpm-ostree', { powers: [], effects: rpmOstree, powersOf: rpmOstreePowers }],
  ['grubby', { powers: [], effects: grubby, powersOf: grubbyPowers }],
  // What is booted next: from settings in files that are effects of their own.
  ...named(
    'update-grub update-grub2 grub-mkconfig grub2-mkconfig grub-install grub2-install grub2-set-default grub-set-default kernelstub bootctl kexec',
    {
      powers: ['changes-boot', 'writes-files'],
    },
  ),
  ['chmem', { powers: [] }],
  // Moves the host to another release or distribution.
  ...named('do-release-upgrade leapp convert2rhel', { powers: ['changes-packages', 'changes-boot', 'reboots'] }),
  ['subscription-manager', { powers: [], effects: subscriptionManager }],
  ...named('add-apt-repository amazon-linux-extras yum-config-manager', {
    powers: [],
    effects: says('package-source'),
  }),
  ['ip', { powers: [], effects: ip }],
  ...named('ifconfig route brctl bridge tc ethtool networkctl netplan resolvconf resolvectl ifup ifdown', {
    powers: ['changes-network'],
  }),
  ['nmcli', { powers: ['changes-network'], effects: nmcli }],
  ...named('reboot shutdown poweroff halt', { powers: [], effects: reboots }),
  ['hostnamectl', { powers: [], effects: hostnamectl }],
  ['hostname', { powers: [], effects: hostname }],
  ['setenforce', { powers: [], effects: setenforce }],
  ['setsebool', { powers: [], effects: setsebool }],
  ...named('getenforce sestatus selinuxenabled aa-status aa-enabled', reads),
  ['timedatectl', { powers: [], effects: timedatectl }],
  ...named('hwclock chronyd chronyc ntpd ntpdate', { powers: [], effects: says('clock') }),
  ...named('useradd usermod userdel groupadd groupmod groupdel passwd chpasswd gpasswd', {
    powers: [],
    effects: says('account'),
  }),
  ...named('crontab at atrm', { powers: [], effects: says('schedule') }),
  ...named(
    'growpart xfs_growfs resize2fs parted fdisk sfdisk sgdisk mkfs mkfs.ext4 mkfs.xfs pvcreate vgcreate lvcreate pvresize lvextend wipefs container-storage-setup',
    {
      powers: [],
      effects: says('storage'),
    },
  ),
  // Cleans up its own packet-filter rules and IPVS services, then ends.
  ...named('hyperkube kube-proxy', { powers: ['changes-firewall', 'changes-network'] }),
])

const otherHosts = ['-H', '--host', '-M', '--machine']
/** Options by which a program works on another root file system or another host. */
const ELSEWHERE: Readonly<Record<string, { readonly roots?: readonly string[]; readonly hosts?: readonly string[] }>> =
  {
    systemctl: { roots: ['--root', '--image'], hosts: otherHosts },
    hostnamectl: { hosts: otherHosts },
    timedatectl: { hosts: otherHosts },
    dnf: { roots: ['--installroot'] },
    dnf5: { roots: ['--installroot'] },
    yum: { roots: ['--installroot'] },
    microdnf: { roots: ['--installroot'] },
    tdnf: { roots: ['--installroot'] },
    rpm: { roots: ['--root', '-r'] },
    dpkg: { roots: ['--root', '--instdir'] },
    zypper: { roots: ['--root', '-R'] },
    pacman: { roots: ['--root', '--sysroot', '-r'] },
    apk: { roots: ['--root', '-p'] },
  }

/** Whether a call works elsewhere than on this host: `yes`, `no`, `perhaps`. */
function worksElsewhere({ program, arguments: words }: ProgramCall): 'yes' | 'no' | 'perhaps' {
  const options = Object.hasOwn(ELSEWHERE, program) ? ELSEWHERE[program] : undefined
  const given = (names: readonly string[] = []) => names.flatMap(name => optionValue(words, name) ?? [])
  const roots = given(options?.roots).filter(root => !isOwnRoot(root))
  const hosts = given(options?.hosts).filter(host => !/^(\.host|(.*@)?localhost)$/.test(textOf(host) ?? ''))
  const others = [...roots, ...hosts]
  if (others.length === 0) return 'no'
  return others.some(other => optionsOf(other).every(({ value }) => textOf(value) !== undefined)) ? 'yes' : 'perhaps'
}

/** What a call of a program may do beyond its listed effects, and those effects. An unfamiliar program may do anything. */
export function readProgram(call: ProgramCall): {
  readonly effects: readonly Effect[]
  readonly powers: readonly Power[]
  readonly unfamiliar: boolean
} {
  const program = PROGRAMS.get(call.program)
  // No host has a program whose name begins with a blank: what is left of `\` before a folded line.
  if (/^\s/.test(call.program)) return { effects: [], powers: [], unfamiliar: false }
  if (program === undefined) return { effects: [], powers: EVERY_POWER, unfamiliar: true }
  const elsewhere = worksElsewhere(call)
  if (elsewhere === 'yes') return { effects: [], powers: [], unfamiliar: false }
  const effects = program.effects?.(call) ?? []
  return {
    effects: elsewhere === 'no' ? effects : unread(effects, 'whether it works on this host is not known'),
    powers: program.powersOf?.(call) ?? program.powers,
    unfamiliar: false,
  }
}
