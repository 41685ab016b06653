/** Reading of bodies whose form the test server has verified. */

export type Json = Record<string, unknown>
export const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** The values of a list under the names of another one. */
export const zipped = (names: unknown, values: unknown): Json =>
  Object.fromEntries(listOf(names).map((name, at) => [String(name), listOf(values)[at]]))

/** A list of one value, as that value. */
export const single = (object: unknown): Json =>
  Object.fromEntries(
    Object.entries(objectOf(object)).map(([key, value]) => [key, Array.isArray(value) ? value[0] : value]),
  )
