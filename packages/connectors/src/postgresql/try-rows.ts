import type { InspectionContext, Rejection, TriedRows } from '@penstock/connector'
import pg from 'pg'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { unwritable } from './load.ts'
import { loadRowByRow } from './load-row-by-row.ts'
import { openSession, type PostgresSession } from './session.ts'
import { type ExistingColumn, judgeTable, type PostgresTable, tableOf, uniqueIndexes } from './table.ts'
import { bytesFormatOf, textForms, writerFor } from './writers.ts'

const { escapeIdentifier } = pg

const boundMs = 15_000

/** As a delivery has it, and rolled back. */
const begin = [
  'begin',
  "set local lock_timeout = '5s'",
  "set local statement_timeout = '10s'",
  ...textForms,
  'set local client_min_messages = error',
  'set constraints all immediate',
]

const twinName = 'pg_temp.penstock_twin'

/**
 * Writes the rows to a temporary table with the columns, types, checks and keys of the real one, by the code of a delivery, and
 * looks up unique keys in the real one. Triggers, rules, partitions and foreign keys are left to the delivery: they could act elsewhere.
 */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const { columns, rows, settings } = context
  const writing = writingOf(settings, 'public')
  const session = await openSession(context, placeOf(context.secrets, 5432))
  const work = async (): Promise<TriedRows> => {
    await session.execute(begin)
    const { found, errors } = await judgeTable(session, writing, columns)
    if (found.length === 0 || errors.length > 0) return { rejected: [] }
    const table = tableOf(writing, columns, found, false)
    const writers = table.columns.map((column) => writerFor(column, bytesFormatOf(settings)))
    const { rejected, picked } = unwritable(table, writers, rows, { halves: true })
    if (picked?.length === 0) return { rejected }
    const keys = await uniqueKeys(session, table)
    const untried = await untriedRules(session, table)
    await session.execute(twinOf(table, found, keys))
    const refused = await loadRowByRow({ session, table: { ...table, name: twinName }, writers, rows, picked })
    const repeated = table.keys.length > 0 ? [] : await inTableAlready(session, table, keys)
    await session.execute(['rollback'])
    const known = new Set(refused.rejected.map(({ index }) => index))
    const others = repeated.filter(({ index }) => !known.has(index))
    return { rejected: [...rejected, ...refused.rejected, ...others], untried }
  }
  return inSession(session, work, boundMs)
}

/** The rules of the table that the temporary one lacks, or that another table has for it. */
async function untriedRules(session: PostgresSession, { name }: PostgresTable): Promise<string[]> {
  const rules: Readonly<Record<string, string>> = {
    'foreign keys': "pg_constraint where conrelid = to_regclass($1) and contype = 'f'",
    triggers: 'pg_trigger where tgrelid = to_regclass($1) and not tgisinternal',
    rules: 'pg_rewrite where ev_class = to_regclass($1)',
    partitions: "pg_class where oid = to_regclass($1) and relkind = 'p'",
    'row security': 'pg_class where oid = to_regclass($1) and relrowsecurity',
    'unique indexes of an expression or with a condition':
      'pg_index where indrelid = to_regclass($1) and (indisexclusion or indisunique and (indpred is not null or indexprs is not null))',
  }
  const selects = Object.entries(rules).map(
    ([rule, from]) => `select '${rule}' as rule where exists (select from ${from})`,
  )
  const found = await session.rows(selects.join(' union all '), { rule: 'text' }, [name])
  return found.map(({ rule }) => rule)
}

/** The columns of each unique key that is delivered whole, by their places. */
async function uniqueKeys(session: PostgresSession, { name, columns }: PostgresTable): Promise<number[][]> {
  return (await uniqueIndexes(session, name))
    .map((index) => index.columns.map((key) => columns.findIndex((column) => column.name === key)))
    .filter((places) => places.length > 0 && !places.includes(-1))
}

/**
 * Makes the temporary table. It has no defaults, which would draw numbers from the sequences of the real one: a column that is not
 * delivered stays empty.
 */
function twinOf(
  table: PostgresTable,
  found: readonly ExistingColumn[],
  keys: readonly (readonly number[])[],
): string[] {
  const isDelivered = (name: string) => table.columns.some((column) => column.name === name)
  const free = found.filter(({ name, required, generated }) => !required && !generated && !isDelivered(name))
  return [
    `create temp table penstock_twin (like ${table.name} including constraints including generated) on commit drop`,
    ...free.map(({ name }) => `alter table ${twinName} alter column ${escapeIdentifier(name)} drop not null`),
    ...keys.map(
      (places) =>
        `create unique index on ${twinName} (${places.map((at) => escapeIdentifier(nameAt(table, at))).join(', ')})`,
    ),
  ]
}

const nameAt = ({ columns }: PostgresTable, at: number): string => columns[at]?.name ?? ''

/** Rows that the temporary table took and whose unique keys the real one has. */
async function inTableAlready(
  session: PostgresSession,
  table: PostgresTable,
  keys: readonly (readonly number[])[],
): Promise<Rejection[]> {
  const repeated = new Map<number, Rejection>()
  for (const places of keys) {
    const equal = places.map(
      (at) => `kept.${escapeIdentifier(nameAt(table, at))} = texts.c${at}::${table.columns[at]?.type}`,
    )
    const found = await session.rows(
      // The rows that it took come first, because the others have no value of the type.
      `with texts as materialized (
         select * from pg_temp.penstock_texts as texts
          where not exists (select from pg_temp.penstock_errors as errors where errors.penstock_row = texts.penstock_row)
       )
       select penstock_row as index from texts
        where exists (select from ${table.name} as kept where ${equal.join(' and ')})`,
      { index: 'integer' },
    )
    const field = places.length === 1 ? { field: nameAt(table, places[0] as number) } : {}
    const reason = 'The table has a row with this value of a unique key already.'
    for (const { index } of found) repeated.set(index, { index, ...field, reason })
  }
  return [...repeated.values()]
}
