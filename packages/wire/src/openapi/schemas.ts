import { errors } from '../errors.ts'
import * as exported from '../schemas.ts'
import type { TSchema } from '../type.ts'

/** A part of the document: plain JSON. */
export type Json = Record<string, unknown>

/** Keywords that describe a schema without changing what it accepts. */
const annotations: readonly string[] = ['description', 'examples']

/** Keywords of JSON Schema that contain schemas: one, a list, or several by name. */
const holdsOne: readonly string[] = ['items', 'additionalProperties']
const holdsList: readonly string[] = ['anyOf']
const holdsNamed: readonly string[] = ['properties', 'patternProperties']

/** The schemas with a name: the exports of `schemas.ts` that begin with a capital letter, and the envelope of a refusal. */
const named: Readonly<Record<string, Json>> = {
  ...Object.fromEntries(
    Object.entries(exported).flatMap(([name, value]) =>
      typeof value === 'object' && /^[A-Z]/.test(name) ? [[name, plain(value)]] : [],
    ),
  ),
  Refusal: plain(
    exported.envelope(exported.Refused, {
      statusCode: errors.invalid_request.status,
      statusMessage: errors.invalid_request.message,
    }),
  ),
}
const nameByText = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
const nameByShape = new Map(
  Object.entries(named)
    .toReversed()
    .map(([name, schema]) => [JSON.stringify(shapeOf(schema)), name]),
)

/** `components.schemas`: every named schema, which refer to each other by name. */
export function componentSchemas(): Json {
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, referInside(schema)]))
}

/** A schema as plain JSON Schema, with references to named schemas. */
export function schemaOf(schema: TSchema): Json {
  return refer(plain(schema))
}

/** A schema as plain JSON Schema: the marks of TypeBox are not enumerable, so this removes them. */
export function plain(schema: object): Json {
  return JSON.parse(JSON.stringify(schema))
}

function refer(schema: Json): Json {
  const same = nameByText.get(JSON.stringify(schema))
  if (same !== undefined) return { $ref: `#/components/schemas/${same}` }
  const alike = nameByShape.get(JSON.stringify(shapeOf(schema)))
  if (alike === undefined) return referInside(schema)
  const said = Object.entries(schema).filter(([keyword]) => annotations.includes(keyword))
  return { $ref: `#/components/schemas/${alike}`, ...Object.fromEntries(said) }
}

function referInside(schema: Json): Json {
  const inside = ([keyword, value]: [string, unknown]): [string, unknown] => {
    if (typeof value !== 'object' || value === null) return [keyword, value]
    if (holdsOne.includes(keyword)) return [keyword, refer(value as Json)]
    if (holdsList.includes(keyword)) return [keyword, (value as Json[]).map(refer)]
    if (!holdsNamed.includes(keyword)) return [keyword, value]
    return [keyword, Object.fromEntries(Object.entries(value as Record<string, Json>).map(([k, v]) => [k, refer(v)]))]
  }
  return Object.fromEntries(Object.entries(schema).map(inside))
}

function shapeOf(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !annotations.includes(keyword)))
}
