import { type Cell, type Chunk, type ColumnType, ConnectorError, type Json } from '@penstock/connector'
import { checkpointOf, cursorIn, type Spot } from './checkpoints.ts'

/** A row that was read, with the texts by which it is ordered. */
export type ReadRow = {
  readonly spot: readonly (string | null)[]
  readonly cells: readonly Cell[]
  readonly bytes: number
  /** Its place in a result that the database keeps; for the checkpoint of a chunk that ends with it. */
  readonly place?: Json
  /** Why the row cannot be used, in a sentence without its values. */
  readonly problem?: string
}

/** How the rows of a read are ordered. */
export type Order = {
  readonly columns: readonly string[]
  /** The types that the database declares for them. */
  readonly types?: readonly (ColumnType | null)[]
  /** Names of what rows are ordered by: a cursor that was kept under other names says nothing. */
  readonly orderNames: readonly string[]
  /** Whether the last of these is a digest of the whole row: then rows that are equal in everything are read by count. */
  readonly digest: boolean
  readonly incremental: boolean
  /** Whether rows are read up to any of them (`upTo` of a spot), so that chunks have the place behind each. */
  readonly places?: boolean
}

const rowsMax = 5_000
const bytesMax = 1024 * 1024

/**
 * Makes chunks of the rows that come after a spot. The first rows may be those of the spot itself, which were read.
 * @param repeated how many of these come again
 */
export async function* chunksOf(
  order: Order,
  from: Spot,
  batches: AsyncIterable<readonly ReadRow[]>,
  repeated = from.skip,
): AsyncGenerator<Chunk> {
  const { columns, types, orderNames, digest, incremental, places = false } = order
  let { after: last, skip } = from
  let toSkip = repeated
  let place: Json | undefined
  let rows: (readonly Cell[])[] = []
  let errors = new Map<number, string>()
  let bytes = 0
  /** Before the first row of the chunk, and behind each of its rows. */
  let spots: Pick<Spot, 'after' | 'skip'>[] = [from]
  const chunk = (): Chunk => {
    const spot = { after: last, skip, bound: from.bound }
    const full = {
      columns,
      ...(types && { types }),
      rows,
      bytes,
      checkpoint: checkpointOf(spot, place),
      ...(errors.size > 0 ? { errors } : {}),
    }
    rows = []
    errors = new Map()
    bytes = 0
    if (!incremental && !places) return full
    const passed = spots
    spots = [spot]
    const { bound } = from
    return {
      ...full,
      ...(places && { checkpointAfter: (count) => checkpointOf({ ...(passed[count] ?? spot), bound }) }),
      ...(incremental && { cursorAfter: (count) => cursorIn(orderNames, passed[count] ?? spot) }),
    }
  }
  for await (const batch of batches) {
    for (const row of batch) {
      const spot = complete(row.spot)
      const before = last
      const same = before !== undefined && spot.every((text, at) => text === before[at])
      if (same && !digest) throw keyNotUnique()
      if (same && toSkip > 0) {
        toSkip -= 1
        continue
      }
      toSkip = 0
      skip = same ? skip + 1 : 1
      last = spot
      place = row.place
      if (row.problem !== undefined) errors.set(rows.length, row.problem)
      rows.push(row.cells)
      if (incremental || places) spots.push({ after: last, skip })
      bytes += row.bytes
      if (rows.length >= rowsMax || bytes >= bytesMax) yield chunk()
    }
  }
  if (rows.length > 0) yield chunk()
}

function complete(spot: readonly (string | null)[]): readonly string[] {
  if (spot.includes(null)) {
    throw new ConnectorError(
      'invalid_key',
      'A row has no value in a key column, so its checkpoint cannot be stored; select key columns that always have a value, or none.',
    )
  }
  return spot as readonly string[]
}

const keyNotUnique = (): ConnectorError =>
  new ConnectorError(
    'invalid_key',
    'Two rows have the same values in the key columns; select columns that together identify each row, or none.',
  )
