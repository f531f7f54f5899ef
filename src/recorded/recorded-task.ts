import { shortHash, type TaskAddress } from '../addresses/address.js'

/** A task of a recorded release: its place, and as much of its address as finds it. */
export interface RecordedTask {
  readonly line: number
  readonly content: string
  /** Hashes of its name and its module, see `keyOf`. */
  readonly key: string
  readonly ordinal: number
  /** Which of the snapshot's texts its name is, where a report shows another one for it. */
  readonly name: number | undefined
}

/** Names and modules by the first digits of their hashes: enough to tell the tasks of one role apart. */
export function keyOf(name: string, module: string): string {
  return shortHash(name, 5) + shortHash(module, 3)
}

/** Whether a recorded task has this name, and this module where one is asked for. */
export function hasName({ key }: RecordedTask, name: string, module: string | undefined): boolean {
  return key.startsWith(shortHash(name, 5)) && (module === undefined || key.endsWith(shortHash(module, 3)))
}

/** `LINE:CONTENT:KEY`, then `#ORDINAL` where it is not the first and `=NAME` where there is one. */
export function recordedTask(address: TaskAddress, line: number, name: number | undefined): string {
  const ordinal = address.ordinal === 1 ? '' : `#${address.ordinal}`
  return `${line}:${address.content}:${keyOf(address.name, address.module)}${ordinal}${name === undefined ? '' : `=${name}`}`
}

/** Reads what `recordedTask` wrote. */
export function readRecordedTask(text: string): RecordedTask {
  const [place = '', name] = text.split('=')
  const [known = '', ordinal = '1'] = place.split('#')
  const [line = '', content = '', key = ''] = known.split(':')
  return {
    line: Number(line),
    content,
    key,
    ordinal: Number(ordinal),
    name: name === undefined ? undefined : Number(name),
  }
}
