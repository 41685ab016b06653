import type { Notices } from './notices.ts'

/**
 * What this process remembers of the database, so that a request need not ask again: small, bounded, and forgotten the
 * time another process says that it changed. While notices cannot be heard nothing is remembered.
 */
export type Cache<V extends object> = {
  /** The remembered value, or what `load` finds; nothing found is not remembered. */
  get(key: string, load: () => Promise<V | undefined>): Promise<V | undefined>
  forget(key: string): void
  forgetAll(): void
}

/**
 * @param topic the notices that make an entry forgotten; their value is its key, or empty for all
 * @param entriesMax beyond it the entry that was used longest ago goes
 */
export function createCache<V extends object>(notices: Notices, topic: string, entriesMax: number): Cache<V> {
  const entries = new Map<string, V>()
  // A value that was loaded before something was forgotten may be the old one; it is used but not kept.
  let forgettings = 0

  const forget = (key: string) => {
    forgettings++
    entries.delete(key)
  }
  const forgetAll = () => {
    forgettings++
    entries.clear()
  }
  notices.on(topic, { onMessage: (value) => (value === '' ? forgetAll() : forget(value)), onDisconnect: forgetAll })

  return {
    async get(key, load) {
      const known = entries.get(key)
      if (known) {
        entries.delete(key)
        entries.set(key, known)
        return known
      }
      const before = forgettings
      const found = await load()
      if (found && notices.hearing && before === forgettings) {
        entries.set(key, found)
        const [oldest] = entries.keys()
        if (entries.size > entriesMax && oldest !== undefined) entries.delete(oldest)
      }
      return found
    },
    forget,
    forgetAll,
  }
}
