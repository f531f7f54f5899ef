import assert from 'node:assert/strict'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Project } from 'ts-morph'

/**
 * The stages in the order in which text becomes a verdict. A stage may import the ones before it, never one behind it;
 * that is what keeps the pipeline readable from top to bottom.
 */
const stages = [
  'source',
  'yaml',
  'jinja',
  'ansible',
  'inventory',
  'variables',
  'run',
  'effects',
  'verdicts',
  'rules',
  'reports',
  'recorded',
  'analyze.ts',
  'commands',
  'cli.ts',
] as const

/** Stages that know less than the order would let them. */
const only: Readonly<Record<string, readonly string[]>> = {
  yaml: ['source'],
  jinja: ['source'],
}

/** The stages that may touch files or processes; everything else is a function of what it is given. */
const mayTouchTheOutside = ['source', 'recorded', 'inventory', 'commands', 'cli.ts']
const outside = ['node:fs', 'node:fs/promises', 'node:child_process', 'node:os', 'node:net', 'node:http', 'node:https']

const bannedNames = ['util', 'utils', 'helpers', 'helper', 'common', 'types', 'misc', 'index']

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
const project = new Project({
  tsConfigFilePath: resolve(root, 'tsconfig.json'),
  skipAddingFilesFromTsConfig: true,
  skipFileDependencyResolution: true,
})
project.addSourceFilesAtPaths([resolve(root, 'src/**/*.ts'), resolve(root, 'rules/**/*.ts')])

const files = project.getSourceFiles().map(file => ({ file, path: relative(root, file.getFilePath()) }))

function stageOf(path: string): string {
  const [top = '', second = ''] = path.split('/')
  return top === 'rules' ? 'rules' : second
}

describe('architecture', () => {
  it('has a stage for every file', () => {
    const strays = files.map(({ path }) => path).filter(path => !(stages as readonly string[]).includes(stageOf(path)))
    assert.deepEqual(strays, [])
  })

  it('imports only stages that come before', () => {
    const wrong: string[] = []
    for (const { file, path } of files) {
      for (const declaration of [...file.getImportDeclarations(), ...file.getExportDeclarations()]) {
        const specifier = declaration.getModuleSpecifierValue()
        if (!specifier?.startsWith('.')) continue
        const target = relative(root, resolve(root, dirname(path), specifier))
        const from = stageOf(path)
        const to = stageOf(target)
        const allowed =
          from === to || (only[from]?.includes(to) ?? stages.indexOf(to as never) < stages.indexOf(from as never))
        if (!allowed) wrong.push(`${path} imports ${target}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('touches files and processes only at the edges', () => {
    const wrong = files.flatMap(({ file, path }) =>
      file
        .getImportDeclarations()
        .filter(declaration => outside.includes(declaration.getModuleSpecifierValue()))
        .filter(() => !mayTouchTheOutside.includes(stageOf(path)))
        .map(declaration => `${path} imports ${declaration.getModuleSpecifierValue()}`),
    )
    assert.deepEqual(wrong, [])
  })

  it('has no default exports, no enums, and names that say what a file is', () => {
    const wrong = files.flatMap(({ file, path }) => [
      ...(file.getDefaultExportSymbol() ? [`${path} has a default export`] : []),
      ...file.getEnums().map(found => `${path} has the enum ${found.getName()}`),
      ...(bannedNames.includes(path.split('/').at(-1)?.replace(/\.ts$/, '') ?? '') && path !== 'rules/index.ts'
        ? [`${path} has a name that says nothing`]
        : []),
    ])
    assert.deepEqual(wrong, [])
  })

  it('documents what it exports', () => {
    const undocumented = files.flatMap(({ file, path }) =>
      file
        .getFunctions()
        .filter(found => found.isExported() && found.getJsDocs().length === 0)
        .map(found => `${path}: ${found.getName()}`),
    )
    assert.ok(
      undocumented.length / files.length < 1,
      `exported functions without a docstring:\n${undocumented.join('\n')}`,
    )
  })
})
