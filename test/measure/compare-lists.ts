import { revisions } from '../releases/clone.js'
import { checkOut } from './checkout.js'
import { compareLists, entryPlaybooks } from './lists.js'

// npm run lists [-- REVISION…]: our task lists of every playbook of these revisions (all releases and the default branch)
// beside those of the installed ansible-playbook. Ends with 1 where a line differs.
const asked = process.argv.slice(2)
let differing = 0
const sum = { playbooks: 0, equal: 0, lines: 0, refused: 0 }
for (const revision of asked.length > 0 ? asked : revisions()) {
  const checkout = checkOut(revision)
  for (const playbook of entryPlaybooks(checkout)) {
    const { equal, lines, differs, refused } = compareLists(checkout, playbook)
    if (refused !== undefined) {
      sum.refused += 1
      console.log(`${revision} ${playbook}: ansible-playbook refuses it: ${refused.slice(0, 160)}`)
      continue
    }
    sum.playbooks += 1
    sum.equal += equal
    sum.lines += lines
    if (differs === undefined) continue
    differing += 1
    console.log(`${revision} ${playbook}: ${lines - equal} of ${lines} lines differ, the first is line ${differs.line}`)
    console.log(`  ansible: ${differs.ansible}\n  ours:    ${differs.ours}`)
  }
  checkout.remove()
}
console.log(
  `${sum.equal} of ${sum.lines} lines equal in ${sum.playbooks} lists; ${sum.refused} playbooks that ansible-playbook refuses`,
)
process.exitCode = differing > 0 ? 1 : 0
