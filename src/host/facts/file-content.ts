import { type Found, follow, type HostFiles, textAt } from '../../evidence/host-files.js'

/** The text of a file without the white space around it; absent also where nothing is left, as Ansible reads a file. */
export function contentOf(files: HostFiles, path: string): Found<string> {
  const text = textAt(files, path)
  if (text.kind !== 'known') return text
  const stripped = text.value.text.trim()
  return stripped === '' ? { kind: 'absent' } : { kind: 'known', value: stripped }
}

/** Whether something is there, links followed. */
export function existsAt(files: HostFiles, path: string): Found<boolean> {
  const found = follow(files, path)
  return found.kind === 'unknown' ? found : { kind: 'known', value: found.kind === 'known' }
}

/** Whether it is known that something is there. */
export function isThere(files: HostFiles, path: string): boolean {
  const found = existsAt(files, path)
  return found.kind === 'known' && found.value
}

/** Whether it is known that nothing is there. */
export function isMissing(files: HostFiles, path: string): boolean {
  const found = existsAt(files, path)
  return found.kind === 'known' && !found.value
}
