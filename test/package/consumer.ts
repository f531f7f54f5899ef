import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** A program that has ended. */
export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** Runs a program without what `npm test` tells the programs it runs about the package they are in. */
export function run(directory: string, [program = '', ...words]: readonly string[]): Ended {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_(?:package|lifecycle)_.*|npm_command|npm_config_(?:local_)?prefix|INIT_CWD)$/i.test(name),
  )
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...Object.fromEntries(inherited), XDG_CACHE_HOME: join(directory, 'no-cache'), NO_COLOR: '1' },
  })
  return { status, out: stdout ?? '', err: error === undefined ? stderr : String(error) }
}

/** The packed package. */
export interface Packed {
  /** The name of the tarball in the directory it was packed into. */
  readonly name: string
  readonly files: readonly string[]
}

/** What `npm publish` would send, packed into a directory; `dist/` is what it is, since a test does not build. */
export function pack(directory: string): Packed {
  const { status, out, err } = run(root, [
    ...['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', directory],
  ])
  if (status !== 0) throw new Error(`npm pack: ${err}`)
  // npm 12 has an object by name where npm 11 has a list.
  const [packed] = Object.values(JSON.parse(out) as Readonly<Record<string, NpmPacked>>)
  if (packed === undefined) throw new Error(`npm pack: ${out}`)
  return { name: packed.filename, files: packed.files.map(({ path }) => path) }
}

interface NpmPacked {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

interface Locked {
  readonly dev?: boolean
}

/**
 * Makes an empty project that depends on the tarball beside it, and installs. The lock file holds the versions of the
 * repository's own, so that `npm ci` there has filled the cache with all of it; what is missing comes from the registry.
 */
export function install(directory: string, { name }: Packed): Ended {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const kept = Object.entries(lock.packages as Readonly<Record<string, Locked>>).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  )
  const project = {
    name: 'consumer',
    version: '1.0.0',
    private: true,
    type: 'module',
    dependencies: { whofixes: `file:${name}` },
  }
  const { version, license, dependencies, bin, engines } = own
  const packages = {
    '': { name: project.name, version: project.version, dependencies: project.dependencies },
    'node_modules/whofixes': { version, resolved: `file:${name}`, license, dependencies, bin, engines },
    ...Object.fromEntries(kept),
  }
  const write = (path: string, content: unknown): void => writeFileSync(join(directory, path), JSON.stringify(content))
  write('package.json', project)
  write('package-lock.json', { name: 'consumer', version: '1.0.0', lockfileVersion: 3, requires: true, packages })
  return run(directory, ['npm', 'ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'])
}
