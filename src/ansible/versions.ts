/**
 * Order of versions as pip and people have it: by numbers, a missing one being 0; `2.18.0rc1` comes before `2.18.0`.
 * (Ansible's own test `version` has another order, see src/jinja/version.ts.)
 */
export function compareVersions(left: string, right: string): number {
  const a = partsOf(left)
  const b = partsOf(right)
  const length = Math.max(a.release.length, b.release.length)
  for (let index = 0; index < length; index++) {
    const difference = (a.release[index] ?? 0) - (b.release[index] ?? 0)
    if (difference !== 0) return difference
  }
  return a.stage - b.stage || a.stageNumber - b.stageNumber
}

const stages = ['dev', 'a', 'b', 'rc', '', 'post']

function partsOf(version: string): {
  readonly release: readonly number[]
  readonly stage: number
  readonly stageNumber: number
} {
  const [, release = '', stage = '', number = '0'] =
    /^v?(\d+(?:\.\d+)*)(?:[.-]?(dev|a|b|rc|post)(\d*))?/.exec(version) ?? []
  return { release: release.split('.').map(Number), stage: stages.indexOf(stage), stageNumber: Number(number) }
}

/** Whether a text is a version of ansible-core: `2.18`, `2.17.14`, `2.18.0rc1`. */
export function isVersion(text: string): boolean {
  return /^\d{1,4}(?:\.\d{1,4}){1,3}(?:(?:\.?dev|a|b|rc|\.?post)\d{0,4})?$/.test(text)
}
