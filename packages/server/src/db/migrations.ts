import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { migrationsFolder } from '../places.ts'

/**
 * The migrations of this program: the files `NNNN_what_it_does.sql`, in the order of their names. A released file never
 * changes.
 */

/** Migration as recorded in a database. */
export type AppliedMigration = {
  /** The name of the file, without `.sql`. */
  readonly name: string
  /** SHA-256 of the file, in hexadecimal. */
  readonly digest: string
}

const fileName = /^(\d{4}_\w+)\.sql$/

/** The names of the migrations in a directory, oldest first. */
export async function listMigrations(folder = migrationsFolder): Promise<readonly string[]> {
  return (await readdir(folder)).flatMap((file) => fileName.exec(file)?.[1] ?? []).sort()
}

/** Reads the file of a migration. */
export async function readMigration(
  name: string,
  folder = migrationsFolder,
): Promise<AppliedMigration & { readonly text: string }> {
  const text = await readFile(join(folder, `${name}.sql`), 'utf8')
  return { name, text, digest: createHash('sha256').update(text).digest('hex') }
}
