import { limits } from '@penstock/wire'

/** Parts of a schema about the width of a value, and about its content. */
type Schema = {
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly maxProperties?: number
  readonly additionalProperties?: unknown
}

/**
 * The part of a value that must be checked to find the first `fieldErrorsMax` errors. Of a list or an object that is too wide
 * it is only the beginning, so that a large body with many errors costs no more than a small one. The result of the validation
 * does not change, since only values that are too wide are cut. A value that is not too wide is not copied.
 */
export function excerpt(schema: Schema, value: unknown): unknown {
  if (schema.anyOf) return schema.anyOf.reduce((cut, branch) => excerpt(branch, cut), value)
  if (Array.isArray(value)) return schema.items ? excerptOfList(schema.items, value, schema.maxItems) : value
  return typeof value === 'object' && value !== null ? excerptOfObject(schema, value as Record<string, unknown>) : value
}

/** The allowed number and one more, or the number of errors that a refusal can list and one more. */
const widthFor = (max: number) => Math.max(max, limits.fieldErrorsMax) + 1

function excerptOfList(items: Schema, list: readonly unknown[], max = Number.POSITIVE_INFINITY): readonly unknown[] {
  const cut = list.length > widthFor(max) ? list.slice(0, widthFor(max)) : list
  return mapped(cut, (item) => excerpt(items, item))
}

function excerptOfObject(schema: Schema, value: Record<string, unknown>): Record<string, unknown> {
  const { properties = {}, patternProperties = {}, maxProperties } = schema
  // Every key beyond these is an error, either by its name or because there are too many keys.
  const [pattern] = Object.values(patternProperties)
  const max = schema.additionalProperties !== false ? Number.POSITIVE_INFINITY : pattern ? maxProperties : 0
  const width = widthFor(max ?? Number.POSITIVE_INFINITY)
  const keys = Object.keys(value)
  let others = 0
  const kept = keys.filter((key) => Object.hasOwn(properties, key) || ++others <= width)
  const cut = kept.map((key): [string, unknown] => {
    const inside = Object.hasOwn(properties, key) ? properties[key] : pattern
    return [key, inside ? excerpt(inside, value[key]) : value[key]]
  })
  const isSame = kept.length === keys.length && cut.every(([key, entry]) => entry === value[key])
  return isSame ? value : Object.fromEntries(cut)
}

/** The list itself where `change` changes nothing. */
function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const changed = list.map(change)
  return changed.every((item, index) => item === list[index]) ? list : changed
}
