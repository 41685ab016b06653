import { ConnectorError, type Destination, type Values } from '@penstock/connector'
import { mirrorsRows, namesIn } from '../../../settings.ts'

/** Which columns identify a row, if only changed rows are sent. */

/**
 * The names of the columns that identify a row; `undefined` if all columns identify it.
 * @param upsertKeys the key columns of the destination with these settings, if it has some; with another key, replaced rows could
 * be mistaken for unchanged rows
 * @throws ConnectorError `invalid_setting` if no key is named
 */
export function keyOfRows(
  { rowKey }: Values,
  upsertKeys: readonly string[] | undefined,
): readonly string[] | undefined {
  if (upsertKeys) return upsertKeys
  const names = namesIn(rowKey)
  if (names.length === 1 && names[0] === '*') return undefined
  if (names.length > 0) return names
  throw new ConnectorError(
    'invalid_setting',
    'Only changed rows are sent, but no columns identify a row. Enter them under "Row key", or * for all columns.',
    { side: 'Destination' },
  )
}

/** The indexes of the key columns. Throws a `ConnectorError` if the destination gets no such column. */
export function indexesOf(
  names: readonly string[] | undefined,
  columns: readonly string[],
): readonly number[] | undefined {
  return names?.map((name) => {
    const index = columns.indexOf(name)
    if (index >= 0) return index
    const message = `The row key names the column ${name}, which the destination does not get. Map a column to it, or change the row key.`
    throw new ConnectorError('invalid_setting', message, { side: 'Destination' })
  })
}

/**
 * The columns that identify a row of a mirror.
 * @throws ConnectorError `not_supported` if the destination does not remove rows with these settings
 */
function keyOfMirror({ removesBy }: Pick<Destination, 'removesBy'>, settings: Values): readonly string[] {
  const names = removesBy?.(settings)
  if (names) return names
  const message =
    'A mirror removes rows at the destination, which it does not do with these settings. Update rows by key (Upsert), or send new and changed rows.'
  throw new ConnectorError('not_supported', message, { side: 'Destination' })
}

/**
 * The columns that identify a row with these settings of a destination; `undefined` means all columns.
 * @throws ConnectorError if no key is named, or a mirror cannot remove rows
 */
export const keyWith = (deliver: Pick<Destination, 'windowKeys' | 'removesBy'>, settings: Values) =>
  mirrorsRows(settings) ? keyOfMirror(deliver, settings) : keyOfRows(settings, deliver.windowKeys?.(settings))
