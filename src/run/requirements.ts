import { coreOfPackage, knownCores, knownPackages } from '../ansible/packages.js'
import { compareVersions } from '../ansible/versions.js'
import type { Span } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'

/** A line of a requirements file that says which Ansible is to be installed. */
export interface Requirement {
  /** As written, without comment: `ansible==9.13.0`. */
  readonly text: string
  readonly at: Span
  /** The versions of ansible-core it allows, as far as they are known, oldest first. */
  readonly versions: readonly string[]
  /** Whether it says how new it may be at most. */
  readonly bounded: boolean
}

/** The packages that bring Ansible, the one that names ansible-core itself before the one that brings it along. */
const packages = ['ansible-core', 'ansible-base', 'ansible']

/**
 * What the requirements files at the top of a tree ask of Ansible, one requirement a file. Where a file names ansible-core
 * besides the `ansible` package, that is the more exact word.
 */
export function readRequirements(tree: SourceTree): readonly Requirement[] {
  const files = tree.list('').filter(name => /^requirements.*\.txt$/.test(name) && tree.entryKind(name) === 'file')
  return files.sort().flatMap(name => {
    const file = tree.read(name)
    if (file === undefined) return []
    const found = linesOf(file.text).flatMap(({ text, start }) => {
      const asked = readLine(text)
      return asked === undefined ? [] : [{ ...asked, at: { file, start, end: start + text.length } }]
    })
    const best = found.toSorted((a, b) => packages.indexOf(a.name) - packages.indexOf(b.name))[0]
    return best === undefined ? [] : [requirementOf(best)]
  })
}

function linesOf(text: string): readonly { readonly text: string; readonly start: number }[] {
  let start = 0
  return text.split('\n').map(line => {
    const before = start
    start += line.length + 1
    return { text: line.replace(/\s+#.*$|^#.*$/, '').trimEnd(), start: before }
  })
}

interface Asked {
  readonly name: string
  readonly text: string
  readonly clauses: readonly Clause[]
}

interface Clause {
  readonly operator: string
  readonly version: string
}

/** `NAME[extra] >= 2, < 3 ; marker` for one of the packages; undefined for any other line. */
function readLine(text: string): Asked | undefined {
  const [, name, specifiers = ''] = /^\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*([^;]*)/.exec(text) ?? []
  const normal = name?.toLowerCase().replaceAll(/[._-]+/g, '-')
  if (normal === undefined || !packages.includes(normal)) return undefined
  const clauses = specifiers
    .replaceAll(/[()]/g, '')
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => /^(===?|~=|!=|<=|>=|<|>)\s*v?([0-9][^\s]*)$/.exec(part))
  // A requirement that cannot be read says nothing: a path, an address, a hash.
  if (clauses.includes(null)) return undefined
  return {
    name: normal,
    text: text.trim(),
    clauses: clauses.flatMap(found => (found === null ? [] : { operator: found[1] ?? '', version: found[2] ?? '' })),
  }
}

function requirementOf({ name, text, clauses, at }: Asked & { readonly at: Span }): Requirement {
  const named = clauses.map(({ version }) => version.replace(/\.\*$/, ''))
  const known = name === 'ansible' ? knownPackages : knownCores
  const allowed = [...new Set([...known, ...named])]
    .filter(version => clauses.every(clause => meets(version, clause)))
    .sort(compareVersions)
  const cores = name === 'ansible' ? allowed.flatMap(version => coreOfPackage(version) ?? []) : allowed
  const bounded = clauses.some(({ operator }) => ['==', '===', '~=', '<', '<='].includes(operator))
  return { text, at, versions: [...new Set(cores)], bounded }
}

/** Whether a version meets one clause of a specifier, as pip compares them. */
function meets(version: string, { operator, version: bound }: Clause): boolean {
  const series = bound.endsWith('.*') ? bound.slice(0, -1) : undefined
  const order = compareVersions(version, bound.replace(/\.\*$/, ''))
  switch (operator) {
    case '==':
    case '===':
      return series === undefined ? order === 0 : `${version}.`.startsWith(series)
    case '!=':
      return series === undefined ? order !== 0 : !`${version}.`.startsWith(series)
    case '~=':
      return order >= 0 && `${version}.`.startsWith(`${bound.split('.').slice(0, -1).join('.')}.`)
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    default:
      return false
  }
}
