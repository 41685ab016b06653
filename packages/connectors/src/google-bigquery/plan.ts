import type { ColumnType, Values } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import { assertDistinct, columnAt } from '../databases/columns.ts'
import { keysetClauses } from '../databases/keyset.ts'
import { readingOf } from '../databases/settings.ts'
import { noValue } from '../kit/names.ts'
import { columnTypeOf, type FieldType, orderTextOf, parameterTypeOf } from './cells.ts'
import type { BigQuery, Parameter, Query } from './jobs.ts'

/** The columns and the order of a reading. Determined once, when the reader is opened. */
export type BigQueryPlan = {
  readonly columns: readonly string[]
  readonly fields: readonly FieldType[]
  readonly types: readonly (ColumnType | null)[]
  readonly order: readonly OrderTerm[]
  readonly digest: boolean
  readonly orderNames: readonly string[]
  readonly incremental: false
  /** The statement, less its sides. */
  readonly select: string
  readonly query: Omit<Query, 'text'>
}

type OrderTerm = {
  readonly expression: string
  readonly type: string
  /** The text by which a row is found again. */
  readonly textOf: (values: readonly unknown[]) => string | null
}

const alias = 'penstock_source'
/** Rows that are equal in all columns have the same digest, and no others have. */
const digestExpression = `to_hex(sha256(to_json_string(${alias})))`

/** The source in a connection's settings, for reading and for a check. */
export function sourceOf(settings: Values): {
  readonly keys: readonly string[]
  readonly source: string
  readonly query: Omit<Query, 'text'>
} {
  const { from, keys, waitMs } = readingOf({ ...settings, dataSourceType: 'SQL Query' }, '')
  const text = 'query' in from ? from.query : ''
  const projectId = String(settings.projectId ?? '').trim()
  if (projectId === '') throw noValue('projectId')
  const limit = settings.maximumBytesBilled
  return {
    keys,
    // A comment at the end of a query must not swallow the bracket.
    source: `(${text}\n) as ${alias}`,
    query: {
      projectId,
      dataset: datasetOf(projectId, settings.dataset),
      timeoutMs: waitMs,
      maximumBytesBilled: typeof limit === 'number' ? limit : undefined,
    },
  }
}

/** A dataset, of this project unless it names another one. */
export function datasetOf(projectId: string, setting: unknown): Query['dataset'] {
  const name = typeof setting === 'string' ? setting.trim().replaceAll('`', '') : ''
  if (name === '') return undefined
  const at = name.lastIndexOf('.')
  return at < 0 ? { projectId, datasetId: name } : { projectId: name.slice(0, at), datasetId: name.slice(at + 1) }
}

/** Asks BigQuery for the columns of the query. This reads nothing and costs nothing. */
export const describe = (
  bigQuery: BigQuery,
  { source, query }: Pick<ReturnType<typeof sourceOf>, 'source' | 'query'>,
) => bigQuery.examine({ ...query, text: `select * from ${source}` })

/** Asks BigQuery what the rows are, and plans how they are read. */
export async function planReading(bigQuery: BigQuery, settings: Values): Promise<BigQueryPlan> {
  const { keys, source, query } = sourceOf(settings)
  const fields = await describe(bigQuery, { source, query })
  const columns = fields.map(({ name }) => name)
  assertDistinct(columns)
  const places = [...new Set(keys.map((name) => columnAt(name, columns)))]
  const order = places.flatMap((place): OrderTerm[] => {
    const field = fields[place]
    if (!field) return []
    const textOf = (values: readonly unknown[]) => orderTextOf(values[place], field)
    return [{ expression: `${alias}.${quoteName(field.name)}`, type: parameterTypeOf(field), textOf }]
  })
  const digest = order.length === 0
  const orderNames = places.map((place) => columns[place] ?? '')
  if (digest) {
    const textOf = (values: readonly unknown[]) => orderTextOf(values[columns.length], { ...unknown, type: 'STRING' })
    order.push({ expression: digestExpression, type: 'STRING', textOf })
    orderNames.push('')
  }
  const extra = digest ? `, ${digestExpression} as penstock_digest` : ''
  const select = `select ${alias}.*${extra} from ${source}`
  const types = fields.map(columnTypeOf)
  return { columns, types, fields, order, digest, orderNames, incremental: false, select, query }
}

/** The query that reads everything behind a spot. */
export function statementOf({ order, digest, select, query }: BigQueryPlan, { after }: Spot): Query {
  const parameters: Parameter[] = (after ?? []).map((value, at) => ({
    name: `penstock_${at}`,
    type: order[at]?.type ?? 'STRING',
    value,
  }))
  const clauses = keysetClauses(
    { order, digest },
    { after, bound: undefined },
    (term) => `@penstock_${order.indexOf(term)}`,
  )
  return { ...query, text: `${select}${clauses}`, parameters }
}

/** A name in a query. */
export const quoteName = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``

const unknown: FieldType = { name: '', type: '', repeated: false, fields: [] }
