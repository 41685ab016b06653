import type { ColumnType, LoadContext } from '@penstock/connector'
import { whyNotTypes } from '../databases/loaded-types.ts'
import type { SnowflakeColumn } from './cells.ts'
import { stagedName } from './load-columns.ts'
import { quoteAsIs } from './plan.ts'

/** The type of a staging table's column for values of Parquet; `undefined` for types whose texts only a worker has. */
function typeOf(type: ColumnType | null): string | undefined {
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
      // An unsigned number of 64 bits comes as one, too, and Snowflake would read it with a sign.
      return scale > 0 ? `number(${precision}, ${scale})` : undefined
    }
    default:
      return undefined
  }
}

/** The columns of the staging table, and SQL that has their texts: those of CSV are texts. */
export function stagingOf(
  staging: string,
  { sourceColumns, sourceTypes }: Pick<LoadContext, 'sourceColumns' | 'sourceTypes'>,
): { readonly columns: string; readonly texts: string } {
  if (!sourceTypes)
    return { columns: sourceColumns.map((_, at) => `${stagedName(at)} varchar`).join(', '), texts: staging }
  const columns = sourceColumns.map((name, at) => `${quoteAsIs(name)} ${typeOf(sourceTypes[at] ?? null) ?? 'varchar'}`)
  const texts = sourceColumns.map((name, at) => {
    const format = sourceTypes[at]?.kind === 'date' ? ", 'YYYY-MM-DD'" : ''
    return `to_varchar(${quoteAsIs(name)}${format}) as ${stagedName(at)}`
  })
  return { columns: columns.join(', '), texts: `(select ${texts.join(', ')} from ${staging})` }
}

/** Why a worker must put the values of the files into the columns: the end of a sentence. */
export function otherTypes(
  columns: readonly SnowflakeColumn[],
  context: Pick<LoadContext, 'picked' | 'sourceTypes'>,
): string | undefined {
  const unread = context.picked.find(
    (at) => context.sourceTypes && typeOf(context.sourceTypes[at] ?? null) === undefined,
  )
  const column = columns[context.picked.indexOf(unread ?? -1)]
  if (unread !== undefined && column) {
    return `the files have the type ${context.sourceTypes?.[unread]?.kind} for the column ${column.name}, whose texts are other ones in Snowflake`
  }
  return whyNotTypes(
    context,
    columns.map(({ name, type }) => ({ name, type, holds: type === 'TEXT' ? 'texts' : 'others' })),
  )
}
