import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { checkOut } from './checkout.js'

// npm run bench [-- REVISION [ROUNDS]]: one cold process each, one after the other in every round, so that what else the
// machine does meets all of them. Ends with 1 where the list takes half of Ansible's time or more.
const [revision = 'v2.31.0', rounds = '7'] = process.argv.slice(2)
const checkout = checkOut(revision)
const whofixes = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
const ours = (...words: readonly string[]): readonly string[] => [process.execPath, whofixes, ...words]
const commands: Readonly<Record<string, readonly string[]>> = {
  'ansible-playbook --list-tasks': ['ansible-playbook', '--list-tasks', '-i', checkout.inventory, 'cluster.yml'],
  'whofixes tasks --format list': ours('tasks', '.', '-i', checkout.inventory, '--format', 'list'),
  'whofixes tasks': ours('tasks', '.', '-i', checkout.inventory),
  'whofixes report': ours('report', '.', '-i', checkout.inventory),
}

const seconds = new Map<string, number[]>(Object.keys(commands).map(name => [name, []]))
for (let round = 0; round < Number(rounds); round += 1) {
  for (const [name, [program = '', ...words]] of Object.entries(commands)) {
    const before = performance.now()
    const { status, stderr } = spawnSync(program, words, {
      cwd: checkout.directory,
      maxBuffer: 2 ** 28,
      encoding: 'utf8',
    })
    if (status !== 0 && status !== 3) throw new Error(`${name} ended with ${status}: ${stderr}`)
    seconds.get(name)?.push((performance.now() - before) / 1000)
  }
}
checkout.remove()

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const [theirs = 0] = [...seconds.values()].map(median)
console.log(`cluster.yml of ${revision}, ${rounds} rounds in turn, seconds of one cold process`)
for (const [name, values] of seconds) {
  const middle = median(values)
  console.log(
    `${name.padEnd(30)} median ${middle.toFixed(2)}  least ${Math.min(...values).toFixed(2)}  ${(middle / theirs).toFixed(2)} of ansible-playbook`,
  )
}
process.exitCode = median(seconds.get('whofixes tasks --format list') ?? []) < theirs / 2 ? 0 : 1
