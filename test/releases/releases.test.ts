import assert from 'node:assert/strict'
import { join } from 'node:path'
import { renderAnswerJson, undecided } from '../../src/reports/answer-json.js'
import { renderReportJson } from '../../src/reports/report-json.js'
import { parseOutput } from '../schemas/valid.js'
import { withTemporary, writeFiles } from '../source/trees.js'
import { describeWithClone, isFrom, reportOn, revisions } from './clone.js'
import { fitsModule, fitsName, type Mapping, openFile } from './lines.js'

const answer = (changes: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  swap: 'kubespray',
  br_netfilter: 'kubespray',
  ip_forward: 'kubespray',
  port_10250: 'operator',
  sysctl_file: '/etc/sysctl.d/99-sysctl.conf',
  ...changes,
})

/** An inventory of one host with variables for all. */
function withVariables<T>(variables: string, controlPlane: string, test: (inventory: string) => T): T {
  const [cluster, node] = controlPlane === 'kube-master' ? ['k8s-cluster', 'kube-node'] : ['k8s_cluster', 'kube_node']
  const text = `all:
  hosts: {node1: {}}
  vars: {${variables}}
  children:
    ${controlPlane}: {hosts: {node1: {}}}
    ${node}: {hosts: {node1: {}}}
    etcd: {hosts: {node1: {}}}
    ${cluster}: {children: {${controlPlane}: {}, ${node}: {}}}
`
  return withTemporary(root => {
    writeFiles(root, { 'hosts.yml': text })
    return test(join(root, 'hosts.yml'))
  })
}

function answerWith(revision: string, variables: string): unknown {
  const controlPlane = isFrom(revision, 'v2.16.0') ? 'kube_control_plane' : 'kube-master'
  return withVariables(variables, controlPlane, inventory =>
    parseOutput(renderAnswerJson(reportOn(revision, { inventory: [inventory] }))),
  )
}

/** Where what no file holds is said to stand. */
const pseudoFiles: ReadonlySet<string> = new Set(['facts of the host', 'checkout', 'magic variables'])

describeWithClone('every release', () => {
  for (const revision of revisions()) {
    it(`${revision} gives the answer, and asks for 1500 MB on a control plane from v2.11.0 on`, () => {
      const report = reportOn(revision)
      assert.deepEqual(undecided(report), [])
      assert.deepEqual(parseOutput(renderAnswerJson(report)), answer())
      assert.deepEqual(
        report.diagnostics.filter(
          // Ansible 2.7, which v2.10 asks for, lets keywords stand beside an include that later ones refuse.
          ({ severity, code }) => severity === 'error' && (code !== 'task-malformed' || isFrom(revision, 'v2.11.0')),
        ),
        [],
      )
      // Before v2.11.0 the amount stands in the check itself, not in a variable.
      const memory = report.variables.get('minimal_master_memory_mb')
      if (isFrom(revision, 'v2.11.0')) assert.deepEqual([memory?.status, memory?.value], ['known', 1500])
      else assert.equal(memory, undefined)
    })
  }
})

describeWithClone('what an inventory changes', () => {
  it('v2.31.0: kubelet_fail_swap_on: false leaves swap to the operator', () => {
    assert.deepEqual(answerWith('v2.31.0', 'kubelet_fail_swap_on: false'), answer({ swap: 'operator' }))
  })

  it('v2.31.0: disable_swap is no variable any more', () => {
    assert.deepEqual(answerWith('v2.31.0', 'disable_swap: false'), answer())
  })

  it('v2.12.0: kubelet_fail_swap_on has no say', () => {
    assert.deepEqual(answerWith('v2.12.0', 'kubelet_fail_swap_on: false'), answer())
  })

  it('v2.12.0: disable_swap has', () => {
    assert.deepEqual(answerWith('v2.12.0', 'disable_swap: false'), answer({ swap: 'operator' }))
  })

  for (const revision of ['v2.10.0', 'v2.12.0', 'v2.22.0', 'v2.31.0', 'master']) {
    it(`${revision}: -e sysctl_file_path, and what it overrides`, () => {
      const path = '/etc/sysctl.d/90-k8s.conf'
      const report = reportOn(revision, { extraVars: [`sysctl_file_path=${path}`] })
      assert.deepEqual(parseOutput(renderAnswerJson(report)), answer({ sysctl_file: path }))
      const variable = report.variables.get('sysctl_file_path')
      assert.deepEqual([variable?.value, variable?.origin, variable?.file], [path, 'extra vars', '-e'])
      const overridden = variable?.overridden ?? []
      assert.ok(overridden.length > 0)
      for (const { file, line, value, origin } of overridden) {
        assert.deepEqual([origin, value], ['role defaults', '/etc/sysctl.d/99-sysctl.conf'])
        assert.match(openFile(revision, file)?.lines[line - 1] ?? '', /^sysctl_file_path:/)
      }
      // Extra vars beat set_fact: the link is not followed any more.
      const [evidence] = report.problems.find(({ id }) => id === 'ip_forward')?.afterReboot.evidence ?? []
      assert.equal(evidence?.effect, `sets net.ipv4.ip_forward = 1 now and in ${path}`)
    })
  }
})

interface Place {
  readonly file: string | null
  readonly line: number | null
}
interface Evidence extends Place {
  readonly task: string
  readonly module: string
  readonly via: readonly (Place & { readonly what: string })[]
  readonly conditions?: readonly (Place & { readonly text: string })[]
}

/** What a step of a chain may stand on, by its first word. */
const steps: Readonly<Record<string, (found: Mapping, what: string) => boolean>> = {
  playbook: found => found.keys.some(key => /(?:^|\.)(?:import_playbook|include)$/.test(key)),
  play: (found, what) => found.keys.includes('hosts') && what === playWords(found.values.get('name')),
  block: found => found.keys.includes('block'),
  import_tasks: found => found.keys.some(key => /(?:^|\.)(?:import_tasks|include)$/.test(key)),
  import_role: found => found.keys.some(key => /(?:^|\.)import_role$/.test(key)),
  include_tasks: found => found.keys.some(key => /(?:^|\.)(?:include_tasks|include)$/.test(key)),
  include_role: found => found.keys.some(key => /(?:^|\.)include_role$/.test(key)),
}

function playWords(name: string | undefined): string {
  return name === undefined ? 'play' : `play "${name}"`
}

/** A role's step stands on its entry (a mapping or a plain name), or on the task that imports or includes it. */
function isRoleEntry(line: string, found: readonly Mapping[], role: string): boolean {
  const last = role.split('/').at(-1) ?? role
  const byReuse = found.some(({ keys }) => keys.some(key => /(?:^|\.)(?:import|include)_role$/.test(key)))
  const byEntry = found.some(({ values }) => (values.get('role') ?? values.get('name') ?? '').endsWith(last))
  return byReuse || byEntry || new RegExp(`^\\s*- ["']?(?:\\S*/)?${last}["']?\\s*(?:#.*)?$`).test(line)
}

function checkStep(revision: string, { file, line, what }: Evidence['via'][number]): string | undefined {
  const opened = openFile(revision, file ?? '')
  const text = opened?.lines[(line ?? 0) - 1]
  if (opened === undefined || text === undefined) return 'there is no such line'
  const [word = ''] = what.split(/[ "]/)
  const found = opened.mappings.get(line ?? 0) ?? []
  if (word === 'playbook' && what === `playbook ${file}`) return line === 1 ? undefined : 'a playbook begins on line 1'
  if (word === 'role') {
    return isRoleEntry(text, found, what.slice('role '.length)) ? undefined : `no entry of that role: ${text}`
  }
  const fits = steps[word]
  return found.some(each => fits?.(each, what)) ? undefined : `not what it says: ${text}`
}

function checkTask(revision: string, { file, line, task, module }: Evidence): string | undefined {
  const found = openFile(revision, file ?? '')?.mappings.get(line ?? 0) ?? []
  if (found.length === 0) return 'no mapping begins on that line'
  const isNamed = ({ keys, values }: Mapping): boolean => {
    const name = values.get('name')
    return fitsModule(keys, module) && (name === undefined || !keys.includes('name') || fitsName(name, task))
  }
  return found.some(isNamed)
    ? undefined
    : `no task ${task} with ${module}: it has ${found.map(({ keys }) => keys.join(', '))}`
}

/** Whether a place lies within a task (or on a variable's definition), and where a name is given, one that has it. */
function checkWithin(revision: string, { file, line }: Place, name?: string): string | undefined {
  const opened = openFile(revision, file ?? '')
  const text = opened?.lines[(line ?? 0) - 1]
  if (opened === undefined || text === undefined) return 'there is no such line'
  if (text.trim() === '' || text.trimStart().startsWith('#')) return `nothing stands there: '${text}'`
  if (!/\.ya?ml$/.test(file ?? '') || name === undefined) return undefined
  const [root = name] = name.split(/[.[ ]/)
  const around = [...opened.mappings]
    .filter(([first]) => first === line)
    .flatMap(([first, found]) => found.map(({ lastLine }) => opened.lines.slice(first - 1, lastLine).join('\n')))
  return [text, ...around].some(each => each.includes(root)) ? undefined : `${root} does not stand there: ${text}`
}

/** Everything wrong with the places of a report; `moved` reads each some lines further, to see that it matters. */
function faultsIn(revision: string, moved = 0): { readonly faults: readonly string[]; readonly places: number } {
  const report = parseOutput(renderReportJson(reportOn(revision)))
  const faults: string[] = []
  let places = 0
  const at = <P extends Place>(place: P): P => ({ ...place, line: (place.line ?? 0) + moved })
  const check = (kind: string, { file, line }: Place, fault: string | undefined): void => {
    places++
    if (fault !== undefined) faults.push(`${kind} ${file}:${line}: ${fault}`)
  }
  const checkEvidence = (evidence: Evidence): void => {
    check(`task '${evidence.task}'`, evidence, checkTask(revision, at(evidence)))
    for (const step of evidence.via) check(`step '${step.what}'`, step, checkStep(revision, at(step)))
  }
  for (const problem of report.problems) {
    for (const phase of [problem.now, problem.afterReboot]) [...phase.evidence, ...phase.open].forEach(checkEvidence)
    problem.nearMisses.forEach(checkEvidence)
    for (const note of problem.notes) {
      if (note.file !== null) check(`note '${note.says}'`, note, checkWithin(revision, at(note)))
    }
    for (const each of problem.searched.unresolved)
      check(`unresolved '${each.says}'`, each, checkWithin(revision, at(each)))
  }
  for (const [name, variable] of Object.entries<Place & { overridden: readonly Place[] }>(report.variables)) {
    for (const place of [variable, ...variable.overridden]) check(name, place, checkWithin(revision, at(place), name))
  }
  // A fact stands in no file, and a reason told as a sentence is no name that a line could hold.
  const named = report.unknowns.filter(
    ({ name, file }: { readonly name: string; readonly file: string }) => !/\s/.test(name) && !pseudoFiles.has(file),
  )
  for (const each of named) check(`unknown ${each.name}`, each, checkWithin(revision, at(each), each.name))
  return { faults, places }
}

describeWithClone('every cited line', () => {
  const all = revisions()
  const spread = all.filter((_, index) => index % 6 === 0 || index === all.length - 1 || index === all.length - 2)

  for (const revision of spread) {
    it(`of ${revision} opens on what it names`, () => {
      const { faults, places } = faultsIn(revision)
      assert.deepEqual(faults, [])
      assert.ok(places > 100, `${places} places`)
    })
  }

  it('would be missed a line further', () => {
    const { faults, places } = faultsIn('v2.31.0', 1)
    assert.ok(faults.length > places * 0.9, `${faults.length} of ${places}`)
  })
})
