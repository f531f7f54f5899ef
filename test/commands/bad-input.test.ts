import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Files, makeRepository, withTemporary, writeFiles } from '../source/trees.js'
import { type Ran, runWhofixes } from './run-whofixes.js'
import { smallTree, usualAnswer } from './small-tree.js'

/** The directories of one case: the tree, a place beside it, and a repository of the tree (made when asked for). */
interface Places {
  readonly tree: string
  readonly beside: string
  readonly repository: () => string
}

interface BadInput {
  readonly name: string
  /** What differs from the small tree. */
  readonly tree?: Files
  readonly beside?: Files
  /** The command line; by default `answer` on the tree. */
  readonly args?: (places: Places) => readonly string[]
  readonly status: 0 | 2 | 3
  /** Lines that have to be on standard error, each by its own pattern. With status 2 there is exactly one line. */
  readonly says?: readonly RegExp[]
  /** Keys of the answer that differ from the usual one; null where nothing may be on standard output. */
  readonly answer?: Readonly<Record<string, string>> | null
  /** How much time of the processor it may take; the small tree takes a fraction of a second. */
  readonly seconds?: number
}

const preinstall = 'roles/kubernetes/preinstall'
const node = 'roles/kubernetes/node'
const allUnknown = { swap: 'unknown', br_netfilter: 'unknown', ip_forward: 'unknown', port_10250: 'unknown' }
const inventory = (hosts: string): string =>
  `all:\n  children:\n    kube_control_plane:\n      hosts: {${hosts}}\n    k8s_cluster:\n      children: {kube_control_plane: {}}\n`
const big = 50 * 1024 * 1024
const broken = '- name: [this never\n  ends: {\n'

const aliasBomb = `---
a: &a [x, x, x, x, x, x, x, x, x]
${'bcdefghijkl'
  .split('')
  .map((name, index, names) => {
    const before = index === 0 ? 'a' : names[index - 1]
    return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`
  })
  .join('\n')}
`

const cases: readonly BadInput[] = [
  { name: 'nothing wrong', status: 0, answer: {} },

  // What SOURCE names.
  {
    name: 'no such directory',
    args: ({ beside }) => ['answer', join(beside, 'nowhere')],
    status: 2,
    says: [/nowhere: no such directory/],
  },
  {
    name: 'a file instead of a directory',
    args: ({ tree }) => ['answer', join(tree, 'cluster.yml')],
    status: 2,
    says: [/cluster\.yml: it is a file; expected a release/],
  },
  {
    name: 'a directory that is not kubespray',
    beside: { 'site.yml': '- hosts: all\n' },
    args: ({ beside }) => ['answer', beside],
    status: 2,
    says: [/is no kubespray checkout: looked for roles\/kubernetes\/preinstall, .*; not there: /],
  },
  {
    name: 'unknown revision',
    args: ({ repository }) => ['answer', `${repository()}@v9.9.9`],
    status: 2,
    says: [/@v9\.9\.9: the repository has no revision v9\.9\.9/],
  },
  {
    name: 'a revision of a directory that is no repository',
    args: ({ beside }) => ['answer', `${beside}@v1`],
    status: 2,
    says: [/@v1: not a git repository/],
  },
  {
    name: 'unknown release without clone and snapshot',
    args: () => ['answer', 'v2.999.0'],
    status: 2,
    says: [/v2\.999\.0: neither the local clone nor a recorded snapshot has this release.*whofixes fetch/],
  },
  {
    name: 'a command that needs code, of a release without clone',
    args: () => ['tasks', 'v2.999.0'],
    status: 2,
    says: [/tasks needs the role code of v2\.999\.0.*whofixes fetch/],
  },

  // YAML that cannot be read.
  {
    name: 'broken YAML in a task file',
    tree: { [`${preinstall}/tasks/swap.yml`]: broken },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:\d+: error: /, /^swap: /],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'broken YAML in the defaults of the role that names the file of kernel settings',
    tree: { 'roles/kubespray-defaults/defaults/main.yml': broken },
    status: 3,
    says: [/^roles\/kubespray-defaults\/defaults\/main\.yml:\d+: error: /, /^swap: /, /^sysctl_file: /],
    answer: { swap: 'unknown', ip_forward: 'unknown', sysctl_file: 'unknown' },
  },
  {
    name: 'broken YAML in the vars of a role',
    tree: { [`${preinstall}/vars/main.yml`]: broken },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/vars\/main\.yml:\d+: error: /],
    answer: { swap: 'unknown', ip_forward: 'unknown', sysctl_file: 'unknown' },
  },
  {
    name: 'broken YAML in the meta of a role',
    tree: { [`${node}/meta/main.yml`]: broken },
    status: 3,
    says: [/^roles\/kubernetes\/node\/meta\/main\.yml:\d+: error: /],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'broken YAML in the handlers of a role',
    tree: { [`${preinstall}/handlers/main.yml`]: broken },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/handlers\/main\.yml:\d+: error: /],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'broken YAML in the playbook',
    tree: { 'cluster.yml': broken },
    status: 3,
    says: [/^cluster\.yml:\d+: error: /],
    answer: { ...allUnknown, sysctl_file: 'unknown' },
  },
  {
    name: 'broken YAML in a file nothing reaches',
    tree: { 'roles/spare/tasks/main.yml': broken },
    status: 0,
    answer: {},
  },
  {
    name: 'a task file that is no list of tasks',
    tree: { [`${preinstall}/tasks/swap.yml`]: 'name: alone\n' },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: expected a list of tasks, found a mapping/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'a role entry without a role',
    tree: { 'cluster.yml': `${String(smallTree['cluster.yml'])}    - tags: [x]\n` },
    status: 3,
    says: [/^cluster\.yml:\d+: error: expected a role's name or a mapping with 'role'/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'a play without hosts',
    tree: { 'cluster.yml': `${String(smallTree['cluster.yml'])}- name: For nobody\n  roles: [kubernetes/node]\n` },
    status: 0,
    says: [/^cluster\.yml:\d+: error: a play needs 'hosts'/],
    answer: {},
  },
  {
    name: 'duplicate keys: the last wins, and it is said',
    tree: {
      'roles/kubespray-defaults/defaults/main.yml': `${String(smallTree['roles/kubespray-defaults/defaults/main.yml'])}sysctl_file_path: /etc/sysctl.d/80-last.conf\n`,
    },
    status: 0,
    says: [/^roles\/kubespray-defaults\/defaults\/main\.yml:\d: warning: .*sysctl_file_path/],
    answer: { sysctl_file: '/etc/sysctl.d/80-last.conf' },
  },
  {
    name: 'duplicate keys, quietly',
    tree: {
      'roles/kubespray-defaults/defaults/main.yml': `${String(smallTree['roles/kubespray-defaults/defaults/main.yml'])}sysctl_file_path: /etc/sysctl.d/80-last.conf\n`,
    },
    args: ({ tree }) => ['answer', tree, '--quiet'],
    status: 0,
    answer: { sysctl_file: '/etc/sysctl.d/80-last.conf' },
  },

  // Imports, includes and roles that lead nowhere or in circles.
  {
    name: 'an import that points at nothing',
    tree: {
      [`${preinstall}/tasks/main.yml`]: `${String(smallTree[`${preinstall}/tasks/main.yml`])}- import_tasks: nowhere.yml\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/main\.yml:\d+: error: import_tasks: no file 'nowhere\.yml'/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'an include that points at nothing',
    tree: {
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- include_tasks: nowhere.yml\n`,
    },
    status: 3,
    says: [/^port_10250: include_tasks: no file 'nowhere\.yml' \(roles\/kubernetes\/node\/tasks\/main\.yml:\d+\)/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'an include that points at nothing and never runs',
    tree: {
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- include_tasks: nowhere.yml\n  when: false\n`,
    },
    status: 0,
    answer: {},
  },
  {
    name: 'a role that is not there',
    tree: { 'cluster.yml': `${String(smallTree['cluster.yml'])}    - role: kubernetes/nowhere\n` },
    status: 3,
    says: [/^cluster\.yml:\d+: error: no role 'kubernetes\/nowhere'/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'a playbook that imports one that is not there',
    tree: { 'cluster.yml': `${String(smallTree['cluster.yml'])}- import_playbook: nowhere.yml\n` },
    status: 3,
    says: [/^cluster\.yml:\d+: error: .*nowhere\.yml/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'imports in a circle',
    tree: {
      [`${node}/tasks/one.yml`]: '- import_tasks: two.yml\n',
      [`${node}/tasks/two.yml`]: '- import_tasks: one.yml\n',
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- import_tasks: one.yml\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/node\/tasks\/two\.yml:1: error: files import each other without end: .*one\.yml/],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'includes in a circle',
    tree: {
      [`${node}/tasks/one.yml`]: '- include_tasks: two.yml\n',
      [`${node}/tasks/two.yml`]: '- include_tasks: one.yml\n',
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- include_tasks: one.yml\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/node\/tasks\/(one|two)\.yml:1: error: files include each other without end: /],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'roles that depend on each other in a circle',
    tree: {
      [`${node}/meta/main.yml`]: 'dependencies:\n  - role: kubernetes/other\n',
      'roles/kubernetes/other/meta/main.yml': 'dependencies:\n  - role: kubernetes/node\n',
      'roles/kubernetes/other/tasks/main.yml': '[]\n',
    },
    status: 3,
    says: [/^roles\/kubernetes\/(other|node)\/meta\/main\.yml:2: error: roles pull in each other without end: /],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'roles that include each other in a circle',
    tree: {
      'roles/kubernetes/other/tasks/main.yml': '- include_role:\n    name: kubernetes/other\n',
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- include_role:\n    name: kubernetes/other\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/other\/tasks\/main\.yml:1: error: .*without end: /],
    answer: { port_10250: 'unknown' },
  },
  {
    name: 'playbooks that import each other in a circle',
    tree: {
      'again.yml': '- import_playbook: cluster.yml\n',
      'cluster.yml': `${String(smallTree['cluster.yml'])}- import_playbook: again.yml\n`,
    },
    status: 3,
    says: [/^again\.yml:1: error: .*cluster\.yml/],
    answer: { port_10250: 'unknown' },
  },

  // Jinja that cannot be read.
  {
    name: 'Jinja syntax error in a when',
    tree: {
      [`${preinstall}/tasks/main.yml`]: String(smallTree[`${preinstall}/tasks/main.yml`]).replace(
        '    - kubelet_fail_swap_on',
        '    - kubelet_fail_swap_on and (',
      ),
    },
    status: 0,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:2: warning: the run stops here: .* evaluation fails: /],
    // Nothing of the run is reached from there on.
    answer: { swap: 'operator', br_netfilter: 'operator', ip_forward: 'operator' },
  },
  {
    name: 'Jinja syntax error in a default',
    tree: {
      'roles/kubespray-defaults/defaults/main.yml': String(
        smallTree['roles/kubespray-defaults/defaults/main.yml'],
      ).replace('/etc/sysctl.d/99-sysctl.conf', '"{{ [ }}"'),
    },
    status: 3,
    says: [/^sysctl_file: .*unexpected '\}'.* \(roles\/kubespray-defaults\/defaults\/main\.yml:3\)/],
    // The task that needs the default fails, and nothing behind it is reached.
    answer: { br_netfilter: 'operator', ip_forward: 'operator', sysctl_file: 'unknown' },
  },
  {
    name: 'Jinja syntax error in an argument',
    tree: {
      [`${preinstall}/tasks/swap.yml`]: String(smallTree[`${preinstall}/tasks/swap.yml`]).replace(
        '/sbin/swapoff -a',
        '/sbin/swapoff {{ what',
      ),
    },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:16: error: unbalanced quotes or Jinja braces/, /^swap: /],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },

  // Files that are no text, or too much of it.
  {
    name: 'invalid UTF-8 in a task file',
    tree: { [`${preinstall}/tasks/swap.yml`]: Buffer.from([0x2d, 0x20, 0xff, 0xfe, 0x0a]) },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: not UTF-8: the byte at offset 2/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'invalid UTF-8 in defaults',
    tree: { 'roles/kubespray-defaults/defaults/main.yml': Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]) },
    status: 3,
    says: [/^roles\/kubespray-defaults\/defaults\/main\.yml:1: error: not UTF-8/],
    answer: { swap: 'unknown', ip_forward: 'unknown', sysctl_file: 'unknown' },
  },
  {
    name: 'a task file of 50 MB',
    tree: { [`${preinstall}/tasks/swap.yml`]: '- debug: msg=x\n'.repeat(big / 15) },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: \d+ bytes; files above \d+ are not read/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
    seconds: 10,
  },
  {
    name: 'a template of 50 MB',
    tree: { [`${node}/templates/kubelet.conf.j2`]: 'x: {{ y }}\n'.repeat(big / 11) },
    status: 0,
    says: [/^roles\/kubernetes\/node\/templates\/kubelet\.conf\.j2:1: error: \d+ bytes; files above \d+ are not read/],
    answer: {},
    seconds: 10,
  },
  {
    name: 'a template of 9 MB, just below the bound',
    tree: { [`${node}/templates/kubelet.conf.j2`]: 'x: {{ kube_port_of_kubelet }}\n'.repeat(300_000) },
    status: 0,
    answer: {},
    seconds: 10,
  },
  {
    name: 'a task file of 4 MB, just below the bound',
    tree: { [`${preinstall}/tasks/swap.yml`]: '- debug: msg=x\n'.repeat(275_000) },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:\d+: error: the run is longer than \d+ steps/],
    answer: allUnknown,
    seconds: 30,
  },
  {
    name: 'a few files that import each other a thousand million times',
    tree: {
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, level) => [
          `${node}/tasks/level${level}.yml`,
          `- import_tasks: level${level + 1}.yml\n`.repeat(10),
        ]),
      ),
      [`${node}/tasks/level9.yml`]: '- debug: msg=x\n',
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- import_tasks: level0.yml\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/node\/tasks\/\w+\.yml:\d+: error: the run is longer than \d+ steps/],
    answer: { port_10250: 'unknown' },
    seconds: 20,
  },
  {
    name: 'includes in loops in includes in loops',
    tree: {
      ...Object.fromEntries(
        Array.from({ length: 5 }, (_, level) => [
          `${node}/tasks/level${level}.yml`,
          `- include_tasks: level${level + 1}.yml\n  loop: "{{ range(100) | list }}"\n`,
        ]),
      ),
      [`${node}/tasks/level5.yml`]: '- debug: msg=x\n',
      [`${node}/tasks/main.yml`]: `${String(smallTree[`${node}/tasks/main.yml`])}- include_tasks: level0.yml\n`,
    },
    status: 3,
    says: [/^roles\/kubernetes\/node\/tasks\/\w+\.yml:\d+: error: the run is longer than \d+ steps/],
    answer: { port_10250: 'unknown' },
    seconds: 30,
  },
  {
    name: 'roles that depend on each other a thousand million times',
    tree: {
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, level) => [
          `roles/level${level}/meta/main.yml`,
          `allow_duplicates: true\ndependencies:\n${`  - role: level${level + 1}\n`.repeat(10)}`,
        ]),
      ),
      'roles/level9/tasks/main.yml': '- debug: msg=x\n',
      [`${node}/meta/main.yml`]: 'dependencies:\n  - role: level0\n',
    },
    status: 3,
    says: [/^roles\/level\d\/\w+\/main\.yml:\d+: error: the run is longer than \d+ steps/],
    seconds: 30,
    answer: { br_netfilter: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'a YAML alias bomb',
    tree: { 'roles/kubespray-defaults/vars/main.yml': aliasBomb },
    status: 0,
    says: [/^roles\/kubespray-defaults\/vars\/main\.yml:8: error: \*f would repeat more than \d+ nodes/],
    answer: {},
    seconds: 10,
  },
  {
    name: 'a YAML alias bomb in what is asked for',
    tree: { 'roles/kubespray-defaults/vars/main.yml': `${aliasBomb}sysctl_file_path: *l\n` },
    status: 3,
    says: [/^roles\/kubespray-defaults\/vars\/main\.yml:14: error: \*l would repeat more than \d+ nodes/],
    answer: { ip_forward: 'unknown', sysctl_file: 'unknown' },
    seconds: 10,
  },
  {
    name: '10,000 levels of nesting in a task file',
    tree: { [`${preinstall}/tasks/swap.yml`]: `- debug: ${'['.repeat(10_000)}${']'.repeat(10_000)}\n` },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: nested deeper than \d+ levels/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
    seconds: 10,
  },
  {
    name: '10,000 levels of nesting in an expression',
    tree: {
      [`${preinstall}/tasks/main.yml`]: String(smallTree[`${preinstall}/tasks/main.yml`]).replace(
        '    - kubelet_fail_swap_on',
        `    - ${'('.repeat(10_000)}kubelet_fail_swap_on${')'.repeat(10_000)}`,
      ),
    },
    status: 0,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:2: warning: the run stops here: .* evaluation fails: /],
    // Nothing of the run is reached from there on.
    answer: { swap: 'operator', br_netfilter: 'operator', ip_forward: 'operator' },
    seconds: 10,
  },

  // Links.
  {
    name: 'a link that leaves the checkout',
    beside: { 'swap.yml': '- command: /sbin/swapoff -a\n' },
    tree: { [`${preinstall}/tasks/swap.yml`]: { to: '../../../../../beside/swap.yml' } },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: this symbolic link leads out of the tree/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'defaults behind a link that leaves the checkout',
    beside: { 'main.yml': 'kubelet_fail_swap_on: true\nsysctl_file_path: /etc/passwd\n' },
    tree: { 'roles/kubespray-defaults/defaults/main.yml': { to: '../../../../beside/main.yml' } },
    status: 3,
    says: [/^roles\/kubespray-defaults\/defaults\/main\.yml:1: error: this symbolic link leads out of the tree/],
    answer: { swap: 'unknown', ip_forward: 'unknown', sysctl_file: 'unknown' },
  },
  {
    name: 'a link that loops',
    tree: { [`${preinstall}/tasks/swap.yml`]: { to: 'swap.yml' } },
    status: 3,
    says: [/^roles\/kubernetes\/preinstall\/tasks\/swap\.yml:1: error: this symbolic link leads back to itself/],
    answer: { swap: 'unknown', port_10250: 'unknown' },
  },
  {
    name: 'a directory link that loops, where nothing is asked of it',
    tree: { 'roles/spare/files': { to: '..' } },
    status: 0,
    answer: {},
  },
  {
    name: 'the tasks of a role behind a link that leaves the checkout',
    beside: { 'main.yml': '- command: /sbin/swapoff -a\n' },
    tree: { [`${node}/tasks/main.yml`]: { to: '../../../../../beside/main.yml' } },
    status: 3,
    says: [/^roles\/kubernetes\/node\/tasks\/main\.yml:1: error: this symbolic link leads out of the tree/],
    answer: { br_netfilter: 'unknown', port_10250: 'unknown' },
  },

  // Where the report goes.
  {
    name: 'an output path without a directory',
    args: ({ tree, beside }) => ['answer', tree, '-o', join(beside, 'nowhere', 'x.json')],
    status: 2,
    says: [/nowhere\/x\.json: cannot be written \(no such directory\)/],
  },
  {
    name: 'an output path that is a directory',
    args: ({ tree, beside }) => ['answer', tree, '-o', beside],
    status: 2,
    says: [/beside: cannot be written \(it is a directory\)/],
  },
  {
    name: 'an output path below a file',
    beside: { kept: 'as it was' },
    args: ({ tree, beside }) => ['answer', tree, '-o', join(beside, 'kept', 'x.json')],
    status: 2,
    says: [/kept\/x\.json: cannot be written \(a part of the path is no directory\)/],
  },
  {
    name: 'an empty output path',
    args: ({ tree }) => ['answer', tree, '-o', ''],
    status: 2,
    says: [/--output needs the name of a file/],
  },
  {
    name: 'an output file that exists, when the analysis fails',
    beside: { kept: 'as it was' },
    args: ({ tree, beside }) => ['answer', tree, '--host', 'nobody', '-o', join(beside, 'kept')],
    status: 2,
    says: [/--host nobody/],
  },

  // Inventory, facts and the like.
  {
    name: 'an inventory without the asked host',
    beside: { 'hosts.yml': inventory('one: {}, two: {}') },
    args: ({ tree, beside }) => ['answer', tree, '-i', join(beside, 'hosts.yml'), '--host', 'three'],
    status: 2,
    says: [/--host three: no such host in the inventory; it has one, two/],
  },
  {
    name: 'an empty inventory',
    beside: { hosts: '' },
    args: ({ tree, beside }) => ['answer', tree, '-i', join(beside, 'hosts')],
    status: 2,
    says: [/the inventory has no hosts/],
  },
  {
    name: 'no such inventory',
    args: ({ tree, beside }) => ['answer', tree, '-i', join(beside, 'hosts')],
    status: 2,
    says: [/hosts: expected an inventory file or directory, found none/],
  },
  {
    name: 'an inventory that cannot be read',
    beside: { 'hosts.yml': broken },
    args: ({ tree, beside }) => ['answer', tree, '-i', join(beside, 'hosts.yml')],
    status: 2,
    says: [/the inventory has no hosts: .*hosts\.yml:\d+: /],
  },
  {
    name: 'group_vars beside the inventory that cannot be read',
    beside: { 'hosts.yml': inventory('one: {}'), 'group_vars/all.yml': broken },
    args: ({ tree, beside }) => ['answer', tree, '-i', join(beside, 'hosts.yml')],
    status: 3,
    says: [/group_vars\/all\.yml:\d+: error: /, /^swap: /],
    answer: {
      swap: 'unknown',
      ip_forward: 'unknown',
      sysctl_file: 'unknown',
    },
  },
  {
    name: 'a facts file that is no JSON',
    beside: { 'facts.json': '{"ansible_facts": {"memtotal_mb": 1\n' },
    args: ({ tree, beside }) => ['answer', tree, '--facts', join(beside, 'facts.json')],
    status: 2,
    says: [/facts\.json:\d+: expected a JSON object of facts/],
  },
  {
    name: 'a facts file that is a list',
    beside: { 'facts.json': '[1]\n' },
    args: ({ tree, beside }) => ['answer', tree, '--facts', join(beside, 'facts.json')],
    status: 2,
    says: [/facts\.json:1: expected a JSON object of facts.*, got a list/],
  },
  {
    name: 'no such facts file',
    args: ({ tree, beside }) => ['answer', tree, '--facts', join(beside, 'facts.json')],
    status: 2,
    says: [/facts\.json: expected a file or directory of facts, found none/],
  },
  {
    name: 'a malformed --assume',
    args: ({ tree }) => ['answer', tree, '--assume', 'bridge_module.rc'],
    status: 2,
    says: [/--assume bridge_module\.rc: expected NAME=VALUE/],
  },
  {
    name: 'a malformed value of --assume',
    args: ({ tree }) => ['answer', tree, '--assume', 'bridge_module=[1'],
    status: 2,
    says: [/--assume bridge_module:1: /],
  },
  {
    name: 'malformed -e',
    args: ({ tree }) => ['answer', tree, '-e', '{"a": '],
    status: 2,
    says: [/-e:1: /],
  },
  {
    name: '-e that is no assignment',
    args: ({ tree }) => ['answer', tree, '-e', 'swap off'],
    status: 2,
    says: [/-e swap off: .*=/],
  },
  {
    name: '-e of a file that is not there',
    args: ({ tree }) => ['answer', tree, '-e', '@nowhere.yml'],
    status: 2,
    says: [/-e @nowhere\.yml: no such file/],
  },
  {
    name: 'no such playbook',
    args: ({ tree }) => ['report', tree, '--playbook', 'site.yml'],
    status: 2,
    says: [/--playbook site\.yml: no such file in .*; it has cluster\.yml/],
  },
  {
    name: 'an empty --playbook',
    args: ({ tree }) => ['report', tree, '--playbook', ''],
    status: 2,
    says: [/--playbook needs the name of a file/],
  },
  {
    name: 'a playbook that leaves the tree',
    beside: { 'site.yml': '- hosts: all\n' },
    args: ({ tree }) => ['report', tree, '--playbook', '../beside/site.yml'],
    status: 2,
    says: [/--playbook \.\.\/beside\/site\.yml: no such file in /],
  },

  // Words the command line does not know.
  {
    name: 'unknown problem',
    args: ({ tree }) => ['explain', 'swop', tree],
    status: 2,
    says: [/no problem 'swop'; there are swap, br_netfilter, ip_forward, port_10250/, /port_N for any port/],
  },
  {
    name: 'a port there is not',
    args: ({ tree }) => ['explain', 'port_99999', tree],
    status: 2,
    says: [/no problem 'port_99999'; a port is named port_N with N from 1 to 65535/],
  },
  {
    name: 'the page of a port there is not',
    args: () => ['rules', 'port_x'],
    status: 2,
    says: [/no problem 'port_x'; a port is named port_N with N from 1 to 65535/],
  },
  {
    name: 'explain without a problem',
    args: () => ['explain'],
    status: 2,
    says: [/missing required argument 'problem'/],
  },
  {
    name: 'unknown option',
    args: ({ tree }) => ['answer', tree, '--colour', 'never'],
    status: 2,
    says: [/unknown option '--colour'/],
  },
  {
    name: 'unknown command',
    args: ({ tree }) => ['anser', tree],
    status: 2,
    says: [/anser: neither a command \(report, answer, .*\) nor a release, a directory or DIR@REV/],
  },
  {
    name: 'unknown format',
    args: ({ tree }) => ['answer', tree, '--format', 'xml'],
    status: 2,
    says: [/'--format <name>' argument 'xml' is invalid.*json/],
  },
  {
    name: 'one argument too many',
    args: ({ tree }) => ['answer', tree, tree],
    status: 2,
    says: [/too many arguments/],
  },
]

function runCase({ tree, beside, args }: BadInput, root: string): Ran {
  const places: Places = {
    tree: join(root, 'tree'),
    beside: join(root, 'beside'),
    repository: () => {
      makeRepository(join(root, 'repository'), { ...smallTree, ...tree })
      return join(root, 'repository')
    },
  }
  mkdirSync(places.tree)
  mkdirSync(places.beside)
  writeFiles(places.tree, { ...smallTree, ...tree })
  writeFiles(places.beside, beside ?? {})
  return runWhofixes(args?.(places) ?? ['answer', places.tree])
}

/** Names and contents below a directory; large files by their size only. */
function contentsOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return entry.isFile() ? `${path}: ${readFileSync(path, 'utf8').slice(0, 1000)}` : path
    })
    .sort()
}

describe('bad input', () => {
  const cache = process.env.XDG_CACHE_HOME

  before(() => {
    // Without a local clone, whatever the machine has.
    process.env.XDG_CACHE_HOME = '/nonexistent/cache'
  })

  after(() => {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = cache
  })

  for (const input of cases) {
    it(input.name, () =>
      withTemporary(root => {
        const before = process.cpuUsage()
        const { status, out, err } = runCase(input, root)
        const { user, system } = process.cpuUsage(before)
        const seconds = (user + system) / 1_000_000
        const all = err.join('\n')
        assert.doesNotMatch(all, /^\s+at .*:\d+:\d+|^\S*Error\b/m)
        for (const pattern of input.says ?? []) {
          assert.ok(
            err.some(line => pattern.test(line)),
            `${pattern} is not said:\n${all}`,
          )
        }
        if ((input.says ?? []).length === 0) assert.equal(all, input.status === 3 ? all : '')
        if (input.status === 2) assert.equal(err.length, 1, all)
        const usual: Readonly<Record<string, string>> = JSON.parse(usualAnswer)
        if (input.status === 2) assert.equal(out, '')
        else assert.deepEqual(JSON.parse(out), { ...usual, ...input.answer })
        assert.equal(status, input.status, all)
        if (input.seconds !== undefined) assert.ok(seconds < input.seconds, `took ${seconds} s`)
        const expected = Object.entries(input.beside ?? {}).map(
          ([path, text]) => `${join(root, 'beside', path)}: ${text}`,
        )
        const left = contentsOf(join(root, 'beside')).filter(line => line.includes(': ') || line.includes('.tmp'))
        assert.deepEqual(left, expected.sort())
      }),
    )
  }
})
