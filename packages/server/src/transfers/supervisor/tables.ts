import { ConnectorError, type Json, type Values } from '@penstock/connector'
import {
  type ColumnReport,
  type DividedPart,
  extendMapping,
  type SettingsOfSides,
  settingsForTable,
  type TransferState,
} from '@penstock/engine'
import type { Role, TransferErrorCode } from '@penstock/wire'
import type { Database, Transaction } from '../../db/database.ts'
import type { DataKey } from '../../secrets/data-keys.ts'
import { openJson, places } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import { endPart } from './end-part.ts'
import { Lost } from './endings.ts'
import { fenceOf } from './queries.ts'
import * as queries from './table-queries.ts'
import type { TransferLog } from './transfer-log.ts'

/** Transfers of many tables: each of their parts is a table, which has the settings and the state of a connection with one table. */

/** How the part of a table begins. */
export type Admitted = {
  readonly status: 'queued' | 'skipped' | 'failed'
  readonly code?: TransferErrorCode
  readonly message?: string
  readonly side?: Role
}

/** The tables of a transfer of only some tables. @throws ConnectorError if the source has none of them any more */
export function chosenTables(parts: readonly DividedPart[], only: readonly string[] | null): readonly DividedPart[] {
  if (only === null) return parts
  const chosen = parts.filter(({ name }) => only.includes(name))
  if (chosen.length > 0) return chosen
  const message = `The source does not list ${only.join(', ')} any more: the table is excluded, renamed or removed.`
  // It breaks no connection, whose other tables are there.
  throw new ConnectorError('source_changed', message, { side: 'Source' })
}

/**
 * Decides which of the listed tables are moved, and ends the part that listed them. All tables of the first transfer are moved, and tables
 * that the settings name; other new tables only if the connection adds what is new. A paused table is not moved.
 * @param parts the tables of this transfer
 * @param listed all tables that the source listed
 * @throws ConnectorError if new tables stop the transfer, or no table is left
 */
export async function admitTables(
  tx: Transaction,
  { id, connectionId, drift, testRows }: Pick<WorkRow, 'id' | 'connectionId' | 'drift' | 'testRows'>,
  parts: readonly DividedPart[],
  listed: readonly DividedPart[],
): Promise<readonly Admitted[]> {
  const known = new Map((await queries.knownTables.all(tx, { connectionId })).map((row) => [row.name, row.paused]))
  const isNew = ({ name, table }: DividedPart) => known.size > 0 && !known.has(name) && !table?.isNamed
  const added = new Set(drift === 'add' ? [] : listed.filter(isNew))
  const admitted = parts.map((part): Admitted => {
    if (added.has(part)) return { status: 'skipped', code: 'new_table', message: newTable(part.name, 1).message }
    if (known.get(part.name)) return paused
    return part.table?.refusal ? { status: 'failed', ...part.table.refusal } : { status: 'queued' }
  })
  const stops = drift === 'stop' ? parts.filter((part) => added.has(part)) : []
  if (stops[0]) throw newTable(stops[0].name, stops.length)
  if (admitted.every(({ status }) => status !== 'queued')) {
    const failed = admitted.find(({ status }) => status === 'failed')
    if (failed?.code && failed.side) throw errorOf(failed.code, failed.message ?? '', failed.side)
    const news = parts.filter((part) => added.has(part))
    if (news[0]) throw newTable(news[0].name, news.length)
    const message = 'All tables of the transfer are paused. Resume a table, or disable the connection.'
    throw new ConnectorError(paused.code, message)
  }
  if (testRows === null) {
    const tables = listed.filter((part) => !added.has(part))
    await queries.knowTables.run(tx, {
      connectionId,
      names: tables.map(({ name }) => name),
      destinations: tables.map(({ key }) => placeOf(key as unknown as SettingsOfSides)),
    })
    await queries.forgetTables.run(tx, { connectionId })
  }
  await queries.endListing.run(tx, { id })
  return admitted
}

/** The name of a table at the destination. */
const placeOf = ({ destination: { schema, dataset, table } }: SettingsOfSides): string =>
  [schema ?? dataset, table].filter(Boolean).join('.')

const paused = {
  status: 'skipped',
  code: 'table_paused',
  message: 'The table is paused. Resume it, and the next transfer moves it.',
} as const satisfies Admitted

const newTable = (name: string, count: number) =>
  new ConnectorError(
    'new_table',
    `${count === 1 ? `The table ${name} is` : `The table ${name} and ${count - 1} others are`} new in the source. Name each new table in the tables of the connection, or let the connection add new columns and tables.`,
    { side: 'Source' },
  )

const errorOf = (code: TransferErrorCode, message: string, side: Role) =>
  new ConnectorError(code as ConstructorParameters<typeof ConnectorError>[0], message, { side })

/** Skips a table that was paused while it waited for a worker. @returns whether it did */
export async function skipPaused(
  deps: Parameters<typeof endPart>[0],
  work: WorkRow,
  lines: Pick<TransferLog, 'lineOf'>,
): Promise<boolean> {
  if (!work.tablePaused || work.attempt > 1) return false
  if (!(await endPart(deps, work, { ...paused, side: null, connection: null }, lines.lineOf))) throw new Lost()
  return true
}

/** The part that a worker claimed: the settings of both sides with it, and what the source calls it. */
export type OpenedPart = {
  readonly srcConfig: Values
  readonly destConfig: Values
  readonly part: TransferState['part']
}

/** Opens what the source calls a part. A table is no part for the connectors, but all that they move. */
export async function openPart(db: Database, work: WorkRow, key: DataKey): Promise<OpenedPart> {
  const { id, part: number, table, tableMapping, partKeySealed, sourceColumns, srcConfig, destConfig } = work
  if (partKeySealed === null) return { srcConfig, destConfig, part: null }
  const opened = (await openJson(db, key, places.part(id, number), partKeySealed)) as { key: Json }
  if (table === null) return { srcConfig, destConfig, part: { key: opened.key, columns: sourceColumns ?? [] } }
  const own = opened.key as unknown as SettingsOfSides
  const { source, destination } = settingsForTable({ source: srcConfig, destination: destConfig }, own)
  const mapping = tableMapping === null ? {} : { mapping: tableMapping }
  return { srcConfig: source, destConfig: { ...destination, ...mapping }, part: null }
}

/**
 * Follows changes of the columns of a table.
 * @returns the mapping of the table from now on; `null` if it did not change
 */
export async function reportTableColumns(
  database: Database,
  work: WorkRow,
  { shape, changes, added, mapping }: ColumnReport,
): Promise<string | null> {
  const columns = { shape: JSON.stringify(shape), changes: JSON.stringify(changes) }
  if ((await queries.recordTableColumns.run(database, { ...fenceOf(work), ...columns })) === 0) throw new Lost()
  const before = work.tableMapping ?? ''
  const followed = mapping ?? before
  const text = (added.length > 0 ? extendMapping(followed, added)?.text : undefined) ?? followed
  if (text === before) return null
  await queries.saveTableMapping.run(database, { ...fenceOf(work), mapping: text })
  return text
}
