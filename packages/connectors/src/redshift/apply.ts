import type { Batch, BatchWindow } from '@penstock/connector'
import { deleteOthersSql } from '../kit/warehouse/merge.ts'
import { scopeCondition } from '../kit/warehouse/windows.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { quoteName } from './cells.ts'
import { rowNumber, rowRemoved, stage, stageColumn } from './copy.ts'
import { runEach } from './session.ts'
import type { RedshiftTable } from './table.ts'

/** Writing the rows of the stage to the table, in a transaction that has begun. */

/** The temporary tables of each session. Another table of the same name, which can be a permanent one, is never dropped. */
const created = new WeakMap<PostgresSession, Set<string>>()

async function createTemp(session: PostgresSession, name: string, columns: readonly string[]): Promise<void> {
  await dropTemp(session, name)
  await runEach(session, [`create temp table ${name} (${columns.join(', ')})`])
  created.set(session, new Set([...(created.get(session) ?? []), name]))
}

async function dropTemp(session: PostgresSession, name: string): Promise<void> {
  if (created.get(session)?.delete(name)) await runEach(session, [`drop table ${name}`])
}

/** Creates an empty stage for the rows of a batch. It belongs to the session, and no rule of the table holds in it. */
export async function createStage(session: PostgresSession, { columns }: RedshiftTable): Promise<void> {
  const parts = columns.map(({ type }, at) => `${stageColumn(at)} ${type}`)
  await createTemp(session, stage, [...parts, `${rowNumber} integer`, `${rowRemoved} boolean`])
}

/**
 * Adds the rows of the stage. With a key, the last row of each key replaces the row in the table, in the delivered columns, or
 * removes it.
 * @param removes whether the stage has rows that must be removed
 */
export async function writeStaged(session: PostgresSession, table: RedshiftTable, removes: boolean): Promise<void> {
  const { name, alias, columns, keys } = table
  const names = columns.map((column) => quoteName(column.name))
  const list = names.join(', ')
  const values = names.map((_, at) => `latest.${stageColumn(at)}`)
  if (keys.length === 0) {
    await runEach(session, [`insert into ${name} (${list}) select ${values.join(', ')} from ${stage} as latest`])
    return
  }
  const partition = keys.map(stageColumn).join(', ')
  const ranked = `select *, row_number() over (partition by ${partition} order by ${rowNumber} desc) as penstock_rank from ${stage}`
  const latest = `(select * from (${ranked}) as ranked where penstock_rank = 1 and ${rowRemoved} is null) as latest`
  const changed = names.flatMap((column, at) => (keys.includes(at) ? [] : [`${column} = latest.${stageColumn(at)}`]))
  const onKeys = (of: string) => keys.map((at) => `${of}.${names[at]} = latest.${stageColumn(at)}`).join(' and ')
  if (removes) {
    const gone = keys.map((at) => `${alias}.${names[at]} = ${stage}.${stageColumn(at)}`).join(' and ')
    await runEach(session, [
      // Redshift has no window functions in a subquery that refers to the table.
      `delete from ${stage} where ${rowNumber} not in (select max(${rowNumber}) from ${stage} group by ${partition})`,
      `delete from ${name} using ${stage} where ${stage}.${rowRemoved} and ${gone}`,
    ])
  }
  if (changed.length > 0) {
    await runEach(session, [`update ${name} set ${changed.join(', ')} from ${latest} where ${onKeys(alias)}`])
  }
  const isNew = `kept.${names[keys[0] ?? 0]} is null`
  await runEach(session, [
    `insert into ${name} (${list}) select ${values.join(', ')} from ${latest} left join ${name} as kept on ${onKeys('kept')} where ${isNew}`,
  ])
}

const windowTable = 'penstock_window'

/**
 * Deletes rows that are not in a window any more, in the transaction of the window's last batch. The keys of a window of several
 * batches are collected in a temporary table, which is lost with the session: then nothing is deleted.
 */
export class RedshiftWindows {
  #known: { readonly scope: string; readonly session: PostgresSession } | undefined

  /**
   * Called in the transaction of a batch, after its rows. An error must end the session.
   * @param isWhole whether no row of the batch was rejected
   */
  async replace(
    session: PostgresSession,
    table: RedshiftTable,
    { columns: names, window }: Pick<Batch, 'columns' | 'window'>,
    isWhole: boolean,
  ): Promise<void> {
    const known = this.#known
    this.#known = undefined
    if (!window || window.spoiled || !isWhole || !table.isDeletable || table.keys.length === 0) return
    if (window.begins && window.ends) return deleteAbsent(session, table, names, window, stage)
    const scope = JSON.stringify(window.scope)
    if (window.begins) await createWindow(session, table)
    else if (known?.session !== session || known.scope !== scope) return
    const keys = table.keys.map(stageColumn).join(', ')
    await runEach(session, [`insert into ${windowTable} select ${keys} from ${stage}`])
    if (!window.ends) {
      this.#known = { scope, session }
      return
    }
    await deleteAbsent(session, table, names, window, windowTable)
    await dropTemp(session, windowTable)
  }
}

async function createWindow(session: PostgresSession, { columns, keys }: RedshiftTable): Promise<void> {
  const parts = keys.map((at) => `${stageColumn(at)} ${columns[at]?.type}`)
  await createTemp(session, windowTable, parts)
}

/**
 * Deletes the rows of a scope whose keys are not in a temporary table. Deletes nothing if the table cannot have rows of the
 * scope.
 */
async function deleteAbsent(
  session: PostgresSession,
  { name, alias, columns, keys }: RedshiftTable,
  names: Batch['columns'],
  { scope }: BatchWindow,
  from: string,
): Promise<void> {
  const values: string[] = []
  const within = scopeCondition(
    scope,
    names,
    columns,
    (column) => `${alias}.${quoteName(column.name)}`,
    ({ type, isIncomparable }, text) => (isIncomparable ? undefined : `cast($${values.push(text)} as ${type})`),
  )
  if (within === undefined) return
  const merged = keys.map((at) => ({
    name: quoteName(columns[at]?.name ?? ''),
    from: stageColumn(at),
    isKey: true,
  }))
  const text = deleteOthersSql({ from: name, prefix: `${alias}.`, columns: merged, within, keys: from })
  await session.rows(text, {}, values)
}
