import type { Value } from '../jinja/value.js'
import { textOf } from './argument.js'

/** Directories of every host, so that a file that is written "there" lands in them (file-hierarchy(7)). */
const DIRECTORIES = new Set(
  '/ /bin /boot /dev /etc /home /lib /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/bin /usr/lib /usr/local /usr/local/bin /usr/local/lib /usr/local/sbin /usr/sbin /usr/share /var /var/lib /var/log /etc/default /etc/modprobe.d /etc/modules-load.d /etc/profile.d /etc/security /etc/sysctl.d /etc/systemd /etc/systemd/system /usr/lib/modules-load.d /usr/lib/sysctl.d /usr/lib/systemd /usr/lib/systemd/system /lib/systemd/system'.split(
    ' ',
  ),
)

/** Whether a path is certainly a directory: one that ends in `/`, or one every host has. */
export function isDirectoryPath(path: Value): boolean {
  const text = textOf(path)
  return text !== undefined && (text.endsWith('/') || DIRECTORIES.has(text))
}
