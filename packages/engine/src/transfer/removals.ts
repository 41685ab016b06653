import { ConnectorError } from '@penstock/connector'
import type { ChunkMapper } from './batches.ts'

/**
 * Maps rows that are to be removed at the destination as far as that needs: their key. Anything else that is wrong with them does not matter,
 * and no filter leaves them out.
 * @param sides the columns by which the destination removes rows, `undefined` if it does not; and its name
 * @returns a mapper that throws `not_supported` if there is a row to remove and the destination does not do that
 */
export const mapRemovals =
  (
    map: ChunkMapper,
    {
      removesBy: by,
      names,
    }: { readonly removesBy: readonly string[] | undefined; readonly names: { destination: string } },
  ): ChunkMapper =>
  async (chunk) => {
    const { removed } = chunk
    if (!removed?.size) return map(chunk)
    if (!by) throw notRemoved(names.destination)
    const { rows, errors, skipped } = await map(chunk)
    const isIgnored = (at: number, field: string | undefined) => removed.has(at) && (!field || !by.includes(field))
    return {
      rows,
      errors: new Map([...errors].filter(([at, { field }]) => !isIgnored(at, field))),
      ...(skipped && { skipped: skipped.map((code, at) => (removed.has(at) ? 0 : code)) }),
    }
  }

const notRemoved = (destination: string): ConnectorError =>
  new ConnectorError(
    'not_supported',
    `${destination} does not remove rows with these settings. Select a write mode with a key, such as Upsert, or leave removed rows out at the source.`,
    { side: 'Destination' },
  )
