import { type Found, type HostFiles, textAt } from '../../evidence/host-files.js'

/** One parameter of the kernel's command line: `ro`, `systemd.swap=0`. Names: `-` and `_` are the same. */
export interface KernelParameter {
  readonly name: string
  readonly value: string | undefined
}

const PATH = '/proc/cmdline'

/** The parameters the running kernel was started with; quotes keep blanks together. Source: kernel lib/cmdline.c next_arg. */
export function kernelCommandLine(files: HostFiles): Found<readonly KernelParameter[]> {
  const found = textAt(files, PATH)
  return found.kind === 'known' ? { kind: 'known', value: parseKernelCommandLine(found.value.text) } : found
}

/** Reads a command line as the kernel splits it. */
export function parseKernelCommandLine(text: string): readonly KernelParameter[] {
  const words: string[] = []
  let word = ''
  let quoted = false
  for (const char of text) {
    if (char === '"') quoted = !quoted
    else if (!quoted && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else word += char
  }
  if (word !== '') words.push(word)
  return words.map(each => {
    const equals = each.indexOf('=')
    return equals === -1
      ? { name: each, value: undefined }
      : { name: each.slice(0, equals), value: each.slice(equals + 1) }
  })
}

/** The values of a parameter in their order; where the command line was not captured, none. */
export function valuesOfParameter(files: HostFiles, ...names: readonly string[]): readonly (string | undefined)[] {
  const found = kernelCommandLine(files)
  if (found.kind !== 'known') return []
  const wanted = names.map(sameName)
  return found.value.filter(({ name }) => wanted.includes(sameName(name))).map(({ value }) => value)
}

function sameName(name: string): string {
  return name.replaceAll('-', '_')
}

/** What a boolean parameter says, the last one counting; bare: yes. Source: systemd src/basic/parse-util.c parse_boolean. */
export function booleanParameter(files: HostFiles, name: string): boolean | undefined {
  let says: boolean | undefined
  for (const value of valuesOfParameter(files, name)) {
    if (value === undefined || /^(1|y|yes|true|t|on)$/i.test(value)) says = true
    else if (/^(0|n|no|false|f|off)$/i.test(value)) says = false
  }
  return says
}
