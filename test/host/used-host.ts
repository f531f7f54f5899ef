import { debian12, enabledService, type HostRecord, listening } from './sample-hosts.js'

/** The sample after somebody used it: a swap file in fstab, an agent on the kubelet's port, a file that forbids forwarding. */
export const usedHost: HostRecord = {
  ...debian12,
  '/etc/fstab': `${debian12['/etc/fstab']}/swapfile none swap sw 0 0\n`,
  '/proc/swaps': `${debian12['/proc/swaps']}/swapfile                               file\t\t2097148\t0\t-2\n`,
  '/proc/meminfo':
    'MemTotal:        4030680 kB\nMemFree:         3120000 kB\nSwapTotal:       2097148 kB\nSwapFree:        2097148 kB\n',
  '/etc/sysctl.d/zz-hardening.conf': '# hardening\nnet.ipv4.ip_forward = 0\n',
  ...enabledService('agent.service', '/usr/local/bin/agent --listen :10250'),
  ...listening([{ port: 10250, inode: 4711, pid: 812, program: 'agent', cgroup: '/system.slice/agent.service' }]),
}
