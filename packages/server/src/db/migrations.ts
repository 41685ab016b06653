import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The migrations of this program: the files `NNNN_what_it_does.sql`, in the order of their numbers. Earlier versions
 * generated the first ones with drizzle-kit, and its journal says under which times databases record these. A released
 * file never changes.
 */

/** The directory of the migrations. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations/', import.meta.url))

/** A migration without its text. */
export type MigrationEntry = {
  /** The name of its file, without `.sql`. */
  readonly name: string
  readonly path: string
  /**
   * What a database records it by. It grows with every migration: for those of the journal the time of their generation,
   * for each later one the number after that of the one before. A database has every migration up to the newest that it
   * records.
   */
  readonly when: number
}

export type Migration = {
  readonly text: string
  /** SHA-256 of the file, in hexadecimal, as the database records it. */
  readonly hash: string
}

const fileName = /^(\d{4}_\w+)\.sql$/

/** The migrations of a directory, oldest first. */
export async function listMigrations(folder = migrationsFolder): Promise<readonly MigrationEntry[]> {
  const journal: { entries: { tag: string; when: number }[] } = JSON.parse(
    await readFile(join(folder, 'meta', '_journal.json'), 'utf8'),
  )
  const times = new Map(journal.entries.map(({ tag, when }) => [tag, when]))
  const names = (await readdir(folder)).flatMap((file) => fileName.exec(file)?.[1] ?? []).sort()
  let newest = 0
  return names.map((name) => {
    newest = times.get(name) ?? newest + 1
    return { name, path: join(folder, `${name}.sql`), when: newest }
  })
}

/** Reads the file of a migration. */
export async function readMigration({ path }: MigrationEntry): Promise<Migration> {
  const text = await readFile(path, 'utf8')
  return { text, hash: createHash('sha256').update(text).digest('hex') }
}
