import { follow, type HostFiles } from '../../evidence/host-files.js'
import type { SourceFile } from '../../source/text.js'
import type { HostPlace } from '../moment.js'
import { parseUnitText, type Setting } from '../units/unit-syntax.js'

/** Whether the conditions of a unit let it start at boot; `place` is the one that decides. */
export type Conditions =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' | 'unknown'; readonly says: string; readonly place: HostPlace }

/** What comes and goes while a system runs says nothing of the next boot. */
const FLEETING = /^\/(run|dev|proc|sys|tmp|var\/run)(\/|$)/

/**
 * The `Condition…=` and `Assert…=` of a unit by its file and drop-ins: all have to hold, of those with `|` one. Looked at are paths
 * that are there or not; that the host is no container the whole boot takes for granted. Source: man systemd.unit(5).
 */
export function conditionsOf(texts: readonly SourceFile[], files: HostFiles): Conditions {
  const settings = texts
    .flatMap(parseUnitText)
    .filter(({ section, name }) => section === 'Unit' && /^(Condition|Assert)[A-Z]/.test(name))
  for (const kind of ['Condition', 'Assert']) {
    const answer = allOf(withoutReset(settings.filter(({ name }) => name.startsWith(kind))), files)
    if (answer.kind !== 'true') return answer
  }
  return { kind: 'true' }
}

/** An empty assignment takes back all conditions before it, of whatever name. */
function withoutReset(settings: readonly Setting[]): readonly Setting[] {
  return settings.slice(settings.findLastIndex(({ value }) => value === '') + 1)
}

function allOf(settings: readonly Setting[], files: HostFiles): Conditions {
  const told = settings.map(setting => ({ setting, holds: holds(setting, files) }))
  const answer = (kind: 'false' | 'unknown', { name, value, place }: Setting): Conditions => ({
    kind,
    says: `${name}=${value}`,
    place,
  })
  const isTrigger = ({ value }: Setting): boolean => value.startsWith('|')
  const [all, any] = [told.filter(each => !isTrigger(each.setting)), told.filter(each => isTrigger(each.setting))]
  const broken = all.find(each => each.holds === false)
  if (broken !== undefined) return answer('false', broken.setting)
  const isMet = any.length === 0 || any.some(each => each.holds === true)
  const open = [...all, ...(isMet ? [] : any)].find(each => each.holds === undefined)
  const [first] = any
  if (!isMet && first !== undefined && any.every(each => each.holds === false)) return answer('false', first.setting)
  return open === undefined ? { kind: 'true' } : answer('unknown', open.setting)
}

function holds({ name, value }: Setting, files: HostFiles): boolean | undefined {
  const [, marks = '', asked = ''] = /^([|!]*)\s*(.*)$/s.exec(value) ?? []
  const isNegated = marks.includes('!')
  const is = isTrue(name.replace(/^(Condition|Assert)/, ''), asked, files)
  return is === undefined ? undefined : is !== isNegated
}

function isTrue(question: string, asked: string, files: HostFiles): boolean | undefined {
  if (
    question === 'Virtualization' &&
    /^(container|docker|podman|lxc|lxc-libvirt|systemd-nspawn|rkt|openvz)$/.test(asked)
  )
    return false
  if (question !== 'PathExists' || asked.includes('%') || !asked.startsWith('/') || FLEETING.test(asked))
    return undefined
  const found = follow(files, asked)
  return found.kind === 'unknown' ? undefined : found.kind === 'known'
}
