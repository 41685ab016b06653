import { createHash } from 'node:crypto'
import type { AppliedMigration } from '../migrations.ts'

/**
 * A backup: lines of JSON, compressed with gzip. The first line is the header. Each table has a line that begins it, its rows,
 * and a line that ends it with their number and digest. The last line says that the backup is complete. Values are the texts
 * that PostgreSQL writes and reads, so that a backup does not depend on the version of PostgreSQL.
 */

export const formatName = 'penstock-backup'
export const formatVersion = 1

export type BackedUpTable = { readonly name: string; readonly columns: readonly string[] }

export type Header = {
  readonly format: typeof formatName
  readonly version: typeof formatVersion
  /** ISO 8601. */
  readonly createdTime: string
  /** Migrations that the database recorded, oldest first. */
  readonly migrations: readonly AppliedMigration[]
  /** Identifiers of the master keys that its secrets are sealed under. The backup does not contain the keys. */
  readonly masterKeys: readonly string[]
  /** Each table comes after the tables that it refers to. */
  readonly tables: readonly BackedUpTable[]
}

/** The values of a row in the order of the table's columns. */
export type Row = readonly (string | null)[]
export type Line =
  | Header
  | { readonly table: string }
  | Row
  | { readonly end: string; readonly rows: number; readonly digest: string }
  | { readonly complete: true }

/** A backup that cannot be restored, or a database that it cannot be restored into. The message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError'
}

const digestBits = 256n

/** The digest of the rows of a table, in any order, since tables have no order. */
export class TableDigest {
  rows = 0
  #sum = 0n

  /** Adds a row, as the text of its line. */
  add(line: string): void {
    this.rows++
    this.#sum += BigInt(`0x${createHash('sha256').update(line).digest('hex')}`)
  }

  get hex(): string {
    return BigInt.asUintN(Number(digestBits), this.#sum).toString(16).padStart(64, '0')
  }
}

/** Characters of one line at most: a file that is no backup does not fill the memory. */
const lineLengthMax = 2 ** 27

/**
 * The lines of a text that comes in pieces.
 * @throws BackupError where a line is longer than any of a backup
 */
export async function* splitLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineLengthMax) throw new BackupError('This is not a backup of Penstock.')
    yield* lines
  }
  if (rest !== '') yield rest
}
