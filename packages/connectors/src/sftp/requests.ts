import { constants } from 'node:fs'
import { ConnectorError } from '@penstock/connector'
import type { FileEntryWithStats, Stats } from 'ssh2'
import { bounds } from './bounds.ts'
import { invalidAnswer } from './problems.ts'
import type { SftpSession } from './session.ts'

/** A size that every server accepts, and the number of concurrent requests that keeps a line with high latency busy. */
const pieceBytes = 30 * 1024
const piecesAhead = 64

export type Attributes = Pick<Stats, 'size' | 'mtime' | 'mode'>

/** Throws `unexpected_response`, and ends the session, where an answer is not of the form that belongs to the question. */
function expectAnswer(session: SftpSession, good: boolean, what: string): asserts good {
  if (good) return
  const connectorError = invalidAnswer(session.hostname, what)
  session.end(connectorError)
  throw connectorError
}

/** The attributes of a file. Throws `unexpected_response` if they lack a size or a time. */
export function checkAttributes(session: SftpSession, found: Attributes | undefined): Attributes {
  const { size, mtime } = found ?? {}
  const good = Number.isSafeInteger(size) && Number(size) >= 0 && Number.isSafeInteger(mtime)
  expectAnswer(session, good && found !== undefined, 'a file has no size or no time')
  return found
}

export const stat = async (session: SftpSession, path: string): Promise<Attributes> =>
  checkAttributes(session, await session.call<Stats>(path, (sftp, done) => sftp.stat(path, done)))

export async function openFile(session: SftpSession, path: string, flags: 'r' | 'r+' | 'wx'): Promise<Buffer> {
  const handle = await session.call<Buffer | undefined>(path, (sftp, done) => sftp.open(path, flags, done))
  expectAnswer(session, Buffer.isBuffer(handle), 'it opens a file without naming it')
  return handle as Buffer
}

export const attributesOf = async (session: SftpSession, path: string, handle: Buffer): Promise<Attributes> =>
  checkAttributes(session, await session.call<Stats>(path, (sftp, done) => sftp.fstat(handle, done)))

/** The resolved path, as the server writes it. */
export async function realPath(session: SftpSession, path: string): Promise<string> {
  const found = await session.call<string | undefined>(path, (sftp, done) => sftp.realpath(path, done))
  expectAnswer(session, typeof found === 'string' && isPrintable(found), 'a path is none')
  return found as string
}

const isPrintable = (name: string): boolean =>
  name.length > 0 && name.length <= bounds.nameLength && !/\p{Cc}/u.test(name)

export type Entry = { readonly name: string; readonly attributes: Attributes }

/**
 * The entries of a directory, in the order of the server, without `.` and `..`. Throws `too_many_files` above the limit,
 * `timeout` if listing takes too long, and `unexpected_response` for a name that leads elsewhere.
 */
export async function* listEntries(session: SftpSession, path: string): AsyncGenerator<Entry> {
  const end = Date.now() + bounds.listMs
  const handle = await session.call<Buffer | undefined>(path, (sftp, done) => sftp.opendir(path, done))
  expectAnswer(session, Buffer.isBuffer(handle), 'it opens a directory without naming it')
  let count = 0
  try {
    for (;;) {
      const entries = await nextEntries(session, path, handle as Buffer)
      if (entries === undefined) return
      // An answer without entries counts too, or there would be no end of them.
      count += entries.length || emptyCounts
      if (count > bounds.listEntries) throw tooManyFiles(path)
      for (const { filename, attrs } of entries) {
        if (Date.now() > end) throw listsTooLong(session.hostname, path)
        if (filename === '.' || filename === '..') continue
        const good = typeof filename === 'string' && filename.length <= bounds.nameLength && isName.test(filename)
        expectAnswer(session, good, 'a name in a directory is none')
        yield { name: filename, attributes: attrs }
      }
    }
  } finally {
    if (session.alive) closeFile(session, path, handle as Buffer).catch(() => {})
  }
}

const isName = /^[^/\0]+$/

/** `undefined` at the end. */
async function nextEntries(
  session: SftpSession,
  path: string,
  handle: Buffer,
): Promise<readonly FileEntryWithStats[] | undefined> {
  const entries = await session.call<readonly FileEntryWithStats[] | 'end' | undefined>(path, (sftp, done) =>
    sftp.readdir(handle as never, (error, list) =>
      (error as { code?: unknown } | undefined)?.code === endOfFile ? done(undefined, 'end') : done(error, list),
    ),
  )
  if (entries === 'end') return undefined
  expectAnswer(session, Array.isArray(entries), 'it confirms a question for files instead of answering it')
  return entries as readonly FileEntryWithStats[]
}

const endOfFile = 1
/** An answer without entries is counted as this number of entries. */
const emptyCounts = 1_000

const tooManyFiles = (path: string): ConnectorError =>
  new ConnectorError(
    'too_many_files',
    `The directory ${path} has more than ${bounds.listEntries} entries, which is as many as are listed: move files that are done with elsewhere, or name a directory with fewer.`,
  )

const listsTooLong = (host: string, path: string): ConnectorError =>
  new ConnectorError(
    'timeout',
    `${host} has not listed the directory ${path} within ${bounds.listMs / 60_000} minutes; name a directory with fewer files.`,
  )

export const truncate = (session: SftpSession, path: string, handle: Buffer, size: number): Promise<void> =>
  session.call(path, (sftp, done) => sftp.fsetstat(handle, { size } as never, done))

export const closeFile = (session: SftpSession, path: string, handle: Buffer): Promise<void> =>
  session.call(path, (sftp, done) => sftp.close(handle, done))

export const remove = (session: SftpSession, path: string): Promise<void> =>
  session.call(path, (sftp, done) => sftp.unlink(path, done))

const { S_IFMT, S_IFDIR, S_IFREG, S_IFLNK } = constants

/** Whether a path is a directory, a file, or something else that must not be read. */
export function kindOf({ mode }: Pick<Stats, 'mode'>): 'directory' | 'file' | 'link' | 'other' {
  const kind = mode & S_IFMT
  if (kind === S_IFDIR) return 'directory'
  if (kind === S_IFREG) return 'file'
  return kind === S_IFLNK ? 'link' : 'other'
}

/** Waits until the written data is on the disk, if the server supports that. */
export const sync = (session: SftpSession, path: string, handle: Buffer): Promise<void> =>
  session.call(path, (sftp, done) => {
    try {
      sftp.ext_openssh_fsync(handle, done)
    } catch {
      done(undefined)
    }
  })

/** Renames in one step. In SFTP 3 the new name must be free, but some servers replace an existing file. */
export const rename = (session: SftpSession, from: string, to: string): Promise<void> =>
  session.call(from, (sftp, done) => sftp.rename(from, to, done))

/** The bytes of a file between two offsets, in pieces. Ends early if the file does. */
export async function* readBytes(
  session: SftpSession,
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
      // A failure is thrown when the piece is taken, or never, because reading has ended before.
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

/** Servers can return less than was requested, even before the end. */
async function readPiece(
  session: SftpSession,
  path: string,
  handle: Buffer,
  start: number,
  length: number,
): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafe(length)
  const end = Date.now() + bounds.pieceMs
  let read = 0
  while (read < length) {
    const count = await session.call<number | undefined>(path, (sftp, done) =>
      sftp.read(handle, buffer, read, length - read, start + read, done),
    )
    expectAnswer(session, typeof count === 'number' && count <= length - read, 'it confirms a question for bytes')
    if (count === 0) break
    read += count as number
    if (read < length && Date.now() > end) throw tooSlow(session.hostname, path)
  }
  return buffer.subarray(0, read)
}

const tooSlow = (host: string, path: string): ConnectorError =>
  new ConnectorError(
    'timeout',
    `${host} needs more than ${bounds.pieceMs / 60_000} minutes for ${pieceBytes / 1024} KiB of ${path}; see what slows it down.`,
  )

/** Writes bytes at an offset, all pieces of them confirmed. */
export async function writeBytes(
  session: SftpSession,
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
  // After the first error the others end too. Their errors say nothing new.
  const writers = Array.from({ length: piecesAhead }, write)
  const results = await Promise.allSettled(writers)
  const problem = results.find((result) => result.status === 'rejected')
  if (problem) throw problem.reason
}
