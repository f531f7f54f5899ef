import { openVersion, type Version } from '../../src/citations/follow/version.js'
import { openDirectory } from '../../src/source/directory.js'
import { type Files, withTemporary, writeFiles } from '../source/trees.js'

/** Two versions of role code, each a tree of files. */
export function withVersions<T>(old: Files, now: Files, test: (old: Version, now: Version) => T): T {
  return withTemporary(root => {
    const open = (name: string, files: Files): Version => {
      writeFiles(`${root}/${name}`, files)
      return openVersion(openDirectory(`${root}/${name}`), name.toUpperCase())
    }
    return test(open('old', old), open('now', now))
  })
}
