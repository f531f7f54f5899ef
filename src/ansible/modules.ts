import { isMovedModule } from './moved-modules.js'

/** Modules that ship with ansible-core under `ansible.builtin` (2.14 to 2.18 together). */
const builtin = new Set(
  `add_host apt apt_key apt_repository assemble assert async_status blockinfile command copy cron deb822_repository debconf
  debug dnf dnf5 dpkg_selections expect fail fetch file find gather_facts get_url getent git group group_by hostname
  import_playbook import_role import_tasks include include_role include_tasks include_vars iptables known_hosts lineinfile
  meta mount_facts package package_facts pause ping pip raw reboot replace rpm_key script service service_facts set_fact
  set_stats setup shell slurp stat subversion systemd systemd_service sysvinit tempfile template unarchive uri user
  validate_argument_spec wait_for wait_for_connection yum yum_repository`.split(/\s+/),
)

/** Short names that moved from ansible-core to a collection, as core's own routing table sends them on. */
const moved: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'ansible.posix': [
      'acl',
      'at',
      'authorized_key',
      'firewalld',
      'mount',
      'patch',
      'seboolean',
      'selinux',
      'synchronize',
      'sysctl',
    ],
    'community.general': [
      ...[
        'alternatives',
        'apk',
        'archive',
        'capabilities',
        'filesystem',
        'gem',
        'homebrew',
        'ini_file',
        'java_keystore',
      ],
      ...['kernel_blacklist', 'locale_gen', 'lvg', 'lvol', 'make', 'modprobe', 'nmcli', 'npm', 'open_iscsi', 'pacman'],
      ...[
        'pam_limits',
        'parted',
        'portage',
        'seport',
        'sefcontext',
        'slack',
        'sudoers',
        'swupd',
        'terraform',
        'timezone',
        'ufw',
      ],
      ...['xml', 'zypper', 'zypper_repository'],
    ],
    'community.docker': [
      'docker_compose',
      'docker_container',
      'docker_image',
      'docker_login',
      'docker_network',
      'docker_volume',
    ],
    'community.crypto': ['openssl_csr', 'openssl_dhparam', 'openssl_pkcs12', 'openssl_privatekey', 'openssl_publickey'],
    'community.mysql': ['mysql_db', 'mysql_user'],
    'community.postgresql': ['postgresql_db', 'postgresql_user'],
    'kubernetes.core': ['helm', 'k8s', 'k8s_exec', 'k8s_info'],
    'ansible.windows': [
      'win_command',
      'win_copy',
      'win_feature',
      'win_file',
      'win_package',
      'win_service',
      'win_shell',
    ],
  }).flatMap(([collection, names]) => names.map(name => [name, `${collection}.${name}`] as const)),
)

const renamed: ReadonlyMap<string, string> = new Map([
  ['openssl_certificate', 'community.crypto.x509_certificate'],
  ['docker_image_facts', 'community.docker.docker_image_info'],
  ['k8s_facts', 'kubernetes.core.k8s_info'],
])

/**
 * The full name of a module as Ansible resolves it: short names go to `ansible.builtin` or, where core's routing sends
 * them, to a collection; `ansible.legacy.x` is the builtin one. A name nothing is known of stays as written: a module of
 * the checkout's own `library/`, or one Ansible would refuse.
 * Source: rows `fqcn` of the semantics reference (rule 112).
 */
export function fullModuleName(name: string): string {
  const short = name.replace(/^ansible\.(?:builtin|legacy)\./, '')
  if (builtin.has(short)) return `ansible.builtin.${short}`
  const elsewhere = moved.get(short) ?? renamed.get(short)
  return elsewhere ?? name
}

/** Whether Ansible finds a module of this name by itself: one of its own, or (for all we know) one of a collection. */
export function isKnownModule(name: string): boolean {
  const own = /^ansible\.(?:builtin|legacy)\.(.*)$/.exec(fullModuleName(name))?.[1]
  if (own !== undefined) return builtin.has(own)
  return fullModuleName(name).includes('.') || isMovedModule(name)
}

/** Modules that may be given words that are no `k=v` (Ansible's "free-form" modules). */
const freeForm = new Set(
  `command shell script raw include include_tasks include_role include_vars import_tasks import_role import_playbook meta
  add_host group_by set_fact win_command win_shell`
    .split(/\s+/)
    .map(fullModuleName),
)

/** Free-form modules whose text stays whole but for a few options (`chdir=`, `creates=`, …). */
const rawText = new Set(['command', 'shell', 'script', 'raw', 'win_command', 'win_shell'].map(fullModuleName))

/** Whether a module (full name) may be given words that are no `k=v`. */
export function takesFreeForm(module: string): boolean {
  return freeForm.has(module)
}

/** Whether the words of a module (full name) stay one text but for a few options. */
export function takesRawText(module: string): boolean {
  return rawText.has(module)
}
