/** Reads a platform's answer without trusting it: a value of the wrong kind is treated as absent. */

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object, or an empty one. */
export const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Parses a text as a JSON object. An empty object if it is not one. */
export const parseObject = (text: string): JsonObject => objectIn(parseJson(text))

/** The list, or an empty one. */
export const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A text, or the text of a number: platforms write identifiers and codes either way. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

/** A finite number, or a text that is one. */
export function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** Parses a text as JSON. `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
