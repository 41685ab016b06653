import { isObject, type JsonObject } from '../../platform-api/json.ts'
import type { InheritedKeys } from './asked-keys.ts'

/** Values that a manifest may have after its references are followed. */
const valuesMax = 400_000
const depthMax = 60

/** The error for a manifest with circular or missing references, or one that is too large. */
export class ManifestError extends Error {}

/**
 * Follows the references of a manifest (`$ref: "#/definitions/a"`, whose neighbours go before what it names), and replaces parameters
 * (`$parameters`, which what is below inherits) in texts. Throws {@link ManifestError}.
 */
export function resolveManifest(root: JsonObject): {
  readonly manifest: JsonObject
  readonly inherited: InheritedKeys
} {
  let count = 0
  const inheritedKeys = new WeakMap<object, ReadonlySet<string>>()
  const referenced = new Set<string>()
  const at = (reference: string): unknown => {
    referenced.add(reference.split('/')[1] ?? '')
    const found = valueAt(root, reference)
    if (found === undefined) throw new ManifestError(`It refers to ${reference.slice(0, 100)}, which it does not have.`)
    return found
  }
  const resolve = (value: unknown, parameters: JsonObject, depth: number): unknown => {
    if (++count > valuesMax || depth > depthMax)
      throw new ManifestError('Its references do not end, or it is too large.')
    if (typeof value === 'string') {
      if (value.startsWith('#/')) return resolve(at(value), parameters, depth + 1)
      return withParameters(value, parameters)
    }
    if (Array.isArray(value)) return value.map((one) => resolve(one, parameters, depth + 1))
    if (!isObject(value)) return value
    const { $ref, ...own } = value
    const target = typeof $ref === 'string' ? at($ref) : undefined
    if (typeof $ref === 'string' && !isObject(target)) return resolve(target, parameters, depth + 1)
    const given: JsonObject = isObject(target) ? { ...target, ...own } : own
    if (isObject(target) && typeof target.$ref === 'string' && target !== value) {
      return resolve({ ...given, $ref: target.$ref }, parameters, depth + 1)
    }
    const inherited = isObject(given.$parameters) ? { ...parameters, ...given.$parameters } : parameters
    // A component has every parameter as a value of its own, unless it has another one.
    const isComponent = typeof given.type === 'string' && /^[A-Z]/.test(given.type)
    const missing = isComponent ? Object.entries(inherited).filter(([key]) => !given[key]) : []
    const resolved = Object.fromEntries(
      [...Object.entries(given), ...missing]
        .filter(([key]) => key !== '$parameters' && key !== 'definitions')
        .map(([key, one]) => [key, resolve(one, inherited, depth + 1)]),
    )
    // The builder of manifests also writes copies of parameters into components.
    const copied = Object.keys(inherited).filter((key) => !given[key] || given[key] === inherited[key])
    inheritedKeys.set(resolved, new Set(value === root ? referenced : copied))
    return resolved
  }
  return { manifest: resolve(root, {}, 0) as JsonObject, inherited: inheritedKeys }
}

const nameOf = /\bparameters(?:\.get\(\s*['"](\w+)['"]\s*(?:,\s*[^()]*)?\)|\.(\w+)|\[\s*['"](\w+)['"]\s*\])/g

/** A text with the values of parameters: one that is nothing else is the value. */
function withParameters(text: string, parameters: JsonObject): unknown {
  if (!text.includes('parameters')) return text
  const whole = /^\{\{\s*parameters(?:\.(\w+)|\[\s*['"](\w+)['"]\s*\])\s*\}\}$/.exec(text.trim())
  const value = whole && parameters[whole[1] ?? whole[2] ?? '']
  if (typeof value === 'string' || typeof value === 'number') return typeof value === 'string' ? value : String(value)
  return text.replace(/\{[{%][\s\S]*?[}%]\}/g, (template) =>
    template.replace(nameOf, (_, got, dotted, quoted) => {
      const found = parameters[got ?? dotted ?? quoted]
      return typeof found === 'string' || typeof found === 'number' ? JSON.stringify(found) : 'none'
    }),
  )
}

function valueAt(root: JsonObject, reference: string): unknown {
  let value: unknown = root
  for (const key of reference.replace(/^#\/?/, '').split('/')) {
    if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else if (Array.isArray(value) && /^\d{1,6}$/.test(key)) value = value[Number(key)]
    else return undefined
  }
  return value
}
