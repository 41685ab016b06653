import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The migrations of this program: the files that drizzle-kit generates, and the journal that lists them in order. */

const folder = new URL('../../migrations/', import.meta.url)

/** The directory of the migrations. */
export const migrationsFolder = fileURLToPath(folder)

/** An entry of the journal: a migration without its statements. */
export type MigrationEntry = {
  /** The name of its file, without `.sql`. */
  readonly tag: string
  /** Milliseconds since 1970: when it was generated. A database has every migration up to the newest that it records. */
  readonly when: number
}

export type Migration = MigrationEntry & {
  readonly statements: readonly string[]
  /** SHA-256 of the file, in hexadecimal, as the database records it. */
  readonly hash: string
}

/** What separates two statements of a file. */
const breakpoint = '--> statement-breakpoint'

/** The migrations of this program, oldest first. */
export async function readJournal(): Promise<readonly MigrationEntry[]> {
  const journal: { entries: MigrationEntry[] } = JSON.parse(
    await readFile(new URL('meta/_journal.json', folder), 'utf8'),
  )
  return journal.entries
}

/** Reads the file of a migration. */
export async function readMigration({ tag, when }: MigrationEntry): Promise<Migration> {
  const text = await readFile(new URL(`${tag}.sql`, folder), 'utf8')
  const hash = createHash('sha256').update(text).digest('hex')
  return { tag, when, hash, statements: text.split(breakpoint) }
}
