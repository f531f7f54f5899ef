import { optionsOf, piecesOf, textOf } from '../../effects/argument.js'
import type { TaskEffect } from '../../effects/run-effects.js'
import { type Entry, type Found, follow, textAt } from '../../evidence/host-files.js'
import type { Value } from '../../jinja/value.js'
import type { HostState } from '../host-state.js'

/** One effect on a host: it happens, or only may (`because` says what is open, as a clause). */
export interface Applied {
  readonly state: HostState
  readonly occurrence: TaskEffect
  readonly sure: boolean
  readonly because: string
}

/** The module of a task, under its last name: `sysctl`, `lineinfile`. */
export function moduleNameOf({ occurrence: { task, invocation } }: Applied): string {
  return (invocation.module ?? task.task.module).split('.').at(-1) ?? ''
}

/** The task fails on this host once it is run: what it would have done after that does not happen. */
export function failTask({ state, occurrence, sure }: Applied, because: string): void {
  state.broken.add(occurrence.invocation)
  if (sure) state.failures.push({ task: occurrence.task, because })
}

/** Changes the text of a file (`undefined`: there is none); a change that is not worked out gives `undefined`. */
export function editFile(
  applied: Applied,
  file: Value,
  change: (text: string | undefined, path: string) => string | undefined,
): void {
  const { state, sure, because } = applied
  for (const { value } of optionsOf(file)) {
    const path = textOf(value)
    if (path === undefined) {
      blurPath(applied, value)
      continue
    }
    const before = textAt(state.files, path)
    if (before.kind === 'unknown') {
      putThere(state, path, before)
      continue
    }
    const text = before.kind === 'known' ? before.value.text : undefined
    const after = change(text, path)
    if (after === text && text !== undefined) continue
    const isCertain = file.kind !== 'one-of' && sure && after !== undefined
    putThere(state, path, isCertain ? fileEntry(path, after) : { kind: 'unknown', because })
  }
}

/** Puts something where a path leads, as editors do: a link at its end stays. */
export function putThere(state: HostState, path: string, entry: Found<Entry>): void {
  const found = follow(state.files, path)
  const place = found.kind === 'known' ? found.value.path : path
  state.files.put(place, entry.kind === 'known' ? { kind: 'known', value: { ...entry.value, path: place } } : entry)
}

/** A file with this text. */
export function fileEntry(path: string, text: string): Found<Entry> {
  const size = Buffer.byteLength(text)
  return { kind: 'known', value: { kind: 'file', path, content: () => ({ kind: 'text', file: { path, text } }), size } }
}

/** Any file that a path may be may have changed. One of which nothing is known is no reason to suspect every file. */
export function blurPath({ state, because }: Applied, path: Value): void {
  const pieces = piecesOf(path)
  if (pieces?.some(piece => piece !== null)) state.files.blur(pieces, because)
}
