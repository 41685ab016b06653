import type pg from 'pg'
import { readApplied } from '../migrate.ts'
import { listMigrations } from '../migrations.ts'
import { BackupError, formatName, formatVersion, type Header, type Line, TableDigest } from './format.ts'
import { describeTables, readRows, settingsOfTexts } from './tables.ts'

/** Number of rows by table. */
export type Counts = Record<string, number>

/**
 * Reads the whole database at one point in time, in one read-only transaction that blocks no writer.
 * @param counts is filled with the number of rows of each table
 * @returns the text of the backup, in pieces of some thousand lines
 * @throws BackupError if the database has no tables yet, or belongs to a newer version
 */
export async function* dump(session: pg.Client, counts: Counts): AsyncGenerator<string> {
  await session.query('begin isolation level repeatable read read only')
  await session.query(settingsOfTexts)
  const migrations = await readApplied(session)
  const newest = migrations.at(-1)?.name
  if (newest === undefined) {
    throw new BackupError('The database has no tables of Penstock: there is nothing to back up. Check DATABASE_URL.')
  }
  if (!(await listMigrations()).includes(newest)) {
    throw new BackupError('A newer version of Penstock has migrated the database: back it up with that version.')
  }
  const tables = (await describeTables(session, newest)).map(({ name, columns }) => ({
    name,
    columns: columns.map((column) => column.name),
  }))
  const keys = await session.query<{ id: string }>('select key_id as id from master_keys order by created_time, key_id')
  const header: Header = {
    format: formatName,
    version: formatVersion,
    createdTime: new Date().toISOString(),
    migrations,
    masterKeys: keys.rows.map(({ id }) => id),
    tables,
  }
  yield text(header)
  for (const table of tables) {
    yield text({ table: table.name })
    const digest = new TableDigest()
    for await (const rows of readRows(session, table)) {
      const lines = rows.map((row) => JSON.stringify(row))
      for (const line of lines) digest.add(line)
      yield `${lines.join('\n')}\n`
    }
    counts[table.name] = digest.rows
    yield text({ end: table.name, rows: digest.rows, digest: digest.hex })
  }
  yield text({ complete: true })
  await session.query('commit')
}

const text = (line: Line) => `${JSON.stringify(line)}\n`
