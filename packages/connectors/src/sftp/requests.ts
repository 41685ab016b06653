import { constants } from 'node:fs'
import type { Stats } from 'ssh2'
import type { Session } from './session.ts'

/** What every server takes at once, and so many of them under way that a long line is kept busy. */
const pieceBytes = 30 * 1024
const piecesAhead = 64

export type Attributes = Pick<Stats, 'size' | 'mtime' | 'mode'>

export const stat = (session: Session, path: string): Promise<Attributes> =>
  session.call<Stats>(path, (sftp, done) => sftp.stat(path, done))

export const openFile = (session: Session, path: string, flags: 'r' | 'r+' | 'w'): Promise<Buffer> =>
  session.call<Buffer>(path, (sftp, done) => sftp.open(path, flags, done))

export const attributesOf = (session: Session, path: string, handle: Buffer): Promise<Attributes> =>
  session.call<Stats>(path, (sftp, done) => sftp.fstat(handle, done))

export const truncate = (session: Session, path: string, handle: Buffer, size: number): Promise<void> =>
  session.call(path, (sftp, done) => sftp.fsetstat(handle, { size } as never, done))

export const closeFile = (session: Session, path: string, handle: Buffer): Promise<void> =>
  session.call(path, (sftp, done) => sftp.close(handle, done))

export const remove = (session: Session, path: string): Promise<void> =>
  session.call(path, (sftp, done) => sftp.unlink(path, done))

const { S_IFMT, S_IFDIR, S_IFREG, S_IFLNK } = constants

/** Whether a path is a directory, a file, or something else that nobody should read. */
export function kindOf({ mode }: Pick<Stats, 'mode'>): 'directory' | 'file' | 'link' | 'other' {
  const kind = mode & S_IFMT
  if (kind === S_IFDIR) return 'directory'
  if (kind === S_IFREG) return 'file'
  return kind === S_IFLNK ? 'link' : 'other'
}

/** Waits until what was written is on the disk, where the server knows how to say so. */
export const sync = (session: Session, path: string, handle: Buffer): Promise<void> =>
  session.call(path, (sftp, done) => {
    try {
      sftp.ext_openssh_fsync(handle, done)
    } catch {
      done(undefined)
    }
  })

/** Renames in one step over what is there; where the server cannot, as SFTP 3 has it, only to a name that is free. */
export const rename = (session: Session, from: string, to: string): Promise<void> =>
  session.call(from, (sftp, done) => {
    try {
      sftp.ext_openssh_rename(from, to, done)
    } catch {
      sftp.rename(from, to, done)
    }
  })

/** The bytes of a file between two offsets, in pieces; ends early where the file does. */
export async function* readBytes(
  session: Session,
  path: string,
  handle: Buffer,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  const ahead: Promise<Uint8Array>[] = []
  let next = from
  const fill = () => {
    for (; ahead.length < piecesAhead && next < to; next += pieceBytes) {
      const piece = readPiece(session, path, handle, next, Math.min(pieceBytes, to - next))
      // One that fails is told of when its turn comes, or never, because reading has ended before.
      piece.catch(() => {})
      ahead.push(piece)
    }
  }
  for (fill(); ahead.length > 0; fill()) {
    const bytes = await ahead.shift()
    if (!bytes || bytes.length === 0) return
    yield bytes
  }
}

/** Servers may answer with less than was asked for, without being at the end. */
async function readPiece(
  session: Session,
  path: string,
  handle: Buffer,
  position: number,
  length: number,
): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length)
  let read = 0
  while (read < length) {
    const count = await session.call<number>(path, (sftp, done) =>
      sftp.read(handle, buffer, read, length - read, position + read, done),
    )
    if (count === 0) break
    read += count
  }
  return buffer.subarray(0, read)
}

/** Writes bytes at an offset, all pieces of them confirmed. */
export async function writeBytes(
  session: Session,
  path: string,
  handle: Buffer,
  offset: number,
  bytes: Uint8Array,
): Promise<void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let next = 0
  const write = async () => {
    while (next < buffer.length) {
      const at = next
      const length = Math.min(pieceBytes, buffer.length - at)
      next += length
      await session.call(path, (sftp, done) => sftp.write(handle, buffer, at, length, offset + at, done))
    }
  }
  // After the first fault the others end by themselves, and nobody is to hear of theirs.
  const writers = Array.from({ length: piecesAhead }, write)
  const results = await Promise.allSettled(writers)
  const fault = results.find((result) => result.status === 'rejected')
  if (fault) throw fault.reason
}
