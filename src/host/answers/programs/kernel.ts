import { ABSENT, type Found } from '../../../evidence/host-files.js'
import { ownEntry } from '../../../source/own-entry.js'
import { aliasesIn, builtInModulesIn, dependenciesIn } from '../../boot/kernel-modules.js'
import { moduleName } from '../../boot/modprobe-d.js'
import { matchesPattern } from '../../boot/pattern.js'
import { sysctlKeyOf } from '../../boot/sysctl-d.js'
import type { Moment } from '../../moment.js'
import { standsAt, textOfFile } from '../paths.js'
import { readWords } from './options.js'
import {
  type Call,
  complains,
  joined,
  notKnown,
  type Outcome,
  oneOf,
  type Printed,
  type Program,
  prints,
} from './outcome.js'

/** `sysctl KEY…`: the values the kernel has. Keys it lacks end it with 1, or 255 where procps is old. */
const sysctl: Program = ({ words, moment }) => {
  const read = readWords(words, { flags: 'neNb', long: { values: 'n', ignore: 'e' } })
  if (read === undefined || read.flags.has('N') || read.flags.has('b') || read.operands.length === 0) return undefined
  let stdout: Printed = ''
  let isMissing = false
  for (const operand of read.operands) {
    // A pattern, or something to be set.
    if (/[=*?[{]/.test(operand)) return undefined
    const key = keyOf(operand)
    // A dot within the name of an interface is printed in more than one way.
    if (!read.flags.has('n') && key.includes('/')) return undefined
    const value = moment.sysctl(key)
    if (value.kind === 'unknown') return notKnown(value.because)
    if (value.kind === 'absent') {
      if (moment.files.entry(`/proc/sys/${sysctlKeyOf(key)}`).kind === 'known') return undefined
      isMissing = true
    } else if (value.value.includes('\n')) return undefined
    else stdout = joined(stdout, read.flags.has('n') ? `${value.value}\n` : `${key} = ${value.value}\n`)
  }
  if (isMissing && !read.flags.has('e')) return complains(oneOf([1, 255], 'procps'), stdout)
  return prints(stdout)
}

/** A key by dots: the first separator says which of the two separates. */
function keyOf(operand: string): string {
  const first = /[./]/.exec(operand)?.[0]
  return first === '/' ? sysctlKeyOf(operand) : operand
}

/**
 * `modinfo NAME`: whether the running kernel has a module of that name or alias (rule 51). What it prints is not worked out.
 */
const modinfo: Program = ({ words, moment }) => {
  const read = readWords(words, { flags: '0', values: 'F', long: { null: '0' }, longValues: { field: 'F' } })
  const [name, ...more] = read?.operands ?? []
  if (name === undefined || more.length > 0 || name.includes('/')) return undefined
  const found = modulePresence(moment, name)
  if (found.kind === 'unknown') return notKnown(found.because)
  if (found.kind === 'absent') return complains(1)
  const because = 'what modinfo prints is not worked out'
  if (found.value === 'module') return prints({ because })
  return { kind: 'ran', status: oneOf([0, 1], 'kmod'), stdout: { because }, silent: false }
}

/**
 * Whether kmod finds something by this name for the running kernel: a module, by its name or an alias, or one that is built
 * in and described. `undescribed`: one that is built in, of which it depends on kmod whether it is found.
 */
export function modulePresence(moment: Moment, name: string): Found<'module' | 'undescribed'> {
  const release = moment.sysctl('kernel.osrelease')
  if (release.kind !== 'known') {
    return {
      kind: 'unknown',
      because: release.kind === 'unknown' ? release.because : 'which kernel runs was not captured',
    }
  }
  const directory = `/lib/modules/${release.value}`
  const here = standsAt(moment, directory, true)
  if (here?.kind !== 'known') {
    const because = here?.kind === 'unknown' ? here.because : `there is no ${directory}`
    return { kind: 'unknown', because }
  }
  const wanted = moduleName(name)
  const dep = indexIn(moment, directory, 'modules.dep')
  if (dep.kind === 'unknown') return dep
  if (dep.kind === 'known' && dependenciesIn(dep.value).has(wanted)) return { kind: 'known', value: 'module' }
  const builtIn = indexIn(moment, directory, 'modules.builtin')
  if (builtIn.kind === 'unknown') return builtIn
  if (builtIn.kind === 'known' && builtInModulesIn(builtIn.value, directory).has(wanted)) {
    const described = standsAt(moment, `${directory}/modules.builtin.modinfo`, true)
    if (described?.kind === 'known') return { kind: 'known', value: 'module' }
    return described?.kind === 'absent' ? ABSENT : { kind: 'known', value: 'undescribed' }
  }
  const aliases = indexIn(moment, directory, 'modules.alias')
  if (aliases.kind === 'unknown')
    return { kind: 'unknown', because: `whether ${wanted} is an alias: ${aliases.because}` }
  const isAlias = aliases.kind === 'known' && aliasesIn(aliases.value).some(([pattern]) => matches(pattern, wanted))
  return isAlias ? { kind: 'known', value: 'module' } : ABSENT
}

/** A file that depmod writes, as kmod opens it at this moment. */
function indexIn(moment: Moment, directory: string, name: string): Found<string> {
  const found = textOfFile(moment, `${directory}/${name}`)
  return found === undefined || found === 'directory'
    ? { kind: 'unknown', because: `${directory}/${name} is no file` }
    : found
}

function matches(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(pattern)) return pattern === name
  return (pattern[0] === name[0] || !/^\w/.test(pattern)) && matchesPattern(pattern, name, { path: false })
}

const uname: Program = ({ words, moment, evidence }) => {
  const [option = '-s', ...more] = words
  if (more.length > 0) return undefined
  const ofKernel: Readonly<Record<string, string>> = {
    '-s': 'kernel.ostype',
    '-r': 'kernel.osrelease',
    '--kernel-release': 'kernel.osrelease',
    '-n': 'kernel.hostname',
    '-v': 'kernel.version',
  }
  const key = ownEntry(ofKernel, option)
  if (key !== undefined) return kernelValue(moment, key)
  if (option !== '-m' && option !== '--machine') return undefined
  const printed = evidence.command(['uname', '-a'])
  if (printed.kind !== 'known') return notKnown('`uname -a` was not captured')
  const machine = printed.value.stdout.trim().split(/\s+/).at(-2)
  return machine === undefined ? undefined : prints(`${machine}\n`)
}

function kernelValue(moment: Moment, key: string): Outcome {
  const value = moment.sysctl(key)
  if (value.kind === 'known') return prints(`${value.value}\n`)
  return notKnown(value.kind === 'unknown' ? value.because : `${key} was not captured`)
}

const hostname: Program = ({ words, moment }) => {
  const isShort = words.length === 1 && (words[0] === '-s' || words[0] === '--short')
  if (words.length > 0 && !isShort) return undefined
  const name = kernelValue(moment, 'kernel.hostname')
  if (!isShort || name.kind !== 'ran' || typeof name.stdout !== 'string') return name
  return prints(`${name.stdout.trim().split('.')[0]}\n`)
}

/** `swapon -s`, `swapon --show`: nothing where there is no swap, else a table whose numbers change all the time. */
const swapon: Program = ({ words, moment }: Call) => {
  const read = readWords(words, { flags: 's', long: { summary: 's', show: 'S', noheadings: 'N', bytes: 'b' } })
  if (read === undefined || read.operands.length > 0) return undefined
  if (!read.flags.has('s') && !read.flags.has('S')) return undefined
  const { swap } = moment
  if (swap.kind === 'unknown') return notKnown(swap.because)
  const areas = swap.kind === 'known' ? swap.value : []
  if (areas.length === 0) return prints('')
  const because = 'how much of the swap is used changes while the host runs'
  const heading = read.flags.has('N') ? [] : [read.flags.has('s') ? 'Filename' : 'NAME', null, '\n']
  return prints({ because, pieces: [...heading, ...areas.flatMap(({ device }) => [device, null, '\n'])] })
}

/**
 * `ip route list 0/0`: the routes to everywhere, which stand in what `ip route` printed; a prefix is meant as it is
 * (ip-route(8)). Ways that a route parts into stand on lines of their own below it.
 */
const ip: Program = ({ words, evidence }) => {
  const [object, verb, prefix, ...more] = words[0] === '-4' ? words.slice(1) : words
  if (object !== 'route' || (verb !== 'list' && verb !== 'show') || more.length > 0) return undefined
  if (prefix !== '0/0' && prefix !== '0.0.0.0/0' && prefix !== 'default') return undefined
  const printed = evidence.command(['ip', 'route'])
  if (printed.kind !== 'known' || printed.value.status !== 0) return notKnown('`ip route` was not captured')
  let isWanted = false
  const wanted = printed.value.stdout.split('\n').filter(line => {
    if (!/^\s/.test(line)) isWanted = /^(?:[a-z]+ )?default(?: |$)/.test(line)
    return isWanted
  })
  return prints(wanted.map(line => `${line}\n`).join(''))
}

/** Programs that ask the kernel. */
export const kernelPrograms: Readonly<Record<string, Program>> = { hostname, ip, modinfo, swapon, sysctl, uname }
