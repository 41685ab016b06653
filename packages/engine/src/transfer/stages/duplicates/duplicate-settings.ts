import { ConnectorError, type Values } from '@penstock/connector'
import { namesIn } from '../../../settings.ts'

/** Which record of several with the same key is sent. */
export type Winner = 'First' | 'Last' | 'Greatest' | 'Least'

/** How duplicates are found. */
export type DuplicateSettings = {
  readonly winner: Winner
  /** Columns of the destination; `undefined` means all columns. */
  readonly keyNames: readonly string[] | undefined
  /** The source column whose value decides; only for `Greatest` and `Least`. */
  readonly column: string | undefined
}

const winners: readonly unknown[] = ['First', 'Last', 'Greatest', 'Least'] satisfies Winner[]

/** Whether duplicates are skipped with these settings of a destination. */
export const leavesOutDuplicates = ({ duplicates }: Values): boolean => winners.includes(duplicates)

/** Whether the source is read in advance to find which records are sent. */
export const isDecidedInAdvance = ({ winner }: Pick<DuplicateSettings, 'winner'>): boolean => winner !== 'First'

const invalid = (message: string): ConnectorError =>
  new ConnectorError('invalid_setting', message, { side: 'Destination' })

/**
 * The settings of a destination about duplicates; `undefined` if all records are sent.
 * @param upsertKeys the key columns of the destination with these settings, if it has some
 * @throws ConnectorError `invalid_setting` if a column is missing
 */
export function duplicateSettings(
  settings: Values,
  upsertKeys: readonly string[] | undefined,
): DuplicateSettings | undefined {
  if (!leavesOutDuplicates(settings)) return undefined
  const winner = settings.duplicates as Winner
  const own = namesIn(settings.duplicateKey)
  const named = own.length > 0 ? own : (upsertKeys ?? namesIn(settings.rowKey))
  if (named.length === 0) {
    throw invalid(
      'Duplicates are left out, but no columns say which records are duplicates. Enter them under "Key of duplicates", or * for all columns.',
    )
  }
  const keyNames = named.length === 1 && named[0] === '*' ? undefined : named
  const compares = winner === 'Greatest' || winner === 'Least'
  const column = compares ? String(settings.duplicateColumn ?? '').trim() : undefined
  if (column === '') {
    throw invalid(
      'A value decides which duplicate is sent, but no column is named. Enter a column of the source under "Deciding column".',
    )
  }
  return { winner, keyNames, column }
}

/** Indexes of the key among the columns that the destination gets, and of the deciding column among the columns of the source. */
export type DuplicateIndexes = { readonly key: readonly number[] | undefined; readonly column: number }

/** @throws ConnectorError `invalid_setting` if a column does not exist */
export function duplicateIndexes(
  { keyNames, column }: DuplicateSettings,
  columns: readonly string[],
  sourceColumns: readonly string[],
): DuplicateIndexes {
  const key = keyNames?.map((name) => {
    const index = columns.indexOf(name)
    if (index >= 0) return index
    throw invalid(
      `The key of duplicates names the column ${name}, which the destination does not get. Map a column to it, or change the key.`,
    )
  })
  const index = column === undefined ? -1 : sourceColumns.indexOf(column)
  if (column !== undefined && index < 0) {
    throw invalid(
      `The column ${column}, which decides between duplicates, is not in the source. Change "Deciding column".`,
    )
  }
  return { key, column: index }
}
