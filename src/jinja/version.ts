import { raise } from './python.js'

type Part = bigint | string
export type VersionOperator = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge'

const operators: ReadonlyMap<string, VersionOperator> = new Map([
  ['==', 'eq'],
  ['=', 'eq'],
  ['eq', 'eq'],
  ['<', 'lt'],
  ['lt', 'lt'],
  ['<=', 'le'],
  ['le', 'le'],
  ['>', 'gt'],
  ['gt', 'gt'],
  ['>=', 'ge'],
  ['ge', 'ge'],
  ['!=', 'ne'],
  ['<>', 'ne'],
  ['ne', 'ne'],
])

function failed(says: string): never {
  return raise(`Version comparison failed: ${says}`)
}

/** LooseVersion: runs of digits and of letters, dots dropped, everything else kept. */
function looseParts(version: string): readonly Part[] {
  return version
    .split(/(\d+|[a-z]+|\.)/)
    .filter(part => part !== '' && part !== '.')
    .map(part => (/^\d+$/.test(part) ? BigInt(part) : part))
}

/** Python's order of two lists of numbers and words; comparing a number with a word is its type error. */
function compareParts(left: readonly Part[], right: readonly Part[]): number {
  for (let index = 0; index < left.length && index < right.length; index++) {
    const a = left[index] as Part
    const b = right[index] as Part
    if (a === b) continue
    if (typeof a !== typeof b) {
      const name = (part: Part): string => (typeof part === 'bigint' ? 'int' : 'str')
      return failed(`'<' not supported between instances of '${name(a)}' and '${name(b)}'`)
    }
    return a < b ? -1 : 1
  }
  return left.length - right.length
}

const strictPattern = /^(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?$/

function compareStrict(left: string, right: string): number {
  const parse = (version: string): RegExpExecArray =>
    strictPattern.exec(version) ?? failed(`invalid version number '${version}'`)
  const a = parse(left)
  const b = parse(right)
  for (const group of [1, 2, 3]) {
    const difference = BigInt(a[group] ?? 0) - BigInt(b[group] ?? 0)
    if (difference !== 0n) return difference < 0n ? -1 : 1
  }
  const [preA, preB] = [a[4], b[4]]
  if (preA === undefined || preB === undefined) return (preA === undefined ? 1 : 0) - (preB === undefined ? 1 : 0)
  if (preA !== preB) return preA < preB ? -1 : 1
  const difference = BigInt(a[5] ?? 0) - BigInt(b[5] ?? 0)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

const semanticPattern =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*))?(?:\+([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?$/

function compareSemantic(left: string, right: string): number {
  const parse = (version: string): RegExpExecArray =>
    semanticPattern.exec(version) ?? failed(`invalid semantic version '${version}'`)
  const a = parse(left)
  const b = parse(right)
  for (const group of [1, 2, 3]) {
    const difference = BigInt(a[group] as string) - BigInt(b[group] as string)
    if (difference !== 0n) return difference < 0n ? -1 : 1
  }
  const [preA, preB] = [a[4], b[4]]
  if (preA === undefined || preB === undefined) return (preA === undefined ? 1 : 0) - (preB === undefined ? 1 : 0)
  const partsA = preA.split('.')
  const partsB = preB.split('.')
  for (let index = 0; index < partsA.length && index < partsB.length; index++) {
    const x = partsA[index] as string
    const y = partsB[index] as string
    if (x === y) continue
    const numeric = (part: string): boolean => /^\d+$/.test(part)
    if (numeric(x) && numeric(y)) return BigInt(x) < BigInt(y) ? -1 : 1
    if (numeric(x) !== numeric(y)) return numeric(x) ? -1 : 1
    return x < y ? -1 : 1
  }
  return partsA.length - partsB.length
}

const schemes: ReadonlyMap<string, (left: string, right: string) => number> = new Map([
  ['loose', (left, right) => compareParts(looseParts(left), looseParts(right))],
  ['strict', compareStrict],
  ['semver', compareSemantic],
  ['semantic', compareSemantic],
])

/**
 * The `version` test of ansible-core: loose by default, `1.2` and `1.2.0` differ there, and a `v` in front of one side
 * only is a type error. Raises in its words. Undefined where the scheme is not modelled (pep440).
 */
export function compareVersions(left: string, right: string, operator: string, scheme: string): boolean | undefined {
  const wanted = operators.get(operator)
  if (wanted === undefined)
    return raise(`Invalid operator type (${operator}). Must be one of ${[...operators.keys()].join(', ')}`)
  const compare = schemes.get(scheme)
  if (compare === undefined) {
    return scheme === 'pep440'
      ? undefined
      : raise(`Invalid version type (${scheme}). Must be one of ${[...schemes.keys()].join(', ')}`)
  }
  const order = compare(left, right)
  switch (wanted) {
    case 'eq':
      return order === 0
    case 'ne':
      return order !== 0
    case 'lt':
      return order < 0
    case 'le':
      return order <= 0
    case 'gt':
      return order > 0
    case 'ge':
      return order >= 0
  }
}

/** Order for `community.general.version_sort`. */
export function compareLoose(left: string, right: string): number {
  return compareParts(looseParts(left), looseParts(right))
}
