import { shownIn } from '../mapping/timezones.ts'

const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/
const parts = /yyyy|yy|MM|dd|HH|mm|ss|'[^']*'|[A-Za-z]+/g

/**
 * Writes a time in another form.
 * @param text a day, or a time in ISO 8601
 * @param pattern of yyyy, yy, MM, dd, HH, mm, ss, other signs, and letters between single quotes
 * @param timezone in which it is shown; UTC unless given. A day, and a time without its own zone, are shown as they are.
 * @returns the text, or why there is none, to follow the name of a value
 */
export function formatTime(
  text: string,
  pattern: string,
  timezone: string | undefined,
): { readonly text: string; readonly wrong?: never } | { readonly text?: never; readonly wrong: string } {
  const trimmed = text.trim()
  const found = iso.exec(trimmed)
  const spaced = trimmed.replace(' ', 'T')
  const atMs = found ? Date.parse(found[1] || spaced.length === 10 ? spaced : `${spaced}Z`) : Number.NaN
  if (Number.isNaN(atMs)) return { wrong: 'is not a time in ISO 8601: write time(…)' }
  const shown = found?.[1] && timezone !== undefined ? shownIn(atMs, timezone) : new Date(atMs)
  const digits = shown.toISOString()
  if (digits.length !== 24) return { wrong: 'has a year that cannot be written' }
  let unknown: string | undefined
  const written = pattern.replaceAll(parts, (part) => {
    const at = positions.get(part)
    if (at) return digits.slice(...at)
    if (part.startsWith("'")) return part.slice(1, -1)
    unknown ??= part
    return ''
  })
  return unknown === undefined
    ? { text: written }
    : { wrong: 'has a form with unknown letters: use yyyy, MM, dd, HH, mm, ss' }
}

const positions: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['yyyy', [0, 4]],
  ['yy', [2, 4]],
  ['MM', [5, 7]],
  ['dd', [8, 10]],
  ['HH', [11, 13]],
  ['mm', [14, 16]],
  ['ss', [17, 19]],
])
