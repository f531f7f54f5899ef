import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultRequest } from '../../src/analyze.js'
import { auditVersions, openVersion } from '../../src/commands/audit.js'
import { replaceFile } from '../../src/commands/output.js'
import { type Change, summaryOf } from '../../src/reports/audit.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision, releaseTags } from '../../src/source/revision.js'
import type { SourceTree } from '../../src/source/tree.js'
import { writeFiles } from '../source/trees.js'

// npm run neighbours: audits every release from v2.20.0 on, and master, against the one before it. First without an
// inventory, which is timed (each version is read once); then with the sample inventory of the older one, whose required
// changes become docs/audit-neighbours.md.
const tags = releaseTags(clonePath()).map(({ tag }) => tag)
const revisions = [...tags.slice(tags.indexOf('v2.20.0')), 'master']
const pairs = revisions.slice(1).map((fresh, index) => [revisions[index] ?? '', fresh] as const)

const begin = performance.now()
let before = openVersion(openRevision(clonePath(), revisions[0] ?? ''), defaultRequest)
for (const [old, fresh] of pairs) {
  const started = performance.now()
  const now = openVersion(openRevision(clonePath(), fresh), defaultRequest)
  const { required, advised, none } = summaryOf(auditVersions(before, now, defaultRequest).changes)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${old} → ${fresh}: ${required} required, ${advised} advised, ${none} none, ${seconds} s`)
  before = now
}
console.log(`${pairs.length} pairs in ${((performance.now() - begin) / 1000).toFixed(1)} s`)

const rows = pairs.map(([old, fresh]) => {
  const directory = mkdtempSync(join(tmpdir(), 'sample-'))
  try {
    const trees = [openRevision(clonePath(), old), openRevision(clonePath(), fresh)] as const
    writeFiles(directory, sampleInventory(trees[0]))
    const request = { ...defaultRequest, inventory: [directory] }
    const audit = auditVersions(openVersion(trees[0], request), openVersion(trees[1], request), request)
    return { old, fresh, changes: audit.changes, directory }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
replaceFile(fileURLToPath(new URL('../../../docs/audit-neighbours.md', import.meta.url)), renderPage())

/** The variables of inventory/sample with one host that is everything. */
function sampleInventory(tree: SourceTree): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    hosts:
      '[kube_control_plane]\nnode1\n[etcd]\nnode1\n[kube_node]\nnode1\n[k8s_cluster:children]\nkube_control_plane\nkube_node\n',
  }
  const walk = (path: string): void => {
    for (const name of tree.list(`inventory/sample/${path}`)) {
      const kind = tree.entryKind(`inventory/sample/${path}/${name}`)
      if (kind === 'directory') walk(`${path}/${name}`)
      const file = kind === 'file' ? tree.read(`inventory/sample/${path}/${name}`) : undefined
      if (file !== undefined) files[`${path}/${name}`] = file.text
    }
  }
  walk('group_vars')
  return files
}

function renderPage(): string {
  const lines = [
    '# Every release against the one before it',
    '',
    'What `whofixes audit OLD NEW -i inventory/sample` of OLD says for each neighbouring pair, with one host that is everything and',
    'no facts. Written by `npm run neighbours`. A required change is one on which the run itself would stop, or a setting',
    'of the sample that NEW ignores without a word.',
    '',
    '| from | to | required | advised | for information |',
    '|---|---|---|---|---|',
    ...rows.map(({ old, fresh, changes }) => {
      const { required, advised, none } = summaryOf(changes)
      return `| ${old} | ${fresh} | ${required} | ${advised} | ${none} |`
    }),
  ]
  for (const { old, fresh, changes, directory } of rows) {
    const required = changes.filter(({ action }) => action === 'required')
    if (required.length === 0) continue
    lines.push('', `## ${old} → ${fresh}`, '', ...required.map(change => `- ${itemText(change, directory)}`))
  }
  return `${lines.join('\n')}\n`
}

function itemText({ kind, says, inventory, new: now }: Change, directory: string): string {
  const yours = inventory.map(({ file, line }) => `\`${file.replace(`${directory}/`, 'inventory/sample/')}:${line}\``)
  const place = now === null ? '' : ` (\`${now.file}:${now.line}\`)`
  return `${kind}: ${says}${yours.length === 0 ? place : `, set at ${yours.join(', ')}`}`
}
