import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { smallTree } from '../commands/small-tree.js'
import { commitAll, type Files, git, makeRepository, writeFiles } from '../source/trees.js'

/** What each release changes of the one before: files as they are then; null where one is gone. */
type Changes = Readonly<Record<string, string | null>>

const more: Files = {
  'docs/swap.md': '# Swap\n\nSwap is turned off, see [the tasks](../roles/kubernetes/preinstall/tasks/swap.yml).\n',
  'roles/kubernetes/node/files/limits.conf': Array.from({ length: 12 }, (_, index) => `limit ${index + 1}\n`).join(''),
}

const preinstall = (swap: string): string => `---
- name: Do without swap
  import_tasks: ${swap}
  when:
    - not dns_late
    - kubelet_fail_swap_on

- name: Settings of the kernel
  import_tasks: kernel.yml
  when: not dns_late
`

/** Renumbered files, a renamed role and task, another value, another condition, a changed task, a role that is gone. */
const second: Changes = {
  'roles/kubernetes/preinstall/tasks/main.yml': preinstall('0010-swapoff.yml'),
  'roles/kubernetes/preinstall/tasks/swap.yml': null,
  'roles/kubernetes/preinstall/tasks/0010-swapoff.yml': `---
# Nothing of the cluster may be swapped out.

- name: Take swap out of fstab
  mount:
    name: "{{ item }}"
    fstype: swap
    state: absent
  loop:
    - none
    - swap

- name: Keep swap units from starting
  systemd:
    name: swap.target
    masked: true

- name: Turn swap off
  command: /sbin/swapoff -a
`,
  'roles/kubernetes/preinstall/defaults/main.yml': `---
dns_late: false
memory_wanted_mb: 1800
minimal_master_memory_mb: "{{ memory_wanted_mb }}"
`,
  'roles/kubernetes/preinstall/tasks/kernel.yml': `---
- name: Look at the file of kernel settings
  stat:
    path: "{{ sysctl_file_path }}"
  register: settings_file

- name: Follow the link
  set_fact:
    sysctl_file_path: "{{ settings_file.stat.lnk_source }}"
  when: settings_file.stat.islnk | default(false)

- name: Forward packets
  sysctl:
    name: net.ipv4.ip_forward
    value: "1"
    sysctl_file: "{{ sysctl_file_path }}"
    sysctl_set: true
    reload: true
  notify: Say that settings changed
`,
  'roles/kubernetes/node/tasks/main.yml': `---
- name: Is there a module for bridges
  command: modinfo br_netfilter
  register: bridge_module
  failed_when: false
  changed_when: false

- name: Load br_netfilter
  modprobe:
    name: br_netfilter
    state: present
  when: bridge_module.rc == 0

- name: Load it at each boot
  copy:
    dest: /etc/modules-load.d/bridge.conf
    content: br_netfilter
  when: bridge_module.rc == 0 or bridge_is_built_in

- name: Write the settings of the kubelet
  template:
    src: kubelet.conf.j2
    dest: /etc/kubernetes/kubelet.conf

- name: Start the kubelet
  service:
    name: "{{ kubelet_unit }}"
    state: started
    enabled: true
`,
  'roles/kubernetes/node/defaults/main.yml': `---
kubelet_unit: kubelet
bridge_is_built_in: false
`,
  'roles/spare/tasks/main.yml': null,
  'docs/swap.md': null,
  'docs/operations/swap.md':
    '# Swap\n\nSwap is turned off, see [the tasks](../roles/kubernetes/preinstall/tasks/swap.yml).\n',
}

/** Nobody loads the module any more, and the file of swap has another number again. */
const third: Changes = {
  'roles/kubernetes/preinstall/tasks/main.yml': preinstall('0020-swapoff.yml'),
  'roles/kubernetes/preinstall/tasks/0010-swapoff.yml': null,
  'roles/kubernetes/preinstall/tasks/0020-swapoff.yml': second[
    'roles/kubernetes/preinstall/tasks/0010-swapoff.yml'
  ] as string,
  'roles/kubernetes/node/tasks/main.yml': `---
- name: Write the settings of the kubelet
  template:
    src: kubelet.conf.j2
    dest: /etc/kubernetes/kubelet.conf

- name: Start the kubelet
  service:
    name: "{{ kubelet_unit }}"
    state: started
    enabled: true
`,
}

/** The tree of the first small release, as files. */
export const firstRelease: Files = { ...smallTree, ...more }

/** A repository with the releases v1.0.0, v1.1.0 and v1.2.0 of a small kubespray, and the branch `master` at the last. */
export function makeReleases(root: string): string {
  makeRepository(root, firstRelease)
  git(root, 'tag', 'v1.0.0')
  for (const [tag, changes] of [
    ['v1.1.0', second],
    ['v1.2.0', third],
  ] as const) {
    for (const [path, text] of Object.entries(changes)) {
      if (text === null) rmSync(join(root, path))
      else writeFiles(root, { [path]: text })
    }
    commitAll(root)
    git(root, 'tag', tag)
  }
  return root
}

/** Runs something where these releases are what the local clone has. */
export function withReleases<T>(root: string, run: () => T): T {
  const before = process.env.XDG_CACHE_HOME
  process.env.XDG_CACHE_HOME = join(root, 'cache')
  try {
    return run()
  } finally {
    if (before === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = before
  }
}

/** Makes that clone below `root`; where its repository stands. */
export function makeClone(root: string): string {
  const clone = join(root, 'cache', 'whofixes', 'kubespray.git')
  makeReleases(join(root, 'releases'))
  git(root, 'clone', '--quiet', '--bare', join(root, 'releases'), clone)
  return clone
}
