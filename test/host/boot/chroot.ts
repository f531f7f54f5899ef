import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Node } from './host-tree.js'

/** A directory with a few programs and the libraries they need, into which one can be locked. */
export interface Prison {
  readonly root: string
  /** Lays out files anew; what an earlier case left is gone. */
  readonly lay: (record: Readonly<Record<string, Node>>) => void
  readonly run: (
    words: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ) => { status: number | null; stdout: string; stderr: string }
  readonly remove: () => void
}

/** Why programs cannot be run locked in here: not root, or one of them is missing. */
export function whyNoPrison(programs: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can run programs in another root'
  const missing = programs.find(program => !existsSync(program))
  return missing === undefined ? undefined : `${missing} is not installed`
}

/** Builds one for these programs, by their absolute paths. */
export function buildPrison(programs: readonly string[]): Prison {
  const root = mkdtempSync(join(tmpdir(), 'root-'))
  for (const program of programs) {
    const { stdout } = spawnSync('ldd', [program], { encoding: 'utf8' })
    for (const path of [program, ...(stdout.match(/\/[^ )\n]+/g) ?? [])]) {
      mkdirSync(dirname(root + path), { recursive: true })
      copyFileSync(path, root + path)
    }
  }
  return {
    root,
    lay: record => {
      for (const top of ['etc', 'run', 'proc', 'out', 'usr/local', 'usr/lib/sysctl.d']) {
        rmSync(join(root, top), { recursive: true, force: true })
      }
      for (const [path, node] of Object.entries(record)) {
        mkdirSync(dirname(root + path), { recursive: true })
        if (node === null) mkdirSync(root + path, { recursive: true })
        else if (typeof node === 'string' || node instanceof Uint8Array) writeFileSync(root + path, node)
        else if ('link' in node) symlinkSync(node.link, root + path)
        else writeFileSync(root + path, node.text, { mode: node.mode })
      }
    },
    run: (words, environment = {}) =>
      spawnSync('/usr/sbin/chroot', [root, ...words], { encoding: 'utf8', env: environment }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
