import { ansibleText, type ReportedAnsible } from './ansible-rules.js'
import { jsonText } from './json-text.js'
import { code, heading, type Line, paragraph, sentence } from './page.js'
import { renderMarkdown } from './page-markdown.js'
import { placeText } from './place.js'
import type { Report, ReportedNote, ReportedSource, ReportedVariable } from './report.js'
import { sourceText } from './report-text.js'
import { outputs } from './schemas.js'
import { plain, type Style, wrap } from './style.js'
import { valueText } from './value-text.js'
import { variableLines } from './vars-text.js'

/** The variables that stand in who-fixes.json under another name. */
const answerKeys: ReadonlyMap<string, string> = new Map([['sysctl_file', 'sysctl_file_path']])

/** The variable a name of the lab's files is about, where the report shows it. */
export function variableNamed(report: Report, asked: string): readonly [string, ReportedVariable] | undefined {
  const name = answerKeys.get(asked) ?? asked
  const variable = report.variables.get(name)
  return variable && [name, variable]
}

/** Names `explain` takes besides the problems. */
export function explainedVariables(report: Report): readonly string[] {
  return [...answerKeys.keys(), ...report.variables.keys()]
}

/** Why a variable has its value. */
export interface ExplainVariableJson {
  /** The address of the schema this output follows. */
  readonly schema: (typeof outputs)['explain-variable']['schema']
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the run, relative to the checkout. */
  readonly playbook: string
  /** The host the answer is about, as the inventory names it. */
  readonly host: string
  /** Whose rules were followed. */
  readonly ansible: ReportedAnsible
  /** The variable, and the definitions that give it its value. */
  readonly variable: ExplainedVariableJson
  /** Where the value may be another one during the run. */
  readonly notes: readonly ReportedNote[]
}

/** A variable with its name. */
export interface ExplainedVariableJson extends ReportedVariable {
  /** The variable's name in the role code. */
  readonly name: string
}

/** What verdicts note about the file the variable names: where it may be another one. */
function notesAbout(report: Report, name: string): readonly ReportedNote[] {
  return name === 'sysctl_file_path'
    ? report.problems.filter(({ id }) => id === 'ip_forward').flatMap(({ notes }) => notes)
    : []
}

/** Why a variable has its value: the definition that wins, those it wins over, and where it may change during the run. */
export function renderExplainVariableText(
  report: Report,
  [name, variable]: readonly [string, ReportedVariable],
  style: Style = plain,
): string {
  const notes = notesAbout(report, name).flatMap(({ says, file, line }) => [
    '',
    says,
    ...(file === null ? [] : [style.faint(`${file}:${line}`)]),
  ])
  const head = `${sourceText(report.source)}, ${report.playbook}, host ${report.host}`
  return `${[head, ...wrap(ansibleText(report.ansible), '', '  '), '', ...variableLines(name, variable, style), ...notes].join('\n')}\n`
}

/** The same for machines. */
export function renderExplainVariableJson(
  report: Report,
  [name, variable]: readonly [string, ReportedVariable],
): string {
  const { source, playbook, host, ansible } = report
  const json: ExplainVariableJson = {
    schema: outputs['explain-variable'].schema,
    source,
    playbook,
    host,
    ansible,
    variable: { name, ...variable },
    notes: notesAbout(report, name),
  }
  return jsonText(json)
}

/** The same as Markdown. */
export function renderExplainVariableMarkdown(
  report: Report,
  [name, variable]: readonly [string, ReportedVariable],
): string {
  const { because } = variable
  return renderMarkdown([
    heading(1, name),
    paragraph(`${ansibleText(report.ansible)}.`),
    {
      kind: 'table',
      head: ['value', 'from', 'place'],
      rows: [variable, ...variable.overridden].map(each => [
        [code(valueText(each.value, 80))],
        [each.origin ?? ''],
        placeLine(each),
      ]),
    },
    ...(because === null ? [] : [paragraph(...sentence(because))]),
    ...notesAbout(report, name).map(note => paragraph(...sentence(note.says), ' ', ...placeLine(note))),
  ])
}

function placeLine({ file, line }: { readonly file: string | null; readonly line: number | null }): Line {
  return file === null ? [] : [code(line === null ? file : placeText({ file, line }))]
}
