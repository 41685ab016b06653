import type { SourceRange } from '@penstock/connector'

const dayMs = 86_400_000

/** A time that records changed in, in milliseconds since 1970: from the first one on, and before the second one if there is one. */
export type ChangeTime = { readonly fromMs: number; readonly beforeMs?: number }

/** The times of a range. Its days are in UTC, and the last day is included. */
export function timeOfRange({ from, to }: SourceRange): Required<ChangeTime> {
  const isDays = to.length === 'YYYY-MM-DD'.length
  return { fromMs: Date.parse(from), beforeMs: Date.parse(to) + (isDays ? dayMs : 0) }
}
