import assert from 'node:assert/strict'
import { clonePath } from '../../src/source/clone.js'
import { openRevision } from '../../src/source/revision.js'
import { describeWithClone, isFrom, revisions } from './clone.js'
import { effectsOfScript, effectsUsedIn, isShellScript, isTaskFile, roleFiles } from './used-effects.js'

/** Modules without an entry in the table, and why. */
const unmodelledModules: ReadonlyMap<string, string> = new Map()

/** Programs without an entry in the table, and why they may do anything as far as this program knows. */
const unfamiliarPrograms: ReadonlyMap<string, string> = new Map([
  ['need_config', 'a function of the distribution that ifup-macvlan reads in'],
  ['source_config', 'another of them'],
  ['containerd-shim-kata-v2', 'containerd starts it for a pod of Kata Containers, no task does'],
  ['--cacert', 'a line of the second branch of the template of etcdctl.sh, which stands behind the first one here'],
])

/** What stands in the roles and cannot be read without a run, and why. */
const unreadableTexts: readonly (readonly [RegExp, string])[] = [
  [
    /^its text is not known: the task does not run/,
    'a command of `validate:` that a template makes: no run, so no values',
  ],
  [/^the script \S+\.sh could not be read$/, 'script: of the role, read as a file of its own in this test'],
  [
    /^the script …?\S*\.sh is not known here$/,
    'a script an earlier task writes, read as a file of its own in this test',
  ],
  [
    /^the script (\/etc\/init\.d\/functions|\.\/network-functions|\.\.\/network) is not known here$/,
    "the distribution's, read in by ifup-macvlan",
  ],
]

describeWithClone('modules and programs of every release from v2.20.0 on', () => {
  const seen = { modules: new Set<string>(), programs: new Set<string>() }
  const unmodelled = new Set<string>()
  const unfamiliar = new Set<string>()
  for (const revision of revisions().filter(each => isFrom(each, 'v2.20.0'))) {
    it(`${revision}: what its tasks and scripts use is in the tables or listed`, () => {
      const tree = openRevision(clonePath(), revision)
      const files = roleFiles(tree).flatMap(path => tree.read(path) ?? [])
      const scripts = files.filter(isShellScript)
      const tasks = files.filter(({ path }) => isTaskFile(path))
      const named = scripts.map(({ path }) => path.slice(path.lastIndexOf('/') + 1))
      const written = new Set([...named, ...tasks.flatMap(file => effectsUsedIn(file).writes)])
      const missing: string[] = []
      for (const [file, used] of [
        ...tasks.map(file => [file, effectsUsedIn(file)] as const),
        ...scripts.map(file => [file, effectsOfScript(file)] as const),
      ]) {
        for (const module of used.modules) seen.modules.add(module)
        for (const program of used.programs) seen.programs.add(program)
        for (const module of used.unmodelled) {
          unmodelled.add(module)
          if (!unmodelledModules.has(module)) missing.push(`${file.path}: module ${module}`)
        }
        for (const program of used.unfamiliar) {
          if (written.has(program)) continue
          unfamiliar.add(program)
          if (!unfamiliarPrograms.has(program)) missing.push(`${file.path}: program ${program}`)
        }
        for (const says of used.unreadable) {
          if (!unreadableTexts.some(([text]) => text.test(says))) missing.push(`${file.path}: ${says}`)
        }
      }
      assert.deepEqual(missing, [])
    })
  }

  it('uses all that is listed', () => {
    assert.deepEqual([...unmodelled].sort(), [...unmodelledModules.keys()].sort())
    assert.deepEqual([...unfamiliar].sort(), [...unfamiliarPrograms.keys()].sort())
    assert.ok(seen.modules.size > 50, `${seen.modules.size} modules`)
    assert.ok(seen.programs.size > 50, `${seen.programs.size} programs`)
  })
})
