import type { FixedBy } from '../verdicts/judge.js'
import type { Report, ReportedSource } from './report.js'
import { inColour, sourceText } from './report-text.js'
import { plain, type Style, wrap } from './style.js'

/** The same problems in several runs side by side: one run a distribution, or a playbook. */
export interface Matrix {
  readonly by: 'os' | 'playbook'
  readonly source: ReportedSource
  readonly host: string
  readonly playbook: string
  /** Where the names of the columns come from. */
  readonly columnsFrom: string
  readonly columns: readonly { readonly name: string; readonly report: Report }[]
}

interface Cell {
  readonly column: string
  readonly fixedBy: FixedBy
  readonly condition: string | null
  readonly now: FixedBy
  readonly afterReboot: FixedBy
}

interface Row {
  readonly id: string
  readonly title: string
  /** Whether who fixes it differs between columns; conditions apart. */
  readonly differs: boolean
  readonly cells: readonly Cell[]
}

function rowsOf({ columns }: Matrix): readonly Row[] {
  const problems = columns[0]?.report.problems ?? []
  return problems.map(({ id, title }) => {
    const cells = columns.flatMap(({ name, report }): readonly Cell[] => {
      const problem = report.problems.find(each => each.id === id)
      if (problem === undefined) return []
      const { fixedBy, condition, now, afterReboot } = problem
      return [{ column: name, fixedBy, condition, now: now.fixedBy, afterReboot: afterReboot.fixedBy }]
    })
    const answers = new Set(cells.map(({ fixedBy, now, afterReboot }) => `${fixedBy} ${now} ${afterReboot}`))
    return { id, title, differs: answers.size > 1, cells }
  })
}

export const MATRIX_SCHEMA = 'https://whofixes.github.io/schemas/whofixes-matrix-1.json'

/** The matrix for machines: every problem with one cell a column, and whether they differ. */
export function renderMatrixJson(matrix: Matrix): string {
  const { by, source, host, playbook, columnsFrom, columns } = matrix
  const json = {
    schema: MATRIX_SCHEMA,
    source,
    ...(by === 'os' ? { playbook } : {}),
    host,
    by,
    columnsFrom,
    columns: columns.map(({ name }) => name),
    problems: rowsOf(matrix),
  }
  return `${JSON.stringify(json, null, 2)}\n`
}

/** The matrix for people: columns with the same answer stand together; problems whose answers differ are marked. */
export function renderMatrixText(matrix: Matrix, style: Style = plain): string {
  const { by, source, host, playbook, columnsFrom, columns } = matrix
  const rows = rowsOf(matrix)
  const differing = rows.filter(({ differs }) => differs).length
  const what = by === 'os' ? 'distributions' : 'playbooks'
  const run = by === 'os' ? `, ${playbook}` : ''
  const lines = [
    style.strong(
      `Who fixes what: ${sourceText(source)}${run}, host ${host}: ${columns.length} ${what} (${columnsFrom})`,
    ),
    `${differing} of ${rows.length} problems differ; they are marked with ≠`,
  ]
  for (const row of rows) {
    lines.push('', style.strong(`${row.differs ? '≠' : '='} ${row.id}: ${row.title}`))
    for (const [, cells] of groupsOf(row)) {
      const [first] = cells
      if (first === undefined) continue
      const names = cells.length === columns.length ? `all ${what}` : cells.map(({ column }) => column).join(', ')
      const who = inColour(first.fixedBy, answerText(first), style)
      const condition = first.condition === null ? '' : `, if ${first.condition}`
      lines.push(...wrap(`${who}${condition}: ${names}`, '    ', '      '))
    }
  }
  return `${lines.join('\n')}\n`
}

/** Cells with the same answer under the same condition. */
function groupsOf({ cells }: Row): ReadonlyMap<string, readonly Cell[]> {
  const groups = new Map<string, Cell[]>()
  for (const cell of cells) {
    const { column: _, ...answer } = cell
    const key = JSON.stringify(answer)
    groups.set(key, [...(groups.get(key) ?? []), cell])
  }
  return groups
}

/** Who, and both times where they are not the same. */
function answerText({ fixedBy, now, afterReboot }: Cell): string {
  return now === afterReboot ? fixedBy : `${fixedBy} (now ${now}, after a reboot ${afterReboot})`
}
