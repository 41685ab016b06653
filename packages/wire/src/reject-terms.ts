/** Words about rejected records. */

/** Which rejected records a replay sends. */
export const replayRows = ['all', 'ready', 'corrected'] as const
export type ReplayRows = (typeof replayRows)[number]

/** States of a rejected record, from its rejection to its delivery. */
export const rejectStates = [
  'waiting',
  'needs_correction',
  'corrected',
  'sending',
  'accepted',
  'rejected_again',
  'left_out',
  'expired',
] as const
export type RejectState = (typeof rejectStates)[number]

/** Units of the place of a record in its file: lines of text, rows of a sheet, or records of a file without lines. */
export const placeUnits = ['line', 'row', 'record'] as const
export type PlaceUnit = (typeof placeUnits)[number]

/** The place of a record in a file, or in a sheet of the file. */
export type PlaceInFile = {
  readonly file: string
  readonly sheet: string | null
  readonly unit: PlaceUnit
  readonly number: number
}

/** The file of a place, with the sheet: `orders.xlsx, sheet Orders`. */
export const fileOfPlace = ({ file, sheet }: PlaceInFile): string => (sheet === null ? file : `${file}, sheet ${sheet}`)

/** A place in words: `orders.csv, line 12`. */
export const placeInWords = (place: PlaceInFile): string => `${fileOfPlace(place)}, ${place.unit} ${place.number}`
