/**
 * Rows on their way from a source to a destination. Terms:
 * row    its cells, in the order of the columns of its chunk or batch
 * chunk  some rows that a source read, and the checkpoint after them
 * batch  some rows that a destination receives in one delivery
 */

/**
 * One value of a row. Days and timestamps are ISO 8601 text; decimals and whole numbers beyond 2^53 are text, so that no digit is
 * lost. Nested values are JSON text. An empty text and null are different, but both are treated as missing.
 */
export type Cell = string | number | boolean | null

export type Row = readonly Cell[]

/** Values that JSON stores without loss. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
