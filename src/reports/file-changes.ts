import { formatPatch, structuredPatch } from 'diff'
import { type Found, type HostFiles, textAt } from '../evidence/host-files.js'
import type { PerhapsSet } from '../host/moment.js'
import type { HostMoments } from '../verdicts/on-host.js'
import type { ReportedFileChange } from './preflight.js'

/** What a run does to files that decide about a host: only those below these paths are shown; the others are kubespray's own. */
const SHOWN =
  /^\/etc\/(fstab|sysctl\.conf|sysctl\.d\/|modules|modules-load\.d\/|modprobe\.d\/|selinux\/|hosts$|hostname$|resolv\.conf|default\/|systemd\/(?!system\/(kubelet|etcd|containerd|calico)))/

/** The changes of a host's files as unified diffs, in the order in which the run touches them first. */
export function changesOf(paths: readonly string[], moments: HostMoments): readonly ReportedFileChange[] {
  return paths
    .filter(path => SHOWN.test(path))
    .flatMap(path => changeOf(path, moments.now.files, moments.afterRun.files))
    .map(change => withPerhaps(change, moments.afterRun.perhapsSet ?? []))
}

/** Lines that may come beside those of the patch. */
function withPerhaps(change: ReportedFileChange, perhapsSet: readonly PerhapsSet[]): ReportedFileChange {
  const [first, ...rest] = perhapsSet.filter(({ file }) => file === change.path)
  if (change.patch === null || first === undefined) return change
  const lines = [first, ...rest].map(({ key, value }) => (value === undefined ? key : `${key}=${value}`))
  return { ...change, because: `perhaps also ${lines.join(', ')}: ${first.because}` }
}

function changeOf(path: string, before: HostFiles, after: HostFiles): readonly ReportedFileChange[] {
  const [old, now] = [textOf(before, path), textOf(after, path)]
  if (old.kind === 'unknown' || now.kind === 'unknown') {
    const because = now.kind === 'unknown' ? now.because : old.kind === 'unknown' ? old.because : null
    return [{ path, patch: null, because }]
  }
  const [from, to] = [old.kind === 'known' ? old.value : '', now.kind === 'known' ? now.value : '']
  if (old.kind === now.kind && from === to) return []
  const names = [
    old.kind === 'known' ? `a${path}` : '/dev/null',
    now.kind === 'known' ? `b${path}` : '/dev/null',
  ] as const
  const patch = formatPatch(structuredPatch(names[0], names[1], from, to, undefined, undefined, { context: 3 }))
  return [{ path, patch: withoutHead(patch), because: null }]
}

/** A link is shown as git shows it: its target is its text. */
function textOf(files: HostFiles, path: string): Found<string> {
  const found = files.entry(path)
  if (found.kind === 'known' && found.value.kind === 'link') return { kind: 'known', value: `${found.value.target}\n` }
  if (found.kind === 'known' && found.value.kind === 'directory') return { kind: 'known', value: '' }
  const text = textAt(files, path)
  return text.kind === 'known' ? { kind: 'known', value: text.value.text } : text
}

/** The library's line of `=` before the patch is none of a unified diff. */
function withoutHead(patch: string): string {
  return patch.replace(/^=+\n/, '')
}
