import { ConnectorError, type Json } from '@penstock/connector'

/** A place in ordered rows: behind which order values, how many rows with just these were read, and where the transfer ends. */
export type Spot = {
  readonly after: readonly string[] | undefined
  readonly skip: number
  readonly bound: string | undefined
  /** Where a part begins of which no row was read: behind this value of the first term. */
  readonly above?: string | undefined
  /** The order values of the last row to be read, if that is known. */
  readonly upTo?: readonly string[] | undefined
}

/** As text of a chunk's checkpoint, which may hold 16 KiB. */
const lengthMax = 15_000

/** A spot as the checkpoint of a chunk, with its place in a result that the database keeps. */
export function checkpointOf({ after = [], skip, bound }: Spot, place?: Json): Json {
  const checkpoint = {
    after,
    skip,
    ...(bound === undefined ? {} : { bound }),
    ...(place === undefined ? {} : { place }),
  }
  if (Buffer.byteLength(JSON.stringify(checkpoint)) > lengthMax) {
    throw new ConnectorError(
      'invalid_key',
      'A key is too long to be stored in a checkpoint; select key columns with shorter values.',
    )
  }
  return checkpoint
}

/** The spot that a checkpoint of this transfer means; `undefined` where reading begins. */
export function afterIn(checkpoint: Json | undefined, terms: number): Spot | undefined {
  if (checkpoint === undefined) return undefined
  if (isRecord(checkpoint)) {
    const { after, skip, bound } = checkpoint
    if (isTexts(after) && after.length === terms && typeof skip === 'number') {
      return { after, skip, bound: typeof bound === 'string' ? bound : undefined }
    }
  }
  throw new ConnectorError(
    'source_changed',
    'The settings of the source changed while the transfer was interrupted, so it cannot continue. Start a new one.',
  )
}

/** A spot as a cursor: with the names of what it is made of, because it means nothing for other columns. */
export const cursorIn = (names: readonly string[], { after = [], skip }: Pick<Spot, 'after' | 'skip'>): Json => ({
  order: names,
  after,
  skip,
})

/** Where an earlier transfer ended; `undefined` if there was none, or it was ordered otherwise. */
export function cursorOf(cursor: Json | undefined, names: readonly string[]): Pick<Spot, 'after' | 'skip'> | undefined {
  if (!isRecord(cursor)) return undefined
  const { order, after, skip } = cursor
  if (!isTexts(order) || order.length !== names.length || order.some((name, at) => name !== names[at])) return undefined
  return isTexts(after) && after.length === names.length && typeof skip === 'number' ? { after, skip } : undefined
}

/** The place in a cached result that a checkpoint names, if it does. */
export const placeIn = (checkpoint: Json | undefined): Json | undefined =>
  isRecord(checkpoint) ? checkpoint.place : undefined

/** The same checkpoint, for a new statement. */
export function withoutPlace(checkpoint: Json | undefined): Json | undefined {
  if (!isRecord(checkpoint)) return checkpoint
  const { place: _, ...rest } = checkpoint
  return rest
}

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((part) => typeof part === 'string')
