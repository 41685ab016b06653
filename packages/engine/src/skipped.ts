import { type Skipped, type SkipReason, skipReasons } from '@penstock/wire/rules'
import type { Confirmation } from './protocol.ts'

/**
 * Why the rows of a chunk are not sent though nothing is wrong with them, by their index: 0 for a row that is sent, otherwise the
 * number of the reason from `skipCode`.
 */
export type SkipCodes = Uint8Array

/** The number of a reason in `SkipCodes`, from 1. */
export const skipCode = (reason: SkipReason): number => skipReasons.indexOf(reason) + 1

/** The code of a row that is not sent because an announced batch delivered it. It is counted as sent. */
export const deliveredCode = skipReasons.length + 1

/** Consecutive records of which some are skipped: the number of the first record, and a code for each record. */
export type SkippedRun = { readonly first: number; readonly codes: SkipCodes }

export const nothingSkipped: Skipped = { filtered: 0, unchanged: 0, duplicates: 0, noConsent: 0, controlGroup: 0 }

/** How many records are skipped, by reason. */
export function countSkipped(runs: readonly SkippedRun[]): Skipped {
  if (runs.length === 0) return nothingSkipped
  const counts = new Array<number>(deliveredCode + 1).fill(0)
  for (const { codes } of runs) for (const code of codes) counts[code] = (counts[code] ?? 0) + 1
  return skippedBy((reason) => counts[skipCode(reason)] ?? 0)
}

/** The sums of several counts, by reason. */
export const sumSkipped = (all: readonly Skipped[]): Skipped =>
  skippedBy((reason) => all.reduce((sum, skipped) => sum + skipped[reason], 0))

/** How many records are skipped for any reason. */
export const totalSkipped = (skipped: Skipped): number => skipReasons.reduce((sum, reason) => sum + skipped[reason], 0)

/** How many of the records that were read the destination accepted. */
export const acceptedOf = ({ read, rejected, skipped }: Pick<Confirmation, 'read' | 'rejected' | 'skipped'>): number =>
  read - rejected - totalSkipped(skipped)

/** The parts of the runs with the records from `from` to before `until`. */
export const runsWithin = (runs: readonly SkippedRun[], from: number, until: number): SkippedRun[] =>
  runs.flatMap(({ first, codes }) => {
    const begin = Math.max(from, first)
    const end = Math.min(until, first + codes.length)
    return begin < end ? [{ first: begin, codes: codes.subarray(begin - first, end - first) }] : []
  })

/**
 * The end of a stretch of rows with a limited number of rows to send.
 * @param codes of the chunk; absent if no row of it is skipped
 * @param from index of its first row
 * @param rowsMax maximum rows to send, at least 1
 * @param until index before which it ends in any case
 */
export function endOfStretch(codes: SkipCodes | undefined, from: number, rowsMax: number, until: number): number {
  if (!codes) return Math.min(until, from + rowsMax)
  let sent = 0
  let at = from
  // Skipped rows after the last row to send belong to the stretch.
  while (at < until && (sent < rowsMax || codes[at] !== 0)) {
    if (codes[at] === 0) sent++
    at++
  }
  return at
}

/** The index of the first row that is sent after a delivered row; `until` if there is no such row. */
export function endOfDelivered(codes: SkipCodes | undefined, from: number, until: number): number {
  const delivered = codes?.indexOf(deliveredCode, from) ?? -1
  const sent = delivered < 0 ? -1 : (codes?.indexOf(0, delivered) ?? -1)
  return sent < 0 ? until : Math.min(sent, until)
}

/** How many rows of a stretch are not skipped. */
export function countSent(codes: SkipCodes | undefined, from: number, until: number): number {
  if (!codes) return until - from
  let sent = 0
  for (let at = from; at < until; at++) if (codes[at] === 0) sent++
  return sent
}

const skippedBy = (count: (reason: SkipReason) => number): Skipped => ({
  filtered: count('filtered'),
  unchanged: count('unchanged'),
  duplicates: count('duplicates'),
  noConsent: count('noConsent'),
  controlGroup: count('controlGroup'),
})
