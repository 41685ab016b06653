import { type Batch, ConnectorError, type DestinationContext } from '@penstock/connector'
import { encodeNdjson } from '@penstock/connector/files'
import type { KafkaRecord } from './record-batch.ts'
import { namesIn } from './settings.ts'

/** Makes what turns rows into messages. Throws `column_not_found` if a column of the key is missing. */
export function messageMaker(
  { settings, transferId }: Pick<DestinationContext, 'settings' | 'transferId'>,
  columns: readonly string[],
): (batch: Pick<Batch, 'rows' | 'types'>) => KafkaRecord[] {
  const names = namesIn(settings.keyColumns)
  const places = names.map((name) => columns.indexOf(name))
  const missing = names.find((_, index) => places[index] === -1)
  if (missing !== undefined) {
    throw new ConnectorError(
      'column_not_found',
      `The key column ${missing} is not among the columns that are sent. Correct the key columns or the mapping.`,
    )
  }
  const headers: KafkaRecord['headers'] =
    settings.transferHeader === true ? [['penstock-transfer', Buffer.from(transferId)]] : []
  return ({ rows, types }) => {
    const nested = columns.map((_, index) => types?.[index]?.kind === 'json')
    return rows.map((row) => {
      const cells = places.map((place) => row[place] ?? null)
      const [only = null] = cells
      const key = cells.length > 1 ? JSON.stringify(cells) : only === null ? null : String(only)
      const line = encodeNdjson(columns, [row], nested)
      return { key: key === null ? null : Buffer.from(key), value: Buffer.from(line.subarray(0, -1)), headers }
    })
  }
}
