import { analyze, defaultRequest } from '../../src/analyze.js'
import { indexRoles, type PlacedStatement } from '../../src/audit/role-index.js'
import type { Side } from '../../src/audit/side.js'
import { openDirectory } from '../../src/source/directory.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'

/** Two versions of role code, each a tree of files, side by side. */
export function withSides<T>(old: Files, now: Files, test: (old: Side, now: Side) => T): T {
  return withTemporary(root => {
    const side = (name: string, files: Files): Side => {
      writeFiles(`${root}/${name}`, files)
      const analysis = analyze(openDirectory(`${root}/${name}`), defaultRequest)
      return { analysis, index: indexRoles(analysis.code) }
    }
    return test(side('old', old), side('new', now))
  })
}

/** A statement as tests name it: its file, and its name or else its position there. */
export function placeName({ path, statement, ordinal }: PlacedStatement): string {
  return `${path}: ${statement.name ?? ordinal}`
}
