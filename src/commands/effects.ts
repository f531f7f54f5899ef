import { type Command, InvalidArgumentError } from 'commander'
import { type AnalysisRequest, analyze } from '../analyze.js'
import { type EffectQuery, effectKinds } from '../effects/query.js'
import { sourceOf } from '../recorded/published.js'
import { renderEffectsJson, renderResidueJson } from '../reports/effects-json.js'
import { reportedEffects, reportedResidue } from '../reports/effects-report.js'
import { renderEffectsText, renderResidueText } from '../reports/effects-text.js'
import { namingOf, reportedDiagnostic } from '../reports/report.js'
import { UsageError } from '../source/diagnostic.js'
import type { SourceTree } from '../source/tree.js'
import { findEffects } from '../verdicts/find.js'
import { residueOf } from '../verdicts/residue.js'
import type { DefineCommand, Terminal } from './command.js'
import { type AnalysisOptions, addAnalysisOptions, addOutputOptions, type OutputOptions, requestOf } from './options.js'
import { styleFor, writeReport } from './output.js'
import { openCodeOf, tellDiagnostics } from './subject.js'

interface EffectsOptions extends AnalysisOptions, OutputOptions {
  readonly path: readonly string[]
  readonly unit: readonly string[]
  readonly sysctl: readonly string[]
  readonly kernelModule: readonly string[]
  readonly port: readonly string[]
  readonly package: readonly string[]
  readonly program: readonly string[]
  readonly kind: readonly string[]
  readonly residue?: boolean
  readonly resetBy: string
}

/** `whofixes effects`: what a run does to the host, searched from the host's side. */
export const defineEffects: DefineCommand = (program, terminal, finish) => {
  const command = program
    .command('effects')
    .description('what the run does to a host; who touches a path, a unit, a setting; what a reset leaves behind')
    .argument('[source]', 'a release, a directory or DIR@REV (default: the newest recorded release)')
  addQuestions(command)
    .option('--residue', 'what the run leaves on a host that the resetting playbook does not take away')
    .option('--reset-by <file>', 'the resetting playbook for --residue', 'reset.yml')
  addOutputOptions(addAnalysisOptions(command), ['text', 'json']).action(
    (source: string | undefined, options: EffectsOptions) => {
      const tree = openCodeOf(source, 'effects')
      const request = requestOf(options)
      if (options.residue) tellResidue(tree, request, options, terminal)
      else tellEffects(tree, request, options, terminal)
      finish(0)
    },
  )
}

const collect = (value: string, before: readonly string[]): readonly string[] => {
  if (value === '') throw new InvalidArgumentError('it is empty.')
  return [...before, value]
}

function addQuestions(command: Command): Command {
  return command
    .option('--path <path>', 'effects on this file, or on what takes it along; may be repeated', collect, [])
    .option('--unit <unit>', 'effects on this unit; may be repeated', collect, [])
    .option('--sysctl <key>', 'effects on this kernel setting; may be repeated', collect, [])
    .option('--kernel-module <name>', 'effects on this kernel module; may be repeated', collect, [])
    .option('--port <port>', 'effects on who holds this port; may be repeated', collect, [])
    .option('--package <name>', 'effects on this package; may be repeated', collect, [])
    .option('--program <name>', 'commands that run this program (sh: any shell); may be repeated', collect, [])
    .option('--kind <kind>', 'effects of this kind (see docs/effects.md); may be repeated', collect, [])
}

function queryOf(options: EffectsOptions): EffectQuery {
  const strange = options.kind.find(kind => !effectKinds.some(each => each === kind))
  if (strange !== undefined)
    throw new UsageError(`--kind ${strange}: no such kind; there are ${effectKinds.join(', ')}`)
  const port = options.port.find(each => !/^\d+$/.test(each) || Number(each) < 1 || Number(each) > 65535)
  if (port !== undefined) throw new UsageError(`--port ${port}: expected a number from 1 to 65535`)
  return {
    paths: options.path,
    units: options.unit,
    sysctls: options.sysctl,
    kernelModules: options.kernelModule,
    ports: options.port,
    packages: options.package,
    programs: options.program,
    kinds: options.kind,
  }
}

function tellEffects(tree: SourceTree, request: AnalysisRequest, options: EffectsOptions, terminal: Terminal): void {
  const query = queryOf(options)
  const { origin, run, effects, addresses, diagnostics } = analyze(tree, request)
  const source = sourceOf(origin)
  const report = {
    source,
    playbook: run.playbook,
    host: run.host,
    tasks: run.tasks.length,
    effects: reportedEffects(findEffects(effects, query), namingOf(source, addresses)),
  }
  const text =
    options.format === 'json' ? renderEffectsJson(report) : renderEffectsText(report, styleFor(options, terminal))
  writeReport(text, options, terminal)
  tellDiagnostics(diagnostics.map(reportedDiagnostic), options, terminal)
}

function tellResidue(tree: SourceTree, request: AnalysisRequest, options: EffectsOptions, terminal: Terminal): void {
  const { origin, run, effects, addresses, diagnostics } = analyze(tree, request)
  // Tags choose what is run; what takes it away is run as a whole.
  const reset = analyze(tree, { ...request, playbook: options.resetBy, tags: [], skipTags: [] })
  const source = sourceOf(origin)
  const report = {
    source,
    playbook: run.playbook,
    resetBy: options.resetBy,
    host: run.host,
    ...reportedResidue(residueOf(effects, reset.effects), namingOf(source, addresses)),
  }
  const text =
    options.format === 'json' ? renderResidueJson(report) : renderResidueText(report, styleFor(options, terminal))
  writeReport(text, options, terminal)
  tellDiagnostics([...diagnostics, ...reset.diagnostics].map(reportedDiagnostic), options, terminal)
}
