import { isOneOfTexts, piecesOf } from '../src/effects/argument.js'
import type { Effect, FileChange } from '../src/effects/effect.js'
import { takesAway } from '../src/effects/query.js'
import type { Occurrence, RunEffects } from '../src/effects/run-effects.js'
import { FALSE } from '../src/jinja/value.js'
import { type Match, NO_MATCH, type Problem, type Rule, SETTLES } from '../src/verdicts/problem.js'
import { onceRebooted } from './boot.js'
import { programOnHost } from './on_host.js'
import { namesPackage } from './packages.js'

function isPython(name: string): boolean {
  return /^(python\d?(\.?\d+)?(-minimal)?|platform-python|pypy3?)$/.test(name)
}

const STEMS = ['python', 'platform-python', 'pypy']

/** Modules that need no Python on the host: they send a command or a script as it is. */
const PLAIN = /(^|\.)(raw|script)$/

/** rpm-ostree makes the next boot's tree; what it installs is not there before. */
function isForNextBoot(occurrence: Occurrence, { occurrences }: RunEffects): boolean {
  return occurrences.some(
    ({ task, effect }) => task === occurrence.task && effect.kind === 'command' && effect.program === 'rpm-ostree',
  )
}

const installs: Rule = {
  says: 'installs Python',
  matches: (effect, occurrence, effects) => {
    const match = ofEffect(effect, occurrence, effects)
    if (match.kind === 'no' || PLAIN.test(occurrence.task.task.module)) return match
    return { kind: 'near', why: 'is done by a module that itself needs Python on the host' }
  },
  undoneBy: (settling, later) => {
    if (settling.kind === 'file') return takesAway(later, settling.path)
    return later.kind === 'package' && isOneOfTexts(later.state, ['absent', 'removed']).kind === 'true'
      ? namesPackage(later, isPython, STEMS)
      : FALSE
  },
}

/** `…/bin/python`; also one beside a script's `cd …/bin`. */
function isProgramPath(path: FileChange['path'], { task }: Occurrence, { occurrences }: RunEffects): boolean {
  const last = piecesOf(path)?.at(-1)
  if (typeof last !== 'string' || !/(^|\/)python3?$/.test(last)) return false
  if (last.includes('/')) return last.includes('/bin/')
  return occurrences.some(
    ({ task: other, effect }) =>
      other === task &&
      effect.kind === 'command' &&
      effect.program === 'cd' &&
      effect.arguments.some(word => /\/bin\/?$/.test(piecesOf(word)?.at(-1) ?? '')),
  )
}

function ofEffect(effect: Effect, occurrence: Occurrence, effects: RunEffects): Match {
  if (effect.kind === 'file') {
    const isProgram = effect.change === 'link' || effect.change === 'written'
    return isProgram && isProgramPath(effect.path, occurrence, effects) ? SETTLES : NO_MATCH
  }
  if (effect.kind !== 'package' || isOneOfTexts(effect.state, ['present', 'latest', 'installed']).kind === 'false')
    return NO_MATCH
  const truth = namesPackage(effect, isPython, STEMS)
  if (truth.kind === 'false') return NO_MATCH
  if (truth.kind === 'unknown')
    return { kind: 'could', says: 'which packages are installed is not known', causes: truth.causes }
  return SETTLES
}

const now: Rule = {
  ...installs,
  matches: (effect, occurrence, effects) => {
    const match = installs.matches(effect, occurrence, effects)
    return match.kind === 'no' || !isForNextBoot(occurrence, effects)
      ? match
      : onceRebooted(installs).matches(effect, occurrence, effects)
  },
}

export const python: Problem = {
  id: 'python',
  title: 'There is no Python on the host',
  asks: 'Who installs the Python that Ansible runs its modules with?',
  requirement: {
    says: 'Nearly every module of Ansible is a Python program that runs on the host; raw and script alone do without.',
    source: 'https://docs.ansible.com/ansible/latest/installation_guide/intro_installation.html',
  },
  now: [now],
  afterReboot: [installs],
  onHost: programOnHost(['/usr/bin/python3', '/usr/libexec/platform-python'], 'Python', {
    says: 'install Python',
    command: 'apt-get install -y python3 || dnf install -y python3',
  }),
  powers: ['changes-packages'],
  byHand: ['python3 --version', 'apt-get install -y python3-minimal   # or dnf, zypper: python3'],
}
