import pg from 'pg'
import { migrationsFolder } from '../../places.ts'
import type { Db } from '../database.ts'
import { applyMigrations, holdMigrations, readApplied } from '../migrate.ts'
import { type AppliedMigration, listMigrations, readMigration } from '../migrations.ts'
import { onSession } from '../session.ts'
import type { Counts } from './dump.ts'
import { BackupError, formatName, formatVersion, type Header, type Line, type Row, TableDigest } from './format.ts'
import {
  continueCounting,
  describeTables,
  emptyTables,
  insertInto,
  readRows,
  setTriggers,
  settingsOfTexts,
  type Table,
} from './tables.ts'

const damaged = 'The backup is damaged: use another one.'
const noBackup = 'The file is not a backup that penstock backup wrote: check the path.'
const truncated = 'The backup is not complete, as after an interrupted copy: use another one.'

/** Rows, and characters, that one statement inserts. */
const batchRows = 1_000
const batchLength = 4_000_000

type Lines = AsyncIterator<string>

/** Reads the first line. Throws BackupError if it is not the header of a backup that this program can restore. */
export async function readHeader(lines: Lines): Promise<Header> {
  const text = await nextText(lines, true)
  const header = text.startsWith('{') ? parse(text) : undefined
  if (!header || !('format' in header) || header.format !== formatName) throw new BackupError(noBackup)
  if (header.version === formatVersion && !isWhole(header)) throw new BackupError(damaged)
  const known = new Set(await listMigrations())
  const isKnown = async ({ name, digest }: AppliedMigration) =>
    known.has(name) && (await readMigration(name)).digest === digest
  if (header.version !== formatVersion || !(await Promise.all(header.migrations.map(isKnown))).every(Boolean)) {
    throw new BackupError(
      'This version of Penstock does not know the schema of the backup: restore it with the version that made it, or a newer version.',
    )
  }
  return header
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string')

/** Whether a header is complete: JSON of another file can have the same format. */
function isWhole({ createdTime, migrations, masterKeys, tables }: Header): boolean {
  return (
    typeof createdTime === 'string' &&
    isTexts(masterKeys) &&
    Array.isArray(migrations) &&
    migrations.every((one) => typeof one?.name === 'string' && typeof one.digest === 'string') &&
    Array.isArray(tables) &&
    tables.every((one) => typeof one?.name === 'string' && isTexts(one.columns))
  )
}

/**
 * Restores a backup in one transaction: migrates the schema to the version of the backup, inserts the rows, compares them with
 * the digests of the backup, and applies the later migrations.
 * @param lines the lines after the header
 * @param finish runs before the commit
 * @param folder directory of the migrations
 * @returns the number of rows of each table
 * @throws BackupError if the database is not empty or was migrated further, or if the backup is damaged. The database does not
 * change
 */
export async function load(
  session: pg.Client,
  header: Header,
  lines: Lines,
  finish: (db: Db) => Promise<void>,
  folder = migrationsFolder,
): Promise<Counts> {
  const newest = header.migrations.at(-1)?.name ?? ''
  await holdMigrations(session)
  await session.query('begin')
  try {
    await session.query(settingsOfTexts)
    await applyMigrations(session, newest, folder)
    const tables = await describeTables(session, newest)
    await requireEmpty(session, newest)
    await emptyTables(session, tables)
    const counts: Counts = {}
    for (const { name, columns } of header.tables) {
      const table = tables.find((candidate) => candidate.name === name)
      if (!table) throw new BackupError(`The backup has a table ${name} that this version of Penstock does not know.`)
      counts[name] = await loadTable(session, table, columns, lines)
    }
    const last = await nextLine(lines)
    if (!('complete' in last)) throw new BackupError(damaged)
    await applyMigrations(session, undefined, folder)
    await finish(onSession(session))
    await session.query('commit')
    // The server still has the statistics of an empty database.
    await session.query('analyze')
    return counts
  } catch (error) {
    await session.query('rollback').catch(() => {})
    // Rows that the tables refuse are not the rows that were backed up.
    throw isRefusedRow(error) ? new BackupError(damaged) : error
  }
}

/** Whether a value is of another type (class 22) or breaks a constraint (class 23). */
const isRefusedRow = (error: unknown): boolean => error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')

async function requireEmpty(session: pg.Client, newest: string): Promise<void> {
  const { rows } = await session.query('select from organizations limit 1')
  if (rows.length > 0) {
    throw new BackupError(
      'The database is not empty: a backup is restored into a new database, or a new data directory. Nothing was changed.',
    )
  }
  const applied = await readApplied(session)
  if ((applied.at(-1)?.name ?? '') > newest) {
    throw new BackupError(
      'The backup is of an earlier version, and the database has the tables of this one already: create a new database without tables, and restore into that.',
    )
  }
}

/** Inserts the rows of the next table of the backup, and compares. Returns how many they are. */
async function loadTable(session: pg.Client, table: Table, columns: readonly string[], lines: Lines): Promise<number> {
  const begin = await nextLine(lines)
  if (!('table' in begin) || begin.table !== table.name) throw new BackupError(damaged)
  const insert = insertInto(table, columns)
  await setTriggers(session, table, 'disable')
  const given = new TableDigest()
  let batch: Row[] = []
  let length = 0
  const flush = async () => {
    if (batch.length > 0)
      await session.query(
        insert,
        columns.map((_, i) => batch.map((row) => row[i] ?? null)),
      )
    batch = []
    length = 0
  }
  for (;;) {
    const text = await nextText(lines)
    const line = parse(text)
    if (isRow(line)) {
      if (line.length !== columns.length) throw new BackupError(damaged)
      given.add(text)
      batch.push(line)
      length += text.length
      if (batch.length === batchRows || length > batchLength) await flush()
    } else {
      await flush()
      if (!('end' in line) || line.end !== table.name) throw new BackupError(damaged)
      if (line.rows !== given.rows || line.digest !== given.hex) throw new BackupError(damaged)
      await continueCounting(session, table)
      await setTriggers(session, table, 'enable')
      await compare(session, { name: table.name, columns }, given)
      return given.rows
    }
  }
}

/** Reads back what the database has now. */
async function compare(session: pg.Client, table: { name: string; columns: readonly string[] }, given: TableDigest) {
  const found = new TableDigest()
  for await (const rows of readRows(session, table)) for (const row of rows) found.add(JSON.stringify(row))
  if (found.rows === given.rows && found.hex === given.hex) return
  throw new BackupError(
    `After restoring, the table ${table.name} is not what the backup has (${found.rows} rows, ${given.rows} expected). Nothing was restored: report this, with the versions of Penstock and PostgreSQL.`,
  )
}

const isRow = (line: Line): line is Row => Array.isArray(line)

async function nextText(lines: Lines, isFirst = false): Promise<string> {
  let next: IteratorResult<string>
  try {
    next = await lines.next()
  } catch (error) {
    // Error of the decompression.
    const { code, message } = error as NodeJS.ErrnoException
    if (message === 'incorrect header check') throw new BackupError(isFirst ? noBackup : damaged)
    if (code === 'Z_BUF_ERROR') throw new BackupError(truncated)
    if (code?.startsWith('Z_')) throw new BackupError(damaged)
    if (code?.startsWith('E'))
      throw new BackupError(`The file cannot be read (${code}): check the path, and the disk that it is on.`)
    throw error
  }
  if (next.done) throw new BackupError(truncated)
  return next.value
}

const nextLine = async (lines: Lines): Promise<Line> => parse(await nextText(lines))

function parse(text: string): Line {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line === 'object' && line !== null) return line as Line
  } catch {
    // Said below.
  }
  throw new BackupError(damaged)
}
