import type { Task } from '../../ansible/statement.js'
import { known, type Value } from '../../jinja/value.js'
import type { Answered } from '../../run/host-view.js'
import type { Invocation } from '../../run/task-run.js'
import type { Moment } from '../moment.js'
import { givenIn } from './arguments.js'
import { bytesAt, standsAt } from './paths.js'
import { open } from './said.js'

/** `slurp`: the content of a file in base64; without such a file it fails. */
export function slurpOf(task: Task, invocation: Invocation, moment: Moment): Answered | undefined {
  const path = givenIn(invocation).path('src', 'path')
  if (path === undefined) return undefined
  const found = bytesAt(moment, path)
  if (found === undefined) return undefined
  if (found === 'directory') return failing(`source is a directory and must be a file: ${path}`)
  if (found.kind === 'absent') return failing(`file not found: ${path}`)
  if (found.kind === 'unknown') {
    const content = open(found.because, task)
    return {
      kind: 'fields',
      fields: new Map([
        ['content', content],
        ['failed', isThere(moment, path, content)],
      ]),
    }
  }
  const content = Buffer.from(found.value.buffer, found.value.byteOffset, found.value.byteLength).toString('base64')
  const members: [string, string][] = [
    ['content', content],
    ['encoding', 'base64'],
    ['source', path],
  ]
  return { kind: 'fields', fields: new Map(members.map(([name, text]) => [name, known(text)])) }
}

/** A file whose content was left out can be read all the same. */
function isThere(moment: Moment, path: string, otherwise: Value): Value {
  const found = standsAt(moment, path, true)
  return found?.kind === 'known' && found.value.kind === 'file' ? known(false) : otherwise
}

function failing(msg: string): Answered {
  return {
    kind: 'fields',
    fields: new Map([
      ['failed', known(true)],
      ['msg', known(msg)],
    ]),
  }
}
