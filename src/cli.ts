#!/usr/bin/env node
import { runCommandLine } from './commands/command-line.js'

// A reader that closes the pipe early (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
}

process.exitCode = runCommandLine(process.argv.slice(2), {
  out: text => void process.stdout.write(text),
  err: line => void process.stderr.write(`${line}\n`),
  colours: process.stdout.isTTY && process.env.NO_COLOR === undefined,
})
