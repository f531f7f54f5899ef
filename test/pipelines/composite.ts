import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { data, Evaluator, Lexer, Parser } from '@actions/expressions'
import { parse } from 'yaml'

/** A composite action as its file says it. */
export interface Action {
  readonly name: string
  readonly description: string
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>
  readonly outputs: Readonly<Record<string, { readonly description: string; readonly value: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

interface Step {
  readonly name: string
  readonly id?: string
  readonly if?: string
  readonly shell: string
  readonly run: string
  readonly env?: Readonly<Record<string, string>>
  readonly 'working-directory'?: string
}

export function readAction(path: string): Action {
  return parse(readFileSync(path, 'utf8'))
}

/** What the service gives to a job. */
export interface Job {
  readonly actionPath: string
  readonly workspace: string
  /** A directory for what the service keeps of a job. */
  readonly runner: string
  readonly github: Readonly<Record<string, unknown>>
  readonly inputs: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Done {
  /** The names of the steps that ran. */
  readonly ran: readonly string[]
  readonly failed: string | undefined
  readonly log: string
  readonly summary: string
  readonly outputs: Readonly<Record<string, string>>
}

/**
 * Runs the steps of a composite action in order, each as GitHub's runner does: expressions evaluated by GitHub's own library,
 * the script in a file for `bash --noprofile --norc -eo pipefail`, outputs, path and summary through files. An unknown input
 * is an error, where the service only warns. After a step that fails none runs.
 */
export function runAction(action: Action, job: Job): Done {
  const unknown = Object.keys(job.inputs).filter(name => !(name in action.inputs))
  if (unknown.length > 0) throw new Error(`no such input: ${unknown.join(', ')}`)
  mkdirSync(job.runner, { recursive: true })
  const runner = mkdtempSync(join(job.runner, 'job-'))
  const file = (name: string): string => join(runner, name)
  for (const name of ['output', 'path', 'summary']) writeFileSync(file(name), '')

  const fixed = { github: job.github, runner: { temp: runner } }
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([name, { default: usual = '' }]) => [
      name,
      job.inputs[name] ?? filledIn(usual, { ...fixed, inputs: {}, steps: {} }),
    ]),
  )
  const steps: Record<string, { outputs: Record<string, string> }> = {}
  const ran: string[] = []
  let failed: string | undefined
  let log = ''
  let path = job.env.PATH ?? ''
  for (const step of action.runs.steps) {
    const context = { ...fixed, inputs, steps }
    if (step.if !== undefined && !evaluated(step.if, context).truthy) continue
    if (step.shell !== 'bash') throw new Error(`${step.name}: shell ${step.shell}`)
    if (step.run.includes('${{')) throw new Error(`${step.name}: an expression inside a script can be broken out of`)
    ran.push(step.name)
    writeFileSync(file('script.sh'), step.run)
    writeFileSync(file('output'), '')
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', file('script.sh')],
      {
        cwd: join(job.workspace, filledIn(step['working-directory'] ?? '.', context)),
        encoding: 'utf8',
        env: {
          ...job.env,
          PATH: path,
          CI: 'true',
          GITHUB_ACTIONS: 'true',
          GITHUB_ACTION_PATH: job.actionPath,
          GITHUB_WORKSPACE: job.workspace,
          GITHUB_OUTPUT: file('output'),
          GITHUB_PATH: file('path'),
          GITHUB_STEP_SUMMARY: file('summary'),
          RUNNER_TEMP: runner,
          ...Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, filledIn(text, context)])),
        },
      },
    )
    log += `${stdout}${stderr}`
    path = [...readFileSync(file('path'), 'utf8').split('\n').filter(Boolean), job.env.PATH].join(':')
    if (step.id !== undefined) steps[step.id] = { outputs: outputsIn(readFileSync(file('output'), 'utf8')) }
    if (status === 0) continue
    failed = step.name
    break
  }
  const context = { ...fixed, inputs, steps }
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, filledIn(value, context)])
  return { ran, failed, log, summary: readFileSync(file('summary'), 'utf8'), outputs: Object.fromEntries(outputs) }
}

function outputsIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter(Boolean)
  return Object.fromEntries(
    lines.map(line => {
      const [, name = '', value = ''] = /^([\w-]+)=(.*)$/.exec(line) ?? []
      if (name === '') throw new Error(`GITHUB_OUTPUT: not NAME=VALUE: ${line}`)
      return [name, value]
    }),
  )
}

/** A text with its `${{ … }}` filled in. */
function filledIn(text: string, context: object): string {
  return String(text).replace(/\$\{\{(.*?)\}\}/gs, (_, expression: string) => evaluated(expression, context).text)
}

function evaluated(expression: string, context: object): { readonly text: string; readonly truthy: boolean } {
  const names = Object.keys(context)
  const tree = new Parser(new Lexer(expression.trim()).lex().tokens, names, []).parse()
  const known = JSON.parse(JSON.stringify(context), data.reviver) as data.Dictionary
  const result = new Evaluator(tree, known).evaluate()
  const text = result.coerceString()
  const isFalse = ['', 'false'].includes(text) || (result.kind === data.Kind.Number && result.number() === 0)
  return { text, truthy: !isFalse }
}

/** Reads a file that may not be there. */
export function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
