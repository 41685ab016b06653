import { ConnectorError } from '@penstock/connector'
import type { InvalidRow, MappedChunk } from '../../filled-batch.ts'
import type { StageKind } from '../stage.ts'

/** Passes rows that the destination must remove, as far as it can. */
export const removals: StageKind = {
  name: 'removals',
  passesRaw: true,
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
 * Only the key of a removed row counts: other values can be invalid, and it is not skipped.
 * @param by the columns by which the destination removes rows
 */
function passing(mapped: MappedChunk, removed: ReadonlySet<number>, by: readonly string[]): MappedChunk {
  const { errors, skipped } = mapped
  const isIgnored = (at: number, { field, isUnmapped }: InvalidRow['error']) =>
    removed.has(at) && !isUnmapped && (!field || !by.includes(field))
  return {
    ...mapped,
    errors: new Map([...errors].filter(([at, error]) => !isIgnored(at, error))),
    ...(skipped && { skipped: skipped.map((code, at) => (removed.has(at) ? 0 : code)) }),
  }
}

const notRemoved = (destination: string): ConnectorError =>
  new ConnectorError(
    'not_supported',
    `${destination} does not remove rows with these settings. Update rows by key (Upsert), or leave removed rows out at the source.`,
    { side: 'Destination' },
  )
