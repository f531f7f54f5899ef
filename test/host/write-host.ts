import { type Files, writeFiles } from '../source/trees.js'
import type { HostRecord } from './sample-hosts.js'

/** Writes the files of a host below a directory, as evidence that is a whole root; empty directories are left out. */
export function writeHost(directory: string, host: HostRecord): void {
  const files = Object.entries(host).flatMap(([path, written]): readonly (readonly [string, Files[string]])[] => {
    if (written === null) return []
    if (typeof written === 'string' || written instanceof Uint8Array) return [[path.slice(1), written]]
    return [[path.slice(1), 'link' in written ? { to: written.link } : written.text]]
  })
  writeFiles(directory, Object.fromEntries(files))
}
