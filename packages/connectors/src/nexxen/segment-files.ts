import {
  type Batch,
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
  type Row,
} from '@penstock/connector'
import { type Encoder, fileNameOf, gzipPiece } from '@penstock/connector/files'
import { writeTo } from '../sftp/move.ts'

/** Opens a writer of one file: tab-separated, without a header, the identifier before the categories. */
export async function write(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, columns } = context
  const prefix = providerOf(String(settings.dataProviderId))
  const packed = settings.gzip === true
  const places: Places = { who: columns.indexOf('userIdentifier'), categories: columns.indexOf('categoryIds') }
  const writer = await writeTo(context, {
    path: String(settings.path),
    fileName: (extension) => `${prefix}_${fileNameOf(context, extension)}`,
    options: { extension: packed ? 'txt.gz' : 'txt', encoder: encoderOf(packed) },
    ifEmpty: 'no file',
  })
  return { ...writer, deliver: (batch) => deliver(writer, batch, places) }
}

type Places = { readonly who: number; readonly categories: number }

/** A data provider ID, which begins the name of each file. */
function providerOf(id: string): string {
  const trimmed = id.trim()
  if (/^[A-Za-z0-9-]{1,64}$/.test(trimmed)) return trimmed
  throw new ConnectorError(
    'invalid_setting',
    'The data provider ID has other characters than letters and digits; check it.',
  )
}

async function deliver(writer: DestinationWriter, batch: Batch, places: Places): Promise<Delivery> {
  const rows: Row[] = []
  const rejected: Rejection[] = []
  for (const [index, row] of batch.rows.entries()) {
    const line = lineOf(row, places)
    if (Array.isArray(line)) rows.push(line)
    else rejected.push({ index, ...line })
  }
  // A part has at least one byte.
  const delivery = rows.length === 0 ? { bytes: 0 } : await writer.deliver({ ...batch, rows })
  return { ...delivery, ...(rejected.length > 0 ? { rejected } : {}) }
}

/** The two values of a line, or why there can be none. */
function lineOf(row: Row, { who, categories }: Places): string[] | { reason: string; field: string } {
  const identifier = String(row[who] ?? '').trim()
  const ids = String(row[categories] ?? '')
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '')
  if (identifier === '') return { field: 'userIdentifier', reason: 'There is no identifier.' }
  if (breaksLine.test(identifier)) {
    return { field: 'userIdentifier', reason: 'The identifier contains white space or control characters.' }
  }
  if (identifier.includes('@')) {
    return { field: 'userIdentifier', reason: 'The identifier is an e-mail address, which Nexxen accepts only hashed.' }
  }
  if (ids.length === 0) return { field: 'categoryIds', reason: 'There is no category ID.' }
  if (ids.some((id) => breaksLine.test(id))) {
    return {
      field: 'categoryIds',
      reason: 'A category ID contains white space or control characters; separate IDs with commas.',
    }
  }
  return [identifier, [...new Set(ids)].join(',')]
}

/** What would end a value or a line, or begin another one. */
const breaksLine = /[\s\p{Cc}]/u

const encoderOf = (packed: boolean): Encoder => ({
  encode: async (rows) => {
    const bytes = Buffer.from(rows.map((row) => `${row.join('\t')}\n`).join(''))
    return { bytes: packed ? await gzipPiece(bytes) : bytes }
  },
  end: async () => undefined,
})
