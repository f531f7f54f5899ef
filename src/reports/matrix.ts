import type { FixedBy } from '../verdicts/judge.js'
import { jsonText } from './json-text.js'
import type { Report, ReportedSource } from './report.js'
import { inColour, sourceText } from './report-text.js'
import { outputs } from './schemas.js'
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

/** The same problems in several runs side by side. */
export interface MatrixJson {
  /** The address of the schema this output follows. */
  readonly schema: typeof outputs.matrix.schema
  /** Where the role code was read. */
  readonly source: ReportedSource
  /** The playbook of the runs, relative to the checkout; absent where each column is another playbook. */
  readonly playbook?: string
  /** The host the answers are about, as the inventory names it. */
  readonly host: string
  /** What differs between the columns: the distribution of the host, or the playbook. */
  readonly by: Matrix['by']
  /** Where the names of the columns come from, in plain words. */
  readonly columnsFrom: string
  /** The names of the columns, in order: distributions, or playbooks. */
  readonly columns: readonly string[]
  /** Every problem that was judged, in the order of the catalogue. */
  readonly problems: readonly MatrixRowJson[]
}

/** One problem in every run. */
export interface MatrixRowJson {
  /** The problem's name in the catalogue, as in `swap`. */
  readonly id: string
  /** The problem in a few words. */
  readonly title: string
  /** Whether who fixes it differs between columns; conditions apart. */
  readonly differs: boolean
  /** One a column, in their order. */
  readonly cells: readonly MatrixCellJson[]
}

/** Who fixes a problem in one run. */
export interface MatrixCellJson {
  /** The column's name. */
  readonly column: string
  /** Who has to fix it for good. */
  readonly fixedBy: FixedBy
  /** Under which condition, in Ansible's words: what only the host can decide. Null where it always holds. */
  readonly condition: string | null
  /** Who fixes it on the running host. */
  readonly now: FixedBy
  /** Who keeps it fixed when the host has booted again. */
  readonly afterReboot: FixedBy
}

function rowsOf({ columns }: Matrix): readonly MatrixRowJson[] {
  const problems = columns[0]?.report.problems ?? []
  return problems.map(({ id, title }) => {
    const cells = columns.flatMap(({ name, report }): readonly MatrixCellJson[] => {
      const problem = report.problems.find(each => each.id === id)
      if (problem === undefined) return []
      const { fixedBy, condition, now, afterReboot } = problem
      return [{ column: name, fixedBy, condition, now: now.fixedBy, afterReboot: afterReboot.fixedBy }]
    })
    const answers = new Set(cells.map(({ fixedBy, now, afterReboot }) => `${fixedBy} ${now} ${afterReboot}`))
    return { id, title, differs: answers.size > 1, cells }
  })
}

/** The matrix for machines: every problem with one cell a column, and whether they differ. */
export function renderMatrixJson(matrix: Matrix): string {
  const { by, source, host, playbook, columnsFrom, columns } = matrix
  const json: MatrixJson = {
    schema: outputs.matrix.schema,
    source,
    ...(by === 'os' ? { playbook } : {}),
    host,
    by,
    columnsFrom,
    columns: columns.map(({ name }) => name),
    problems: rowsOf(matrix),
  }
  return jsonText(json)
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
function groupsOf({ cells }: MatrixRowJson): ReadonlyMap<string, readonly MatrixCellJson[]> {
  const groups = new Map<string, MatrixCellJson[]>()
  for (const cell of cells) {
    const { column: _, ...answer } = cell
    const key = JSON.stringify(answer)
    groups.set(key, [...(groups.get(key) ?? []), cell])
  }
  return groups
}

/** Who, and both times where they are not the same. */
function answerText({ fixedBy, now, afterReboot }: MatrixCellJson): string {
  return now === afterReboot ? fixedBy : `${fixedBy} (now ${now}, after a reboot ${afterReboot})`
}
