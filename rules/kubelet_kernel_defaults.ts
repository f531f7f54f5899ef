import type { Problem } from '../src/verdicts/problem.js'
import { runWrites, settingOnHost, worstOf } from './on_host.js'
import { alternativeFiles, isNumber, settingRules } from './setting.js'
import { together } from './together.js'

/** What the kubelet compares, each with one value (pkg/kubelet/cm: setupKernelTunables). */
const WANTED: Readonly<Record<string, number>> = {
  'vm.overcommit_memory': 1,
  'vm.panic_on_oom': 0,
  'kernel.panic': 10,
  'kernel.panic_on_oops': 1,
  'kernel.keys.root_maxkeys': 1_000_000,
  'kernel.keys.root_maxbytes': 25_000_000,
}

const rules = together(
  Object.fromEntries(Object.entries(WANTED).map(([key, value]) => [key, settingRules([key], isNumber(value))])),
)

/** A configuration of the kubelet that does not ask for it. */
const NOT_COMPARED = /^(?![\s\S]*^protectKernelDefaults:\s*true)[\s\S]*^failSwapOn:/m

export const kubeletKernelDefaults: Problem = {
  id: 'kubelet_kernel_defaults',
  title: 'Kernel settings are not what the kubelet expects',
  asks: 'Who gives the kernel settings the values the kubelet compares, and who keeps them over a reboot?',
  requirement: {
    says: 'With protectKernelDefaults the kubelet does not start while one of six kernel settings differs; without it, it sets them itself.',
    source: 'https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/',
  },
  now: rules.now,
  afterReboot: rules.afterReboot,
  onHost: context => {
    const unneeded = runWrites(context.effects, NOT_COMPARED)
      ? { unneeded: 'the kubelet is not told to compare it, and sets it itself' }
      : {}
    return worstOf(
      Object.entries(WANTED).map(([key, value]) =>
        settingOnHost({ key, holds: isNumber(value), wanted: String(value), ...unneeded })(context),
      ),
    )
  },
  powers: ['changes-sysctl'],
  byHand: [
    ...Object.entries(WANTED).map(([key, value]) => `echo '${key} = ${value}' >> /etc/sysctl.d/99-kubelet.conf`),
    'sysctl --system',
  ],
  notes: alternativeFiles(Object.keys(WANTED).slice(0, 1)),
}
