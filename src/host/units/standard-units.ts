/**
 * What systemd's own targets pull in as they are shipped (units/ of systemd 252 and 255; the same in Debian, Ubuntu, Fedora, RHEL
 * and SUSE as far as it matters here). It stands in for /usr/lib/systemd/system where a host's files come without it.
 */
export const STANDARD_UNITS: ReadonlyMap<string, readonly string[]> = new Map([
  ['default.target', ['graphical.target']],
  ['graphical.target', ['multi-user.target']],
  ['multi-user.target', ['basic.target', 'getty.target', 'systemd-logind.service', 'systemd-user-sessions.service']],
  ['rescue.target', ['sysinit.target', 'rescue.service']],
  ['basic.target', ['sysinit.target', 'sockets.target', 'timers.target', 'paths.target', 'slices.target']],
  [
    'sysinit.target',
    [
      'local-fs.target',
      'swap.target',
      'cryptsetup.target',
      'systemd-journald.service',
      'systemd-udevd.service',
      'systemd-modules-load.service',
      'systemd-sysctl.service',
      'systemd-sysusers.service',
      'systemd-tmpfiles-setup.service',
      'systemd-tmpfiles-setup-dev.service',
      'systemd-random-seed.service',
      'systemd-update-utmp.service',
    ],
  ],
  [
    'sockets.target',
    [
      'systemd-journald.socket',
      'systemd-journald-dev-log.socket',
      'systemd-udevd-control.socket',
      'systemd-udevd-kernel.socket',
      'systemd-initctl.socket',
    ],
  ],
  ['timers.target', ['systemd-tmpfiles-clean.timer']],
  ['getty.target', ['getty@tty1.service']],
  ['local-fs.target', ['systemd-remount-fs.service']],
  ['swap.target', []],
  ['paths.target', []],
  ['slices.target', []],
  ['remote-fs.target', []],
  ['network-online.target', []],
])

/** Whether systemd ships a unit of this name that others can pull in. */
export function isStandardUnit(name: string): boolean {
  return STANDARD_UNITS.has(name) || [...STANDARD_UNITS.values()].some(names => names.includes(name))
}
