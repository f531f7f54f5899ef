import type { Evidence } from '../../evidence/evidence.js'
import type { Entry, Found, HostFiles } from '../../evidence/host-files.js'
import { type Dict, type Key, known, type Value } from '../../jinja/value.js'
import { LazyDict } from '../../variables/lazy-dict.js'
import type { Moment } from '../moment.js'
import { answerTo, type Question, questionOf, type Subject } from './question.js'

/** What was asked of a host, in order, each question once, with its answers. */
export interface Trace {
  readonly questions: readonly Question[]
  readonly answers: readonly string[]
}

/** A host that notes what it is asked. */
export interface Watched {
  readonly evidence: Evidence
  readonly moment: Moment
  readonly facts: Dict | undefined
  /** Notes that what is made of a file shows parts of it that nothing asked for. */
  readonly shows: (path: string) => void
  readonly trace: () => Trace
}

/** Facts of which only comparisons with other numbers count; what these are is noted elsewhere. */
export const amounts: ReadonlySet<string> = new Set(['memtotal_mb'])

/**
 * The same host, noting what it is asked. A run is a function of these answers and of what all hosts share: where another host
 * gives the same answers to the same questions, its run is the same, and asks no other questions.
 */
export function watch(subject: Subject): Watched {
  const asked = new Map<string, Question>()
  const noted = new Set<string>()
  const note = (kind: Question['kind'], about = ''): void => {
    const plain = `${kind} ${about}`
    if (noted.has(plain)) return
    noted.add(plain)
    const question = questionOf(kind, subject.identity.mask(about))
    asked.set(question.key, asked.get(question.key) ?? question)
  }
  const { evidence, moment, facts } = subject
  const { files } = evidence
  const entries = new Map<string, Found<Entry>>()
  const watchedFiles: HostFiles = {
    entry: path => {
      const before = entries.get(path)
      if (before !== undefined) return before
      note(isOfProcess(path) ? 'processes' : 'entry', isOfProcess(path) ? '' : path)
      const found = watchedEntry(files.entry(path), path, note)
      entries.set(path, found)
      return found
    },
    list: path => {
      note(path === '/proc' ? 'processes' : 'list', path === '/proc' ? '' : path)
      return files.list(path)
    },
  }
  return {
    evidence: {
      ...evidence,
      files: watchedFiles,
      command: words => {
        note('command', JSON.stringify(words))
        return evidence.command(words)
      },
    },
    moment: {
      files: watchedFiles,
      sysctl: key => {
        note('sysctl', key)
        return moment.sysctl(key)
      },
      module: name => {
        note('module', name)
        return moment.module(name)
      },
      unit: name => {
        note('unit', name)
        return moment.unit(name)
      },
      get swap() {
        note('swap')
        return moment.swap
      },
      get listeners() {
        note('listeners')
        return moment.listeners
      },
    },
    facts: facts === undefined ? undefined : watchedFacts(facts, [], note),
    shows: path => note('whole', path),
    trace: () => {
      const questions = [...asked.values()]
      return { questions, answers: questions.map(question => answerTo(subject, question)) }
    },
  }
}

/** Whether a host answers all that was asked as another did. */
export function hasSameAnswers({ questions, answers }: Trace, subject: Subject): boolean {
  return questions.every((question, index) => answerTo(subject, question) === answers[index])
}

type Note = (kind: Question['kind'], about?: string) => void

function isOfProcess(path: string): boolean {
  return /^\/proc\/[0-9]+(\/|$)/.test(path) && !/^\/proc\/1(\/|$)/.test(path)
}

function watchedEntry(found: Found<Entry>, path: string, note: Note): Found<Entry> {
  if (found.kind !== 'known' || isOfProcess(path)) return found
  const { modified: _modified, size, ...entry } = found.value
  const sized =
    size === undefined
      ? entry
      : Object.defineProperty({ ...entry }, 'size', {
          enumerable: true,
          get: () => {
            note('size', path)
            return size
          },
        })
  if (entry.kind !== 'file') return { kind: 'known', value: sized as Entry }
  const { content } = entry
  const value = Object.defineProperty(sized, 'content', {
    enumerable: true,
    value: () => {
      note('content', path)
      return content()
    },
  })
  return { kind: 'known', value: value as Entry }
}

function watchedFacts(facts: Dict, path: readonly string[], note: Note): Dict {
  return new LazyDict(
    () => {
      note('facts', JSON.stringify(path))
      return facts.keys()
    },
    name => watchedFact(facts, [...path, String(name)], name, note),
  )
}

function watchedFact(facts: Dict, path: readonly string[], name: Key, note: Note): Value | undefined {
  const value = facts.get(name)
  if (path.length === 1 && amounts.has(String(name)) && value !== undefined) return value
  note('fact', JSON.stringify(path))
  if (value?.kind !== 'known' || !(value.data instanceof Map)) return value
  return known(watchedFacts(value.data as Dict, path, note))
}
