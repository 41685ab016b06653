import type { InspectionContext, TriedRows } from '@penstock/connector'
import pg from 'pg'
import { inSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { unwritable } from './load.ts'
import { loadRowByRow } from './load-row-by-row.ts'
import { openSession, type PostgresSession } from './session.ts'
import {
  createdColumns,
  createStatement,
  type ExistingColumn,
  judgeTable,
  type PostgresTable,
  tableOf,
  uniqueIndexes,
} from './table.ts'
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
 * Writes the rows to a temporary table with the columns, types, checks and keys of the real one, by the code of a delivery. It
 * begins with the rows of the real one that have a unique key of them, which a first table without keys finds. Triggers, rules,
 * partitions and foreign keys are left to the delivery: they could act elsewhere. A missing table is created as a temporary one.
 */
export async function tryRows(context: InspectionContext): Promise<TriedRows> {
  const { columns, rows, settings } = context
  const writing = writingOf(settings, 'public')
  const session = await openSession(context, placeOf(context.secrets, 5432))
  const work = async (): Promise<TriedRows> => {
    await session.execute(begin)
    const judged = await judgeTable(session, writing, columns)
    if (judged.errors.length > 0) return { rejected: [] }
    const created = judged.found.length === 0 ? createdColumns(writing, context) : undefined
    // A table that would be created is tried as a temporary one.
    const at = created ? { ...writing, schema: 'pg_temp', table: 'penstock_created', create: false } : writing
    if (created) await session.execute([`${createStatement(at, created)} on commit drop`])
    const { found, errors } = created ? await judgeTable(session, at, columns) : judged
    if (errors.length > 0) return { rejected: [], ...(created && { created }) }
    const table = tableOf(at, columns, found, false)
    const writers = table.columns.map((column) => writerFor(column, bytesFormatOf(settings)))
    const { rejected, picked } = unwritable(table, writers, rows, { halves: true })
    if (picked?.length === 0) return { rejected, ...(created && { created }) }
    const ofTable = await uniqueKeys(session, table)
    // The key of a created table is called like this.
    const keys = created ? ofTable.map((key) => ({ ...key, name: `${writing.table}_pkey` })) : ofTable
    const untried = await untriedRules(session, table)
    const job = { session, writers, rows }
    const twin = { ...table, name: twinName }
    await session.execute(twinOf(table, found, []))
    const invalid = await loadRowByRow({ ...job, table: { ...twin, keys: [] }, picked })
    await session.execute([
      'drop table pg_temp.penstock_texts, pg_temp.penstock_errors',
      `alter table ${twinName} rename to penstock_given`,
      ...twinOf(table, found, keys),
      ...existingRows(table, found, keys),
    ])
    const isInvalid = new Set(invalid.rejected.map(({ index }) => index))
    const valid = [...(picked ?? rows.keys())].filter((index) => !isInvalid.has(index))
    const refused = await loadRowByRow({ ...job, table: twin, picked: valid })
    await session.execute(['rollback'])
    return {
      rejected: [...rejected, ...invalid.rejected, ...refused.rejected],
      ...(created ? { created } : { untried }),
    }
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

type UniqueKey = { readonly name: string; readonly columns: readonly string[] }

/** The unique keys that are delivered whole. */
async function uniqueKeys(session: PostgresSession, { name, columns }: PostgresTable): Promise<UniqueKey[]> {
  const isDelivered = (key: string) => columns.some((column) => column.name === key)
  return (await uniqueIndexes(session, name))
    .map((index) => ({ name: index.name, columns: index.columns.map(String) }))
    .filter((index) => index.columns.length > 0 && index.columns.every(isDelivered))
}

/**
 * Makes the temporary table. It has no defaults, which would draw numbers from the sequences of the real one: a column that is not
 * delivered stays empty.
 */
function twinOf(table: PostgresTable, found: readonly ExistingColumn[], keys: readonly UniqueKey[]): string[] {
  const isDelivered = (name: string) => table.columns.some((column) => column.name === name)
  const free = found.filter(({ name, required, generated }) => !required && !generated && !isDelivered(name))
  return [
    `create temp table penstock_twin (like ${table.name} including constraints including generated) on commit drop`,
    ...free.map(({ name }) => `alter table ${twinName} alter column ${escapeIdentifier(name)} drop not null`),
    // Under their own names, which reasons quote.
    ...keys.map(
      ({ name, columns }) =>
        `create unique index ${escapeIdentifier(name)} on ${twinName} (${columns.map(escapeIdentifier).join(', ')})`,
    ),
  ]
}

/** Statements that copy the rows of the table that have a unique key of the given ones. */
function existingRows(table: PostgresTable, found: readonly ExistingColumn[], keys: readonly UniqueKey[]): string[] {
  const names = found.filter(({ generated }) => !generated).map(({ name }) => escapeIdentifier(name))
  return keys.map(({ columns }) => {
    const equal = columns.map(escapeIdentifier).map((name) => `given.${name} = kept.${name}`)
    return `insert into ${twinName} (${names.join(', ')}) select ${names.map((name) => `kept.${name}`).join(', ')}
      from ${table.name} as kept where exists (select from pg_temp.penstock_given as given where ${equal.join(' and ')})
      on conflict do nothing`
  })
}
