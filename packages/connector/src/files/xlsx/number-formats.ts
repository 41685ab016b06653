/** How numbers of a workbook are shown: as numbers, or as days and times, by their format. */
export type NumberKind = 'number' | 'date' | 'time' | 'datetime' | 'elapsed' | 'any time'

/** Formats without a text, by ECMA-376 part 1, section 18.8.30. In some languages, a format can be a day or a time. */
const builtIn: Readonly<Record<number, NumberKind>> = Object.fromEntries([
  ...[14, 15, 16, 17].map((id) => [id, 'date']),
  ...[18, 19, 20, 21, 45, 47].map((id) => [id, 'time']),
  [22, 'datetime'],
  [46, 'elapsed'],
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id) => [id, 'any time']),
])

/** The meaning of a format without a text, by its number. */
export const kindOfNumber = (id: number): NumberKind => builtIn[id] ?? 'number'

/** The meaning of a format by its text, such as `yyyy\-mm\-dd;@` or `[$-409]h:mm AM/PM`. */
export function kindOfFormat(format: string): NumberKind {
  const [section = ''] = format
    .slice(0, 1_000)
    // Texts, characters as they are, and characters that fill or leave space.
    .replace(/"[^"]*"|\\.|_.|\*./g, '')
    .split(';', 1)
  if (/\[(?:h+|m+|s+)\]/i.test(section)) return 'elapsed'
  const codes = section
    .replace(/\[[^\]]*\]/g, '')
    .replace(/general/gi, '')
    .toLowerCase()
  // Digits belong to numbers, except after a point: there they are parts of a second.
  if (/[0#?]/.test(codes.replace(/s[.,]0+/g, 's'))) return 'number'
  const hasTime = /[hs]|am\/pm|a\/p/.test(codes)
  const hasDate = /[yd]|e/.test(codes.replace(/am\/pm|a\/p/g, '')) || (/m/.test(codes) && !hasTime)
  if (hasDate) return hasTime ? 'datetime' : 'date'
  return hasTime ? 'time' : 'number'
}

const dayMs = 86_400_000
/** The first day of year 10000, from which on spreadsheet programs have no days. */
const daysEnd = Date.UTC(10_000, 0, 1)

/**
 * Creates a day or time from a number of days, to the millisecond: `2026-01-31`, `2026-01-31T09:30:00`, `09:30:00`, or hours that
 * have passed, `30:15:00`. Times have no time zone. If a format omits the time or the day, the value still contains it.
 * @param days since the end of 1899, or since 1904
 * @returns `undefined` if there is no such day
 */
export function timeOf(days: number, kind: Exclude<NumberKind, 'number'>, from1904: boolean): string | undefined {
  const total = Math.round(days * dayMs)
  if (kind === 'elapsed') return elapsedOf(total)
  if (total < 0) return undefined
  if (total < dayMs && (kind === 'time' || kind === 'any time')) return clockOf(total)
  // By a mistake of all spreadsheet programs, 1900 has a 29 February.
  const wholeDays = Math.floor(total / dayMs)
  if (!from1904 && (wholeDays === 0 || wholeDays === 60)) return undefined
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, wholeDays < 60 ? 31 : 30)
  const time = start + total
  if (!(time < daysEnd)) return undefined
  const [day = ''] = new Date(time).toISOString().split('T', 1)
  const ofDay = total % dayMs
  return ofDay === 0 && (kind === 'date' || kind === 'any time') ? day : `${day}T${clockOf(ofDay)}`
}

const two = (value: number) => String(value).padStart(2, '0')

function clockOf(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const rest = ms % 1_000
  const clock = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return rest === 0 ? clock : `${clock}.${String(rest).padStart(3, '0')}`
}

const elapsedOf = (ms: number): string | undefined =>
  Number.isSafeInteger(ms) ? `${ms < 0 ? '-' : ''}${clockOf(Math.abs(ms))}` : undefined
