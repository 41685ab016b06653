import { ConnectorError } from '@penstock/connector'
import type { MappedChunk } from '../../filled-batch.ts'
import type { StageKind } from '../stage.ts'

/** Passes rows that the destination must remove, as far as it can. */
export const removals: StageKind = {
  needsValues: () => undefined,
  needsAllRows: () => undefined,
  open: ({ sides }) => ({
    map(mapped, { source: { removed } }) {
      if (!removed?.size) return mapped
      const by = sides.removesBy
      if (!by) throw notRemoved(sides.names.destination)
      return passing(mapped, removed, by)
    },
  }),
}

/**
 * Only the key of a removed row counts: other values can be invalid, and no filter skips it.
 * @param by the columns by which the destination removes rows
 */
function passing({ rows, errors, skipped }: MappedChunk, removed: ReadonlySet<number>, by: readonly string[]) {
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
