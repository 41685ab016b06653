/** Schemas of request bodies for test servers as strict as platforms: a key that a schema does not have is refused. */

/** Whether a value is what a schema demands. */
export type Schema = (value: unknown) => boolean

export const text: Schema = (value) => typeof value === 'string'
export const nonEmptyText: Schema = (value) => typeof value === 'string' && value !== ''
export const trueOrFalse: Schema = (value) => typeof value === 'boolean'
export const wholeNumber: Schema = (value) => Number.isSafeInteger(value)
export const positiveNumber: Schema = (value) => typeof value === 'number' && value >= 0
/** A SHA-256 in lower-case hexadecimal. */
export const digest: Schema = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)

/** One of these words, which are separated by white space. */
export const oneOf = (names: string): Schema => {
  const all: readonly unknown[] = names.split(/\s+/)
  return (value) => all.includes(value)
}

export const listOf =
  (item: Schema): Schema =>
  (value) =>
    Array.isArray(value) && value.every(item)

/** An object without other keys; each key has its own schema. @param required the keys that it must have */
export const objectOf =
  (schemas: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    required.every((key) => Object.hasOwn(value, key)) &&
    Object.entries(value).every(([key, one]) => Object.hasOwn(schemas, key) && schemas[key]?.(one) === true)

/** The same schema for several keys, which are separated by white space. */
export const each = (keys: string, schema: Schema): Record<string, Schema> =>
  Object.fromEntries(keys.split(/\s+/).map((key) => [key, schema]))
