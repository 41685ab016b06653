import { discoveryOf, type ListedTable, listingOf, lookedAtMax } from '../databases/many-tables.ts'
import { countIn, valueIn } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'

/** The tables of the database of the connector. */
async function look(session: MysqlSession, cursor: string): Promise<ListedTable[]> {
  const { host, database } = session.place
  const tables = await session.run(
    `select table_name as name, table_type as type, table_rows as estimate from information_schema.tables
      where table_schema = database() and table_name <> 'penstock_batches' and table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
      order by table_name limit ${lookedAtMax + 1}`,
  )
  const columns = await session.run(
    `select table_name as name, column_name as col from information_schema.key_column_usage
      where table_schema = database() and constraint_name = 'PRIMARY' order by table_name, ordinal_position`,
  )
  const marked = await session.run(
    'select table_name as name from information_schema.columns where table_schema = database() and column_name = ?',
    [cursor],
  )
  const keys = new Map<string, string[]>()
  for (const row of columns) {
    const name = valueIn(host, row, 'name')
    keys.set(name, [...(keys.get(name) ?? []), valueIn(host, row, 'col')])
  }
  const withCursor = new Set(marked.map((row) => valueIn(host, row, 'name')))
  return tables.map((row) => {
    const table = valueIn(host, row, 'name')
    const estimate = row.estimate ? countIn(host, row, 'estimate') : 0
    return {
      schema: database,
      table,
      keys: keys.get(table) ?? [],
      ...(estimate > 0 && { rows: estimate }),
      isView: valueIn(host, row, 'type').includes('VIEW'),
      hasCursor: withCursor.has(table),
    }
  })
}

const opens = { defaultPort: 3306, schemas: false, openSession, look }
export const listTables = listingOf(opens)
export const discoverTables = discoveryOf(opens)
