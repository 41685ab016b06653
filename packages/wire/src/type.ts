import type * as TypeBox from 'typebox'

export type { Static, TObject, TSchema } from 'typebox'

type Schema = TypeBox.TSchema
/** Keywords of a schema in addition to its kind: `description`, `minimum`, `additionalProperties` … */
type Options = Readonly<Record<string, unknown>>

const optional = new WeakSet<Schema>()
const ofKind = (type: string) => (options?: Options) => ({ type, ...options })

/**
 * Creates the JSON Schemas of the contract, as TypeBox does and with its types. Running processes do not load TypeBox: its 370
 * files take a fifth of a second in each process, and the contract needs only these few kinds of schema. A test compares each
 * kind with the output of TypeBox.
 */
export const Type = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: ofKind('boolean'),
  Integer: ofKind('integer'),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: ofKind('null'),
  Number: ofKind('number'),
  Object(properties: Readonly<Record<string, Schema>>, options?: Options) {
    const required = Object.entries(properties).flatMap(([key, schema]) => (optional.has(schema) ? [] : [key]))
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options }
  },
  /** The same schema, for an optional key. */
  Optional(schema: Schema) {
    const copy = { ...schema }
    optional.add(copy)
    return copy
  },
  /** Its keys are any texts. */
  Record: (_texts: Schema, value: Schema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: ofKind('string'),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Unsafe: (schema: Schema) => schema,
} as unknown as Pick<
  typeof TypeBox,
  | ('Array' | 'Boolean' | 'Integer' | 'Literal' | 'Null' | 'Number')
  | ('Object' | 'Optional' | 'Record' | 'String' | 'Union' | 'Unsafe')
>
