/** Views of values: a person who edits a mapping reads the same records with each change, which is one event. */

/** How long calls belong to one view. */
const viewMs = 3_600_000
/** Views that are remembered. Beyond it, an older view gets another event. */
const viewsMax = 10_000

/** @param now milliseconds of a clock that only goes forward */
export function createViews(now: () => number = () => performance.now()) {
  const known = new Map<string, { readonly untilMs: number; readonly written: Promise<void> }>()
  return {
    /**
     * Records the first call of a view. The other calls wait until its event is written, so that no value is sent before.
     * @param view with its actor and its target; undefined if the call belongs to no view
     */
    once(view: string | undefined, write: () => Promise<void>): Promise<void> {
      if (view === undefined) return write()
      const found = known.get(view)
      if (found && found.untilMs > now()) return found.written
      known.delete(view)
      const [oldest] = known.size >= viewsMax ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
      const written = write()
      known.set(view, { untilMs: now() + viewMs, written })
      written.catch(() => known.delete(view))
      return written
    },
  }
}
