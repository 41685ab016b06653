import fc from './property.ts'

/** Values that a JSON Schema accepts, of the keywords that the contract uses. */

/** A schema with its references resolved. */
export type JsonSchema = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly examples?: readonly unknown[]
}

/** Texts and lists of any length are made this long at most, unless the schema asks for more. */
const lengthMax = 40
const itemsMax = 3

/** An arbitrary of values that the schema accepts: as a schema says it, with no knowledge of what the value means. */
export function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valuesOf))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  switch (schema.type) {
    case 'string':
      return textsOf(schema)
    case 'integer':
      return fc.oneof(
        fc.constantFrom(
          ...[schema.minimum, schema.maximum].filter((bound) => bound !== undefined),
          schema.minimum ?? 0,
        ),
        fc.integer({ min: schema.minimum ?? -1_000, max: Math.min(schema.maximum ?? 1_000, 2 ** 31 - 1) }),
      )
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const { items = {}, minItems: minLength = 0, maxItems = itemsMax } = schema
      const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxItems, itemsMax)) }
      const selector = (one: unknown) => JSON.stringify(one)
      return schema.uniqueItems
        ? fc.uniqueArray(valuesOf(items), { ...bounds, selector })
        : fc.array(valuesOf(items), bounds)
    }
    case 'object': {
      const { properties = {}, required = [], minProperties = 0 } = schema
      const all = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valuesOf(inner)]))
      const made = fc.record(all, { requiredKeys: [...required] })
      return minProperties > 0 ? made.filter((one) => Object.keys(one).length >= minProperties) : made
    }
    default:
      throw new Error(`This schema cannot be read: ${JSON.stringify(schema)}`)
  }
}

function textsOf({ pattern, minLength = 0, maxLength = lengthMax }: JsonSchema): fc.Arbitrary<string> {
  const fits = (text: string) => [...text].length >= minLength && [...text].length <= maxLength
  if (pattern !== undefined) {
    const matches = new RegExp(pattern, 'u')
    return fc
      .stringMatching(matches, { maxLength: Math.min(maxLength, 400) })
      .filter((text) => fits(text) && matches.test(text))
  }
  const bounds = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, lengthMax)) }
  return fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: 'grapheme' })).filter(fits)
}
