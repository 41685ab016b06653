import { isObject, type JsonObject, listIn, objectIn, textIn } from '../../platform-api/json.ts'
import { original } from './asked-keys.ts'

/** A value of the configuration of a manifest. */
export type ConfigValue =
  | { readonly value: unknown }
  /** It is a secret, which no definition may have. */
  | { readonly secret: true }
  /** It is required and was not given. */
  | { readonly missing: string }

/** The configuration with which a manifest is imported. */
export type ImportConfig = { readonly at: (keys: readonly (string | number)[]) => ConfigValue }

type Property = {
  readonly type: string
  readonly usual?: unknown
  readonly isSecret: boolean
  readonly isNeeded: boolean
}

/**
 * Makes the configuration of a manifest.
 * @param spec its component `Spec`, which says what is a secret, what is required, and which values are used if none are given
 * @param given values by name; those of an object have its name before a point
 */
export function configOf(spec: JsonObject, given: Readonly<Record<string, string>>): ImportConfig {
  const properties = new Map<string, Property>()
  const schema = objectIn(original(spec.connection_specification))
  collect(schema, '', true, properties, 0)
  return {
    at(keys) {
      const path = keys.join('.')
      const property = properties.get(path)
      const text = Object.hasOwn(given, path) ? given[path] : undefined
      // Some manifests call an account or a tenant a secret: a value that is given is none.
      if (text !== undefined) return { value: typed(text, property?.type) }
      if (property?.isSecret) return { secret: true }
      const below = [...new Set([...properties.keys(), ...Object.keys(given)])].filter((one) =>
        one.startsWith(`${path}.`),
      )
      if (below.length > 0 && path !== '') return { value: objectOf(path, below, properties, given) }
      if (property?.usual !== undefined) return { value: property.usual }
      if (property ? property.isNeeded : properties.size === 0) return { missing: path }
      return { value: null }
    },
  }
}

/** The parts of an object that are no secrets and have a value; a secret that it may have is there as an empty text. */
function objectOf(
  path: string,
  names: readonly string[],
  properties: ReadonlyMap<string, Property>,
  given: Readonly<Record<string, string>>,
): unknown {
  const entries = names.flatMap((name): [string, unknown][] => {
    const key = name.slice(path.length + 1)
    const text = given[name]
    return key.includes('.') || text === undefined ? [] : [[key, typed(text, properties.get(name)?.type)]]
  })
  return entries.length > 0 ? Object.fromEntries(entries) : null
}

function collect(
  schema: JsonObject,
  path: string,
  isNeeded: boolean,
  found: Map<string, Property>,
  depth: number,
): void {
  if (depth > 8) return
  const needed = new Set(listIn(schema.required).map(String))
  for (const [name, value] of Object.entries(objectIn(schema.properties))) {
    const property = objectIn(value)
    const at = path === '' ? name : `${path}.${name}`
    const own = isNeeded && needed.has(name)
    const before = found.get(at)
    const usual = property.const ?? property.default ?? before?.usual
    found.set(at, {
      type: textIn([property.type].flat().find((one) => one !== 'null')) ?? '',
      ...(usual !== undefined && property.const === undefined && { usual }),
      isSecret: property.airbyte_secret === true || before?.isSecret === true,
      isNeeded: own && before?.isNeeded !== false,
    })
    collect(property, at, own, found, depth + 1)
  }
  // Of several forms of an object, no property is required, since one of the forms is chosen.
  for (const one of [...listIn(schema.oneOf), ...listIn(schema.anyOf)])
    collect(objectIn(one), path, false, found, depth + 1)
}

/** A given text as a value of a type. */
function typed(text: string, type: string | undefined): unknown {
  if ((type === 'integer' || type === 'number') && text.trim() !== '' && Number.isFinite(Number(text)))
    return Number(text)
  if (type === 'boolean') return text === 'true'
  if (type !== 'array' && type !== 'object') return text
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value) || isObject(value)) return value
  } catch {
    // A list can also be written with commas.
  }
  return text.split(',').map((one) => one.trim())
}
