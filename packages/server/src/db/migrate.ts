import type pg from 'pg'
import { migrationsFolder } from '../places.ts'
import type { DatabaseUrl } from './addresses.ts'
import { neededEncoding, wrongEncoding } from './encoding.ts'
import { type AppliedMigration, listMigrations, readMigration } from './migrations.ts'
import { openSession } from './session.ts'

/**
 * Any number of processes can start concurrently. One migrates, and the others wait for it. The number is arbitrary and belongs
 * to Penstock.
 */
const lockId = 7_366_831

/**
 * Migrates the schema to the current version. Does nothing if it is current.
 * @param url connection string of a role that can create tables and, the first time, the extensions pg_trgm and btree_gin
 */
export async function migrate(url: DatabaseUrl): Promise<void> {
  const session = await openSession(url, 'migrate', { blocks: true })
  try {
    await holdMigrations(session)
    await session.query('begin')
    await applyMigrations(session)
    await session.query('commit')
  } finally {
    await session.end()
  }
}

/** Waits until no other process migrates, and keeps others waiting until the session ends. */
export async function holdMigrations(session: pg.Client): Promise<void> {
  await session.query('select pg_advisory_lock($1)', [lockId])
}

/** A database that this version cannot migrate. The message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

const anEmptyDatabase = 'an empty database: set DATABASE_URL to one, or PENSTOCK_DATA_DIR to a new directory.'

/**
 * Applies the missing migrations in order, in the transaction of the session. Migrations of a newer version are ignored, since
 * the API of the previous version continues to work on its schema.
 * @param until the name of the newest migration to apply; by default all are applied
 * @param folder directory of the migrations
 * @throws MigrationError if the database has tables of another program, or a migration with different content
 */
export async function applyMigrations(session: pg.Client, until?: string, folder = migrationsFolder): Promise<void> {
  const applied = await readApplied(session)
  if (applied.length === 0) {
    await requireEncoding(session)
    await requireNoTables(session)
  }
  const digests = new Map(applied.map(({ name, digest }) => [name, digest]))
  for (const name of await listMigrations(folder)) {
    if (until !== undefined && name > until) return
    const { text, digest } = await readMigration(name, folder)
    const recorded = digests.get(name)
    if (recorded === digest) continue
    if (recorded !== undefined) {
      throw new MigrationError(
        `Another build of Penstock migrated this database: its migration ${name} differs from the migration of this version. Use that build, or start with ${anEmptyDatabase}`,
      )
    }
    await session.query(text)
    await session.query('insert into penstock_migrations (name, digest) values ($1, $2)', [name, digest])
  }
}

/** Texts of all languages are stored. */
async function requireEncoding(session: pg.Client): Promise<void> {
  const { rows } = await session.query(`select current_setting('server_encoding') as encoding`)
  const encoding: string = rows[0]?.encoding ?? ''
  if (encoding !== neededEncoding) throw new MigrationError(wrongEncoding(encoding))
}

/** A database of a build before 0.1.0 has tables, and no record that this version reads. */
async function requireNoTables(session: pg.Client): Promise<void> {
  const { rows } = await session.query(`select to_regclass('organizations') is not null as found`)
  if (!rows[0]?.found) return
  throw new MigrationError(
    `The database has tables of a build before 0.1.0, or of another program, which this version cannot migrate. Start with ${anEmptyDatabase}`,
  )
}

/** The migrations that the database records, oldest first. Empty if it has no record. */
export async function readApplied(session: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await session.query(`select to_regclass('penstock_migrations') is not null as recorded`)
  if (!rows[0]?.recorded) return []
  const found = await session.query<AppliedMigration>(
    'select name, digest from penstock_migrations order by name collate "C"',
  )
  return found.rows
}
