import { TRUE, type Truth, type Value } from '../jinja/value.js'
import { askText, textOf } from './argument.js'

const NAMES = new Set(
  'HUP INT QUIT ILL TRAP ABRT IOT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO POLL PWR SYS'.split(
    ' ',
  ),
)
/** Those that are asked for to end a process, whatever it is, by name and number (man 7 signal, x86 and ARM). */
const ENDING = new Set(['TERM', '15', 'KILL', '9', 'INT', '2', 'QUIT', '3', 'ABRT', 'IOT', '6'])

function nameOf(text: string): string {
  const name = text.trim().toUpperCase()
  return name.startsWith('SIG') ? name.slice(3) : name
}

/** Whether a word is a signal given as an option: `-9`, `-KILL`, `-SIGTERM`. */
export function isSignal(word: Value): boolean {
  const text = textOf(word)
  if (text === undefined || !text.startsWith('-')) return false
  const name = nameOf(text.slice(1))
  return /^\d+$/.test(name) || NAMES.has(name)
}

/**
 * Whether a signal ends the processes it is sent to: HUP and USR1 are most often asked for to have a file read again, STOP
 * only holds a process. Absent it is the default of the program, which ends them.
 */
export function endsProcesses(signal: Value | undefined): Truth {
  return signal === undefined ? TRUE : askText(signal, text => ENDING.has(nameOf(text)))
}
