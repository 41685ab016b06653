import type { DestinationWriter, Row, Values } from '@penstock/connector'
import type { FatalTableProblem } from '../../databases/table-findings.ts'
import type { JudgedColumn } from './rows.ts'

/** How a store finds out which keys are the same to it, by the values that it makes of them (`DestinationWriter.nameKeys`). */

type KeyColumn = Pick<JudgedColumn, 'name' | 'read' | 'isPadded'>
type NameKeys = NonNullable<DestinationWriter['nameKeys']>

/**
 * Names keys by their values.
 * @param names of the columns of the key, in the order of its cells, in any case
 * @param isCaseless whether texts that differ only in case are the same
 */
export function nameKeysBy(
  columns: readonly KeyColumn[],
  names: readonly string[],
  isCaseless: () => Promise<boolean> = async () => false,
): NameKeys {
  const keys = names.map((name) => columns.find((column) => column.name.toLowerCase() === name.toLowerCase()))
  let caseless: boolean | undefined
  return async (rows) => {
    caseless ??= await isCaseless()
    return rows.map((row) => nameOf(keys, row, caseless ?? false))
  }
}

function nameOf(keys: readonly (KeyColumn | undefined)[], row: Row, caseless: boolean): string | null {
  const values: unknown[] = []
  for (const [at, column] of keys.entries()) {
    const read = column?.read(row[at] ?? null)
    // No row has a key that its column does not take.
    if (!read || 'reason' in read || read.value === null) return null
    values.push(typeof read.value === 'string' ? textOf(read.value, column, caseless) : read.value)
  }
  return JSON.stringify(values)
}

function textOf(text: string, column: KeyColumn | undefined, caseless: boolean): string {
  const kept = column?.isPadded ? text.replace(/ +$/, '') : text
  return caseless ? kept.toUpperCase().toLowerCase() : kept
}

/** Why rows cannot be mirrored by the key columns of a table, if the settings ask for it: before anything is sent. */
export function mirrorErrors({ sendRows }: Values, columns: readonly JudgedColumn[]): FatalTableProblem[] {
  const ambiguous = columns.filter(({ isKey, isAmbiguous }) => isKey && isAmbiguous)
  return sendRows === 'Mirror' ? ambiguousKeys(ambiguous.map(({ name }) => name)) : []
}

/** @param names of key columns with values that can be the same in several notations, of which only the store knows */
export const ambiguousKeys = (names: readonly string[]): FatalTableProblem[] =>
  names.length === 0
    ? []
    : [
        {
          code: 'not_supported',
          columns: names,
          describe: (some) =>
            `A mirror cannot tell which values of the key column ${some.join(', ')} are the same, because of its type or collation, so it could remove the wrong row. Use a key column of numbers, or of texts without a collation, or send new and changed rows.`,
        },
      ]
