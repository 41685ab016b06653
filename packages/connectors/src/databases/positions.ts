import { ConnectorError, type Json } from '@penstock/connector'

/** A place in ordered rows: behind which order values, how many rows with just these were read, and where the run ends. */
export type Spot = {
  readonly after: readonly string[] | undefined
  readonly skip: number
  readonly bound: string | undefined
}

/** As text of a chunk's position, which may hold 16 KiB. */
const lengthMax = 15_000

/** A spot as the position of a chunk, with its place in a result that the database keeps. */
export function positionOf({ after = [], skip, bound }: Spot, place?: Json): Json {
  const position = { after, skip, ...(bound === undefined ? {} : { bound }), ...(place === undefined ? {} : { place }) }
  if (Buffer.byteLength(JSON.stringify(position)) > lengthMax) {
    throw new ConnectorError(
      'invalid_key',
      'A key is too long to be kept as a position; name key columns with shorter values.',
    )
  }
  return position
}

/** The spot that a position of this transfer means; `undefined` where reading begins. */
export function afterIn(position: Json | undefined, terms: number): Spot | undefined {
  if (position === undefined) return undefined
  if (isRecord(position)) {
    const { after, skip, bound } = position
    if (isTexts(after) && after.length === terms && typeof skip === 'number') {
      return { after, skip, bound: typeof bound === 'string' ? bound : undefined }
    }
  }
  throw new ConnectorError(
    'source_changed',
    'The settings of the source changed while the transfer was interrupted, so it cannot go on; start a new one.',
  )
}

/** A spot as a marker: with the names of what it is made of, because it means nothing for other columns. */
export const markerIn = (names: readonly string[], { after = [], skip }: Pick<Spot, 'after' | 'skip'>): Json => ({
  order: names,
  after,
  skip,
})

/** Where an earlier transfer ended; `undefined` where there was none, or it was ordered otherwise. */
export function markerOf(marker: Json | undefined, names: readonly string[]): Pick<Spot, 'after' | 'skip'> | undefined {
  if (!isRecord(marker)) return undefined
  const { order, after, skip } = marker
  if (!isTexts(order) || order.length !== names.length || order.some((name, at) => name !== names[at])) return undefined
  return isTexts(after) && after.length === names.length && typeof skip === 'number' ? { after, skip } : undefined
}

/** The place in a kept result that a position names, if it does. */
export const placeIn = (position: Json | undefined): Json | undefined =>
  isRecord(position) ? position.place : undefined

/** The same position, in rows that are asked for anew. */
export function withoutPlace(position: Json | undefined): Json | undefined {
  if (!isRecord(position)) return position
  const { place: _, ...rest } = position
  return rest
}

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTexts = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((part) => typeof part === 'string')
