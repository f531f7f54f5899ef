import type { Files } from '../source/trees.js'

const play = (name: string, hosts: string, roles: string): string => `- name: ${name}
  hosts: ${hosts}
  gather_facts: false
  roles:
    - role: kubespray-defaults
${roles}
`

/**
 * A tree in kubespray's shape, small enough to read and big enough for the usual answer: swap, br_netfilter and ip_forward
 * are kubespray's, port 10250 is the operator's, kernel settings go to /etc/sysctl.d/99-sysctl.conf.
 */
export const smallTree: Files = {
  'cluster.yml': `---
${play('Prepare the hosts', 'k8s_cluster:etcd', '    - { role: kubernetes/preinstall, tags: preinstall }')}
${play('Set up the nodes', 'k8s_cluster', '    - { role: kubernetes/node, tags: node }')}
${play('Set up the control plane', 'kube_control_plane', '    - role: kubernetes/control-plane')}
${play('Settle name resolution', 'k8s_cluster', '    - { role: kubernetes/preinstall, dns_late: true }')}`,
  'roles/kubespray-defaults/defaults/main.yml': `---
kubelet_fail_swap_on: true
sysctl_file_path: /etc/sysctl.d/99-sysctl.conf
kube_port_of_kubelet: 10250
`,
  'roles/kubespray-defaults/tasks/main.yml': `---
- name: Say which settings are in force
  debug:
    msg: the kubelet listens on {{ kube_port_of_kubelet }}
`,
  'roles/kubernetes/preinstall/defaults/main.yml': `---
dns_late: false
memory_wanted_mb: 1500
minimal_master_memory_mb: "{{ memory_wanted_mb }}"
`,
  'roles/kubernetes/preinstall/tasks/main.yml': `---
- name: Do without swap
  import_tasks: swap.yml
  when:
    - not dns_late
    - kubelet_fail_swap_on

- name: Settings of the kernel
  import_tasks: kernel.yml
  when: not dns_late
`,
  'roles/kubernetes/preinstall/tasks/swap.yml': `---
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
    reload: true
  notify: Say that settings changed
`,
  'roles/kubernetes/preinstall/handlers/main.yml': `---
- name: Say that settings changed
  debug:
    msg: settings of the kernel changed
`,
  'roles/kubernetes/node/meta/main.yml': `---
dependencies: []
`,
  'roles/kubernetes/node/defaults/main.yml': `---
kubelet_unit: kubelet
`,
  'roles/kubernetes/node/tasks/main.yml': `---
- name: Is there a module for bridges
  command: modinfo br_netfilter
  register: bridge_module
  failed_when: false
  changed_when: false

- name: Load the module for bridges
  modprobe:
    name: br_netfilter
    state: present
  when: bridge_module.rc == 0

- name: Load it at each boot
  copy:
    dest: /etc/modules-load.d/bridge.conf
    content: br_netfilter
  when: bridge_module.rc == 0

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
  'roles/kubernetes/node/templates/kubelet.conf.j2': `port: {{ kube_port_of_kubelet }}
`,
  'roles/kubernetes/control-plane/tasks/main.yml': `---
- name: Begin the cluster
  command: kubeadm init --config=/etc/kubernetes/kubeadm.yaml
  args:
    creates: /etc/kubernetes/admin.conf
`,
  // Nothing reaches this role.
  'roles/spare/tasks/main.yml': `---
- name: Never reached
  debug:
    msg: nobody names this role
`,
}

export const usualAnswer = `{
  "swap": "kubespray",
  "br_netfilter": "kubespray",
  "ip_forward": "kubespray",
  "port_10250": "operator",
  "sysctl_file": "/etc/sysctl.d/99-sysctl.conf"
}
`
