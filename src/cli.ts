#!/usr/bin/env node
import { writeSync } from 'node:fs'
import { runCommandLine } from './commands/command-line.js'

// A reader that closes the pipe early (`| head`) is no error.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
})

process.exitCode = runCommandLine(process.argv.slice(2), {
  out: text => void process.stdout.write(text),
  err: line => void writeSync(2, `${line}\n`),
  colours: process.stdout.isTTY && process.env.NO_COLOR === undefined,
})
