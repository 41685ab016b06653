import { isObject, type JsonObject } from '../../platform-api/json.ts'
import { changesNothing } from './unused-keys.ts'

/** Keys that components have from the parameters of components above them, and those of a manifest to which it refers. */
export type InheritedKeys = { readonly get: (component: object) => ReadonlySet<string> | undefined }

/** A component of which it is recorded which keys are asked, also in components below it. */
export type AskedComponent = {
  readonly component: JsonObject
  /**
   * The paths of the keys that were never asked, in components of which another key was asked. Without keys that have no value, that
   * are inherited, or that change nothing.
   */
  readonly unasked: () => readonly string[]
}

const originals = new WeakMap<object, JsonObject>()

/** The component without the record: its keys can be read, and count as not asked. Anything else as it is. */
export function original(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(original)
  return isObject(value) ? (originals.get(value) ?? value) : value
}

/** Records which keys of a component are asked. @param component a component whose references are followed */
export function recordAsked(component: JsonObject, inherited: InheritedKeys): AskedComponent {
  const asked = new Map<object, Set<string>>()
  const recorders = new Map<object, JsonObject>()

  const recorded = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(recorded)
    return isObject(value) ? recorderOf(value) : value
  }
  const recorderOf = (of: JsonObject): JsonObject => {
    const known = recorders.get(of)
    if (known) return known
    const keys = new Set<string>()
    const recorder = new Proxy(of, {
      get(target, key) {
        if (typeof key === 'string') keys.add(key)
        return recorded(Reflect.get(target, key))
      },
    })
    asked.set(of, keys)
    recorders.set(of, recorder)
    originals.set(recorder, of)
    return recorder
  }

  const unaskedIn = (value: unknown, path: string): string[] => {
    if (Array.isArray(value)) return value.flatMap((one, index) => unaskedIn(one, `${path}[${index}]`))
    const keys = isObject(value) ? asked.get(value) : undefined
    if (!isObject(value) || !keys || keys.size === 0) return []
    return Object.entries(value).flatMap(([key, below]) => {
      const at = path === '' ? key : `${path}.${key}`
      if (keys.has(key)) return unaskedIn(below, at)
      const isNone = below === undefined || below === null || inherited.get(value)?.has(key)
      return isNone || changesNothing(at, below) ? [] : [at]
    })
  }
  return { component: recorderOf(component), unasked: () => unaskedIn(component, '') }
}
