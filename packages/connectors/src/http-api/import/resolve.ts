import { isObject, type JsonObject } from '../../platform-api/json.ts'

/** Values that a manifest may have after its references are followed. */
const valuesMax = 200_000
const depthMax = 60

/** A manifest refers to itself without end, or is too large. */
export class ManifestError extends Error {}

/**
 * Follows the references of a manifest (`$ref: "#/definitions/a"`, whose neighbours go before what it names), and replaces parameters
 * (`$parameters`, which what is below inherits) in texts. Throws {@link ManifestError}.
 */
export function resolveManifest(root: JsonObject): JsonObject {
  let count = 0
  const resolve = (value: unknown, parameters: JsonObject, depth: number): unknown => {
    if (++count > valuesMax || depth > depthMax)
      throw new ManifestError('Its references do not end, or it is too large.')
    if (typeof value === 'string') {
      if (value.startsWith('#/')) return resolve(at(root, value), parameters, depth + 1)
      return value.replace(/\{\{\s*parameters(?:\.(\w+)|\[\s*['"](\w+)['"]\s*\])\s*\}\}/g, (whole, dotted, quoted) =>
        String(parameters[dotted ?? quoted] ?? whole),
      )
    }
    if (Array.isArray(value)) return value.map((one) => resolve(one, parameters, depth + 1))
    if (!isObject(value)) return value
    const { $ref, ...own } = value
    const target = typeof $ref === 'string' ? at(root, $ref) : undefined
    if (typeof $ref === 'string' && !isObject(target)) return resolve(target, parameters, depth + 1)
    const given: JsonObject = isObject(target) ? { ...target, ...own } : own
    if (isObject(target) && typeof target.$ref === 'string' && target !== value) {
      return resolve({ ...given, $ref: target.$ref }, parameters, depth + 1)
    }
    const inherited = isObject(given.$parameters) ? { ...parameters, ...given.$parameters } : parameters
    return Object.fromEntries(
      Object.entries(given)
        .filter(([key]) => key !== '$parameters' && key !== 'definitions')
        .map(([key, one]) => [key, resolve(one, inherited, depth + 1)]),
    )
  }
  return resolve(root, {}, 0) as JsonObject
}

function at(root: JsonObject, reference: string): unknown {
  let value: unknown = root
  for (const key of reference.replace(/^#\/?/, '').split('/')) {
    if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else if (Array.isArray(value) && /^\d{1,6}$/.test(key)) value = value[Number(key)]
    else return undefined
  }
  return value
}
