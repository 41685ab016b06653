import type { RawFormat, SourceContext } from '@penstock/connector'
import pg from 'pg'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnNotFound } from '../databases/columns.ts'
import { knotsIn } from '../databases/key-ranges.ts'
import type { CursorTime } from '../databases/ranges.ts'
import type { OrderedPlan } from '../databases/read-ordered.ts'
import type { Reading } from '../databases/settings.ts'
import { listIn, numberIn, objectIn } from '../platform-api/json.ts'
import { columnTypeOf, kindOf, type PostgresCellKind } from './cells.ts'
import type { PostgresSession } from './session.ts'
import { tablesIn, waitForWriters } from './settled.ts'

export type PostgresPlan = OrderedPlan<OrderTerm> & {
  readonly kinds: readonly PostgresCellKind[]
  /** The statement without its conditions, order and limit. */
  readonly select: string
  /** The table or the query, with the alias. */
  readonly source: string
  /** The statement that counts the rows without a cursor; absent where all is read. */
  readonly countUnread: string | undefined
  /** How many fields each row of it has. */
  readonly width: number
  /** The columns as the server describes them. */
  readonly fields: readonly pg.FieldDef[]
  /** Whether rows are ordered by all columns of a primary key, so that none is equal to another one. */
  readonly isKeyed: boolean
  /** Whether all that the database calls text is text. */
  readonly isText: boolean
}

type OrderTerm = {
  readonly expression: string
  /** The type to which its text is cast for comparison. */
  readonly type: string
  /** Which field of a line has its text. */
  readonly index: number
}

const alias = '"penstock_source"'
const digestExpression = `encode(sha256(convert_to(${alias}::text, 'UTF8')), 'hex') collate "C"`

const { escapeIdentifier, escapeLiteral } = pg

/** Asks the database what the rows are, and plans how they are read. */
export async function planReading(
  session: PostgresSession,
  reading: Reading,
  { signal, sample }: Pick<SourceContext, 'signal' | 'sample'>,
): Promise<PostgresPlan> {
  const { from, cursor, keys: named } = reading
  const table = 'table' in from ? `${escapeIdentifier(from.schema)}.${escapeIdentifier(from.table)}` : undefined
  // A comment at the end of a query must not swallow the bracket.
  const source = `${'query' in from ? `(${from.query}\n)` : table} as ${alias}`
  const fields = await session.describe(`select * from ${source} limit 0`)
  const columns = fields.map(({ name }) => name)
  assertDistinct(columns)
  const types = await session.rows(
    `select oid, typcategory as category, typtype as kind, format_type(oid, -1) as type
       from pg_type where oid = any($1::oid[])`,
    { oid: 'integer', category: 'text', kind: 'text', type: 'text' },
    [fields.map(({ dataTypeID }) => dataTypeID)],
  )
  const typeOf = new Map(types.map((type) => [type.oid, type]))
  const kinds = fields.map(({ dataTypeID }) => {
    const { category = 'U', kind = 'b' } = typeOf.get(dataTypeID) ?? {}
    return kindOf(dataTypeID, category, kind)
  })
  const expressions = columns.map((name, at) => shown(`${alias}.${escapeIdentifier(name)}`, kinds[at] ?? 'text'))

  const primary = table ? await primaryKeyOf(session, table) : []
  const keys = named.length > 0 ? named : primary.map(({ name }) => name)
  const orderNames = [...new Set([...(cursor === undefined ? [] : [cursor]), ...keys])]
  const order: OrderTerm[] = []
  for (const name of orderNames) {
    const at = columns.indexOf(name)
    if (at < 0) throw columnNotFound(name, columns)
    const expression = `${alias}.${escapeIdentifier(name)}`
    // A column that is displayed in another form is read a second time, in the form in which it is compared.
    const index = !isNested(kinds[at]) ? at : expressions.push(`${expression}::text`) - 1
    order.push({ expression, type: typeOf.get(fields[at]?.dataTypeID ?? 0)?.type ?? 'text', index })
  }
  const digest = keys.length === 0
  if (digest) {
    order.push({ expression: digestExpression, type: 'text', index: expressions.push(digestExpression) - 1 })
    orderNames.push('')
  }
  const select = `select ${expressions.join(', ')} from ${source}`
  const { rowsEstimated, bytesEstimated, tables } = await estimate(session, select)
  const bound = cursor === undefined ? undefined : await boundOf(session, source, order[0], reading)
  // Partitions without rows are in no plan.
  const written = [...(table === undefined ? [] : [table]), ...tables]
  if (bound !== undefined && !sample) {
    const { lagSeconds } = reading
    await waitForWriters(session, written, { lagSeconds, isTime: isTime(order[0]) }, signal)
  }
  return {
    columns,
    types: fields.map((field, at) => columnTypeOf(field, kinds[at] ?? 'text')),
    kinds,
    order,
    digest,
    orderNames,
    select,
    bound,
    width: expressions.length,
    fields,
    isKeyed: primary.length > 0 && primary.every(({ name, isUnique }) => isUnique && keys.includes(name)),
    isText: primary.every(({ isText }) => isText),
    empty: cursor !== undefined && bound === undefined,
    time: timeOf(order[0]),
    endless: endlessOf(order[0]),
    countUnread:
      cursor === undefined
        ? undefined
        : `select count(*) as rows from ${source} where (${order[0]?.expression} is not null${finite(order[0])}) is not true`,
    rowsEstimated,
    // Keys that a person names can be empty: such a row would be in no range.
    ...(named.length === 0 && isWhole(order[0]) && { bytesEstimated }),
    source,
  }
}

const isWhole = (term: OrderTerm | undefined): boolean => /^(smallint|integer|bigint)$/.test(term?.type ?? '')

/**
 * Keys of a table in parts: those of the histogram that ANALYZE made, if it did, between the least and the greatest.
 * @returns none if there are no rows
 */
export async function knotsOf(
  session: PostgresSession,
  { from }: Reading,
  { order, orderNames, source }: PostgresPlan,
): Promise<readonly bigint[]> {
  const { expression } = order[0] as OrderTerm
  const [least] = await session.rows(
    `select min(${expression})::text as first, max(${expression})::text as last from ${source}`,
    { first: 'text', last: 'text' },
  )
  if (!('table' in from)) return []
  const bounds = await session.rows(
    `select unnest(histogram_bounds::text::int8[])::text as bound
       from pg_stats where schemaname = $1 and tablename = $2 and attname = $3
      order by inherited desc limit 10001`,
    { bound: 'text' },
    [from.schema, from.table, orderNames[0]],
  )
  const [lowest, highest] = knotsIn([least?.first, least?.last])
  if (lowest === undefined || highest === undefined) return []
  const within = knotsIn(bounds.map(({ bound }) => bound)).filter((key) => key > lowest && key < highest)
  return [lowest, ...within, highest]
}

/** The statement that reads everything behind `after`, or from the beginning. */
export function statementOf(
  plan: PostgresPlan,
  { after, bound, above, upTo }: Omit<Spot, 'skip'>,
  format: RawFormat = 'copy-text',
): string {
  const { order, digest, select, within } = plan
  const expressions = order.map(({ expression }) => expression)
  const literal = (text: string, at: number) => `${escapeLiteral(text)}::${order[at]?.type}`
  const conditions: string[] = []
  if (bound !== undefined) conditions.push(`${expressions[0]} <= ${literal(bound, 0)}`)
  if (above !== undefined) conditions.push(`${expressions[0]} > ${literal(above, 0)}`)
  if (within?.from !== undefined) conditions.push(`${expressions[0]} >= ${literal(within.from, 0)}`)
  if (within?.before !== undefined) conditions.push(`${expressions[0]} < ${literal(within.before, 0)}`)
  if (after) {
    // Rows with the same digest are read again and counted, because identical rows have no other order.
    conditions.push(`(${expressions.join(', ')}) ${digest ? '>=' : '>'} (${after.map(literal).join(', ')})`)
  }
  if (upTo) conditions.push(`(${expressions.join(', ')}) <= (${upTo.map(literal).join(', ')})`)
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return `copy (${select}${where} order by ${expressions.join(', ')}) to stdout${format === 'copy-binary' ? ' (format binary)' : ''}`
}

/** Whether a column is read as JSON. */
export const isNested = (kind: PostgresCellKind | undefined): boolean =>
  kind === 'array' || kind === 'json-array' || kind === 'composite'

/** How a column is read so that its text is the cell. */
export function shown(expression: string, kind: PostgresCellKind): string {
  if (!isNested(kind)) return expression
  const json = `to_json(${expression})::text`
  if (kind === 'composite') return json
  // An array that JSON cannot represent keeps PostgreSQL's own text: an array whose indexes do not begin at 1. So does
  // an array of JSON that has several dimensions, which would look like arrays in an element, or that contains JSON's
  // null, which would look like SQL's.
  const isOther = `array_dims(${expression}) ~ '[[](?!1:)'${kind === 'json-array' ? ` or array_ndims(${expression}) > 1 or 'null' = any(${expression}::text[])` : ''}`
  return `case when ${isOther} then ${expression}::text else ${json} end`
}

async function primaryKeyOf(
  session: PostgresSession,
  table: string,
): Promise<{ readonly name: string; readonly isUnique: boolean; readonly isText: boolean }[]> {
  return session.rows(
    `select attname as name, relkind = 'p' or not relhassubclass as "isUnique",
            current_setting('server_encoding') <> 'SQL_ASCII' as "isText"
       from pg_index
       join pg_class on pg_class.oid = indrelid
       join lateral unnest(indkey::int2[]) with ordinality as part (attnum, place) on true
       join pg_attribute using (attnum)
      where indrelid = to_regclass($1) and attrelid = indrelid and indisprimary and place <= indnkeyatts
      order by place`,
    { name: 'text', isUnique: 'boolean', isText: 'boolean' },
    [table],
  )
}

/** Up to which cursor this transfer reads: times by the clock of the database less the lag, all else by the greatest there is. */
async function boundOf(
  session: PostgresSession,
  source: string,
  cursor: OrderTerm | undefined,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  if (!cursor) return undefined
  const { expression, type } = cursor
  const now = `now() - make_interval(secs => ${lagSeconds})`
  const local = `(${now}) at time zone ${escapeLiteral(timezone)}`
  if (type.startsWith('timestamp')) {
    const [row] = await session.rows(`select (${type.endsWith('with time zone') ? now : local})::text as bound`, {
      bound: 'text',
    })
    return row?.bound
  }
  if (type === 'date') {
    // More rows of today may come yet, so today waits until it is over.
    const [row] = await session.rows(`select ((${local})::date - 1)::text as bound`, { bound: 'text' })
    return row?.bound
  }
  // Nothing is greater than these: no row behind them would ever be read.
  const [row] = await session.rows(
    `select (${expression})::text as bound from ${source} where ${expression} is not null${finite(cursor)} order by ${expression} desc limit 1`,
    { bound: 'text' },
  )
  return row?.bound
}

/** Texts of values that are greater than all others of their type. */
function endlessOf(term: OrderTerm | undefined): readonly string[] {
  if (!term) return []
  if (isNumber(term)) return ['NaN', 'Infinity']
  return isTime(term) || term.type.startsWith('interval') ? ['infinity'] : []
}

function finite(term: OrderTerm | undefined): string {
  const endless = endlessOf(term)
  return term && endless.length > 0
    ? ` and (${term.expression})::text not in (${endless.map(escapeLiteral).join(', ')})`
    : ''
}

const isNumber = (term: OrderTerm | undefined): boolean => /^(numeric|real|double precision)/.test(term?.type ?? '')

/** How the first term says a time, if it does. */
function timeOf(term: OrderTerm | undefined): CursorTime | undefined {
  if (!term || !isTime(term)) return undefined
  if (term.type === 'date') return { clock: 'day' }
  return term.type.endsWith('with time zone') ? { clock: 'utc', textOf: (time) => `${time}+00` } : { clock: 'local' }
}

const isTime = (term: OrderTerm | undefined): boolean => /^(timestamp|date$)/.test(term?.type ?? '')

/** The estimate of the planner, which for a table uses its size and last statistics, and the tables that it reads. */
async function estimate(
  session: PostgresSession,
  select: string,
): Promise<{ rowsEstimated: number | undefined; bytesEstimated: number | undefined; tables: readonly string[] }> {
  const [row] = await session.rows(`explain (verbose, format json) ${select}`, { 'QUERY PLAN': 'json' })
  const plan = objectIn(objectIn(listIn(row?.['QUERY PLAN'])[0]).Plan)
  const rows = plan['Plan Rows']
  const rowsEstimated = typeof rows === 'number' && Number.isSafeInteger(rows) ? rows : undefined
  const width = numberIn(plan['Plan Width'])
  const bytesEstimated = rowsEstimated === undefined || width === undefined ? undefined : rowsEstimated * width
  return { rowsEstimated, bytesEstimated, tables: tablesIn(plan) }
}
