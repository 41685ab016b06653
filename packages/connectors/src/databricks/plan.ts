import { ConnectorError, type Values } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnAt } from '../databases/columns.ts'
import { type KeysetPlan, keysetClauses, noCursor } from '../databases/keyset.ts'
import type { CursorTime } from '../databases/ranges.ts'
import { type Reading, readingOf } from '../databases/settings.ts'
import { dayBefore, inTimezone, localTime } from '../databases/timestamps.ts'
import { noValue } from '../kit/names.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { columnTypeOf, cursorKindOf, literalOf, type ResultColumn, textSqlOf } from './cells.ts'
import type { Databricks } from './databricks-api.ts'
import { quoteName, quoteText } from './target-columns.ts'

export type DatabricksPlan = KeysetPlan<ResultColumn, OrderTerm, WarehousePlace>

type OrderTerm = {
  readonly expression: string
  /** Its place among the values of a row. */
  readonly index: number
  /** SQL of the value that such a text means. */
  readonly literalOf: (text: string) => string
}

/** The warehouse of a statement, and its time limit. */
export type WarehousePlace = { readonly warehouse: string; readonly waitMs: number }

const alias = '`penstock_source`'

/** The source in a connection's settings, for reading and for a check. */
export function sourceOf(settings: Values): {
  readonly reading: Reading
  readonly source: string
  readonly at: WarehousePlace
} {
  const reading = readingOf(settings, '')
  const nameOf = (key: string): string => {
    const value = textIn(settings[key])?.trim().replaceAll('`', '')
    if (value) return value
    throw noValue(key)
  }
  const path = () => ['catalog', 'schema', 'table'].map(nameOf).map(quoteName).join('.')
  // A comment at the end of a query must not swallow the bracket.
  const source = 'query' in reading.from ? `(${reading.from.query}\n)` : path()
  return { reading, source: `${source} as ${alias}`, at: { warehouse: nameOf('warehouse'), waitMs: reading.waitMs } }
}

/** Has Databricks describe the columns. The warehouse starts for it. */
export async function describe(
  databricks: Databricks,
  source: string,
  at: WarehousePlace,
): Promise<readonly ResultColumn[]> {
  const json = await databricks.execute({ ...at, text: `select * from ${source} limit 0` })
  const columns = listIn(objectIn(objectIn(json.manifest).schema).columns).flatMap((column): ResultColumn[] => {
    const { name, type_text: type } = isObject(column) ? column : {}
    if (typeof name !== 'string' || typeof type !== 'string' || type.length > 100_000) return []
    return [{ name, type: type.toUpperCase().replaceAll(' ', ''), declared: type }]
  })
  if (columns.length === 0) {
    throw new ConnectorError('malformed_response', 'Databricks did not describe the columns of a result.')
  }
  assertDistinct(columns.map(({ name }) => name))
  return columns
}

/** Asks Databricks what the rows are, and plans how they are read. */
export async function planReading(databricks: Databricks, settings: Values): Promise<DatabricksPlan> {
  const { reading, source, at } = sourceOf(settings)
  const described = await describe(databricks, source, at)
  const columns = described.map(({ name }) => name)
  const expressionOf = ({ name }: ResultColumn) => `${alias}.${quoteName(name)}`
  const texts = described.map((column) => textSqlOf(expressionOf(column), column))
  const named = [...(reading.cursor === undefined ? [] : [reading.cursor]), ...reading.keys]
  const places = [...new Set(named.map((name) => columnAt(name, columns)))]
  const order = places.flatMap((index): OrderTerm[] => {
    const column = described[index]
    if (!column) return []
    // Throws if nothing can be ordered by it.
    literalOf('', column)
    return [{ expression: expressionOf(column), index, literalOf: (text) => literalOf(text, column) }]
  })
  const orderNames = places.map((place) => columns[place] ?? '')
  const digest = reading.keys.length === 0
  if (digest) {
    const expression = `sha2(to_json(array(${texts.join(', ')})), 256)`
    order.push({ expression, index: texts.push(expression) - 1, literalOf: quoteText })
    orderNames.push('')
  }
  const cursor = reading.cursor === undefined ? undefined : described[places[0] ?? -1]
  const bound = cursor ? await boundOf(databricks, source, at, cursor, expressionOf(cursor), reading) : undefined
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
    select: `select ${texts.join(', ')} from ${source}`,
    width: texts.length,
    at,
  }
}

/** The statement that reads everything behind a spot. */
export const statementOf = (plan: DatabricksPlan, spot: Spot): string =>
  `${plan.select}${keysetClauses(plan, spot, ({ literalOf }, text) => literalOf(text))}`

/** How a cursor says a time, if it does. */
function timeOf(column: ResultColumn): CursorTime | undefined {
  const kind = cursorKindOf(column)
  if (kind === undefined || kind === 'number') return undefined
  if (kind === 'day') return { clock: 'day' }
  const microsOf = (time: string) => String(BigInt(Date.parse(`${time.replace(' ', 'T')}Z`)) * 1000n)
  return column.type === 'TIMESTAMP' ? { clock: 'utc', textOf: microsOf } : { clock: 'local' }
}

/** Up to which cursor this transfer reads: times by the clock of Databricks less the lag, numbers by the greatest there is. */
async function boundOf(
  databricks: Databricks,
  source: string,
  at: WarehousePlace,
  column: ResultColumn,
  expression: string,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  const kind = cursorKindOf(column)
  if (kind === undefined) throw noCursor(column)
  const value = kind === 'number' ? `max(${expression})` : 'unix_micros(current_timestamp())'
  const from = kind === 'number' ? ` from ${source}` : ''
  const json = await databricks.execute({ ...at, text: `select cast(${value} as string)${from}` })
  const text = textIn(listIn(listIn(objectIn(json.result).data_array)[0])[0])
  if (kind === 'number') return text
  if (text === undefined || !/^\d{1,18}$/.test(text)) {
    throw new ConnectorError('malformed_response', 'Databricks did not say what time it is.')
  }
  const micros = BigInt(text) - BigInt(Math.round(lagSeconds)) * 1_000_000n
  if (column.type === 'TIMESTAMP') return String(micros)
  const local = inTimezone(new Date(`${(localTime(micros * 1000n) ?? '').slice(0, 19)}Z`), timezone)
  // More rows of today can still arrive, so today is read when it is over.
  return kind === 'day' ? dayBefore(local.slice(0, 10)) : local
}
