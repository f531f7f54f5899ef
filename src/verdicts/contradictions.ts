import { holdsPhrases, type Phrase } from '../markdown/phrases.js'
import { type Sentence, sentencesOf } from '../markdown/sentences.js'
import type { Run } from '../run/task-run.js'
import type { SourceFile, Span } from '../source/text.js'
import type { SourceTree } from '../source/tree.js'
import type { Verdict } from './judge.js'
import type { Claim } from './problem.js'

/** A sentence of kubespray's documentation that its role code contradicts. */
export interface Contradiction {
  /** The problem's id. */
  readonly problem: string
  /** What the sentence says and what is so, in words of our own. */
  readonly says: string
  readonly at: Span
}

/** kubespray's own documentation: README.md and every page below docs/, in order of their paths. */
export function documentsOf(tree: SourceTree): readonly SourceFile[] {
  return ['README.md', ...pagesBelow(tree, 'docs', 0)].flatMap(path => tree.read(path) ?? [])
}

/** Deeper than any documentation is. */
const DEEPEST = 12

function pagesBelow(tree: SourceTree, directory: string, depth: number): readonly string[] {
  if (depth > DEEPEST) return []
  return tree.list(directory).flatMap(name => {
    const path = `${directory}/${name}`
    if (/\.md$/i.test(name)) return tree.entryKind(path) === 'file' ? [path] : []
    return tree.entryKind(path) === 'directory' ? pagesBelow(tree, path, depth + 1) : []
  })
}

/** What the documents say of the problems and the run does not bear out, in order of problems and places. */
export function contradictionsIn(
  documents: readonly SourceFile[],
  verdicts: readonly Verdict[],
  run: Run,
): readonly Contradiction[] {
  const claims = verdicts.flatMap(verdict => (verdict.problem.claims ?? []).map(claim => ({ verdict, claim })))
  const pages = documents.flatMap(file => {
    const text = file.text.toLowerCase()
    return claims.some(({ claim }) => mayHold(text, claim.words)) ? [{ text, sentences: sentencesOf(file) }] : []
  })
  return claims.flatMap(({ verdict, claim }) =>
    pages
      .filter(({ text }) => mayHold(text, claim.words))
      .flatMap(({ sentences }) => sentences.filter(sentence => isSaidIn(sentence, claim)))
      .flatMap(sentence => {
        const but = objection(claim, sentence, verdict, run)
        return but === undefined
          ? []
          : [{ problem: verdict.problem.id, says: `${claim.says}, but ${but}`, at: sentence.at }]
      }),
  )
}

/** Whether it is worth reading a page for these words. */
function mayHold(text: string, words: readonly Phrase[]): boolean {
  return words.every(phrase =>
    [phrase].flat().some(each =>
      each
        .toLowerCase()
        .split(' ')
        .every(word => text.includes(word)),
    ),
  )
}

function isSaidIn(sentence: Sentence, { words, under = [] }: Claim): boolean {
  return (
    holdsPhrases(sentence.text, words) &&
    under.every(phrase => sentence.under.some(text => holdsPhrases(text, [phrase])))
  )
}

/** What speaks against a sentence; undefined where nothing does, or that cannot be told. */
function objection({ claims }: Claim, sentence: Sentence, verdict: Verdict, run: Run): string | undefined {
  switch (claims.kind) {
    case 'fact':
      return claims.but
    case 'fixed-by':
      if (verdict.fixedBy === 'unknown' || verdict.fixedBy === claims.who) return undefined
      if (verdict.fixedBy === 'operator') return 'no task of this run does it'
      return verdict.condition === null ? 'role code does it' : 'role code does it, under a condition'
    case 'least-memory': {
      const said = memoryIn(sentence.text)
      const asked = askedFor(claims.variable, run)
      if (said === undefined || asked === undefined || (asked >= said.least && asked <= said.most)) return undefined
      return `the run asks for ${asked} MB (${claims.variable})`
    }
  }
}

/** `2 GB` in MB: manufacturers count in thousands, kernels in 1024. */
function memoryIn(text: string): { readonly least: number; readonly most: number } | undefined {
  const [, amount, unit] = /(\d{1,9}(?:\.\d{1,3})?)\s?([MG])i?B\b/i.exec(text) ?? []
  if (amount === undefined || unit === undefined) return undefined
  const number = Number(amount)
  return unit.toUpperCase() === 'M' ? { least: number, most: number } : { least: number * 1000, most: number * 1024 }
}

/** The number a stop of the run compares with: the value of a variable in one of the conditions it asserts. */
function askedFor(variable: string, run: Run): number | undefined {
  for (const { invocations } of run.tasks) {
    for (const { names } of invocations.flatMap(({ asserted }) => asserted ?? [])) {
      const value = names.find(({ name }) => name === variable)?.value
      if (value?.kind !== 'known') continue
      const { data } = value
      if (typeof data === 'bigint' || typeof data === 'number') return Number(data)
      if (typeof data === 'string' && /^\d{1,15}$/.test(data)) return Number(data)
    }
  }
  return undefined
}
