import { compareVersions } from './versions.js'

/**
 * Which ansible-core each release of the `ansible` package was built with: by the package's series, the series of
 * ansible-core (ansible-base in 2.10), and the patch level that package 7.0, 7.1, 7.2, … came with. pip may install a later
 * patch level of the same series. Before 2.10 the package was Ansible itself.
 * Source: the `_ansible_core_version` of each release in github.com/ansible-community/ansible-build-data (August 2026).
 */
const builtWith: readonly (readonly [package_: string, core: string, patches: readonly number[]])[] = [
  ['2.10', '2.10', [1, 2, 3, 3, 3, 4, 5, 5]],
  ['3', '2.10', [5, 5, 7, 8, 9]],
  ['4', '2.11', [0, 1, 2, 3, 3, 4, 5, 6, 6, 6, 7]],
  ['5', '2.12', [0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7]],
  ['6', '2.13', [0, 1, 2, 3, 4, 5, 6, 7]],
  ['7', '2.14', [0, 1, 2, 3, 4, 5, 6, 7]],
  ['8', '2.15', [0, 1, 2, 3, 4, 5, 6, 7]],
  ['9', '2.16', [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]],
  ['10', '2.17', [0, 1, 2, 3, 4, 5, 6, 7]],
  ['11', '2.18', [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12]],
  ['12', '2.19', [1, 3, 4, 5]],
  ['13', '2.20', [0, 1, 1, 2, 3, 4, 5, 6, 7]],
  ['14', '2.21', [0, 1, 2, 3]],
]

/** The ansible-core a release of the `ansible` package brings; undefined where the package is newer than the table. */
export function coreOfPackage(version: string): string | undefined {
  if (compareVersions(version, '2.10') < 0) return version
  for (const [series, core, patches] of builtWith) {
    if (version !== series && !version.startsWith(`${series}.`)) continue
    const minor = Number(/^\.(\d+)/.exec(version.slice(series.length))?.[1] ?? 0)
    return `${core}.${patches[minor] ?? patches.at(-1) ?? 0}`
  }
  return undefined
}

/** The releases of the `ansible` package the table knows, oldest first. */
export const knownPackages: readonly string[] = builtWith.flatMap(([series, , patches]) =>
  patches.map((_, minor) => (series.includes('.') ? `${series}.${minor}` : `${series}.${minor}.0`)),
)

/** The releases of ansible-core they were built with, oldest first. */
export const knownCores: readonly string[] = [
  ...new Set(builtWith.flatMap(([, core, patches]) => patches.map(patch => `${core}.${patch}`))),
].sort(compareVersions)
