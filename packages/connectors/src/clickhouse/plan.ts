import { ConnectorError, type Values } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnAt } from '../databases/columns.ts'
import { type KeysetPlan, keysetClauses, noCursor } from '../databases/keyset.ts'
import type { CursorTime } from '../databases/ranges.ts'
import { type Reading, readingOf } from '../databases/settings.ts'
import { dayBefore, inTimezone } from '../databases/timestamps.ts'
import { columnTypeOf, cursorKindOf, literalOf, orderSqlOf, type ReadColumn, textSqlOf } from './cells.ts'
import type { ClickHouseApi } from './clickhouse-api.ts'
import { quoteName, quoteText } from './target-columns.ts'

export type ClickHousePlan = KeysetPlan<ReadColumn, OrderTerm, ReadingPlace>

type OrderTerm = {
  readonly expression: string
  /** SQL of the value that a text of the order means. */
  readonly literalOf: (text: string) => string
}

/** The database of a statement, and its time limit. */
export type ReadingPlace = { readonly database: string; readonly waitMs: number }

const alias = '`penstock_source`'

/** The source in a connection's settings, for reading and for a check. */
export function sourceOf(settings: Values): {
  readonly reading: Reading
  readonly source: string
  readonly at: ReadingPlace
} {
  const database = typeof settings.database === 'string' ? settings.database.trim() || 'default' : 'default'
  const reading = readingOf({ ...settings, schema: database }, 'default')
  const { from, waitMs } = reading
  // A comment at the end of a query must not swallow the bracket.
  const source = 'query' in from ? `(${from.query}\n)` : `${quoteName(from.schema)}.${quoteName(from.table)}`
  return { reading, source: `${source} as ${alias}`, at: { database, waitMs } }
}

/** Asks ClickHouse what the columns are. */
export async function describe(
  clickhouse: ClickHouseApi,
  source: string,
  at: ReadingPlace,
): Promise<readonly ReadColumn[]> {
  const { columns } = await clickhouse.read(`select * from ${source} limit 0`, at)
  assertDistinct(columns.map(({ name }) => name))
  return columns
}

/** Asks ClickHouse what the rows are, and plans how they are read. */
export async function planReading(clickhouse: ClickHouseApi, settings: Values): Promise<ClickHousePlan> {
  const { reading, source, at } = sourceOf(settings)
  const described = await describe(clickhouse, source, at)
  const columns = described.map(({ name }) => name)
  const expressionOf = ({ name }: ReadColumn) => `${alias}.${quoteName(name)}`
  const texts = described.map((column) => textSqlOf(expressionOf(column), column))

  const named = [...(reading.cursor === undefined ? [] : [reading.cursor]), ...reading.keys]
  const ordered = [...new Set(named.map((name) => columnAt(name, columns)))].flatMap((place) => described[place] ?? [])
  const order = ordered.map((column): OrderTerm => {
    // Throws if nothing can be ordered by it.
    literalOf('', column)
    return { expression: expressionOf(column), literalOf: (text) => literalOf(text, column) }
  })
  const orderTexts = ordered.map((column) => orderSqlOf(expressionOf(column), column))
  const orderNames = ordered.map(({ name }) => name)
  const digest = reading.keys.length === 0
  if (digest) {
    const expression = `hex(SHA256(toJSONString(tuple(${texts.join(', ')}))))`
    order.push({ expression, literalOf: quoteText })
    orderTexts.push(expression)
    orderNames.push('')
  }
  const cursor = reading.cursor === undefined ? undefined : ordered[0]
  const bound = cursor ? await boundOf(clickhouse, source, at, cursor, expressionOf(cursor), reading) : undefined
  return {
    columns,
    described,
    types: described.map(columnTypeOf),
    order,
    digest,
    orderNames,
    incremental: cursor !== undefined,
    reading,
    bound,
    empty: cursor !== undefined && bound === undefined,
    time: cursor && timeOf(cursor),
    select: `select ${[...texts, ...orderTexts].join(', ')} from ${source}`,
    width: texts.length + orderTexts.length,
    at,
  }
}

/**
 * The statement that reads some of the rows after a spot.
 * @param rows maximum number of rows
 * @param offset how many rows it skips
 */
export function statementOf(
  { order, digest, select, within }: ClickHousePlan,
  { after, bound, upTo }: Spot,
  rows: number,
  offset: number,
): string {
  const clauses = keysetClauses({ order, digest, within }, { after, bound, upTo }, ({ literalOf }, text) =>
    literalOf(text),
  )
  return `${select}${clauses} limit ${rows}${offset > 0 ? ` offset ${offset}` : ''}`
}

/** How a cursor says a time, if it does. */
function timeOf(column: ReadColumn): CursorTime | undefined {
  const kind = cursorKindOf(column)
  return kind === 'time' ? { clock: 'utc' } : kind === 'day' ? { clock: 'day' } : undefined
}

/** Up to which cursor this transfer reads: times by the clock of ClickHouse less the lag, numbers by the greatest there is. */
async function boundOf(
  clickhouse: ClickHouseApi,
  source: string,
  at: ReadingPlace,
  column: ReadColumn,
  expression: string,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  const kind = cursorKindOf(column)
  if (kind === undefined) throw noCursor(column)
  if (kind === 'number') {
    const { rows } = await clickhouse.read(`select toString(maxOrNull(${expression})) from ${source}`, at)
    return rows[0]?.[0] ?? undefined
  }
  const text = `select toString(now64(6, 'UTC') - toIntervalSecond(${lagSeconds}))`
  const now = (await clickhouse.read(text, at)).rows[0]?.[0] ?? ''
  const second = now.slice(0, 19).replace('T', ' ')
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(second)) {
    throw new ConnectorError('malformed_response', 'ClickHouse did not say what time it is.')
  }
  // More rows of today can still arrive, so today is read when it is over.
  if (kind === 'day') return dayBefore(inTimezone(new Date(`${second.replace(' ', 'T')}Z`), timezone).slice(0, 10))
  return second
}
