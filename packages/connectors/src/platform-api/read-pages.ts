import { type Chunk, ConnectorError, type Json, type Row } from '@penstock/connector'
import { isObject } from './json.ts'
import { type Page, pagesOf } from './polling.ts'

/** One page of rows at a platform. */
export type RowPage = Page<Row> & Pick<Chunk, 'columns' | 'errors'> & { readonly bytes: number }

/** The longest cursor that fits into a checkpoint, as JSON. */
const cursorBytesMax = 8_192

/**
 * Reads a list of a platform as a source does: each page is a chunk, and its checkpoint leads to the next page, so that reading
 * resumes there after a crash. A page should have a few thousand rows or about a megabyte at most. The cursors of the platform
 * must stay valid for as long as a transfer is retried.
 * @param read returns the page that a cursor leads to, or the first page
 * @param after the checkpoint of a chunk
 */
export async function* readPages(
  read: (cursor: string | undefined) => Promise<RowPage>,
  after?: Json,
): AsyncGenerator<Chunk> {
  const from = isObject(after) ? after.cursor : undefined
  // The last page was confirmed.
  if (from === null) return
  for await (const page of pagesOf(read, typeof from === 'string' ? from : undefined)) {
    const { items, columns, bytes, errors, next } = page
    if (next !== undefined && Buffer.byteLength(JSON.stringify(next)) > cursorBytesMax) {
      throw new ConnectorError('malformed_response', 'The platform returned a next page with too long a cursor.')
    }
    yield { columns, rows: items, bytes, ...(errors ? { errors } : {}), checkpoint: { cursor: next ?? null } }
  }
}
