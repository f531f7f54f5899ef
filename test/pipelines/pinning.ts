import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { smallTree } from '../commands/small-tree.js'
import { commitAll, git, makeRepository, writeFiles } from '../source/trees.js'

export const root = fileURLToPath(new URL('../../..', import.meta.url))
export const scripts = join(root, 'pipelines')

/** What a project's own pipeline would see of the machine: this PATH, no home, submodules from a directory. */
export function environment(directory: string, added: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    PATH: `${join(directory, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: directory,
    XDG_CACHE_HOME: join(directory, 'cache'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'protocol.file.allow',
    GIT_CONFIG_VALUE_0: 'always',
    ...added,
  }
}

/** Puts a program of this name on that PATH. */
export function writeProgram(directory: string, name: string, text: string): void {
  mkdirSync(join(directory, 'bin'), { recursive: true })
  writeFileSync(join(directory, 'bin', name), text)
  chmodSync(join(directory, 'bin', name), 0o755)
}

/** Puts whofixes on that PATH; each call of it becomes a line in `whofixes-calls`. */
export function writeWhofixes(directory: string): void {
  writeProgram(
    directory,
    'whofixes',
    `#!/bin/sh\necho "$1" >>'${join(directory, 'whofixes-calls')}'\nexec '${process.execPath}' '${join(root, 'dist/src/cli.js')}' "$@"\n`,
  )
}

/**
 * A repository in kubespray's shape, v9.1.0 and after it v9.2.0: a variable that inventories set gets another name, and swap is
 * left to the operator.
 */
export function makeKubespray(path: string): { readonly old: string; readonly new: string } {
  const old = makeRepository(path, {
    ...smallTree,
    'roles/kubernetes/node/tasks/extra.yml': '---\n',
  })
  git(path, 'tag', 'v9.1.0')
  const defaults = 'roles/kubernetes/node/defaults/main.yml'
  const tasks = 'roles/kubernetes/node/tasks/main.yml'
  const renamed = (text: unknown): string => String(text).replaceAll('kubelet_unit', 'kubelet_service_name')
  writeFiles(path, {
    [defaults]: renamed(smallTree[defaults]),
    [tasks]: renamed(smallTree[tasks]),
    'roles/kubespray-defaults/defaults/main.yml': String(
      smallTree['roles/kubespray-defaults/defaults/main.yml'],
    ).replace('kubelet_fail_swap_on: true', 'kubelet_fail_swap_on: false'),
  })
  const fresh = commitAll(path)
  git(path, 'tag', '--annotate', '--message', 'release', 'v9.2.0')
  return { old, new: fresh }
}

/** An inventory that sets the variable v9.2.0 has renamed. */
const inventory = {
  'inventory/hosts.ini':
    '[kube_control_plane]\none\n\n[etcd]\none\n\n[kube_node]\none\n\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n',
  'inventory/group_vars/all/kubelet.yml': 'kubelet_unit: kubelet-custom\n',
}

/** A project that has kubespray as the submodule `vendor/kubespray`, first at v9.1.0, then at v9.2.0. The two commits. */
export function makeProject(path: string, kubespray: string): { readonly before: string; readonly after: string } {
  makeRepository(path, inventory)
  git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', kubespray, 'vendor/kubespray')
  git(join(path, 'vendor/kubespray'), 'checkout', '--quiet', 'v9.1.0')
  const before = commitAll(path)
  git(join(path, 'vendor/kubespray'), 'checkout', '--quiet', 'v9.2.0')
  return { before, after: commitAll(path) }
}

let pinned: { readonly path: string; readonly before: string; readonly after: string } | undefined

/**
 * Puts `upstream` (kubespray) and `project` (which has it as a submodule) into a directory: copies of what is made once, since that takes
 * git longer than most of what is tested. The submodule's address stays that of the first upstream.
 */
export function copyPinned(directory: string): { readonly before: string; readonly after: string } {
  if (pinned === undefined) {
    const path = mkdtempSync(join(tmpdir(), 'whofixes-pinned-'))
    process.on('exit', () => rmSync(path, { recursive: true, force: true }))
    makeKubespray(join(path, 'upstream'))
    pinned = { path, ...makeProject(join(path, 'project'), join(path, 'upstream')) }
  }
  cpSync(pinned.path, directory, { recursive: true })
  return pinned
}

/** A project that names kubespray's version in a file: one text, then another. */
export function makeNamingProject(path: string, file: string, texts: readonly [string, string]): void {
  makeRepository(path, { ...inventory, [file]: texts[0] })
  writeFiles(path, { [file]: texts[1] })
  commitAll(path)
}

/** Stands in for the package that `npm install --global` puts into a directory. */
export function linkPackage(directory: string): string {
  const modules = join(directory, 'lib/node_modules')
  mkdirSync(modules, { recursive: true })
  symlinkSync(root, join(modules, 'whofixes'))
  return modules
}
