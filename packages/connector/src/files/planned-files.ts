import { createHash } from 'node:crypto'
import { ConnectorError } from '../connector-error.ts'
import type { Json } from '../rows.ts'
import type { FileStore, StoredFile } from './store.ts'

/**
 * The files of a transfer are the files that its first reader lists. Its plan contains a digest of each, so that every later
 * reader returns the same rows. Otherwise a repeated batch would contain other rows if files appeared in between.
 */

const digestBytes = 8

/** 8 bytes that identify the current version of a file of a store, in base64url. */
export const digestOfFile = ({ id = '' }: Pick<FileStore, 'id'>, { name, sizeBytes, version }: StoredFile): string =>
  createHash('sha256')
    .update(JSON.stringify([id, name, sizeBytes, version]))
    .digest()
    .toString('base64url', 0, digestBytes)

/** Digests one after the other, in base64. */
export const packDigests = (digests: readonly string[]): Buffer =>
  Buffer.concat(digests.map((digest) => Buffer.from(digest, 'base64url')))

/** The digests in a text; empty for any other value. */
export function unpackDigests(packed: unknown): string[] {
  const bytes = Buffer.from(typeof packed === 'string' ? packed : '', 'base64')
  const count = Math.floor(bytes.length / digestBytes)
  return Array.from({ length: count }, (_, at) => bytes.toString('base64url', at * digestBytes, (at + 1) * digestBytes))
}

/** The plan of a transfer that reads these files. */
export const planOf = (store: FileStore, files: readonly StoredFile[]): Json => ({
  files: packDigests(files.map((file) => digestOfFile(store, file))).toString('base64'),
})

/** Number of files in a plan. */
export const countPlanned = (plan: Json): number => unpackDigests((plan as { files?: unknown } | null)?.files).length

/** The files that are in a plan; all files without a plan. */
export function plannedAmong(
  store: FileStore,
  files: readonly StoredFile[],
  plan: Json | undefined,
): readonly StoredFile[] {
  if (plan === undefined) return files
  const planned = new Set(unpackDigests((plan as { files?: unknown } | null)?.files))
  return files.filter((file) => planned.has(digestOfFile(store, file)))
}

/** Where reading resumes: in a file with this index in the transfer, or after it. */
export type FilePlace = {
  readonly file: string
  readonly index?: number
  readonly version: string
  readonly done?: boolean
}

/**
 * The remaining files, and the index of the first remaining file in the transfer.
 * @param files the files of the transfer that still exist, in the order of their names
 * @param planned number of files when the transfer began, if it is known
 * @throws `source_changed` if a remaining file was removed or has another version
 */
export function filesLeft(
  files: readonly StoredFile[],
  planned: number | undefined,
  from: FilePlace | undefined,
): { readonly left: readonly StoredFile[]; readonly first: number } {
  if (!from) {
    if (planned !== undefined && planned > files.length) throw changed('A file')
    return { left: files, first: 0 }
  }
  const { file, index, version, done = false } = from
  const at = files.findIndex(({ name }) => name >= file)
  const behind = at === -1 ? [] : files.slice(at)
  const isThere = behind[0]?.name === file
  // A file that was read to its end can be replaced: the next transfer then reads it.
  if (!done && !(isThere && behind[0]?.version === version)) throw changed(file)
  const left = done && isThere ? behind.slice(1) : behind
  const first = (index ?? Math.max(0, at)) + (done ? 1 : 0)
  if (planned !== undefined && index !== undefined && left.length < planned - first) throw changed('A file')
  return { left, first }
}

/** The error for a file that was changed or removed since the transfer began. */
export const changed = (name: string) =>
  new ConnectorError(
    'source_changed',
    `${name} was removed or changed while it was read. Start a new transfer, which reads it from the beginning.`,
  )
