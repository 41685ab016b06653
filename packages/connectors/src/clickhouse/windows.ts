import type { WindowScope } from '@penstock/connector'
import type { JudgedRow } from '../kit/warehouse/rows.ts'
import { scopeCondition, type WindowStore } from '../kit/warehouse/windows.ts'
import { bareTypeOf, literalOf, orderSqlOf, readColumnOf } from './cells.ts'
import type { ClickHouseApi } from './clickhouse-api.ts'
import { type ClickHouseColumn, jsonOf, quoteName, quoteText } from './target-columns.ts'

/** The keys of a batch, as lines of JSON. */
export type StagedLines = { readonly lines: string; readonly count: number }

/** Of the keys of a window, in characters. They are in memory until it ends. */
const keysMax = 32 << 20
/** ClickHouse parses statements of 256 KiB unless its settings say otherwise. */
const statementMax = 100_000

type KeyedTable = {
  /** With its database, quoted. */
  readonly name: string
  readonly database: string
  readonly columns: readonly ClickHouseColumn[]
  /** Indexes of the key's columns. */
  readonly keys: readonly number[]
}

/** The keys of all rows of a batch. */
export function stagedLines({ columns, keys }: Pick<KeyedTable, 'columns' | 'keys'>, rows: readonly JudgedRow[]) {
  const lines = rows.map(({ values }) => {
    const cells = keys.map(
      (at, index) => columns[at] && jsonOf({ ...columns[at], name: `c${index}` }, values[at] ?? null),
    )
    return `{${cells.join(',')}}\n`
  })
  return { lines: lines.join(''), count: rows.length }
}

/**
 * How windows are replaced. ClickHouse compares the keys, which are sent along with a SELECT, and the rows that it finds are
 * deleted by their keys. A DELETE with a subquery cannot be repeated on replicas.
 */
export function windowStoreOf(clickhouse: ClickHouseApi, table: KeyedTable): WindowStore<StagedLines> {
  const { name, database, columns, keys } = table
  const keyed = keys.flatMap((at) => columns[at] ?? [])
  const read = keyed.map((column) => readColumnOf(column.name, column.type))
  const names = keyed.map((column) => quoteName(column.name)).join(', ')
  const aliases = keyed.map((_, index) => `c${index}`)
  const structure = keyed.map(({ type }, index) => `c${index} ${bareTypeOf(type)}`).join(', ')
  return {
    most: keysMax,
    weightOf: ({ lines }) => lines.length,
    drop: async () => {},
    async deleteOthers({ window, columns: delivered }, stages) {
      const within = scopeOf(columns, delivered, window.scope)
      if (within === undefined) return
      const count = stages.reduce((sum, stage) => sum + stage.count, 0)
      if (count === 0) {
        await clickhouse.deleteRows(`delete from ${name} where ${within}`)
        return
      }
      const texts = read.map((column) => orderSqlOf(quoteName(column.name), column)).join(', ')
      const rows = await clickhouse.readBeside(
        `select ${texts} from ${name} final where ${within} and (select count() from penstock_keys) = ${count} and (${names}) not in (select ${aliases.join(', ')} from penstock_keys)`,
        { database, structure, lines: stages.map(({ lines }) => lines).join('') },
      )
      const tuples = rows.map((texts) => read.map((column, at) => literalOf(texts[at] ?? '', column)))
      for (const statement of deletionsOf(name, keyed, tuples, within)) await clickhouse.deleteRows(statement)
    },
  }
}

/**
 * Statements that delete rows by their keys.
 * @param name of the table, quoted @param keys its key columns @param tuples SQL of their values, for each row
 * @param within a condition that rows must meet, too
 */
export function* deletionsOf(
  name: string,
  keys: readonly Pick<ClickHouseColumn, 'name'>[],
  tuples: readonly (readonly string[])[],
  within?: string,
): Generator<string> {
  const names = keys.map((column) => quoteName(column.name)).join(', ')
  const bounds = within === undefined ? '' : `${within} and `
  for (const some of inStatements(tuples.map((values) => `(${values.join(', ')})`))) {
    yield `delete from ${name} where ${bounds}(${names}) in (${some.join(', ')})`
  }
}

function* inStatements(tuples: readonly string[]): Generator<readonly string[]> {
  let some: string[] = []
  let length = 0
  for (const tuple of tuples) {
    if (some.length > 0 && length + tuple.length > statementMax) {
      yield some
      some = []
      length = 0
    }
    some.push(tuple)
    length += tuple.length + 2
  }
  if (some.length > 0) yield some
}

const scopeOf = (
  columns: readonly ClickHouseColumn[],
  names: readonly string[],
  scope: WindowScope,
): string | undefined =>
  scopeCondition(
    scope,
    names,
    columns,
    ({ name }) => quoteName(name),
    ({ type }, text) => {
      const bare = bareTypeOf(type)
      if (bare === 'String') return quoteText(text)
      return compared.test(bare) ? `cast(${quoteText(text)} as ${bare})` : undefined
    },
  )

const compared = /^(U?Int\d+|Decimal\(.*\)|Date|Date32)$/
