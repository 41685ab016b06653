import type pg from 'pg'
import { listMigrations, readMigration } from '../migrations.ts'
import { type BackedUpTable, BackupError, type Row } from './format.ts'

/** A table of the service, as the database at hand has it. */
export type Table = {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string; readonly isCounted: boolean }[]
  readonly hasTriggers: boolean
}

/** Rows that are read in one step. If earlier rows were long, fewer. The first ones show how long they are. */
const batchRows = { first: 16, max: 2_000 }
const batchLength = 8_000_000

/**
 * Access tokens are not backed up. After a restore clients ask for new tokens, and no revoked token becomes valid again.
 * Authorizations in progress, sessions of people and their links are not backed up either, so that used or ended ones do not
 * become valid again. Alert messages are not sent again, mails are counted from zero, and the next purge runs in the night.
 * Uploaded files are kept only for hours. Events of streams are read from the parent tables of their partitions. The migrations
 * are in the header of the backup.
 */
const notBackedUp = [
  'tokens',
  'authorizations',
  'user_sessions',
  'user_links',
  'alert_checks',
  'alert_deliveries',
  'mail_counts',
  'purges',
  'uploads',
  'upload_chunks',
  'stream_batches_default',
  'stream_messages_default',
  'penstock_migrations',
]

/** The names of the tables that the migrations up to this one have made. */
async function namesOfTables(newest: string): Promise<string[]> {
  const applied = (await listMigrations()).filter((name) => name <= newest)
  const migrations = await Promise.all(applied.map((name) => readMigration(name)))
  const names = new Set<string>()
  for (const { text } of migrations) {
    for (const [, created, dropped] of text.matchAll(/^create table (\w+)|^drop table (\w+)/gm)) {
      if (created) names.add(created)
      else if (dropped) names.delete(dropped)
    }
  }
  return [...names].filter((name) => !notBackedUp.includes(name))
}

/**
 * The tables to back up, each after the tables that it refers to, with the stored columns.
 * @param newest name of the newest migration of the database
 */
export async function describeTables(session: pg.Client, newest: string): Promise<Table[]> {
  const { rows } = await session.query<{
    name: string
    column: string
    type: string
    counted: boolean
    triggers: boolean
  }>(
    `select c.relname as name, a.attname as column, format_type(a.atttypid, a.atttypmod) as type,
       a.attidentity <> '' as counted,
       exists (select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as triggers
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relname = any($1)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by c.relname, a.attnum`,
    [await namesOfTables(newest)],
  )
  const references = await session.query<{ from: string; to: string }>(
    `select distinct conrelid::regclass::text as from, confrelid::regclass::text as to from pg_constraint
     where contype = 'f' and conrelid <> confrelid and connamespace = 'public'::regnamespace`,
  )
  const tables = Map.groupBy(rows, ({ name }) => name)
  const ordered: string[] = []
  const add = (name: string) => {
    if (ordered.includes(name) || !tables.has(name)) return
    for (const { from, to } of references.rows) if (from === name) add(to)
    ordered.push(name)
  }
  for (const name of tables.keys()) add(name)
  return ordered.map((name) => {
    const columns = tables.get(name) ?? []
    return {
      name,
      columns: columns.map(({ column, type, counted }) => ({ name: column, type, isCounted: counted })),
      hasTriggers: columns.some(({ triggers }) => triggers),
    }
  })
}

/** Values as text then depend on nothing that a server or a role has set. */
export const settingsOfTexts = `
  set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1`

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Reads the rows of a table in a transaction, a batch at a time, in whatever order. */
export async function* readRows(session: pg.Client, { name, columns }: BackedUpTable): AsyncGenerator<Row[]> {
  const texts = columns.map((column) => `${quoted(column)}::text`).join(', ')
  await session.query(`declare penstock_rows no scroll cursor for select ${texts} from ${quoted(name)}`)
  for (let count = batchRows.first; ; ) {
    const { rows } = await session.query<Row[]>({ text: `fetch ${count} from penstock_rows`, rowMode: 'array' })
    const read = rows as unknown as Row[]
    if (read.length > 0) yield read
    if (read.length < count) break
    const length = read.reduce((sum, row) => sum + row.reduce((all, value) => all + (value?.length ?? 0), 0), 0)
    count = Math.min(batchRows.max, 2 * count, Math.max(1, Math.floor(batchLength / Math.max(1, length / count))))
  }
  await session.query('close penstock_rows')
}

/** A statement that inserts rows, given as an array of texts for each column. */
export function insertInto({ name, columns }: Table, given: readonly string[]): string {
  const types = given.map((wanted) => columns.find((column) => column.name === wanted)?.type)
  const unknown = given.find((_, i) => types[i] === undefined)
  if (unknown !== undefined) {
    throw new BackupError(
      `The backup has a column ${unknown} of ${name} that this version of Penstock does not know: restore it with the version that made it.`,
    )
  }
  const arrays = given.map((_, i) => `$${i + 1}::text[]`).join(', ')
  const values = given.map((_, i) => `c${i}::${types[i]}`).join(', ')
  const names = given.map((_, i) => `c${i}`).join(', ')
  return `insert into ${quoted(name)} (${given.map(quoted).join(', ')}) overriding system value select ${values} from unnest(${arrays}) as r (${names})`
}

/** Sets the sequences of columns that PostgreSQL numbers itself, so that they continue after the inserted rows. */
export async function continueCounting(session: pg.Client, { name, columns }: Table): Promise<void> {
  for (const column of columns.filter(({ isCounted }) => isCounted)) {
    await session.query(
      `select setval(pg_get_serial_sequence('${quoted(name)}', '${column.name}'), max(${quoted(column.name)}))
       from ${quoted(name)} having count(*) > 0`,
    )
  }
}

/** Turns the triggers that the migrations made on a table off or on again. */
export async function setTriggers(session: pg.Client, { name, hasTriggers }: Table, how: 'enable' | 'disable') {
  if (hasTriggers) await session.query(`alter table ${quoted(name)} ${how} trigger user`)
}

/** Deletes what a database has before anything was made in it by a person. */
export async function emptyTables(session: pg.Client, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables.toReversed()) await session.query(`delete from ${quoted(name)}`)
}
