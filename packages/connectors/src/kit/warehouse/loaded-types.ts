import type { ColumnType, LoadContext } from '@penstock/connector'

/**
 * Typed values of files that a warehouse loads. They are converted to texts first, so that the rules of CSV also apply to them.
 * A warehouse and a worker write floating-point numbers, decimals and times differently. So these are only loaded into columns
 * for which both texts mean the same.
 */

/** A column of a table, as values of files are loaded into it. */
type Into = { readonly name: string; readonly type: string; readonly holds: 'texts' | 'floats' | 'times' | 'others' }

const plain = ['text', 'smallint', 'integer', 'bigint', 'boolean', 'date']

function isAlike(type: ColumnType | null, { holds }: Into): boolean {
  const kind = type?.kind ?? 'text'
  if (plain.includes(kind)) return true
  if (type?.kind === 'decimal') return holds !== 'texts'
  if (kind === 'double') return holds === 'floats'
  return (type?.kind === 'timestamp' || type?.kind === 'instant') && type.digits !== 9 && holds === 'times'
}

/** Why a worker must put values of these files into these columns: the end of a sentence. @param columns in the order of the delivered ones */
export function whyNotTypes(
  { picked, sourceTypes }: Pick<LoadContext, 'picked' | 'sourceTypes'>,
  columns: readonly Into[],
): string | undefined {
  if (sourceTypes === undefined) return undefined
  for (const [at, column] of columns.entries()) {
    const type = sourceTypes[picked[at] ?? -1] ?? null
    if (isAlike(type, column)) continue
    return `the files have the type ${type?.kind} for the column ${column.name}, and the table has ${column.type}`
  }
  return undefined
}
