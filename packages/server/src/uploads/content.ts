import type { Db } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { openDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { type MasterKey, Unreadable, unseal } from '../secrets/seal.ts'
import { chunkBytes, chunkPlace } from './chunks.ts'
import { findChunk, findContent, searchUploads } from './queries.ts'

/** The content of uploaded files, for the jobs that read it. */

/** An uploaded file whose content can be read. */
export type UploadContent = {
  readonly name: string
  readonly sizeBytes: number
  /** Bytes of each piece except the last. */
  readonly chunkBytes: number
  /**
   * Reads a piece, counted from 0. Undefined if the file has no such piece or no longer exists. Throws `Unreadable` if the
   * piece was altered.
   */
  read(db: Db, number: number): Promise<Buffer | undefined>
}

/** Opens a file of a sub-account. Undefined if the file does not exist, or no longer exists. */
export async function openUpload(
  db: Db,
  keyring: Keyring,
  file: { readonly accountId: string; readonly id: string },
): Promise<UploadContent | undefined> {
  const found = await findContent.first(db, file)
  const key = found && (await openDataKey(db, keyring, found.dataKeyId))
  if (!key) return undefined
  const { name, sizeBytes, chunks } = found
  const read = async (at: Db, number: number) => {
    if (number < 0 || number >= chunks) return undefined
    const row = await findChunk.first(at, { ...file, number })
    return row && open(key, file.id, number, chunks, { sizeBytes, sealed: row.sealed })
  }
  return { name, sizeBytes, chunkBytes, read }
}

function open(
  key: MasterKey,
  id: string,
  number: number,
  chunks: number,
  { sizeBytes, sealed }: { readonly sizeBytes: number; readonly sealed: Buffer },
): Buffer {
  const isLast = number === chunks - 1
  const bytes = unseal(key, chunkPlace(id, number, isLast), sealed)
  if (bytes.length !== (isLast ? sizeBytes - number * chunkBytes : chunkBytes)) {
    throw new Unreadable('A piece of an uploaded file has another size than the file says')
  }
  return bytes
}

/** Files of a sub-account whose names contain a text, newest first. */
export async function findUploads(
  db: Db,
  { accountId, search, size, offset }: { accountId: string; search: string; size: number; offset: number },
): Promise<{ id: string; name: string }[]> {
  const rows = await searchUploads.all(db, { accountId, like: containing(search), size, offset })
  return rows.map(({ id, name }) => ({ id, name }))
}
