import { createHash } from 'node:crypto'
import { type LikeRelease, maps, type RecordedRelease, SNAPSHOT_SCHEMA, tables } from './format.js'

type Members = Readonly<Record<string, unknown>>

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name)

/** What of a release differs from another one; its tables must begin with those of that one. */
export function differenceFrom(base: RecordedRelease, recorded: RecordedRelease): LikeRelease {
  const before: Members = { ...base }
  const members = Object.entries(recorded).flatMap(([name, value]) => {
    if (name === 'schema' || name === 'release') return []
    const difference = isOneOf(tables, name)
      ? nothingIfEmpty((value as readonly unknown[]).slice((before[name] as readonly unknown[]).length))
      : isOneOf(maps, name)
        ? nothingIfEmpty(differingNames(before[name] as Members, value as Members))
        : isSame(before, name, value)
          ? undefined
          : value
    return difference === undefined ? [] : [[name, difference] as const]
  })
  return {
    schema: SNAPSHOT_SCHEMA,
    release: recorded.release,
    like: [base.release, hashOf(base)],
    ...(Object.fromEntries(members) as Omit<LikeRelease, 'schema' | 'release' | 'like'>),
  }
}

/** The whole of a release from what differs and the one it is like. */
export function putTogether(base: RecordedRelease, { like: _, ...differing }: LikeRelease): RecordedRelease {
  const members: Members = { ...differing }
  const whole = Object.entries(base).map(([name, before]) => {
    const value = members[name]
    if (value === undefined) return [name, before]
    if (isOneOf(tables, name)) return [name, [...before, ...(value as readonly unknown[])]]
    if (!isOneOf(maps, name)) return [name, value]
    const merged = Object.entries({ ...before, ...(value as Members) }).filter(([, member]) => member !== null)
    return [name, Object.fromEntries(merged)]
  })
  return Object.fromEntries(whole)
}

/** The first digits of a hash of what is recorded of a release. */
export function hashOf(recorded: RecordedRelease): string {
  return createHash('sha256').update(JSON.stringify(recorded)).digest('hex').slice(0, 12)
}

function differingNames(before: Members, now: Members): Members {
  const gone = Object.keys(before).flatMap(name => (Object.hasOwn(now, name) ? [] : [[name, null] as const]))
  return Object.fromEntries([...Object.entries(now).filter(([name, member]) => !isSame(before, name, member)), ...gone])
}

/** The order of names counts: reading shows variables in it. */
function isSame(before: Members, name: string, member: unknown): boolean {
  return Object.hasOwn(before, name) && JSON.stringify(before[name]) === JSON.stringify(member)
}

function nothingIfEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length === 0 ? undefined : value
}
