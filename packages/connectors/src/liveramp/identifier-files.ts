import type { Batch, Delivery, DestinationContext, DestinationWriter, Rejection, Row } from '@penstock/connector'
import { type Encoder, fileNameOf, gzipPiece } from '@penstock/connector/files'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import { writeTo } from '../sftp/move.ts'

/** The columns of a file, in their order. */
const fileColumns = [
  'AUDIENCEKEY',
  'FIRSTNAME',
  'LASTNAME',
  'ADDRESS1',
  'ADDRESS2',
  'CITY',
  'STATE',
  'ZIP',
  'EMAIL1',
  'EMAIL2',
  'PHONE1',
  'PHONE2',
] as const

/** Without one of these, a name and an address match no one (docs.liveramp.com, “Formatting Identifiers”). */
const addressNeeds = ['FIRSTNAME', 'LASTNAME', 'ADDRESS1', 'CITY', 'STATE', 'ZIP'] as const

/** Opens a writer of one CSV file with a header. The columns are always the same, as LiveRamp wants them of all files of an audience. */
export async function write(context: DestinationContext): Promise<DestinationWriter> {
  const { settings } = context
  const packed = settings.gzip === true
  const writer = await writeTo(context, {
    path: String(settings.path),
    fileName: (extension) => `PII_${fileNameOf(context, extension)}`,
    options: { extension: packed ? 'csv.gz' : 'csv', encoder: encoderOf(packed) },
    ifEmpty: 'no file',
  })
  return { ...writer, deliver: (batch) => deliver(writer, batch) }
}

async function deliver(writer: DestinationWriter, batch: Batch): Promise<Delivery> {
  const { rows, rejected } = readRows(batch, readPerson)
  // A part has at least one byte.
  const delivery = rows.length === 0 ? { bytes: 0 } : await writer.deliver({ ...batch, rows })
  return { ...delivery, ...(rejected.length > 0 && { rejected }) }
}

/** The rows that are rejected before a line is written. */
export const rejectedBeforeWriting = (batch: Batch): readonly Rejection[] => readRows(batch, readPerson).rejected

/** The cells of a person, or why LiveRamp could match no one by them. */
function readPerson(row: BatchRow): Read<Row> {
  const cells = fileColumns.map((column) => row.text(column) ?? null)
  const bad = fileColumns.find((_, at) => /\p{Cc}/u.test(cells[at] ?? '') || !(cells[at] ?? '').isWellFormed())
  if (bad !== undefined) return wrong('The value contains a line break or another control character.', bad)
  if (cells[0] === null)
    return wrong('There is no audience key, by which LiveRamp distinguishes people.', 'AUDIENCEKEY')
  const missing = addressNeeds.find((column) => row.text(column) === undefined)
  const isReachable = ['EMAIL1', 'EMAIL2', 'PHONE1', 'PHONE2'].some((column) => row.text(column) !== undefined)
  if (isReachable || missing === undefined) return { read: cells }
  return row.text('ADDRESS1') === undefined
    ? wrong('There is no e-mail address, no phone number and no postal address.', 'EMAIL1')
    : wrong('The name and the address of a person need a first and a last name, street, city, state and ZIP.', missing)
}

const lineOf = (cells: Row): string =>
  `${cells.map((cell) => (cell === null ? '' : `"${String(cell).replaceAll('"', '""')}"`)).join(',')}\n`

const encoderOf = (packed: boolean): Encoder => ({
  encode: async (rows, offset) => {
    const header = offset === 0 ? `${fileColumns.join(',')}\n` : ''
    const bytes = Buffer.from(header + rows.map(lineOf).join(''))
    return { bytes: packed ? await gzipPiece(bytes) : bytes }
  },
  end: async () => undefined,
})
