import { clonePath, fetchClone } from '../source/clone.js'
import type { DefineCommand } from './command.js'

/** `whofixes fetch`: makes or updates the local clone. */
export const defineFetch: DefineCommand = (program, terminal, finish) => {
  program
    .command('fetch')
    .description('make or update the local clone of kubespray (the only command that may use the network)')
    .option('--from <url-or-path>', 'where to clone from (default: the kubespray repository on GitHub)')
    .option('-q, --quiet', 'no progress')
    .action((options: { from?: string; quiet?: boolean }) => {
      fetchClone(options.from, line => options.quiet || terminal.err(line))
      if (!options.quiet) terminal.err(`the local clone is ${clonePath()}`)
      finish(0)
    })
}
