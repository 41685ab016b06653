import pg from 'pg'

const { INT8, TIMESTAMPTZ } = pg.types.builtins
const parseTimestamp = pg.types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date

/** int8 arrives as a number: counts and volumes stay below 2^53. */
const readers: Readonly<Record<number, (text: string) => unknown>> = { [INT8]: Number, [TIMESTAMPTZ]: readTimestamp }

/** How the texts that PostgreSQL sends are read. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    readers[oid] ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig['getTypeParser'],
}

const zero = 48
const [plus, minus, space, dot] = [43, 45, 32, 46]

/**
 * Reads a timestamp as the server writes nearly all of them: `2026-01-31 12:34:56.789012+00`. The driver reads any form, in
 * ten times the time, which is a seventh of a list.
 */
export function readTimestamp(text: string): Date {
  const zoneAt = text.length - 3
  const sign = text.charCodeAt(zoneAt)
  const isUsual =
    (sign === plus || sign === minus) &&
    text.charCodeAt(4) === minus &&
    text.charCodeAt(7) === minus &&
    text.charCodeAt(10) === space &&
    (zoneAt === 19 || (zoneAt > 20 && zoneAt < 27 && text.charCodeAt(19) === dot))
  const year = two(text, 0) * 100 + two(text, 2)
  // Before that, `Date.UTC` would take the year for one of the twentieth century.
  if (!isUsual || year < 100) return parseTimestamp(text)
  const ms = Date.UTC(year, two(text, 5) - 1, two(text, 8), two(text, 11), two(text, 14), two(text, 17))
  const offsetMs = two(text, zoneAt + 1) * 3_600_000
  return new Date(ms + millisecondsOf(text, zoneAt) + (sign === plus ? -offsetMs : offsetMs))
}

const two = (text: string, at: number) => (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero

/** The first three digits of the fraction. The server omits trailing zeros. */
function millisecondsOf(text: string, end: number): number {
  const digit = (at: number) => (at < end ? text.charCodeAt(at) - zero : 0)
  return digit(20) * 100 + digit(21) * 10 + digit(22)
}
