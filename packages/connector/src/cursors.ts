import type { Json } from './rows.ts'

/** Cursors of a connection whose last transfer may have been divided into parts. */

const isOfParts = (cursor: Json): cursor is { readonly parts: readonly Json[] } =>
  typeof cursor === 'object' &&
  cursor !== null &&
  'parts' in cursor &&
  Array.isArray(cursor.parts) &&
  Object.keys(cursor).length === 1

/**
 * The cursor of each part of the last transfer, in the order of the parts. One cursor if the transfer was not divided, and an
 * empty list without a cursor.
 */
export const cursorsOf = (cursor: Json | undefined): readonly Json[] =>
  cursor === undefined ? [] : isOfParts(cursor) ? cursor.parts : [cursor]

/**
 * The cursor of a transfer whose parts all succeeded, for `cursorsOf`.
 * @param cursors of its parts in their order, without parts that have no cursor
 * @returns `null` if no part has a cursor
 */
export function cursorOfParts(cursors: readonly Json[]): Json | null {
  const [first, ...others] = cursors
  if (first === undefined) return null
  const text = JSON.stringify(first)
  return others.every((cursor) => JSON.stringify(cursor) === text) ? first : { parts: cursors }
}
