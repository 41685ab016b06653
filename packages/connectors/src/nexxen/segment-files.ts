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
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import { writeTo } from '../sftp/move.ts'

/** Opens a writer of one file: tab-separated, without a header, the identifier before the categories. */
export async function write(context: DestinationContext): Promise<DestinationWriter> {
  const { settings } = context
  const prefix = providerOf(String(settings.dataProviderId))
  const packed = settings.gzip === true
  const writer = await writeTo(context, {
    path: String(settings.path),
    fileName: (extension) => `${prefix}_${fileNameOf(context, extension)}`,
    options: { extension: packed ? 'txt.gz' : 'txt', encoder: encoderOf(packed) },
    ifEmpty: 'no file',
  })
  return { ...writer, deliver: (batch) => deliver(writer, batch) }
}

/** A data provider ID, which begins the name of each file. */
function providerOf(id: string): string {
  const trimmed = id.trim()
  if (/^[A-Za-z0-9-]{1,64}$/.test(trimmed)) return trimmed
  throw new ConnectorError(
    'invalid_setting',
    'The data provider ID has other characters than letters and digits; check it.',
  )
}

async function deliver(writer: DestinationWriter, batch: Batch): Promise<Delivery> {
  const { rows, rejected } = readLines(batch)
  // A part has at least one byte.
  const delivery = rows.length === 0 ? { bytes: 0 } : await writer.deliver({ ...batch, rows })
  return { ...delivery, ...(rejected.length > 0 ? { rejected } : {}) }
}

/** The rows that are rejected before a line is written. */
export const rejectedBeforeWriting = (batch: Batch): readonly Rejection[] => readLines(batch).rejected

const readLines = (batch: Batch): { rows: Row[]; rejected: Rejection[] } => readRows(batch, readLine)

/** The two values of a line, or why the row has no line. */
function readLine(row: BatchRow): Read<Row> {
  const identifier = row.text('userIdentifier')
  if (identifier === undefined) return wrong('There is no identifier.', 'userIdentifier')
  if (breaksLine.test(identifier)) {
    return wrong('The identifier contains white space or control characters.', 'userIdentifier')
  }
  if (identifier.includes('@')) {
    return wrong('The identifier is an e-mail address, which Nexxen accepts only hashed.', 'userIdentifier')
  }
  const ids = (row.text('categoryIds') ?? '').split(',').map((id) => id.trim())
  const categories = new Set(ids.filter((id) => id !== ''))
  if (categories.size === 0) return wrong('There is no category ID.', 'categoryIds')
  if (ids.some((id) => breaksLine.test(id))) {
    return wrong('A category ID contains white space or control characters; separate IDs with commas.', 'categoryIds')
  }
  return { read: [identifier, [...categories].join(',')] }
}

/** Characters that would end a value or a line, or begin another one. */
const breaksLine = /[\s\p{Cc}]/u

const encoderOf = (packed: boolean): Encoder => ({
  encode: async (rows) => {
    const bytes = Buffer.from(rows.map((row) => `${row.join('\t')}\n`).join(''))
    return { bytes: packed ? await gzipPiece(bytes) : bytes }
  },
  end: async () => undefined,
})
