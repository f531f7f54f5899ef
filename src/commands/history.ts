import { statSync } from 'node:fs'
import { problemById, problems } from '../../rules/index.js'
import { analyze, defaultRequest } from '../analyze.js'
import { readSnapshot, recordedReleases } from '../recorded/snapshot.js'
import {
  changesOf,
  type HistoryChange,
  type HistoryEntry,
  renderHistoryJson,
  renderHistoryText,
} from '../reports/history.js'
import type { Report, ReportedVerdict } from '../reports/report.js'
import { commitsTouching, lastChangesOf } from '../source/commits.js'
import { UsageError } from '../source/diagnostic.js'
import { openRevision, releaseTags } from '../source/revision.js'
import { lineOf, positionOf } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Problem } from '../verdicts/problem.js'
import type { Node } from '../yaml/node.js'
import { readYamlFile } from '../yaml/read.js'
import type { DefineCommand } from './command.js'
import { addOutputOptions, type OutputOptions } from './options.js'
import { styleFor, writeReport } from './output.js'
import { isKubespray, reportOfAnalysis } from './subject.js'

/** `whofixes history`: over the release tags of a repository, where what is said of a problem changed. */
export const defineHistory: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('history')
    .description('over the release tags of a repository: where the verdict, its condition or its deciding task changed')
    .argument('<problem>', 'as in who-fixes.json: swap, br_netfilter, …')
    .argument('<dir>', 'a git repository, bare or not')
    .option(
      '--since <release>',
      'begin with this release (default: the oldest recorded one, where the repository has it)',
    )
    .option('--fresh', 'read the role code of every release, also of those whose answer is recorded')
  addOutputOptions(command, ['text', 'json']).action(
    (
      problem: string,
      directory: string,
      options: OutputOptions & { readonly fresh?: boolean; readonly since?: string },
    ) => {
      const asked = problemById(problem)
      if (asked === undefined) {
        throw new UsageError(`no problem '${problem}'; there are ${problems.map(({ id }) => id).join(', ')}`)
      }
      if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
        throw new UsageError(`${directory}: not a directory; expected a git repository`)
      }
      const entries = tagsSince(directory, options.since).flatMap(({ tag, commit }) => {
        const entry = entryOf(asked, directory, tag, commit, options.fresh === true)
        if (entry === undefined) terminal.err(`${tag}: no kubespray with role code this reads; left out`)
        return entry ?? []
      })
      if (entries.length === 0) throw new UsageError(`${directory}: no release tag (v2.31.0) of kubespray in it`)
      const history = {
        problem,
        title: asked.title,
        repository: directory,
        releases: entries.length,
        recorded: entries.filter(({ from }) => from === 'recorded').length,
        changes: changesOf(entries).map(change => ({ ...change, commits: commitsOf(directory, change, entries) })),
      }
      const json = options.format === 'json'
      writeReport(
        json ? renderHistoryJson(history) : renderHistoryText(history, styleFor(options, terminal)),
        options,
        terminal,
      )
      finish(0)
    },
  )
}

/** The release tags from one on; without one from the oldest recorded, before which no answer comes at once. */
function tagsSince(directory: string, since: string | undefined): ReturnType<typeof releaseTags> {
  const tags = releaseTags(directory)
  const first = tags.findIndex(({ tag }) => tag === (since ?? recordedReleases()[0]))
  if (first < 0 && since !== undefined) throw new UsageError(`--since ${since}: ${directory} has no such release tag`)
  return tags.slice(Math.max(first, 0))
}

function entryOf(
  problem: Problem,
  directory: string,
  tag: string,
  commit: string,
  fresh: boolean,
): HistoryEntry | undefined {
  const recorded = fresh ? undefined : readSnapshot(tag)?.report
  const known = recorded?.source.commit === commit ? verdictOn(problem, recorded) : undefined
  if (known !== undefined) return { release: tag, commit, from: 'recorded', verdict: known }
  const verdict = verdictOn(problem, reportOn(directory, tag, problem))
  return verdict && { release: tag, commit, from: 'code', verdict }
}

function verdictOn({ id }: Problem, report: Report | undefined): ReportedVerdict | undefined {
  return report?.problems.find(each => each.id === id)
}

/** In the words of a snapshot, so that recorded and fresh answers can be compared. */
function reportOn(directory: string, tag: string, problem: Problem): Report | undefined {
  const tree = openRevision(directory, tag)
  // A port that is not in the catalogue is judged for this answer alone.
  const beside = problems.some(({ id }) => id === problem.id) ? [] : [problem]
  return isKubespray(tree)
    ? reportOfAnalysis(analyze(tree, { ...defaultRequest, beside, quoteCode: false }))
    : undefined
}

/**
 * The commits between two releases that last changed the lines of tasks that decide now, and those that touched files in
 * which tasks decided before and none does now; newest first.
 */
function commitsOf(
  directory: string,
  { release, before, tasks, gone }: HistoryChange,
  entries: readonly HistoryEntry[],
): readonly string[] {
  const from = entries.find(entry => entry.release === before)?.commit
  const to = entries.find(entry => entry.release === release)?.commit
  if (from === undefined || to === undefined) return []
  const tree = openRevision(directory, to)
  const files = new Set(tasks.map(({ file }) => file))
  const left = [...new Set(gone.map(({ file }) => file))].filter(file => !files.has(file))
  const blamed = tasks.flatMap(({ file, line }) => lastChangesOf(directory, to, file, linesOfTask(tree, file, line)))
  const made = new Set([...blamed, ...commitsTouching(directory, from, to, left)])
  return commitsTouching(directory, from, to, [...files, ...left]).filter(commit => made.has(commit))
}

/** The lines of the task that starts on a line of a file. */
function linesOfTask(tree: SourceTree, path: string, line: number): { readonly first: number; readonly last: number } {
  const file = tree.read(path)
  const found =
    file &&
    startingOn(
      readYamlFile(file, () => {}),
      line,
    )
  return { first: line, last: found === undefined ? line : positionOf(found.span.file, found.span.end - 1).line }
}

function startingOn(node: Node, line: number): Node | undefined {
  if (node.kind === 'map') {
    if (lineOf(node.span) === line) return node
    return node.entries.map(({ value }) => startingOn(value, line)).find(each => each !== undefined)
  }
  return node.kind === 'list'
    ? node.items.map(item => startingOn(item, line)).find(each => each !== undefined)
    : undefined
}
