import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ClassDeclaration, Node, Project, type SourceFile, SyntaxKind } from 'ts-morph'
import { stages } from './stages.js'

/** Stages that know less than the order would let them. */
const only: Readonly<Record<string, readonly string[]>> = {
  yaml: ['source'],
  markdown: ['source'],
  jinja: ['source'],
}

/** The stages that may touch files or processes; everything else is a function of what it is given. */
const mayTouchTheOutside = ['source', 'evidence', 'recorded', 'inventory', 'commands', 'cli.ts']
const outside = /^node:(fs|fs\/promises|child_process|os|net|http|https|dns|worker_threads)$/

/** Where somebody is asked for input and can be told that it is no use. */
const mayRefuse = ['source', 'evidence', 'inventory', 'recorded', 'analyze.ts', 'commands', 'library.ts', 'cli.ts']

/** Each package is one stage's business. */
const usedBy: Readonly<Record<string, string | readonly string[]>> = {
  '@lezer/common': 'citations',
  '@lezer/markdown': 'citations',
  commander: 'commands',
  diff: ['audit', 'reports'],
  globby: 'commands',
  ini: 'run',
  jiti: 'commands',
  'ipaddr.js': 'jinja',
  jmespath: 'jinja',
  sarif: 'reports',
  tar: 'evidence',
  'linkify-it': 'citations',
  micromark: 'citations',
  'micromark-extension-frontmatter': 'citations',
  'micromark-extension-gfm': 'citations',
  'micromark-extension-mdxjs': 'citations',
  'micromark-util-decode-string': 'citations',
  'micromark-util-types': 'citations',
  parse5: 'citations',
  unbash: 'effects',
  yaml: 'yaml',
}

/** Words that say nothing about what a file, function or type is. As one word of a name or the whole of it. */
/** Names of programs that hold such a word: NetworkManager is what the problem is about. */
const programNames = new Set(['network_manager', 'networkManager'])
const emptyWords = /^(utils?|helpers?|common|types|misc|shared|managers?|handle|process|processor)$/

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

/** The modules a file names, in `import … from` and `export … from`, and in `import()`. */
function specifiersOf(file: SourceFile): readonly string[] {
  return [
    ...[...file.getImportDeclarations(), ...file.getExportDeclarations()].flatMap(
      declaration => declaration.getModuleSpecifierValue() ?? [],
    ),
    ...specifiersOfLater(file),
  ]
}

/** The modules a file loads when it gets there. What is no literal text cannot be followed, and is not allowed. */
function specifiersOfLater(file: SourceFile): readonly string[] {
  return file
    .getDescendantsOfKind(SyntaxKind.CallExpression)
    .filter(call => call.getExpression().getKind() === SyntaxKind.ImportKeyword)
    .map(call => {
      const [specifier] = call.getArguments()
      assert.ok(Node.isStringLiteral(specifier), `${file.getFilePath()}: import() of something else than a text`)
      return specifier.getLiteralValue()
    })
}

/** The files that are loaded once `path` is imported: what it imports for more than types, and so on. */
function loadedWith(path: string): readonly string[] {
  const loaded = [path]
  // The list grows while it is walked.
  for (const each of loaded) {
    const file = files.find(found => found.path === each)?.file
    for (const declaration of [...(file?.getImportDeclarations() ?? []), ...(file?.getExportDeclarations() ?? [])]) {
      const specifier = declaration.isTypeOnly() ? undefined : declaration.getModuleSpecifierValue()
      if (specifier === undefined) continue
      const target = specifier.startsWith('.')
        ? relative(root, resolve(root, dirname(each), specifier)).replace(/\.js$/, '.ts')
        : specifier
      if (!loaded.includes(target)) loaded.push(target)
    }
  }
  return loaded
}

function exportsDefault(file: SourceFile): boolean {
  return (
    file.getExportAssignments().length > 0 ||
    [...file.getFunctions(), ...file.getClasses()].some(found => found.hasDefaultKeyword()) ||
    file.getExportDeclarations().some(found => found.getNamedExports().some(each => /\bdefault$/.test(each.getText())))
  )
}

/** Whether a class is only there to be thrown and caught by what it is. */
function isThrown(found: ClassDeclaration): boolean {
  const name = found.getName()
  return found
    .getSourceFile()
    .getDescendantsOfKind(SyntaxKind.ThrowStatement)
    .some(statement => {
      const thrown = statement.getExpression()
      return Node.isNewExpression(thrown) && thrown.getExpression().getText() === name
    })
}

/** The words of a camelCase, kebab-case or snake_case name. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
}

interface Declared {
  readonly name: string
  readonly documented: boolean
}

/** What a file gives to others that can be called: functions, and constants that hold one. */
function exportedFunctions(file: SourceFile): readonly Declared[] {
  const functions = file.getFunctions().filter(found => found.hasExportKeyword())
  const constants = file.getVariableStatements().filter(found => found.hasExportKeyword())
  return [
    ...functions.map(found => ({ name: found.getName() ?? 'default', documented: found.getJsDocs().length > 0 })),
    ...constants.flatMap(statement =>
      statement
        .getDeclarations()
        .filter(found => Node.isArrowFunction(found.getInitializer()))
        .map(found => ({ name: found.getName(), documented: statement.getJsDocs().length > 0 })),
    ),
  ]
}

function exportedNames(file: SourceFile): readonly string[] {
  const declarations = [...file.getFunctions(), ...file.getInterfaces(), ...file.getTypeAliases(), ...file.getClasses()]
  const constants = file.getVariableStatements().filter(found => found.hasExportKeyword())
  return [
    ...declarations.filter(found => found.hasExportKeyword()).map(found => found.getName() ?? 'default'),
    ...constants.flatMap(statement => statement.getDeclarations().map(found => found.getName())),
  ]
}

/** The package of an import: `yaml` of `yaml/util`; undefined for our own files and Node's modules. */
function packageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

describe('architecture', () => {
  it('has a stage for every file', () => {
    const strays = files.map(({ path }) => path).filter(path => !(stages as readonly string[]).includes(stageOf(path)))
    assert.deepEqual(strays, [])
    const empty = stages.filter(stage => !files.some(({ path }) => stageOf(path) === stage))
    assert.deepEqual(empty, [], 'stages without a file')
  })

  it('imports only stages that come before', () => {
    const wrong: string[] = []
    for (const { file, path } of files) {
      for (const specifier of specifiersOf(file).filter(each => each.startsWith('.'))) {
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

  it('loads next to nothing where the library is only imported', () => {
    assert.deepEqual(loadedWith('src/library.ts'), [
      'src/library.ts',
      'src/reports/answer-json.ts',
      'src/source/diagnostic.ts',
      'src/reports/json-text.ts',
      'src/source/visible.ts',
    ])
    assert.ok(loadedWith('src/commands/subject.ts').length > 150, 'and it sees what is loaded')
    assert.ok(loadedWith('src/cli.ts').length < 20, 'nor before it is known which command is asked for')
  })

  it('touches files and processes only at the edges', () => {
    const wrong = files
      .filter(({ path }) => !mayTouchTheOutside.includes(stageOf(path)))
      .flatMap(({ file, path }) =>
        specifiersOf(file)
          .filter(specifier => outside.test(specifier))
          .map(specifier => `${path} imports ${specifier}`),
      )
    assert.deepEqual(wrong, [])
  })

  it('uses each package where it belongs, and only packages it depends on', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
    const wrong = files.flatMap(({ file, path }) => {
      // What is only types leaves no import behind: a package of types is enough.
      const types = file.getImportDeclarations().filter(declaration => declaration.isTypeOnly())
      const typesOnly = new Set(types.map(declaration => declaration.getModuleSpecifierValue()))
      const isThere = (name: string): boolean =>
        name in dependencies || (typesOnly.has(name) && `@types/${name}` in devDependencies)
      return specifiersOf(file)
        .flatMap(specifier => packageName(specifier) ?? [])
        .filter(name => !isThere(name) || ![usedBy[name] ?? []].flat().includes(stageOf(path)))
        .map(name => `${path} imports ${name}`)
    })
    assert.deepEqual(wrong, [])
  })

  it('refuses input in one way: UsageError where a person is asked, a diagnostic everywhere else', () => {
    const wrong = files
      .filter(({ path }) => !mayRefuse.includes(stageOf(path)))
      .flatMap(({ file, path }) =>
        file
          .getImportDeclarations()
          .flatMap(declaration => declaration.getNamedImports())
          .filter(found => found.getName() === 'UsageError')
          .map(() => `${path} imports UsageError`),
      )
    assert.deepEqual(wrong, [])
  })

  it('has no default exports, enums or barrels, and classes only for what is thrown or extends Map', () => {
    const wrong = files.flatMap(({ file, path }) => [
      ...(exportsDefault(file) ? [`${path} has a default export`] : []),
      ...file.getEnums().map(found => `${path} has the enum ${found.getName()}`),
      // The one entry that problem files outside the package import.
      ...(path !== 'rules/kit.ts' &&
      file.getStatements().every(found => Node.isImportDeclaration(found) || Node.isExportDeclaration(found))
        ? [`${path} only passes on what others export`]
        : []),
      ...file
        .getClasses()
        .filter(found => !/^(Error|Map)\b/.test(found.getExtends()?.getText() ?? '') && !isThrown(found))
        .map(found => `${path} has the class ${found.getName()}`),
    ])
    assert.deepEqual(wrong, [])
  })

  it('has names that say what a thing is', () => {
    const wrong = files.flatMap(({ file, path }) => [
      ...path
        .replace(/\.ts$/, '')
        .split('/')
        .filter(name => wordsOf(name).some(word => emptyWords.test(word)))
        .map(name => `${path}: ${name}`),
      ...(path.endsWith('/index.ts') && path !== 'rules/index.ts' ? [`${path}: index`] : []),
      ...exportedNames(file)
        .filter(name => wordsOf(name).some(word => emptyWords.test(word)))
        .map(name => `${path}: ${name}`),
    ])
    assert.deepEqual(
      wrong.filter(each => !programNames.has(each.split(': ')[1] ?? '')),
      [],
    )
  })

  it('documents what it exports', () => {
    const undocumented = files.flatMap(({ file, path }) =>
      exportedFunctions(file)
        .filter(({ documented }) => !documented)
        .map(({ name }) => `${path}: ${name}`),
    )
    assert.deepEqual(undocumented, [])
  })
})
