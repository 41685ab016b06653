import { ConnectorError, type Values } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnAt } from '../databases/columns.ts'
import { type KeysetPlan, keysetClauses, notOrdered } from '../databases/keyset.ts'
import type { CursorTime } from '../databases/ranges.ts'
import { type Reading, readingOf } from '../databases/settings.ts'
import { dayBefore, inTimezone } from '../databases/timestamps.ts'
import { plainName } from './account.ts'
import { columnTypeOf, literalOf, orderTextOf, type SnowflakeColumn, textSqlOf, withNanoseconds } from './cells.ts'
import type { SnowflakeRow } from './result-rows.ts'
import type { SnowflakeStatement, SqlApi } from './sql-api.ts'

export type SnowflakePlan = KeysetPlan<SnowflakeColumn, OrderTerm, StatementPlace>

type OrderTerm = {
  readonly expression: string
  /** SQL of a value to compare with, from a bound text. */
  readonly literal: string
  /** The text by which a row is found again. */
  readonly textOf: (row: SnowflakeRow) => string | null
}

/** The place of statements, and their time limit. */
export type StatementPlace = Omit<SnowflakeStatement, 'text' | 'bindings'>

const alias = '"penstock_source"'

/** The source in a connection's settings, for reading and for a check. */
export function sourceOf(settings: Values): {
  readonly reading: Reading
  readonly source: string
  readonly at: StatementPlace
} {
  const reading = readingOf(settings, '')
  const name = (key: string): string | undefined => {
    const value = settings[key]
    return typeof value === 'string' && value.trim() !== '' ? value : undefined
  }
  const path =
    'table' in reading.from
      ? [name('database'), name('schema'), reading.from.table].filter((part) => part !== undefined).map(quoteName)
      : []
  // A comment at the end of a query must not swallow the bracket.
  const source = `${'query' in reading.from ? `(${reading.from.query}\n)` : path.join('.')} as ${alias}`
  const [database, schema, warehouse] = ['database', 'schema', 'warehouse'].map(name)
  return { reading, source, at: { database, schema, warehouse, timeoutSeconds: reading.waitMs / 1000 } }
}

/** Asks Snowflake what the columns are. */
export async function describe(api: SqlApi, source: string, at: StatementPlace): Promise<readonly SnowflakeColumn[]> {
  const { columns } = await api.run({ ...at, text: `select * from ${source} limit 0` })
  assertDistinct(columns.map(({ name }) => name))
  return columns
}

/** Asks Snowflake what the rows are, and plans how they are read. */
export async function planReading(api: SqlApi, settings: Values): Promise<SnowflakePlan> {
  const { reading, source, at } = sourceOf(settings)
  const described = await describe(api, source, at)
  const columns = described.map(({ name }) => name)
  const expressions = columns.map((name) => `${alias}.${quoteAsIs(name)}`)

  const named = [...(reading.cursor === undefined ? [] : [reading.cursor]), ...reading.keys]
  const places = [...new Set(named.map((name) => columnAt(name, columns)))]
  const orderNames = places.map((place) => columns[place] ?? '')
  const order = places.map((place): OrderTerm => {
    const type = described[place] ?? unknownType
    const expression = `${alias}.${quoteAsIs(type.name)}`
    // A float is compared as the decimal next to it, because its text has not all of its digits.
    const isFloat = type.type === 'REAL'
    // NaN and infinity are no cursors: no row behind them would ever be read.
    const isCursor = reading.cursor !== undefined && place === places[0]
    const finite = isCursor ? `case when abs(${expression}) < 1e29 then ${expression} end` : expression
    const exact = isFloat ? `to_number(${finite}, 38, 9)` : expression
    const index = isFloat ? expressions.push(exact) - 1 : place
    const literal = literalOf(isFloat ? { ...type, type: 'FIXED', scale: 9 } : type)
    if (literal === undefined) throw notOrdered(type)
    return { expression: exact, literal, textOf: (row) => orderTextOf(row[index] ?? null, type) }
  })
  const digest = reading.keys.length === 0
  if (digest) {
    const texts = described.map((type, at) => textSqlOf(expressions[at] ?? '', type))
    const expression = `sha2(to_json(array_construct(${texts.join(', ')})), 256)`
    const index = expressions.push(expression) - 1
    order.push({ expression, literal: '?', textOf: (row) => row[index] ?? null })
    orderNames.push('')
  }
  const cursor = reading.cursor === undefined ? undefined : described[places[0] ?? -1]
  if (cursor) assertCursor(cursor, settings.markerType)
  const bound = cursor ? await boundOf(api, source, at, order[0], cursor, reading) : undefined
  return {
    columns,
    described,
    types: described.map(columnTypeOf),
    order,
    digest,
    orderNames,
    bound,
    at,
    incremental: cursor !== undefined,
    reading,
    empty: cursor !== undefined && bound === undefined,
    time: cursor && timeOf(cursor),
    select: `select ${expressions.join(', ')} from ${source}`,
    width: expressions.length,
  }
}

/** The statement that reads everything behind a spot. */
export function statementOf(plan: SnowflakePlan, spot: Spot): SnowflakeStatement {
  const bindings: string[] = []
  const clauses = keysetClauses(plan, spot, ({ literal }, text) => {
    bindings.push(text)
    return literal
  })
  return { ...plan.at, text: `${plan.select}${clauses}`, bindings }
}

/** A name that Snowflake reported, quoted unchanged. */
export const quoteAsIs = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A name of a setting, quoted as Snowflake stores it. */
export const quoteName = (name: string): string => quoteAsIs(plainName(name))

const unknownType: SnowflakeColumn = { name: '', type: '', scale: 0 }

const isTimestamp = ({ type }: SnowflakeColumn): boolean => type === 'DATE' || type.startsWith('TIMESTAMP_')

/** How a cursor says a time, if it does. */
function timeOf({ type }: SnowflakeColumn): CursorTime | undefined {
  if (type === 'DATE') return { clock: 'day' }
  if (!type.startsWith('TIMESTAMP_')) return undefined
  const textOf = (time: string) => withNanoseconds(time.replace(' ', 'T'))
  return { clock: type === 'TIMESTAMP_NTZ' ? 'local' : 'utc', textOf }
}

function assertCursor(column: SnowflakeColumn, markerType: unknown): void {
  const { name, type } = column
  const kind = isTimestamp(column) ? 'Datetime' : type === 'FIXED' || type === 'REAL' ? 'Numeric' : undefined
  if (kind !== undefined && (markerType === undefined || markerType === kind)) return
  const advice = kind === undefined ? 'name another column, or convert this one in a query' : `set the type to ${kind}`
  const message = `The cursor column ${name} holds ${type}, which is no cursor of the type ${markerType ?? 'Datetime or Numeric'}: ${advice}.`
  throw new ConnectorError('invalid_setting', message)
}

/** Up to which cursor this transfer reads: times by the clock of Snowflake less the lag, numbers by the greatest there is. */
async function boundOf(
  api: SqlApi,
  source: string,
  at: StatementPlace,
  term: OrderTerm | undefined,
  cursor: SnowflakeColumn,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  if (isTimestamp(cursor)) {
    const text = `select to_varchar(dateadd(second, -${lagSeconds}, sysdate()), 'YYYY-MM-DD"T"HH24:MI:SS.FF9')`
    const now = (await api.run({ ...at, text })).rows[0]?.[0] ?? ''
    if (cursor.type !== 'DATE' && cursor.type !== 'TIMESTAMP_NTZ') return now
    const local = inTimezone(new Date(`${now.slice(0, 19)}Z`), timezone).replace(' ', 'T')
    // More rows of today can still arrive, so today is read when it is over.
    return cursor.type === 'DATE' ? dayBefore(local.slice(0, 10)) : withNanoseconds(`${local}${now.slice(19)}`)
  }
  const { rows } = await api.run({ ...at, text: `select max(${term?.expression}) from ${source}` })
  return rows[0]?.[0] ?? undefined
}
