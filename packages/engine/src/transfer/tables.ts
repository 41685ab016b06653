import {
  type Backfill,
  type Connector,
  ConnectorError,
  fillTemplate,
  nameOfTable,
  type SourceTable,
  templatesOf,
  type Values,
} from '@penstock/connector'
import type { DividedPart, TransferState } from '../protocol.ts'
import { type JobRuntime, openContext } from '../runtime.ts'
import { sideSettings } from '../settings.ts'
import { ofConnector } from './connector-calls.ts'
import { whyAllRows } from './stages/stages.ts'

/**
 * Lists the tables of a transfer that moves many: each is a part with the settings of a connection for one table
 * (docs/decisions/tables.md).
 */

/** The most tables of a transfer: the part that lists them is one of its parts. */
const tablesMax = 999
/** Rows that take as long as a table takes without rows, for the progress. */
const rowsOfTable = 1_000

type Sides = {
  readonly source: Connector
  readonly destination: Connector
  readonly settings: Record<'source' | 'destination', Values>
}
export type OpenedTables = Sides & { readonly tables: readonly SourceTable[] }

/**
 * Asks the source which tables its settings select.
 * @returns `undefined` if they name one table, or none is asked for
 * @throws a `ConnectorError` if the settings of a side are invalid for many tables, or select no table
 */
export async function askForTables(
  runtime: JobRuntime,
  opened: Pick<TransferState, 'source' | 'destination'>,
  signal: AbortSignal,
): Promise<OpenedTables | undefined> {
  if (!opened.source) return undefined
  const source = await runtime.loadConnector(opened.source.slug)
  const ofSource = sideSettings(source, 'Source', opened.source.settings)
  const many = source.source?.manyTables
  if (!many?.isAsked(ofSource)) return undefined
  const destination = await runtime.loadConnector(opened.destination.slug)
  const settings = sideSettings(destination, 'Destination', opened.destination.settings)
  const why = whyNotMany(destination, settings)
  if (why !== undefined) throw new ConnectorError('invalid_setting', why, { side: 'Destination' })
  const { context, redact } = openContext(runtime, source, 'Source', opened.source, signal)
  const tables = await ofConnector(signal, { side: 'Source', redact }, () => many.list(context))
  if (tables.length === 0) {
    const message = 'No table matches the tables of the connection. Check their names, and that the user can see them.'
    throw new ConnectorError('table_not_found', message, { side: 'Source' })
  }
  return { source, destination, settings: { source: ofSource, destination: settings }, tables }
}

function whyNotMany({ name, destination = {} }: Connector, settings: Values): string | undefined {
  const templates = templatesOf(destination)
  if (!templates) return `${name} does not take many tables: choose one table.`
  if (!templates.some((key) => String(settings[key] ?? '').includes('{table}'))) {
    return 'The name of the destination table must contain {table}, because the connection moves many tables.'
  }
  if (String(settings.mapping ?? '') !== '') {
    return 'A connection of many tables has no mapping: each table keeps the names of its columns. Remove the mapping.'
  }
  return undefined
}

/** The settings of both sides that differ between this table and the connection. */
export function settingsOfTable(
  { destination, settings }: Pick<OpenedTables, 'destination' | 'settings'>,
  table: SourceTable,
) {
  const templates = templatesOf(destination.destination ?? {}) ?? []
  const filled = templates.flatMap((key) => {
    const template = settings.destination[key]
    return typeof template === 'string' ? [[key, fillTemplate(template, table)] as const] : []
  })
  return { source: { ...table.settings }, destination: Object.fromEntries(filled) }
}

/**
 * The tables of a transfer, as its parts.
 * @returns `undefined` if the transfer moves one table, or is already one of many tables
 * @throws a `ConnectorError` as `askForTables` does
 */
export async function listTables(
  runtime: JobRuntime,
  state: TransferState,
  signal: AbortSignal,
): Promise<readonly DividedPart[] | undefined> {
  const asked = state.table === null ? await askForTables(runtime, state, signal) : undefined
  if (!asked) return undefined
  const { tables, settings, source } = asked
  const whyStages = whyAllRows(state)
  if (whyStages !== undefined) {
    throw new ConnectorError('invalid_setting', `A connection cannot move many tables, because ${whyStages}.`)
  }
  if (tables.length > tablesMax) {
    const message = `${tables.length.toLocaleString('en')} tables match. A connection moves at most ${tablesMax}: exclude some, or use several connections.`
    throw new ConnectorError('invalid_setting', message, { side: 'Source' })
  }
  const whole = tables.reduce((sum, { rows = 0 }) => sum + rows + rowsOfTable, 0)
  const places = new Map<string, string>()
  return tables.map((table): DividedPart => {
    const name = nameOfTable(table)
    const key = settingsOfTable(asked, table)
    const place = JSON.stringify({ ...key.destination, keyColumns: '' })
    const other = places.get(place)
    places.set(place, other ?? name)
    const message =
      other === undefined
        ? whyNotTable(table, settings, source.source?.backfill, state)
        : `It would be written to the same table as ${other}. Change the template of the destination table.`
    return {
      key,
      name,
      share: ((table.rows ?? 0) + rowsOfTable) / whole,
      table: {
        isNamed: table.isNamed,
        ...(message !== undefined && { refusal: { code: 'invalid_setting', message, side: 'Destination' } }),
      },
    }
  })
}

function whyNotTable(
  table: SourceTable,
  settings: OpenedTables['settings'],
  backfill: Backfill | undefined,
  { range }: Pick<TransferState, 'range'>,
): string | undefined {
  const { keyColumns, writeMode } = settings.destination
  if (table.keys.length === 0 && writeMode === 'Upsert' && String(keyColumns ?? '').includes('{key}')) {
    return 'The table has no primary key, which an update by {key} needs. Exclude the table, or add a key.'
  }
  const whyNotRange = range ? backfill?.whyNot?.({ ...settings.source, ...table.settings }) : undefined
  return whyNotRange === undefined ? undefined : `The table ${whyNotRange}.`
}
