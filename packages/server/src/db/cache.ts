import type { Notices } from './notices.ts'

/**
 * A cache of rows of the database. It is small and bounded, and drops an entry as soon as a notice of another process says
 * that it changed. While this process receives no notices, it caches nothing.
 */
export type Cache<V extends object> = {
  /** The cached value, without a promise, or the result of `load`. If `load` finds nothing, that is not cached. */
  get(key: string, load: () => Promise<V | undefined>): V | Promise<V | undefined>
  forget(key: string): void
  forgetAll(): void
}

/**
 * @param topic the notices that drop entries; their value is the key of the entry, or empty for all entries
 * @param entriesMax above this number, the least recently used entry is dropped
 * @param ownerOf returns the owner of a value. Then notices and `forget` name an owner instead of a key, and drop all values of
 * that owner. So a change of one tenant keeps the cached values of the others
 */
export function createCache<V extends object>(
  notices: Notices,
  topic: string,
  entriesMax: number,
  ownerOf?: (value: V) => string | undefined,
): Cache<V> {
  const entries = new Map<string, V>()
  // A value that was loaded before a drop can be outdated. It is used but not cached.
  let drops = 0

  const forget = (key: string) => {
    drops++
    if (!ownerOf) return void entries.delete(key)
    for (const [other, value] of entries) if (ownerOf(value) === key) entries.delete(other)
  }
  const forgetAll = () => {
    drops++
    entries.clear()
  }
  notices.on(topic, { onMessage: (value) => (value === '' ? forgetAll() : forget(value)), onDisconnect: forgetAll })

  const find = async (key: string, load: () => Promise<V | undefined>) => {
    const before = drops
    const found = await load()
    if (found && notices.listening && before === drops) {
      entries.set(key, found)
      const [oldest] = entries.keys()
      if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest)
    }
    return found
  }

  return {
    get(key, load) {
      const known = entries.get(key)
      if (!known) return find(key, load)
      // Far below its limit, nothing is dropped, and the order is of no use.
      if (entries.size * 2 > entriesMax) {
        entries.delete(key)
        entries.set(key, known)
      }
      return known
    },
    forget,
    forgetAll,
  }
}
