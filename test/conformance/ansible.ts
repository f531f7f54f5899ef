import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { jsonText, type Outcome } from './outcome.js'
import { hostsOfTree, type PlacedTree, type Tree } from './trees.js'

export interface Ansible {
  /** `2.14.18` */
  readonly version: string
  readonly python: string
}

/** What is installed, or undefined. */
export function findAnsible(): Ansible | undefined {
  const { status, stdout } = spawnSync('ansible-playbook', ['--version'], { encoding: 'utf8' })
  if (status !== 0) return undefined
  const version = /\[core ([\d.]+)/.exec(stdout)?.[1]
  const python = /python version = .*\((\/[^)]*)\)\s*$/m.exec(stdout)?.[1]
  return version === undefined ? undefined : { version, python: python ?? 'python3' }
}

export interface AnsibleAnswer {
  readonly refused: boolean
  /** Its warnings and errors, to show when something is amiss. */
  readonly errors: string
  readonly outcomes: ReadonlyMap<string, readonly Outcome[]>
  /** What `--list-tasks` prints. */
  readonly list: string
}

interface Reply {
  readonly status: number
  readonly output: string
  readonly errors: string
  readonly events: readonly Event[]
}

/** See ansible/callback/record.py. */
interface Event {
  readonly host: string
  readonly place: string
  readonly name: string
  readonly action: string
  readonly outcome: 'ran' | 'skipped' | 'failed'
  readonly msg?: unknown
  readonly items?: readonly { readonly item: unknown; readonly outcome: Event['outcome']; readonly msg: unknown }[]
}

/** Runs and lists every tree with Ansible, all in one go. */
export function askAnsible(ansible: Ansible, trees: readonly PlacedTree[]): ReadonlyMap<Tree, AnsibleAnswer> {
  const questions = trees.flatMap(placed => {
    const options = argumentsFor(placed)
    return [options, ['--list-tasks', ...options]].map(words => ({ directory: placed.directory, arguments: words }))
  })
  const program = fileURLToPath(new URL('../../../test/conformance/ansible/ask.py', import.meta.url))
  const input = JSON.stringify(questions)
  const replies: readonly Reply[] = JSON.parse(
    execFileSync(ansible.python, [program], { input, encoding: 'utf8', maxBuffer: 2 ** 28 }),
  )
  return new Map(trees.map(({ tree }, index) => [tree, answerOf(tree, replies[2 * index], replies[2 * index + 1])]))
}

function argumentsFor({ tree, playbook, inventory, extraVars }: PlacedTree): readonly string[] {
  const { tags = [], skipTags = [] } = tree
  return [
    ...inventory.flatMap(path => ['-i', path]),
    ...extraVars.flatMap(text => ['-e', text]),
    ...(tags.length === 0 ? [] : ['--tags', tags.join(',')]),
    ...(skipTags.length === 0 ? [] : ['--skip-tags', skipTags.join(',')]),
    playbook,
  ]
}

function answerOf(tree: Tree, run: Reply | undefined, listed: Reply | undefined): AnsibleAnswer {
  if (run === undefined || listed === undefined) throw new Error('ask.py left out an answer')
  const outcomesOn = (host: string) => run.events.filter(event => event.host === host).flatMap(outcomesOf)
  return {
    refused: run.status !== 0 && run.events.length === 0,
    errors: run.errors,
    outcomes: new Map(hostsOfTree(tree).map(host => [host, outcomesOn(host)])),
    list: listed.output,
  }
}

const includes = /(?:^|\.)include_(?:tasks|role)$/

function outcomesOf({ place, name, action, outcome, msg, items }: Event): readonly Outcome[] {
  // The gathering of facts that a play begins with is no task of the playbook.
  if (action === 'meta' || action === 'gather_facts' || (outcome === 'ran' && includes.test(action))) return []
  const isDebug = /(?:^|\.)debug$/.test(action)
  const said = (how: Event['outcome'], message: unknown) => (how === 'ran' && isDebug ? `= ${jsonText(message)}` : how)
  return items === undefined
    ? [{ place, name, what: said(outcome, msg) }]
    : items.map(({ item, outcome: how, msg: message }) => ({
        place,
        name,
        what: `${jsonText(item)} ${said(how, message)}`,
      }))
}
