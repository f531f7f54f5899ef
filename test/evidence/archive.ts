import { Header } from 'tar/header'

/** One member of an archive that a test writes byte by byte. */
export interface Member {
  readonly path: string
  readonly type?: 'File' | 'Directory' | 'SymbolicLink' | 'Link' | 'FIFO' | 'CharacterDevice'
  readonly content?: string | Uint8Array
  readonly target?: string
  readonly mode?: number
}

/** The bytes of a tar with these members, and its end. */
export function archiveOf(members: readonly Member[]): Buffer {
  return Buffer.concat([...members.map(bytesOf), endOfArchive])
}

/** Two blocks of zeros. */
export const endOfArchive: Buffer = Buffer.alloc(1024)

/** A member's header and content, filled up to blocks. */
export function bytesOf({ path, type = 'File', content = '', target = '', mode = 0o644 }: Member): Buffer {
  const body = Buffer.from(content)
  const header = Buffer.alloc(512)
  new Header({
    path,
    type,
    size: body.length,
    linkpath: target,
    mode,
    uid: 0,
    gid: 0,
    mtime: new Date(1_700_000_000_000),
  }).encode(header)
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}
