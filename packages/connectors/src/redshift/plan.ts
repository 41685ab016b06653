import { ConnectorError } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnAt } from '../databases/columns.ts'
import { keysetClauses, noCursor } from '../databases/keyset.ts'
import type { CursorTime } from '../databases/ranges.ts'
import type { OrderedPlan } from '../databases/read-ordered.ts'
import type { Reading } from '../databases/settings.ts'
import { dayBefore, inTimezone } from '../databases/timestamps.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import {
  columnTypeOf,
  cursorKindOf,
  keyTypeOf,
  oids,
  quoteName,
  type RedshiftField,
  textSqlOf,
  typeNameOf,
} from './cells.ts'

export type RedshiftPlan = OrderedPlan<OrderTerm> & {
  readonly described: readonly RedshiftField[]
  /** The statement without its conditions and order. */
  readonly select: string
  /** The statement that counts the rows without a cursor. Absent if all rows are read. */
  readonly countUnread: string | undefined
  /** How many fields each row of it has. */
  readonly width: number
}

type OrderTerm = {
  readonly expression: string
  /** Which field of a row has its text. */
  readonly index: number
  /** The type to which such a text is cast. */
  readonly typeOf: (text: string) => string
}

const alias = '"penstock_source"'
/** A digest has 65 characters for each column, and Redshift's texts have at most 65,535 bytes. */
const digestedMax = 1_000

/** The source in the settings, to follow `from`. */
export function sourceOf({ from }: Reading): string {
  // A comment at the end of a query must not swallow the bracket.
  const source = 'query' in from ? `(${from.query}\n)` : `${quoteName(from.schema)}.${quoteName(from.table)}`
  return `${source} as ${alias}`
}

/** Asks Redshift what the columns are. */
export async function describe(session: PostgresSession, source: string): Promise<readonly RedshiftField[]> {
  const fields = await session.describe(`select * from ${source} limit 0`)
  assertDistinct(fields.map(({ name }) => name))
  return fields
}

/** Asks Redshift what the rows are, and plans how they are read. */
export async function planReading(session: PostgresSession, reading: Reading): Promise<RedshiftPlan> {
  const source = sourceOf(reading)
  const described = await describe(session, source)
  const columns = described.map(({ name }) => name)
  const expressions = columns.map((name) => `${alias}.${quoteName(name)}`)
  const named = [...(reading.cursor === undefined ? [] : [reading.cursor]), ...reading.keys]
  const places = [...new Set(named.map((name) => columnAt(name, columns)))]
  const order = places.flatMap((index): OrderTerm[] => {
    const column = described[index]
    return column ? [{ expression: expressions[index] ?? '', index, typeOf: keyTypeOf(column) }] : []
  })
  const orderNames = places.map((place) => columns[place] ?? '')
  const digest = reading.keys.length === 0
  if (digest) {
    const expression = digestOf(described, expressions)
    order.push({ expression, index: expressions.push(expression) - 1, typeOf: () => 'varchar(64)' })
    orderNames.push('')
  }
  const cursor = reading.cursor === undefined ? undefined : described[places[0] ?? -1]
  const expression = order[0]?.expression ?? ''
  const bound = cursor ? await boundOf(session, source, cursor, expression, reading) : undefined
  return {
    columns,
    described,
    types: described.map(columnTypeOf),
    order,
    digest,
    orderNames,
    select: `select ${expressions.join(', ')} from ${source}`,
    bound,
    empty: cursor !== undefined && bound === undefined,
    time: cursor && timeOf(cursor),
    countUnread: cursor && `select count(*) as rows_unread from ${source} where ${expression} is null`,
    width: expressions.length,
    rowsEstimated: undefined,
  }
}

/** A digest of the digests of all values: the concatenated values themselves could be longer than a text of Redshift. */
function digestOf(described: readonly RedshiftField[], expressions: readonly string[]): string {
  if (described.length > digestedMax) {
    const message = `The source has more than ${digestedMax} columns, so that rows cannot be ordered by a digest: set key columns.`
    throw new ConnectorError('invalid_key', message)
  }
  const parts = described.map((column, at) => `coalesce(sha2(${textSqlOf(expressions[at] ?? '', column)}, 256), '')`)
  return `sha2(${parts.join(` || ',' || `)}, 256)`
}

/** The statement that reads everything behind a spot, and the values of its parameters. */
export function statementOf(
  plan: RedshiftPlan,
  spot: Spot,
): { readonly text: string; readonly values: readonly string[] } {
  const values: string[] = []
  // A backslash in a literal has a different meaning in Redshift than in PostgreSQL. In a parameter it is a plain backslash.
  const clauses = keysetClauses(plan, spot, ({ typeOf }, text) => `cast($${values.push(text)} as ${typeOf(text)})`)
  return { text: `${plan.select}${clauses}`, values }
}

/** How a cursor says a time, if it does. */
function timeOf(column: RedshiftField): CursorTime | undefined {
  const kind = cursorKindOf(column)
  if (kind === undefined || kind === 'number') return undefined
  if (kind === 'day') return { clock: 'day' }
  return column.dataTypeID === oids.timestamptz ? { clock: 'utc', textOf: (time) => `${time}+00` } : { clock: 'local' }
}

/** Up to which cursor this transfer reads: times by the clock of Redshift less the lag, numbers by the greatest there is. */
async function boundOf(
  session: PostgresSession,
  source: string,
  column: RedshiftField,
  expression: string,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  const kind = cursorKindOf(column)
  if (kind === undefined) throw noCursor({ name: column.name, type: typeNameOf(column) })
  if (kind === 'number') {
    const [row] = await session.rows(`select max(${expression}) as bound from ${source}`, { bound: 'text?' })
    return row?.bound ?? undefined
  }
  const [row] = await session.rows('select getdate() as now', { now: 'text' })
  const now = Date.parse(`${row?.now.slice(0, 19).replace(' ', 'T')}Z`)
  if (Number.isNaN(now)) throw session.unexpected('no time when it was asked for the time')
  const at = new Date(now - lagSeconds * 1000)
  if (column.dataTypeID === oids.timestamptz) return `${at.toISOString().slice(0, 19).replace('T', ' ')}+00`
  const local = inTimezone(at, timezone)
  // More rows of today can still arrive, so today is read when it is over.
  return kind === 'day' ? dayBefore(local.slice(0, 10)) : local
}
