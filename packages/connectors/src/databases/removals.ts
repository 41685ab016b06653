import type { Rejection, Row } from '@penstock/connector'

/** The key of a row as a text; `undefined` if it has none. */
export type KeyOf<Keyed = Row> = (row: Keyed) => string | undefined

/** @param textsOf the texts of the key's columns; an empty one is none */
export const keyBy =
  (textsOf: (row: Row) => readonly string[]): KeyOf =>
  (row) => {
    const texts = textsOf(row)
    return texts.includes('') ? undefined : JSON.stringify(texts)
  }

const plain = /^(?:0|[1-9]\d{0,17})$/

/**
 * Whether a key of a batch may have other notations, such as `07` for 7, or another case: then a removed row can have the key of one that is
 * written. Such rows are removed before the others are written. If not, they are removed last, since others may refer to them until then.
 * @param keys indexes of the columns of the key
 */
export const hasNotations = (rows: readonly Row[], keys: readonly number[]): boolean =>
  rows.some((row) => keys.some((at) => !plain.test(String(row[at] ?? ''))))

/**
 * Divides the rows of a batch by what becomes of their key in the end, so that the order of both parts does not matter.
 * @returns indexes of the rows to write and to remove; a row that a later one of its key overrules may be in neither
 */
export function divideRemovals<Keyed>(
  { rows, removed }: { readonly rows: readonly Keyed[]; readonly removed?: ReadonlySet<number> },
  keyOf: KeyOf<Keyed>,
): { readonly written: readonly number[]; readonly removed: readonly number[] } {
  const lastRemoves = new Map<string, boolean>()
  const written: number[] = []
  const gone: number[] = []
  for (const [at, row] of [...rows.entries()].reverse()) {
    const isRemoved = removed?.has(at) ?? false
    const key = keyOf(row)
    const later = key === undefined ? undefined : lastRemoves.get(key)
    if (later === undefined) {
      if (key !== undefined) lastRemoves.set(key, isRemoved)
      ;(isRemoved ? gone : written).push(at)
    } else if (!later && !isRemoved) written.push(at)
  }
  return { written: written.reverse(), removed: gone.reverse() }
}

/**
 * Removes rows, many by one statement; those of a statement that fails are removed one by one. A row that is not there is removed
 * already.
 * @param indexes of the rows to remove
 * @param tryRemoving removes rows by their keys, all or none; answers why it could not, nothing if it has
 * @returns rows that the database does not give up, with the reason
 */
export async function removeRows(
  { rows, indexes, keyOf, atOnce }: { rows: readonly Row[]; indexes: readonly number[]; keyOf: KeyOf; atOnce: number },
  tryRemoving: (indexes: readonly number[]) => Promise<string | undefined>,
): Promise<readonly Rejection[]> {
  const isKeyed = (index: number) => keyOf(rows[index] ?? []) !== undefined
  const rejected: Rejection[] = indexes.flatMap((index) => (isKeyed(index) ? [] : [{ index, reason: withoutKey }]))
  const keyed = indexes.filter(isKeyed)
  for (let at = 0; at < keyed.length; at += atOnce) {
    const some = keyed.slice(at, at + atOnce)
    if ((await tryRemoving(some)) === undefined) continue
    for (const index of some) {
      const reason = await tryRemoving([index])
      if (reason !== undefined) rejected.push({ index, reason })
    }
  }
  return rejected
}

const withoutKey = 'There is no value for the key, by which the row would be found again.'
