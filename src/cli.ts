#!/usr/bin/env node
import { loadCommands, runCommandLine } from './commands/command-line.js'

// A reader that closes the pipe early (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
}

const args = process.argv.slice(2)
const terminal = {
  out: (text: string) => void process.stdout.write(text),
  err: (line: string) => void process.stderr.write(`${line}\n`),
  ...(process.stderr.isTTY ? { progress: (line: string) => void process.stderr.write(`\r\x1b[K${line}`) } : {}),
  colours: process.stdout.isTTY && process.env.NO_COLOR === undefined,
}
process.exitCode = runCommandLine(args, terminal, await loadCommands(args))
