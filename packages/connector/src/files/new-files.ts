import { cursorsOf } from '../cursors.ts'
import type { Json } from '../rows.ts'
import type { Chunk, SourceContext } from '../source.ts'
import { digestOfFile, packDigests, unpackDigests } from './planned-files.ts'
import type { FileStore, StoredFile } from './store.ts'

/**
 * Files that earlier transfers have read, so that the next one reads only new and changed files. A file is identified by a digest
 * of 8 bytes of its name, size and version. The cursor contains the digests of all files that were read and are still listed. The
 * checkpoint contains the digests of the files since the last cursor. Together, they always cover all files whose rows are
 * confirmed.
 */

/** Maximum files since the last cursor: a checkpoint has at most 16 KiB, and each file needs 14 bytes. */
const sinceMax = 800

/** A cursor of files: digests in base64, one after the other. */
type FilesCursor = { readonly files: string }

/** A checkpoint of these files: whether its file was read to its end, and the files that were read since the last cursor. */
export type NewFilesCheckpoint = { readonly done?: boolean; readonly since?: readonly string[] }

/** A chunk of rows, or the end of a file. */
export type FileStep = { readonly chunk: Chunk } | { readonly ended: StoredFile }

const digestsIn = (cursor: Json | undefined): string[] =>
  cursorsOf(cursor).flatMap((one) => unpackDigests((one as Partial<FilesCursor> | null)?.files))

const isCursorOfFiles = (cursor: Json | undefined): boolean =>
  cursorsOf(cursor).some((one) => typeof (one as Partial<FilesCursor> | null)?.files === 'string')

/** The new and changed files of a store, and the cursor of the read files. */
export class NewFiles {
  /** Whether files were read before, so that a store without files is not an error. */
  readonly hasState: boolean
  readonly #store: Pick<FileStore, 'id'>
  /** Read by earlier transfers, and kept in the cursor. */
  #before: Set<string>
  /** Read and confirmed in this transfer, by its cursor. */
  readonly #reached: readonly string[]
  readonly #isPart: boolean

  constructor(
    { cursor, reached, part }: Partial<Pick<SourceContext, 'cursor' | 'reached' | 'part'>>,
    store: Pick<FileStore, 'id'>,
  ) {
    this.#store = store
    this.#before = new Set(digestsIn(cursor))
    this.#reached = digestsIn(reached)
    this.#isPart = part !== undefined
    this.hasState = isCursorOfFiles(cursor)
  }

  /** The files that earlier transfers have not read in their current version. Files that are no longer listed are forgotten. */
  among(files: readonly StoredFile[]): StoredFile[] {
    const kept = new Set<string>()
    const found = files.filter((file) => {
      const digest = digestOfFile(this.#store, file)
      if (!this.#before.has(digest)) return true
      kept.add(digest)
      return false
    })
    this.#before = kept
    return found
  }

  /**
   * The chunks of files, with cursors. One chunk is held back, so that the last chunk of a file can be marked.
   * @param count number of remaining files
   * @param after where reading resumed
   * @param isFirst whether the cursor keeps the files of earlier transfers, which only the cursor of one part does
   */
  async *withCursors(
    pieces: AsyncIterable<FileStep>,
    count: number,
    after: NewFilesCheckpoint | undefined,
    isFirst: boolean,
  ): AsyncGenerator<Chunk> {
    const before = packDigests([...this.#before])
    let read = packDigests(this.#reached)
    let since = [...(after?.since ?? [])]
    let bytes = 0
    let left = count
    let held: Chunk | undefined
    const cursor = (isLast: boolean): Json => {
      const keepsBefore = !this.#isPart || (isFirst && isLast)
      return { files: Buffer.concat(keepsBefore ? [before, read] : [read]).toString('base64') }
    }
    const withSince = (chunk: Chunk, more: NewFilesCheckpoint): Chunk => ({
      ...chunk,
      checkpoint: { ...(chunk.checkpoint as object), ...more, since: [...since] },
    })
    for await (const piece of pieces) {
      if ('chunk' in piece) {
        if (held) yield held
        held = withSince(piece.chunk, {})
        continue
      }
      left -= 1
      bytes += piece.ended.sizeBytes
      if (piece.ended.version !== '') {
        since.push(digestOfFile(this.#store, piece.ended))
      }
      if (!held) continue
      // The cursor is stored as a whole, so it is stored only after reading at least its size in bytes.
      const isDue = bytes >= 1.4 * (before.length + read.length) || since.length >= sinceMax
      const isLast = left === 0
      if (isLast || isDue) {
        read = Buffer.concat([read, packDigests(since)])
        held = { ...held, cursor: cursor(isLast) }
        since = []
        bytes = 0
      }
      held = withSince(held, nameIn(held) === piece.ended.name ? { done: true } : {})
    }
    if (held) yield held
  }
}

const nameIn = ({ checkpoint }: Chunk): string => (checkpoint as { file: string }).file
