import type { InspectionContext, Rejection, TriedRows } from '@penstock/connector'
import { inSession } from '../databases/sessions.ts'
import { placeOf, type Writing, writingOf } from '../databases/settings.ts'
import { rowErrorOf } from './errors.ts'
import { insertRows } from './insert.ts'
import { quoteName } from './plan.ts'
import { countIn, type LookupRow, valueIn } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'
import { columnOf, createdColumns, createStatement, judgeTable, type MysqlTable, same, tableOf } from './table.ts'
import { judge, serverOf, settle } from './write.ts'
import { writerFor } from './writers.ts'

const boundMs = 15_000

/** Takes the rows as the table does, under its unique keys. */
const twin = '`penstock_twin`'
/** Takes the rows whatever keys they have, to look them up. */
const given = '`penstock_given`'
const rowNumber = 'penstock_row'

/**
 * Writes the rows to a temporary table LIKE the real one, by the statements of a delivery, and rolls back. It begins with the
 * rows of the real one that have a unique key of them, and leaves out rows whose foreign keys refer to nothing. Triggers, and
 * foreign keys to the table itself, are left to the delivery.
 */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const session = await openSession(context, placeOf(context.secrets, 3306))
  const writing = writingOf(context.settings, '')
  return inSession(session, () => tryIn(session, writing, context), boundMs)
}

async function tryIn(session: MysqlSession, writing: Writing, context: InspectionContext): Promise<TriedRows> {
  const { columns, rows } = context
  await session.run(settle)
  await session.run('set session innodb_lock_wait_timeout = 5')
  const { found, errors } = await judgeTable(session, writing, columns)
  if (errors.length > 0) return { rejected: [] }
  if (found.length === 0) return tryCreated(session, writing, context)
  const table = tableOf(writing, columns, found)
  const { packetBytes } = await serverOf(session)
  const writers = table.columns.map(writerFor)
  const { picked, doubtful } = judge(table, writers, { rows })
  const rules = await rulesOf(session, writing.table)
  if (rules.draws) return { rejected: doubtful, untried: ['defaults that draw numbers from a sequence'] }
  const untried = [
    ...(rules.triggers ? ['triggers'] : []),
    ...(rules.references.some(({ own }) => own) ? ['foreign keys to the table itself'] : []),
    ...(rules.keys.some(isPartial) ? ['unique keys of a part of a column or of an expression'] : []),
  ]
  await session.run(`create temporary table ${twin} like ${table.name}`)
  await session.run(`create temporary table ${given} like ${table.name}`)
  await session.run(`alter table ${given} ${withoutKeys(rules.keys).join(', ')}`)
  const number = { name: rowNumber, type: 'int' }
  const numbered: MysqlTable = { name: given, columns: [...table.columns, number], keys: [] }
  await session.run('start transaction')
  await insertRows({
    session,
    table: numbered,
    writers: [...writers, writerFor(number)],
    rows: rows.map((row, index) => [...columns.map((_, at) => row[at] ?? null), index]),
    picked,
    packetBytes,
  })
  await session.run('commit')
  const lost = await withoutReference(session, rules.references)
  const stored = found.filter(({ generated }) => !generated).map(({ name }) => name)
  for (const key of rules.keys) await copyExisting(session, table, stored, key)
  await raiseCounter(session, table, rules.counted)
  const kept = picked.filter((index) => !lost.some((each) => each.index === index))
  await session.run('start transaction')
  const { rejected } = await insertRows({
    session,
    table: { ...table, name: twin },
    writers,
    rows,
    picked: kept,
    packetBytes,
  })
  await session.run('rollback')
  return { rejected: [...doubtful, ...lost, ...rejected], untried }
}

/** Writes the rows to a temporary table that is created as the missing one would be. */
async function tryCreated(session: MysqlSession, writing: Writing, context: InspectionContext): Promise<TriedRows> {
  const { columns, rows } = context
  const created = createdColumns(writing, context)
  await session.run(createStatement(twin, writing, created, 'temporary table'))
  const table = { ...tableOf(writing, columns, created.map(columnOf)), name: twin }
  const { packetBytes } = await serverOf(session)
  const writers = table.columns.map(writerFor)
  const { picked, doubtful } = judge(table, writers, { rows })
  await session.run('start transaction')
  const { rejected } = await insertRows({ session, table, writers, rows, picked, packetBytes })
  await session.run('rollback')
  return { rejected: [...doubtful, ...rejected], created }
}

type Key = { readonly name: string; readonly parts: readonly { readonly name: string; readonly part: string | null }[] }

type Reference = {
  readonly table: string
  /** Whether it is the table of the rows. */
  readonly own: boolean
  readonly columns: readonly { readonly name: string; readonly refersTo: string }[]
}

/** Whether rows cannot be found by its columns as they are. */
const isPartial = ({ parts }: Key): boolean => parts.some(({ name, part }) => name === '' || part !== null)

/** Rules of a table for its rows, besides types and checks. */
type Rules = {
  readonly keys: readonly Key[]
  /** None if the server does not check foreign keys. */
  readonly references: readonly Reference[]
  readonly triggers: boolean
  /** Whether a default draws a number from a sequence, which no rollback gives back. */
  readonly draws: boolean
  /** The AUTO_INCREMENT column. */
  readonly counted: string | undefined
}

async function rulesOf(session: MysqlSession, table: string): Promise<Rules> {
  const { host } = session.place
  const at = 'table_schema = database() and table_name = ?'
  const groupsOf = (rows: readonly LookupRow[]) => [...Map.groupBy(rows, (row) => valueIn(host, row, 'rule'))]
  const parts = await session.run(
    `select index_name as rule, column_name as name, sub_part as part from information_schema.statistics
      where ${at} and non_unique = 0 order by index_name, seq_in_index`,
    [table],
  )
  const references = await session.run(
    `select constraint_name as rule, column_name as name, referenced_table_schema as place, referenced_table_name as target,
            referenced_column_name as refers, referenced_table_schema = database() and referenced_table_name = table_name as own
       from information_schema.key_column_usage
      where ${at} and referenced_table_name is not null and @@session.foreign_key_checks order by constraint_name, ordinal_position`,
    [table],
  )
  const [counts] = await session.run(
    `select (select count(*) from information_schema.triggers
              where event_object_schema = database() and event_object_table = ? and event_manipulation in ('INSERT', 'UPDATE')) as fired,
            (select count(*) from information_schema.columns where ${at} and lower(column_default) like '%nextval%') as drawn`,
    [table, table],
  )
  const [counter] = await session.run(
    `select column_name as name from information_schema.columns where ${at} and lower(extra) like '%auto_increment%'`,
    [table],
  )
  return {
    // A part without a column is an expression, which is not looked up.
    keys: groupsOf(parts).map(([name, rows]) => ({
      name,
      parts: rows.map((row) => ({ name: row.name ?? '', part: row.part ?? null })),
    })),
    references: groupsOf(references).map(([, rows]) => ({
      table: `${quoteName(valueIn(host, rows[0], 'place'))}.${quoteName(valueIn(host, rows[0], 'target'))}`,
      own: valueIn(host, rows[0], 'own') === '1',
      columns: rows.map((row) => ({ name: valueIn(host, row, 'name'), refersTo: valueIn(host, row, 'refers') })),
    })),
    triggers: countIn(host, counts, 'fired') > 0,
    draws: countIn(host, counts, 'drawn') > 0,
    counted: counter && valueIn(host, counter, 'name'),
  }
}

/** Replaces each unique key by an index that is not unique; an AUTO_INCREMENT column needs one. */
const withoutKeys = (keys: readonly Key[]): string[] => [
  `add column ${quoteName(rowNumber)} int`,
  ...keys.flatMap(({ name, parts }, at) => [
    name === 'PRIMARY' ? 'drop primary key' : `drop index ${quoteName(name)}`,
    ...(parts.some((part) => part.name === '')
      ? []
      : [
          `add index penstock_${at} (${parts.map(({ name, part }) => `${quoteName(name)}${part === null ? '' : `(${part})`}`).join(', ')})`,
        ]),
  ]),
]

/** The rows whose foreign keys refer to no row. Skips those to the table itself, which may refer to a row beside. */
async function withoutReference(session: MysqlSession, references: readonly Reference[]): Promise<Rejection[]> {
  const { reason = '' } = rowErrorOf({ errno: 1452, sqlState: '', message: '' }) ?? {}
  const lost = new Map<number, Rejection>()
  for (const { table, own, columns } of references) {
    if (own) continue
    const filled = columns.map(({ name }) => `given.${quoteName(name)} is not null`)
    const equal = columns.map(({ name, refersTo }) => `target.${quoteName(refersTo)} = given.${quoteName(name)}`)
    const rows = await session.run(
      `select ${rowNumber} as at from ${given} as given where ${filled.join(' and ')}
          and not exists (select 1 from ${table} as target where ${equal.join(' and ')})`,
    )
    for (const row of rows) {
      const index = countIn(session.place.host, row, 'at')
      lost.set(index, { index, reason })
    }
  }
  return [...lost.values()]
}

/** Gives the twin the rows of the table that have a key of the given rows. */
async function copyExisting(session: MysqlSession, table: MysqlTable, stored: readonly string[], key: Key) {
  if (isPartial(key)) return
  const { parts } = key
  const names = stored.map(quoteName)
  const equal = parts.map(({ name }) => `kept.${quoteName(name)} = given.${quoteName(name)}`)
  await session.run(
    `insert ignore into ${twin} (${names.join(', ')})
       select straight_join ${names.map((name) => `kept.${name}`).join(', ')}
         from ${given} as given join ${table.name} as kept on ${equal.join(' and ')}`,
  )
}

/** Numbers of the twin begin after those of the table, as those of a delivery do. */
async function raiseCounter(session: MysqlSession, { name, columns }: MysqlTable, counted: string | undefined) {
  if (counted === undefined || !columns.some((column) => same(column.name, counted))) return
  const [row] = await session.run(`select max(${quoteName(counted)}) as last from ${name}`)
  if (/^\d{1,19}$/.test(row?.last ?? ''))
    await session.run(`alter table ${twin} auto_increment = ${BigInt(row?.last ?? 0) + 1n}`)
}
