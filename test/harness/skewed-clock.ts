/**
 * Sets the clock of the process that imports it, and of no other: `CLOCK_AHEAD_MS` says by how many milliseconds. A process gets
 * it with `--import`, as `skewedClock` says.
 */

const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0)
const TrueDate = Date

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given, made) =>
    Reflect.construct(target, given.length === 0 ? [TrueDate.now() + aheadMs] : given, made),
  apply: () => new TrueDate(TrueDate.now() + aheadMs).toString(),
  get: (target, key) => (key === 'now' ? () => TrueDate.now() + aheadMs : Reflect.get(target, key)),
})

/** The environment of a process whose clock is ahead, or behind if the value is negative. */
export const skewedClock = (ms: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=${import.meta.url}`,
  CLOCK_AHEAD_MS: String(ms),
})
