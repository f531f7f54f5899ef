import assert from 'node:assert/strict'
import { analyze, defaultRequest, roleVariables } from '../../src/analyze.js'
import { reportOfAnalysis } from '../../src/commands/subject.js'
import { renderEffectsJson, renderResidueJson } from '../../src/reports/effects-json.js'
import { reportedEffects, reportedResidue } from '../../src/reports/effects-report.js'
import { renderExplainJson } from '../../src/reports/explain-json.js'
import { explainedVariables, renderExplainVariableJson, variableNamed } from '../../src/reports/explain-variable.js'
import { namingOf, reportedVariable } from '../../src/reports/report.js'
import { renderReportJson } from '../../src/reports/report-json.js'
import { renderTasksJson } from '../../src/reports/tasks-json.js'
import { definitionsOf } from '../../src/reports/variables-report.js'
import { renderVarsJson } from '../../src/reports/vars-json.js'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { findEffects } from '../../src/verdicts/find.js'
import { residueOf } from '../../src/verdicts/residue.js'
import { runWhofixes } from '../commands/run-whofixes.js'
import { parseOutput } from '../schemas/valid.js'
import { describeWithClone } from './clone.js'

const everything = {
  paths: [],
  units: [],
  sysctls: [],
  kernelModules: [],
  ports: [],
  packages: [],
  programs: [],
  kinds: [],
}

describeWithClone('JSON outputs of real releases', () => {
  // One of the first, the newest and the branch: role code of each has other shapes.
  for (const revision of ['v2.10.0', 'v2.31.0', 'master']) {
    it(`${revision}: everything that is told of one run follows its schema`, () => {
      const tree = openRevision(clonePath(), revision)
      const analysis = analyze(tree, { ...defaultRequest, variables: roleVariables })
      const { run, effects, addresses, roles: seen } = analysis
      const report = reportOfAnalysis(analysis)
      const { source, playbook, host, ansible } = report
      const size = (text: string, member: string): number => Object.keys(parseOutput(text)[member]).length

      assert.ok(size(renderReportJson(report), 'problems') > 20)
      for (const verdict of report.problems) parseOutput(renderExplainJson(report, verdict))
      for (const name of explainedVariables(report)) {
        const variable = variableNamed(report, name)
        if (variable !== undefined) parseOutput(renderExplainVariableJson(report, variable))
      }
      assert.ok(size(renderTasksJson(run, addresses), 'tasks') > 500)

      const roles = new Map(
        seen.map(({ role, variables }) => [
          role.code.path,
          new Map([...variables].map(([name, variable]) => [name, reportedVariable(variable)])),
        ]),
      )
      const names = [...new Set([...roles.values()].flatMap(variables => [...variables.keys()]))]
      assert.ok(size(renderVarsJson({ ansible, roles, definitions: definitionsOf(names, roles) }), 'roles') > 20)

      const naming = namingOf(source, addresses)
      const found = reportedEffects(findEffects(effects, everything), naming)
      const told = { source, playbook, host, tasks: run.tasks.length, effects: found }
      assert.ok(size(renderEffectsJson(told), 'effects') > 500)

      const reset = analyze(tree, { ...defaultRequest, playbook: 'reset.yml' })
      const residue = reportedResidue(residueOf(effects, reset.effects), naming)
      const left = renderResidueJson({ source, playbook, resetBy: 'reset.yml', host, ...residue })
      assert.ok(size(left, 'left') > 20)
    })
  }

  it('the history of a problem follows its schema', () => {
    const { out } = runWhofixes(['history', 'br_netfilter', clonePath(), '--format', 'json'])
    assert.ok(parseOutput(out).changes.length > 0)
  })
})
