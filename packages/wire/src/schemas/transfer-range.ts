import { type Static, Type } from '../type.ts'
import { exactly } from './kinds.ts'

const day = '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])'
const time = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z'

const edge = (description: string, example: string) =>
  Type.String({ pattern: `^${day}(?:T${time})?$`, description, examples: [example] })

/** A range of a source: days, including both, or times in UTC, without the second. */
export const TransferRange = exactly(
  {
    from: edge('First day, as YYYY-MM-DD, or first time, as YYYY-MM-DDTHH:MM:SSZ', '2026-01-01'),
    to: edge('Last day, or the time at which the range ends, in the same form as `from`', '2026-03-31'),
  },
  { description: 'Range of a source' },
)
export type TransferRange = Static<typeof TransferRange>

/** The range of a transfer in an answer. */
export const backfillOf = Type.Union([TransferRange, Type.Null()], {
  description: 'The range of a backfill; null if the transfer is not a backfill',
  examples: [null],
})

/** The range of a transfer in a request. */
export const backfillOption = Type.Optional(
  Type.Unsafe<TransferRange>({
    ...TransferRange,
    description:
      'Makes the transfer a backfill: it reads only this range of the source, and the cursor of the connection does not change',
  }),
)

const dayMs = 86_400_000

/**
 * The error of a range, with its field. `undefined` if the range is valid: its days exist, are in order, and are at most
 * `daysMax` days.
 * @param daysMax maximum number of days
 */
export function errorOfRange(
  { from, to }: TransferRange,
  daysMax: number,
): { readonly field: keyof TransferRange; readonly message: string } | undefined {
  for (const [field, text] of Object.entries({ from, to })) {
    const ms = Date.parse(text)
    if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10)) {
      return { field: field as keyof TransferRange, message: 'is a day that does not exist' }
    }
  }
  if (from.length !== to.length) {
    return { field: 'to', message: 'must have the form of from: both are days, or both are times' }
  }
  const isDays = from.length === 'YYYY-MM-DD'.length
  if (isDays ? to < from : to <= from) return { field: 'to', message: 'must come after from' }
  if (Date.parse(to) - Date.parse(from) >= daysMax * dayMs) {
    return { field: 'to', message: `must be at most ${daysMax} days after from` }
  }
  return undefined
}
