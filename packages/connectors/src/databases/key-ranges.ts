import { ConnectorError, type Division, type DivisionBounds, type Json } from '@penstock/connector'
import { isObject, numberIn, textIn } from '../platform-api/json.ts'

/** Tables in parts: each part has a range of whole numbers of the first column of the primary key, so that any row is in one of them. */

/** A range of keys, above one and up to another; without a bound, it has no end on that side. */
export type KeyRange = {
  readonly column: string
  readonly above: string | undefined
  readonly upTo: string | undefined
  /** About how many rows it has. */
  readonly rows: number
}

/** Each part is a statement of its own, which the server plans and runs. */
const partsMost = 100

/**
 * Divides a table.
 * @param column the first of its primary key, which has whole numbers
 * @param size about how many rows and bytes it has
 * @param knots some of its keys in their order, the least and the greatest too, with about as many rows between two as between any other two
 * @returns `undefined` if that is one part
 */
export function divideKeys(
  column: string,
  size: { readonly rows: number; readonly bytes: number },
  knots: readonly bigint[],
  bounds: DivisionBounds,
  columns: readonly string[],
): Division | undefined {
  const cuts = cutsOf(knots, partsOf(size.bytes, bounds))
  if (cuts.length === 0) return undefined
  const share = 1 / (cuts.length + 1)
  const rows = Math.round(size.rows * share)
  const parts = [...cuts, undefined].map((cut, at) => {
    const [above, upTo] = [cuts[at - 1]?.toString(), cut?.toString()]
    const key = { column, rows, ...(above !== undefined && { above }), ...(upTo !== undefined && { upTo }) }
    return { key, name: nameOf(column, above, upTo), share }
  })
  return { parts, apart: [column], columns: async () => columns }
}

/** How many parts are worth it. @param bytes of the table, about */
export const partsOf = (bytes: number, { bytesMin, partsMax }: DivisionBounds): number =>
  Math.min(partsMost, partsMax, Math.floor(bytes / Math.max(1, bytesMin)))

/** Keys at which so many parts of about the same size end, but the last one; each once. */
function cutsOf(knots: readonly bigint[], parts: number): readonly bigint[] {
  const cuts = new Set<bigint>()
  for (let at = 1; at < parts; at++) {
    const place = (at * (knots.length - 1)) / parts
    const [low, high] = [knots[Math.floor(place)], knots[Math.floor(place) + 1]]
    if (low === undefined || high === undefined) continue
    // Thousandths are enough between two keys.
    cuts.add(low + ((high - low) * BigInt(Math.round((place % 1) * 1000))) / 1000n)
  }
  const [last] = knots.slice(-1)
  // Nothing is above the greatest key.
  return [...cuts].filter((cut) => last !== undefined && cut < last)
}

const nameOf = (column: string, above: string | undefined, upTo: string | undefined): string =>
  above === undefined
    ? `${column} up to ${upTo}`
    : upTo === undefined
      ? `${column} above ${above}`
      : `${column} above ${above}, up to ${upTo}`

/** Whole numbers in the texts of a database, in their order; none if one is no whole number. */
export function knotsIn(texts: readonly (string | null | undefined)[]): readonly bigint[] {
  if (!texts.every((text) => typeof text === 'string' && /^-?\d{1,20}$/.test(text))) return []
  return [...new Set(texts.map((text) => BigInt(text as string)))].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/**
 * The range that a part has.
 * @param key as `divideKeys` gave it
 * @param orderNames names of the terms that rows are ordered by now
 * @throws `source_changed` if that is another column by now
 */
export function rangeOf(key: Json, orderNames: readonly string[]): KeyRange {
  const { column, above, upTo, rows } = isObject(key) ? key : {}
  if (typeof column !== 'string' || column !== orderNames[0]) {
    throw new ConnectorError('source_changed', 'The primary key of the table changed. Start a new transfer.')
  }
  return { column, above: textIn(above), upTo: textIn(upTo), rows: numberIn(rows) ?? 0 }
}
