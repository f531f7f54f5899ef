import type { ModuleEffects } from './call.js'
import { command, expect, script, shell } from './command.js'
import {
  blockinfile,
  copy,
  download,
  file,
  iniFile,
  lineinfile,
  replace,
  synchronize,
  template,
  unarchive,
  writes,
} from './files.js'
import {
  container,
  firewall,
  held,
  hostname,
  modprobe,
  mount,
  nothing,
  packages,
  reboot,
  seboolean,
  selinux,
  stated,
  stops,
  sysctl,
  unit,
} from './host.js'

/** One collection: its modules by short name. */
function collection(
  prefix: string,
  modules: Readonly<Record<string, ModuleEffects>>,
): readonly (readonly [string, ModuleEffects])[] {
  return Object.entries(modules).map(([name, effects]) => [`${prefix}.${name}`, effects])
}

const builtin: Readonly<Record<string, ModuleEffects>> = {
  add_host: nothing,
  apt: packages,
  apt_key: stated('package-source', 'id', 'url', 'state'),
  apt_repository: stated('package-source', 'repo', 'filename', 'state'),
  deb822_repository: stated('package-source', 'name', 'uris', 'state'),
  assemble: writes('dest'),
  assert: stops,
  async_status: nothing,
  blockinfile,
  command,
  copy,
  cron: stated('schedule', 'name', 'job', 'state'),
  debconf: stated('package-source', 'name', 'question', 'value'),
  debug: nothing,
  dnf: packages,
  dnf5: packages,
  dpkg_selections: held,
  expect,
  fail: stops,
  fetch: nothing,
  file,
  find: nothing,
  gather_facts: nothing,
  get_url: download,
  getent: nothing,
  git: writes('dest'),
  group: stated('account', 'name', 'state'),
  group_by: nothing,
  hostname,
  import_playbook: nothing,
  import_role: nothing,
  import_tasks: nothing,
  include: nothing,
  include_role: nothing,
  include_tasks: nothing,
  include_vars: nothing,
  iptables: firewall,
  known_hosts: writes('path'),
  lineinfile,
  meta: nothing,
  mount_facts: nothing,
  package: packages,
  package_facts: nothing,
  pause: nothing,
  ping: nothing,
  pip: packages,
  raw: shell,
  reboot,
  replace,
  rpm_key: stated('package-source', 'key', 'state'),
  script,
  service: unit,
  service_facts: nothing,
  set_fact: nothing,
  set_stats: nothing,
  setup: nothing,
  shell,
  slurp: nothing,
  stat: nothing,
  subversion: writes('dest'),
  systemd: unit,
  systemd_service: unit,
  sysvinit: unit,
  tempfile: nothing,
  template,
  unarchive,
  uri: download,
  user: stated('account', 'name', 'state'),
  validate_argument_spec: nothing,
  wait_for: nothing,
  wait_for_connection: nothing,
  yum: packages,
  yum_repository: stated('package-source', 'name', 'baseurl', 'state'),
}

const posix: Readonly<Record<string, ModuleEffects>> = {
  acl: stated('account', 'path', 'entity'),
  authorized_key: stated('account', 'user', 'state'),
  firewalld: firewall,
  mount,
  patch: writes('dest'),
  seboolean,
  selinux,
  synchronize,
  sysctl,
}

const general: Readonly<Record<string, ModuleEffects>> = {
  alternatives: writes('link'),
  archive: writes('dest'),
  filesystem: stated('storage', 'dev', 'fstype'),
  ini_file: iniFile,
  locale_gen: nothing,
  lvg: stated('storage', 'vg', 'pvs'),
  lvol: stated('storage', 'vg', 'lv'),
  modprobe,
  pacman: packages,
  parted: stated('storage', 'device', 'state'),
  redhat_subscription: stated('package-source', 'state'),
  rhsm_repository: stated('package-source', 'name', 'state'),
  swupd: packages,
  timezone: stated('clock', 'name'),
  ufw: firewall,
  zypper: packages,
  zypper_repository: stated('package-source', 'repo', 'state'),
}

/** Every module that is modelled, by full name. Adding one is one entry here and its case in the test data. */
export const MODULES: ReadonlyMap<string, ModuleEffects> = new Map<string, ModuleEffects>([
  ...collection('ansible.builtin', builtin),
  ...collection('ansible.posix', posix),
  ...collection('community.general', general),
  ...collection('ansible.utils', { validate: nothing, cli_parse: nothing, fact_diff: nothing }),
  ...collection('community.docker', {
    docker_image: container,
    docker_container: container,
    docker_network: container,
    docker_volume: container,
    docker_prune: container,
  }),
  ...collection('containers.podman', { podman_container: container, podman_image: container }),
  ...collection('kubernetes.core', {
    helm: stated('cluster-object', 'release_name', 'state'),
    helm_repository: stated('cluster-object', 'name', 'repo_url'),
    k8s: stated('cluster-object', 'kind', 'name', 'state'),
    k8s_info: nothing,
    k8s_drain: stated('cluster-object', 'name', 'state'),
  }),
  ...collection('community.crypto', {
    openssl_privatekey: writes('path'),
    openssl_csr: writes('path'),
    x509_certificate: writes('path'),
    x509_certificate_info: nothing,
  }),
  // The module of the checkout itself (`library/kube.py`): it calls kubectl.
  ['kube', stated('cluster-object', 'name', 'resource', 'filename', 'state')],
])

const byShortName = new Map<string, ModuleEffects>()
for (const [name, effects] of MODULES) {
  const short = name.split('.').at(-1) ?? name
  if (!byShortName.has(short)) byShortName.set(short, effects)
}

/** The effects of a module by its full name, or by its short name where the task does not tell the collection. */
export function moduleEffects(module: string): ModuleEffects | undefined {
  return MODULES.get(module) ?? (module.includes('.') ? MODULES.get(oldName(module)) : byShortName.get(module))
}

/** Names that moved: `community.general.docker_image`, `ansible.legacy.command`, `ansible.builtin.modprobe`. */
function oldName(module: string): string {
  const short = module.split('.').at(-1) ?? module
  if (module === `ansible.legacy.${short}`) return `ansible.builtin.${short}`
  if (module === `community.general.${short}` && short.startsWith('docker_')) return `community.docker.${short}`
  if (module === `community.kubernetes.${short}`) return `kubernetes.core.${short}`
  return module
}
