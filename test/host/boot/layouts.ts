import fc from 'fast-check'
import { sysctlKeyOf } from '../../../src/host/boot/sysctl-d.js'
import type { Node } from './host-tree.js'

/** Paths under /proc/sys that the files are about. */
export const KEYS = [
  'net/ipv4/ip_forward',
  'net/ipv4/conf/all/rp_filter',
  'net/ipv4/conf/default/rp_filter',
  'net/ipv4/conf/eth0/rp_filter',
  'net/ipv4/conf/eth1.5/rp_filter',
  'vm/swappiness',
  'vm/overcommit_memory',
  'kernel/panic',
]

const spelled = fc.constantFrom(
  ...KEYS.flatMap(path => [sysctlKeyOf(path), path, `/${path}`, path.replaceAll('/', '//')]),
  'net.ipv4.conf.*.rp_filter',
  'net.ipv4.conf.e*.rp_filter',
  'net/ipv4/conf/[ae]*/rp_filter',
  'net.ipv4.ip_*',
  'vm.*',
  'vm.{swappiness,x}',
  'vm.{swap,over}*',
  'kernel.pani?',
  'kernel.[!q]anic',
  'no.such.key',
  'net.ipv4/ip_forward',
)
const value = fc.constantFrom('0', '1', '2')
const line = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(spelled, value).map(([key, number]) => `${key}=${number}`) },
  { weight: 3, arbitrary: fc.tuple(spelled, value).map(([key, number]) => `  ${key} \t=  ${number} \t`) },
  { weight: 2, arbitrary: fc.tuple(spelled, value).map(([key, number]) => `-${key} = ${number}`) },
  { weight: 2, arbitrary: spelled.map(key => `-${key}`) },
  { weight: 1, arbitrary: fc.constantFrom('', '# net.ipv4.ip_forward=1', '  ; x=1', 'no assignment', '=', '-', '-=1') },
)
const text = fc.array(line, { maxLength: 6 }).map(lines => lines.join('\n'))
const name = fc.constantFrom(
  '10-a.conf',
  '9-a.conf',
  '99-sysctl.conf',
  '99-sysctl-x.conf',
  '99_x.conf',
  '99sysctl.conf',
  'A.conf',
  '_.conf',
  'zz.conf',
  '~.conf',
  'ä.conf',
  'x.conf.bak',
  'x.CONF',
)
const directory = fc.constantFrom('/etc', '/usr/local/lib', '/usr/lib')
const content: fc.Arbitrary<Node> = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom({ link: '../../nowhere' }, { link: '/etc/sysctl.conf' }) },
)
/** Files of sysctl.d in their directories, with or without /etc/sysctl.conf. */
export const layout = fc
  .tuple(
    fc.array(fc.tuple(directory, name, content), { minLength: 1, maxLength: 7 }),
    fc.option(text, { freq: 3, nil: undefined }),
  )
  .map(
    ([files, main]): Readonly<Record<string, Node>> => ({
      ...Object.fromEntries(files.map(([root, each, node]) => [`${root}/sysctl.d/${each}`, node])),
      ...(main === undefined ? {} : { '/etc/sysctl.conf': main }),
    }),
  )
