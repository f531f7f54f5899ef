import type { Written } from './files.js'

export type HostRecord = Readonly<Record<string, Written>>

const KERNEL = '6.1.0-21-amd64'
const MODULES = `/usr/lib/modules/${KERNEL}`

/** Modules that the kernel of the sample has as files, with what each needs. */
const MODULE_FILES: Readonly<Record<string, readonly string[]>> = {
  'kernel/net/bridge/bridge.ko': [],
  'kernel/net/bridge/br_netfilter.ko': ['kernel/net/bridge/bridge.ko'],
  'kernel/fs/overlayfs/overlay.ko': [],
  'kernel/net/netfilter/nf_conntrack.ko': [],
  'kernel/net/netfilter/ipvs/ip_vs.ko': ['kernel/net/netfilter/nf_conntrack.ko'],
  ...Object.fromEntries(
    ['rr', 'wrr', 'sh', 'wlc', 'lc'].map(name => [
      `kernel/net/netfilter/ipvs/ip_vs_${name}.ko`,
      ['kernel/net/netfilter/ipvs/ip_vs.ko'],
    ]),
  ),
  'kernel/drivers/net/dummy.ko': [],
  'kernel/net/netfilter/nf_tables.ko': [],
}

/**
 * A server with Debian 12 that somebody else used before, with nothing in the way: swap off, no listener, forwarding off, the
 * link from sysctl.d to /etc/sysctl.conf that its systemd brings. Two processors, 3,936 MB of memory, 192.0.2.11 on eth0.
 */
export const debian12: HostRecord = {
  '/etc/os-release':
    'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n',
  '/etc/debian_version': '12.5\n',
  '/etc/hostname': 'node1\n',
  '/etc/hosts': '127.0.0.1\tlocalhost\n',
  '/etc/resolv.conf': 'nameserver 192.0.2.1\n',
  '/etc/fstab': '/dev/sda1 / ext4 errors=remount-ro 0 1\n',
  '/etc/sysctl.conf': '# nothing set here\n',
  '/etc/sysctl.d/99-sysctl.conf': { link: '../sysctl.conf' },
  '/etc/modules': '# one module a line\n',
  '/etc/modules-load.d/modules.conf': { link: '../modules' },
  '/etc/modprobe.d': null,
  '/etc/systemd/system/multi-user.target.wants/ssh.service': { link: '/lib/systemd/system/ssh.service' },
  '/lib': { link: 'usr/lib' },
  '/usr/lib/systemd/system/basic.target':
    '[Unit]\nRequires=sysinit.target\nWants=sockets.target timers.target paths.target\n',
  '/usr/lib/systemd/system/sysinit.target': '[Unit]\nWants=local-fs.target swap.target\n',
  '/usr/lib/systemd/system/sysinit.target.wants/systemd-sysctl.service': { link: '../systemd-sysctl.service' },
  '/usr/lib/systemd/system/sysinit.target.wants/systemd-modules-load.service': {
    link: '../systemd-modules-load.service',
  },
  '/usr/lib/systemd/system/systemd-sysctl.service': '[Service]\nType=oneshot\nExecStart=/lib/systemd/systemd-sysctl\n',
  '/usr/lib/systemd/system/systemd-modules-load.service':
    '[Service]\nType=oneshot\nExecStart=/lib/systemd/systemd-modules-load\n',
  '/usr/lib/systemd/system/multi-user.target': '[Unit]\nRequires=basic.target\n',
  '/usr/lib/systemd/system/graphical.target': '[Unit]\nRequires=multi-user.target\n',
  '/usr/lib/systemd/system/default.target': { link: 'graphical.target' },
  '/usr/lib/systemd/system/swap.target': '[Unit]\nDescription=Swaps\n',
  '/usr/lib/systemd/system/ssh.service':
    '[Unit]\nDescription=A secure shell server\n[Service]\nExecStart=/usr/sbin/sshd -D\n[Install]\nWantedBy=multi-user.target\n',
  ...enabledService('chrony.service', '/usr/sbin/chronyd'),
  '/sys/fs/cgroup/system.slice/chrony.service/cgroup.procs': '700\n',
  '/usr/bin/python3': { link: 'python3.11' },
  '/usr/bin/python3.11': '',
  [`${MODULES}/modules.dep`]: Object.entries(MODULE_FILES)
    .map(([file, needs]) => `${file}:${needs.map(each => ` ${each}`).join('')}\n`)
    .join(''),
  [`${MODULES}/modules.builtin`]: 'kernel/fs/ext4/ext4.ko\n',
  [`${MODULES}/modules.alias`]: '',
  '/proc/meminfo':
    'MemTotal:        4030680 kB\nMemFree:         3120000 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n',
  '/proc/swaps': 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n',
  '/proc/modules': 'bridge 311296 0 - Live 0x0000000000000000\n',
  '/proc/cmdline': `BOOT_IMAGE=/boot/vmlinuz-${KERNEL} root=/dev/sda1 ro quiet\n`,
  '/proc/cpuinfo': [0, 1]
    .map(
      each =>
        `processor\t: ${each}\nvendor_id\t: GenuineIntel\nmodel name\t: A processor\nphysical id\t: 0\nsiblings\t: 2\ncore id\t\t: ${each}\ncpu cores\t: 2\n\n`,
    )
    .join(''),
  '/proc/mounts': '/dev/sda1 / ext4 rw,relatime 0 0\n',
  '/proc/version': `Linux version ${KERNEL} (builder) #1 SMP\n`,
  '/proc/net/tcp': tcpTable([]),
  '/proc/net/tcp6': tcpTable([]),
  '/proc/sys/kernel/osrelease': `${KERNEL}\n`,
  '/proc/sys/kernel/hostname': 'node1\n',
  '/proc/sys/kernel/panic': '0\n',
  '/proc/sys/kernel/panic_on_oops': '0\n',
  '/proc/sys/kernel/keys/root_maxbytes': '25000000\n',
  '/proc/sys/kernel/keys/root_maxkeys': '1000000\n',
  '/proc/sys/vm/overcommit_memory': '0\n',
  '/proc/sys/vm/panic_on_oom': '0\n',
  '/proc/sys/fs/inotify/max_user_instances': '128\n',
  '/proc/sys/net/ipv4/ip_forward': '0\n',
  '/proc/sys/net/ipv4/conf/all/forwarding': '0\n',
  '/proc/sys/net/ipv4/conf/all/rp_filter': '0\n',
  '/proc/sys/net/ipv4/ip_local_reserved_ports': '\n',
  '/proc/sys/net/ipv6/conf/all/forwarding': '0\n',
  '/sys/fs/cgroup/cgroup.controllers': 'cpuset cpu io memory hugetlb pids rdma misc\n',
  '/proc/1/comm': 'systemd\n',
  '/proc/1/cgroup': '0::/init.scope\n',
}

/** Something that listens: its port, the inode of its socket, its address as `ss` prints it, its process and that one's unit. */
export interface SampleListener {
  readonly port: number
  readonly inode: number
  readonly address?: '0.0.0.0' | '127.0.0.1'
  readonly pid: number
  readonly program: string
  /** The path of its control group: `/system.slice/agent.service`. */
  readonly cgroup: string
}

/** The files of /proc that say who listens. */
export function listening(listeners: readonly SampleListener[]): HostRecord {
  return {
    '/proc/net/tcp': tcpTable(listeners),
    ...Object.fromEntries(
      listeners.flatMap(({ pid, inode, program, cgroup }) => [
        [`/proc/${pid}/comm`, `${program}\n`],
        [`/proc/${pid}/cgroup`, `0::${cgroup}\n`],
        [`/proc/${pid}/fd/3`, { link: `socket:[${inode}]` }],
      ]),
    ),
  }
}

function tcpTable(listeners: readonly SampleListener[]): string {
  const rows = listeners.map(({ port, inode, address = '0.0.0.0' }, index) => {
    const local = address === '0.0.0.0' ? '00000000' : '0100007F'
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    return `   ${index}: ${local}:${hex} 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`
  })
  return `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${rows.join('')}`
}

/** A service that starts at boot: its unit file and the link that enables it. */
export function enabledService(name: string, exec: string, more = ''): HostRecord {
  return {
    [`/etc/systemd/system/${name}`]: `[Unit]\nDescription=${name}\n[Service]\nExecStart=${exec}\nRestart=always\n${more}[Install]\nWantedBy=multi-user.target\n`,
    [`/etc/systemd/system/multi-user.target.wants/${name}`]: { link: `/etc/systemd/system/${name}` },
  }
}
