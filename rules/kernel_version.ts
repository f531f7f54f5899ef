import { isOneOfTexts } from '../src/effects/argument.js'
import { FALSE } from '../src/jinja/value.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { onceRebooted } from './boot.js'
import { stopsUnless } from './check.js'
import { namesPackage } from './packages.js'

/** Packages that bring a kernel: not headers, sources, firmware or single modules. `*` is every package of the host. */
function isKernel(name: string): boolean {
  if (name === '*') return true
  if (/(headers|devel|tools|doc|source|firmware|modules-extra|debug)/.test(name)) return false
  return /^kernel(-(core|ml|lt|uek|uki|default|rt|64k|longterm)(-.*)?)?$|^linux-(image|generic|virtual|lowlatency|aws|azure|gcp|oracle|kvm)(-.*)?$/.test(
    name,
  )
}

const STEMS = ['kernel', 'linux-']
const PRESENT = ['present', 'latest', 'installed']
const NEW_ENOUGH = 'the kernel it installs is new enough and is the one that boots'

const installs: Rule = {
  says: 'installs a kernel',
  matches: effect => {
    if (effect.kind !== 'package' || isOneOfTexts(effect.state, PRESENT).kind === 'false') return NO_MATCH
    const truth = namesPackage(effect, isKernel, STEMS)
    if (truth.kind === 'false') return NO_MATCH
    if (truth.kind === 'unknown')
      return { kind: 'could', says: 'which packages are installed is not known', causes: truth.causes }
    return { kind: 'settles', condition: NEW_ENOUGH }
  },
  undoneBy: (_, later) =>
    later.kind === 'package' && isOneOfTexts(later.state, ['absent', 'removed']).kind !== 'false'
      ? namesPackage(later, name => name !== '*' && isKernel(name), STEMS)
      : FALSE,
}

const checks = stopsUnless('the kernel is new enough for what is set up', ['ansible_facts.kernel'])

export const kernelVersion: Problem = {
  id: 'kernel_version',
  title: 'The kernel is older than what is asked of it',
  asks: 'Who brings a kernel that is new enough, and who boots it?',
  requirement: {
    says: 'Kubernetes is tested on long-term kernels from 4.19 on; single features ask for a newer one.',
    source: 'https://kubernetes.io/docs/reference/node/kernel-version-requirements/',
  },
  now: [onceRebooted(installs), checks],
  afterReboot: [installs, checks],
  powers: ['changes-packages', 'changes-boot'],
  byHand: ['uname -r', 'reboot   # after the package manager has installed a newer kernel'],
}
