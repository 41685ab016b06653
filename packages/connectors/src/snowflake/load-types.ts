import type { ColumnType, LoadContext } from '@penstock/connector'
import { stagedName } from './load-columns.ts'
import { quoteAsIs } from './plan.ts'

/** The type of a staging table's column for values of Parquet. `undefined` for types that only a worker can convert. */
export function stagedType(type: ColumnType | null): string | undefined {
  switch (type?.kind ?? 'text') {
    case 'text':
      return 'varchar'
    case 'smallint':
    case 'integer':
    case 'bigint':
      return 'number(38, 0)'
    case 'boolean':
      return 'boolean'
    case 'date':
      return 'date'
    case 'decimal': {
      const { precision = 38, scale = 0 } = type as Extract<ColumnType, { kind: 'decimal' }>
      // An unsigned 64-bit number also arrives as one, but Snowflake would read it with a sign.
      return scale > 0 ? `number(${precision}, ${scale})` : undefined
    }
    default:
      return undefined
  }
}

/** The columns of the staging table, and SQL of their texts. Columns of CSV are texts. */
export function stagingOf(
  staging: string,
  { sourceColumns, sourceTypes }: Pick<LoadContext, 'sourceColumns' | 'sourceTypes'>,
): { readonly columns: string; readonly texts: string } {
  if (!sourceTypes)
    return { columns: sourceColumns.map((_, at) => `${stagedName(at)} varchar`).join(', '), texts: staging }
  const columns = sourceColumns.map(
    (name, at) => `${quoteAsIs(name)} ${stagedType(sourceTypes[at] ?? null) ?? 'varchar'}`,
  )
  const texts = sourceColumns.map((name, at) => {
    const format = sourceTypes[at]?.kind === 'date' ? ", 'YYYY-MM-DD'" : ''
    return `to_varchar(${quoteAsIs(name)}${format}) as ${stagedName(at)}`
  })
  return { columns: columns.join(', '), texts: `(select ${texts.join(', ')} from ${staging})` }
}
