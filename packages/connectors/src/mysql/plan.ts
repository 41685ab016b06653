import { ConnectorError } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { columnNotFound } from '../databases/columns.ts'
import { knotsIn } from '../databases/key-ranges.ts'
import type { CursorTime } from '../databases/ranges.ts'
import type { OrderedPlan } from '../databases/read-ordered.ts'
import type { Reading } from '../databases/settings.ts'
import { dayBefore, inTimezone } from '../databases/timestamps.ts'
import { columnTypeOf, kindOf, type MysqlCellKind, widthOf } from './cells.ts'
import { invalidAnswer } from './packet-guard.ts'
import { valueIn } from './raw-rows.ts'
import type { MysqlSession } from './session.ts'

export type MysqlPlan = OrderedPlan<OrderTerm> & {
  readonly kinds: readonly MysqlCellKind[]
  /** How many digits a text of a number has at least, with zeros before it: of a column with ZEROFILL. */
  readonly widths: readonly number[]
  /** The statement without its conditions, order and limit. */
  readonly select: string
  /** The table or the query, with the alias. */
  readonly source: string
  /** Which rows there are, by cursor and key: the cursor comes first. Absent where all is read. */
  readonly rowKeys: { readonly select: string; readonly orderedBy: string } | undefined
  /** The statement that counts the rows without a cursor; absent where all is read. */
  readonly countUnread: string | undefined
}

type OrderTerm = {
  readonly expression: string
  /** A text as it is compared with the expression. */
  readonly literal: (text: string) => string
  /** Which field of a row has its text. */
  readonly index: number
}

const alias = '`penstock_source`'

/** Asks the server what the rows are, and plans how they are read. */
export async function planReading(session: MysqlSession, reading: Reading): Promise<MysqlPlan> {
  const { from, cursor, keys: named } = reading
  const table = 'table' in from ? quoteName(from.table) : undefined
  // A comment at the end of a query must not swallow the bracket.
  const source = `${'query' in from ? `(${from.query}\n)` : table} as ${alias}`
  const fields = await session.describe(`select * from ${source} limit 0`)
  const columns = fields.map(({ name }) => name)
  const kinds = fields.map(kindOf)
  const nameOf = (name: string) => `${alias}.${quoteName(name)}`
  const expressions = columns.map((name, at) => shown(nameOf(name), kinds[at] ?? 'text'))

  const keys = named.length > 0 || !('table' in from) ? named : await primaryKeyOf(session, from.table)
  const orderNames = [...new Set([...(cursor === undefined ? [] : [cursor]), ...keys])]
  const order = orderNames.map((name): OrderTerm => {
    const at = columns.indexOf(name)
    if (at < 0) throw columnNotFound(name, columns)
    const kind = kinds[at] ?? 'text'
    const { expression, text } = compared(nameOf(name), kind)
    return { expression, literal: literalOf(kind), index: text === undefined ? at : expressions.push(text) - 1 }
  })
  const digest = keys.length === 0
  if (digest) {
    // Equal digests are equal rows. Everything is compared as bytes, so that no collation takes two texts for one.
    const parts = columns.map((name, at) => `quote(cast(${shown(nameOf(name), kinds[at] ?? 'text')} as binary))`)
    const expression = `sha2(concat(${parts.join(", ',', ")}), 256)`
    order.push({ expression, literal: literalOf('text'), index: expressions.push(expression) - 1 })
    orderNames.push('')
  }
  const select = `select ${expressions.join(', ')} from ${source}`
  const cursorKind = cursor === undefined ? undefined : kinds[columns.indexOf(cursor)]
  if (cursorKind !== undefined && !isTime(cursorKind) && reading.lagSeconds > 0) await assertNoReplica(session)
  const bound = cursor === undefined ? undefined : await boundOf(session, source, order[0], cursorKind, reading)
  // Without a key, changes of other columns make another digest of a row, but no other row.
  const identity = digest ? order.slice(0, -1) : order
  // A row is in the primary index before it is in any other one.
  const index = table !== undefined && named.length === 0 && same(keys[0] ?? '', cursor) ? ' force index (primary)' : ''
  const rowKeys = cursor !== undefined && {
    select: `select ${identity.map(({ index: at }) => expressions[at]).join(', ')} from ${source}${index}`,
    orderedBy: identity.map(({ expression }) => expression).join(', '),
  }
  return {
    columns,
    types: fields.map(columnTypeOf),
    kinds,
    widths: fields.map(widthOf),
    order,
    digest,
    orderNames,
    select,
    bound,
    rowKeys: rowKeys || undefined,
    countUnread:
      cursor === undefined
        ? undefined
        : `select count(*) as \`rows\` from ${source} where ${order[0]?.expression} is null`,
    empty: cursor !== undefined && bound === undefined,
    time: cursorKind === undefined ? undefined : timeOf(cursorKind),
    // Keys that a person names can be empty: such a row would be in no range.
    ...('table' in from && (await estimate(session, from.table, named.length === 0 ? orderNames[0] : undefined))),
    source,
  }
}

/** Keys of a table in parts, the least and the greatest; none if there are no rows. */
export async function knotsOf(session: MysqlSession, { order, source }: MysqlPlan): Promise<readonly bigint[]> {
  const { expression } = order[0] as OrderTerm
  const [row] = await session.run(`select min(${expression}) as first, max(${expression}) as last from ${source}`)
  return knotsIn([row?.first, row?.last])
}

/** The statement that reads everything behind `after`, or from the beginning. */
export function statementOf(plan: MysqlPlan, { after, bound, above, upTo }: Omit<Spot, 'skip'>): string {
  const { order, digest, select, within } = plan
  const conditions: string[] = []
  const [first] = order
  if (first && bound !== undefined) conditions.push(`${first.expression} <= ${first.literal(bound)}`)
  if (first && above !== undefined) conditions.push(`${first.expression} > ${first.literal(above)}`)
  if (first && within?.from !== undefined) conditions.push(`${first.expression} >= ${first.literal(within.from)}`)
  if (first && within?.before !== undefined) conditions.push(`${first.expression} < ${first.literal(within.before)}`)
  if (first && after) {
    // The server uses an index for this, and not for the comparison of rows that says the same.
    if (order.length > 1) conditions.push(`${first.expression} >= ${first.literal(after[0] ?? '')}`)
    conditions.push(behind(order, after, digest ? '>=' : '>'))
  }
  if (first && upTo) {
    if (order.length > 1) conditions.push(`${first.expression} <= ${first.literal(upTo[0] ?? '')}`)
    conditions.push(behind(order, upTo, '<='))
  }
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return `${select}${where} order by ${order.map(({ expression }) => expression).join(', ')}`
}

/** The statement that gives the keys of all rows from a cursor up to a bound. */
export function rowKeysStatement({ rowKeys, order }: MysqlPlan, from: string | undefined, bound: string): string {
  const [cursor] = order
  if (!rowKeys || !cursor) throw new Error('Rows without a cursor have no bound')
  const since = from === undefined ? '' : ` and ${cursor.expression} >= ${cursor.literal(from)}`
  return `${rowKeys.select} where ${cursor.expression} <= ${cursor.literal(bound)}${since} order by ${rowKeys.orderedBy}`
}

/**
 * The condition of rows behind values, or up to them.
 * @param last how the last term is compared: rows with the same digest are read again and counted, because identical rows have no other order
 */
function behind(order: readonly OrderTerm[], values: readonly string[], last: '>' | '>=' | '<='): string {
  const [term, ...others] = order
  const [text = '', ...texts] = values
  if (!term) return 'true'
  const value = term.literal(text)
  if (others.length === 0) return `${term.expression} ${last} ${value}`
  const first = last === '<=' ? '<' : '>'
  return `(${term.expression} ${first} ${value} or (${term.expression} = ${value} and ${behind(others, texts, last)}))`
}

export const quoteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** How a column is read so that its text is the cell. */
function shown(expression: string, kind: MysqlCellKind): string {
  if (kind === 'bytes') return `concat(_utf8mb4 x'5c78', lower(hex(${expression})))`
  if (kind === 'bits') return `${expression} + 0`
  // Without this, the server shows six digits of what has up to nine.
  if (kind === 'float') return `${expression} * 1e0`
  return kind === 'geometry' ? `st_astext(${expression})` : expression
}

/** The expression by which a column is compared, and the text to read for it if the displayed value differs. */
function compared(expression: string, kind: MysqlCellKind): { expression: string; text?: string } {
  if (kind === 'bytes') return { expression, text: `hex(${expression})` }
  if (kind === 'float') return { expression: `${expression} * 1e0` }
  // These are ordered by their place in the definition, but compared as texts.
  return { expression: kind === 'choice' ? `concat(${expression})` : expression }
}

function literalOf(kind: MysqlCellKind): (text: string) => string {
  if (kind === 'bytes') return (text) => `x'${/^[0-9A-F]*$/i.test(text) ? text : ''}'`
  // A number beside a text would be compared as a float, which has not enough digits.
  const isNumber = kind === 'number' || kind === 'float' || kind === 'digits' || kind === 'bits'
  return (text) =>
    isNumber && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? text : `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`
}

async function primaryKeyOf(session: MysqlSession, table: string): Promise<string[]> {
  const rows = await session.run(
    // The end of a row version belongs to the key of a system-versioned table, and is equal in all present rows.
    `select s.column_name as name
       from information_schema.statistics s
       join information_schema.columns c using (table_schema, table_name, column_name)
      where table_schema = database() and table_name = ? and s.index_name = 'PRIMARY'
        and coalesce(c.generation_expression, '') <> 'ROW END'
      order by s.seq_in_index`,
    [table],
  )
  return rows.map((row) => valueIn(session.place.host, row, 'name'))
}

/** Up to which cursor this transfer reads: times by the clock of the server less the lag, all else by the greatest there is. */
async function boundOf(
  session: MysqlSession,
  source: string,
  cursor: OrderTerm | undefined,
  kind: MysqlCellKind | undefined,
  { lagSeconds, timezone }: Reading,
): Promise<string | undefined> {
  if (!cursor) return undefined
  if (kind !== undefined && isTime(kind)) {
    const [row] = await session.run(
      `select date_format(utc_timestamp(6) - interval ${lagSeconds} second, '%Y-%m-%dT%H:%i:%s.%f') as now`,
    )
    const now = valueIn(session.place.host, row, 'now')
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/.test(now) || Number.isNaN(Date.parse(`${now.slice(0, 19)}Z`)))
      throw noTime(session.place.host)
    if (kind === 'time') return now.replace('T', ' ')
    const local = `${inTimezone(new Date(`${now.slice(0, 19)}Z`), timezone)}${now.slice(19)}`
    // More rows of today may come yet, so today waits until it is over.
    return kind === 'local-time' ? local : dayBefore(local.slice(0, 10))
  }
  const [row] = await session.run(
    `select ${kind === 'bytes' ? `hex(${cursor.expression})` : cursor.expression} as bound
       from ${source} where ${cursor.expression} is not null order by ${cursor.expression} desc limit 1`,
  )
  return row === undefined ? undefined : valueIn(session.place.host, row, 'bound')
}

/** How a cursor says a time, if it does. */
function timeOf(kind: MysqlCellKind): CursorTime | undefined {
  if (!isTime(kind)) return undefined
  return { clock: kind === 'time' ? 'utc' : kind === 'day' ? 'day' : 'local' }
}

const isTime = (kind: MysqlCellKind): boolean => kind === 'time' || kind === 'local-time' || kind === 'day'

const same = (a: string, b: string | undefined): boolean => a.toLowerCase() === b?.toLowerCase()

/**
 * On a replica, rows of transactions that are still running are not there at all, so that they cannot be waited for.
 * Throws `not_supported` if the server is read-only, as replicas are.
 */
async function assertNoReplica(session: MysqlSession): Promise<void> {
  const { host } = session.place
  const [row] = await session.run('select @@global.read_only as replica, @@global.innodb_read_only as engine')
  const isOff = (name: string) => /^(0|off)$/i.test(valueIn(host, row, name))
  if (isOff('replica') && isOff('engine')) return
  throw new ConnectorError(
    'not_supported',
    `${host} is read-only, as replicas are. There, rows that were committed late cannot be waited for and would be missed if the cursor is not a time. Use a time as the cursor, with a lag that is longer than transactions and replication take, or connect to the primary server.`,
  )
}

/** About how many rows a table has, and bytes if this is the first column of its key, with whole numbers. */
async function estimate(
  session: MysqlSession,
  table: string,
  key: string | undefined,
): Promise<Pick<MysqlPlan, 'rowsEstimated' | 'bytesEstimated'>> {
  const [row] = await session.run(
    `select table_rows as \`rows\`, data_length as bytes,
            (select data_type from information_schema.columns
              where table_schema = database() and table_name = ? and column_name = ?) as type
       from information_schema.tables where table_schema = database() and table_name = ?`,
    [table, key ?? '', table],
  )
  const isWhole = /^(tiny|small|medium|big)?int$/i.test(row?.type ?? '')
  return { rowsEstimated: wholeIn(row?.rows), ...(isWhole && { bytesEstimated: wholeIn(row?.bytes) }) }
}

function wholeIn(text: string | null | undefined): number | undefined {
  const number = Number(text ?? Number.NaN)
  return Number.isSafeInteger(number) ? number : undefined
}

const noTime = (host: string) => invalidAnswer(host, 'its time is none')
