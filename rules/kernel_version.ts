import { isOneOfTexts, textOf } from '../src/effects/argument.js'
import type { RunEffects } from '../src/effects/run-effects.js'
import { standingOf } from '../src/effects/standing.js'
import type { HostAnswer, HostContext, Look } from '../src/host/look.js'
import type { OperatorStep } from '../src/host/moment.js'
import { FALSE } from '../src/jinja/value.js'
import { NO_MATCH, type Problem, type Rule } from '../src/verdicts/problem.js'
import { onceRebooted } from './boot.js'
import { stopsUnless } from './check.js'
import { minorOfKubernetes } from './kubernetes_version.js'
import { checkedOnHost, distributionIds, unknownAnswer, worstOf } from './on_host.js'
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

type Release = readonly [major: number, minor: number]

/** What kubeadm takes in its check `SystemVerification`: 3.10 and later, since Kubernetes 1.32 4.19 and later. */
const OLDEST: Release = [3, 10]
const OLDEST_SINCE_1_32: Release = [4, 19]

function isOlder([major, minor]: Release, [otherMajor, otherMinor]: Release): boolean {
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}

/** Whether the run lets kubeadm pass over what it finds of the kernel. */
function isPassedOver({ occurrences }: RunEffects): boolean {
  return occurrences.some(occurrence => {
    const { effect, asWritten } = occurrence
    if (asWritten || effect.kind !== 'kubeadm' || !/^(init|join)$/.test(effect.subcommand)) return false
    const ignored = textOf(effect.ignoredPreflightErrors)?.toLowerCase().split(',') ?? []
    return (
      ignored.some(each => /^(all|systemverification)$/.test(each.trim())) && standingOf(occurrence).kind !== 'never'
    )
  })
}

/** What installs a kernel that is new enough, by the host's distribution. */
function stepFor({ before }: HostContext): OperatorStep {
  const ids = distributionIds(before.files)
  const install = /\bubuntu\b/.test(ids)
    ? 'apt-get install linux-image-generic'
    : /\bdebian\b/.test(ids)
      ? 'apt-get install linux-image-amd64'
      : /\bsuse\b|\bopensuse\b/.test(ids)
        ? 'zypper update kernel-default'
        : 'dnf upgrade kernel'
  return { says: 'install a newer kernel and boot it', command: `${install} && reboot` }
}

function forKubeadm(context: HostContext): HostAnswer {
  const { phase, before, effects } = context
  // What the boot loader starts is taken to be the kernel that runs.
  const seen = before.sysctl('kernel.osrelease')
  const release = seen.kind === 'known' ? /^(\d+)\.(\d+)/.exec(seen.value) : null
  if (seen.kind !== 'known' || release === null)
    return unknownAnswer(
      `the version of the kernel is not known${seen.kind === 'unknown' ? `: ${seen.because}` : ''}`,
      seen.places,
    )
  const { places } = seen
  const own: Release = [Number(release[1]), Number(release[2])]
  const says = `the kernel is ${seen.value.trim()}`
  if (!isOlder(own, OLDEST_SINCE_1_32)) return { state: 'ok', says, places, steps: [] }
  const minor = minorOfKubernetes(effects)
  const steps = [stepFor(context)]
  if (isPassedOver(effects))
    return {
      state: 'unneeded',
      says: `${says}, older than 4.19; the run has kubeadm pass over that`,
      places,
      steps: [],
    }
  if (!isOlder(own, OLDEST)) {
    if (minor === undefined)
      return {
        ...unknownAnswer(
          `${says}: kubeadm stops at it from Kubernetes 1.32 on; which version comes is not known`,
          places,
        ),
        steps,
      }
    if (minor < 32) return { state: 'ok', says: `${says}, new enough for Kubernetes 1.${minor}`, places, steps: [] }
  }
  const comes =
    phase === 'afterReboot' &&
    effects.occurrences.some(occurrence => {
      const match = installs.matches(occurrence.effect, occurrence, effects)
      return !occurrence.asWritten && match.kind === 'settles' && standingOf(occurrence).kind !== 'never'
    })
  if (comes) return unknownAnswer(`${says}, unless the one that the run installs is new enough`, places)
  return {
    state: 'problem',
    says: `${says}, and kubeadm stops at one before ${(minor ?? 0) < 32 ? '3.10' : '4.19'}`,
    places,
    steps,
  }
}

/** Whether the kernel is new enough: for the checks of the run, and for kubeadm. */
const kernelOnHost: Look = context => {
  const checked = checkedOnHost(['ansible_facts.kernel'], stepFor(context))(context)
  const plain = forKubeadm(context)
  return checked.state === 'unneeded' ? plain : worstOf([plain, checked])
}

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
  onHost: kernelOnHost,
  powers: ['changes-packages', 'changes-boot'],
  byHand: ['uname -r', 'reboot   # after the package manager has installed a newer kernel'],
}
