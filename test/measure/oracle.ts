import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { clonePath, hasClone } from '../../src/source/clone.js'

// npm run oracle [-- OPTION…]: what the program says beside Ansible's recorded answers. They stand outside the project, in
// the folder WHOFIXES_ORACLE names (by default ../shared/oracle); options are those of its compare.mjs.
const folder = resolve(process.env.WHOFIXES_ORACLE ?? '../shared/oracle')
const script = join(folder, 'compare.mjs')
if (!existsSync(script)) {
  console.error(`no Ansible answers in ${folder}: name the folder that holds compare.mjs with WHOFIXES_ORACLE`)
  process.exitCode = 2
} else if (!hasClone()) {
  console.error('no clone of kubespray: make one with whofixes fetch')
  process.exitCode = 2
} else {
  const words = [script, '--kubespray', clonePath(), ...process.argv.slice(2)]
  process.exitCode = spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 2
}
