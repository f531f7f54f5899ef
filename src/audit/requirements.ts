import { compareVersions } from '../ansible/versions.js'
import type { Change, ChangedPlace } from '../reports/audit.js'
import { placeOfSpan, placeText } from '../reports/place.js'
import type { Report } from '../reports/report.js'
import type { Code } from '../run/code.js'
import { entryOf } from '../yaml/node.js'
import type { Side } from './side.js'

/**
 * The Ansible NEW is made for, where it is another one. `accepts` says whether NEW takes the version that OLD was made for
 * (or the one that was asked for); undefined where that is not known.
 */
export function ansibleChange(old: Report, fresh: Report, accepts: boolean | undefined): Change | undefined {
  const [was, is] = [old.ansible.version, fresh.ansible.version]
  if (is === null || (was === is && fresh.ansible.accepted)) return undefined
  const place = (report: Report): ChangedPlace | null => {
    const { from, window, version } = report.ansible
    const at = from ?? window
    return at === null || version === null ? null : { ...at, value: version }
  }
  const window = fresh.ansible.window
  if (was === is) return refusedVersion(old, fresh, place(old), place(fresh))
  const refused = accepts === false && window !== null
  const says = refused
    ? `NEW is made for ansible-core ${is}, and its check at ${placeText(window)} does not take ${was ?? 'the version of OLD'}: the run stops until Ansible is upgraded`
    : `NEW is made for ansible-core ${is}, OLD was for ${was ?? 'any'}`
  const action = refused ? 'required' : 'advised'
  return {
    kind: 'ansible-version',
    name: 'ansible-core',
    to: is,
    action,
    says,
    old: place(old),
    new: place(fresh),
    inventory: [],
  }
}

/** The version that was asked for, which NEW does not take. */
function refusedVersion(
  old: Report,
  { ansible: { version, window } }: Report,
  before: ChangedPlace | null,
  now: ChangedPlace | null,
): Change | undefined {
  if (window === null) return undefined
  const asBefore = old.ansible.accepted ? '' : ', as it did before'
  return {
    ...{ kind: 'ansible-version', name: 'ansible-core', action: 'required' },
    says: `ansible-core ${version} is not taken by the check at ${placeText(window)}: the run stops${asBefore}`,
    ...{ old: before, new: now, inventory: [] },
    ...(old.ansible.accepted ? {} : { stoppedBefore: true }),
  }
}

interface Collection {
  readonly at: ChangedPlace
  readonly version: string
}

/** Collections NEW asks for (`galaxy.yml`, `requirements.yml`) that OLD did not, or not in so late a version. */
export function collectionChanges(old: Side, fresh: Side): readonly Change[] {
  const [before, now] = [collectionsOf(old.analysis.code), collectionsOf(fresh.analysis.code)]
  const isFirst = before.size === 0
  return [...now].flatMap(([name, collection]): Change[] => {
    const earlier = before.get(name)
    if (earlier !== undefined && compareVersions(leastOf(collection.version), leastOf(earlier.version)) <= 0) return []
    const says =
      earlier === undefined
        ? `NEW asks for the collection ${name} ${collection.version}${isFirst ? '; OLD does not say which it needs' : ''}`
        : `NEW asks for ${name} ${collection.version}, OLD for ${earlier.version}`
    const action = isFirst ? 'none' : 'advised'
    return [
      { kind: 'collection-required', name, action, says, old: earlier?.at ?? null, new: collection.at, inventory: [] },
    ]
  })
}

function leastOf(requirement: string): string {
  return /(?:>=?|==|~=)\s*(\d[\w.]*)/.exec(requirement)?.[1] ?? /^\s*(\d[\w.]*)/.exec(requirement)?.[1] ?? '0'
}

function collectionsOf(code: Code): ReadonlyMap<string, Collection> {
  const found = new Map<string, Collection>()
  const galaxy = code.tree.entryKind('galaxy.yml') === 'file' ? code.document('galaxy.yml') : undefined
  const dependencies = galaxy?.kind === 'map' ? entryOf(galaxy, 'dependencies')?.value : undefined
  if (dependencies?.kind === 'map') {
    for (const { key, value } of dependencies.entries) {
      if (value.kind !== 'scalar') continue
      const version = String(value.data)
      found.set(String(key.data), { at: { ...placeOfSpan(key.span), value: version }, version })
    }
  }
  for (const path of ['requirements.yml', 'collections/requirements.yml']) {
    const node = code.tree.entryKind(path) === 'file' ? code.document(path) : undefined
    const collections = node?.kind === 'map' ? entryOf(node, 'collections')?.value : undefined
    for (const item of collections?.kind === 'list' ? collections.items : []) {
      const name = item.kind === 'map' ? entryOf(item, 'name')?.value : item
      const version = item.kind === 'map' ? entryOf(item, 'version')?.value : undefined
      if (name?.kind !== 'scalar') continue
      const asked = version?.kind === 'scalar' ? String(version.data) : '*'
      found.set(String(name.data), { at: { ...placeOfSpan(name.span), value: asked }, version: asked })
    }
  }
  return found
}
