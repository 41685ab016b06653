/**
 * A time in microseconds since 1970: from a number of seconds, milliseconds or microseconds, distinguished by their digits, or
 * from ISO 8601 with a time zone, as `2026-01-31T12:00:00Z` or `2026-01-31 13:00:00+01:00`. `undefined` for anything else,
 * including times without a zone, because their meaning is ambiguous.
 */
export function microsecondsOf(text: string): bigint | undefined {
  const [, digits = '', fraction = ''] = /^(\d{9,16})(?:\.(\d+))?$/.exec(text) ?? []
  if (digits.length === 16 && fraction === '') return BigInt(digits)
  if (digits.length === 12 || digits.length === 13) return BigInt(digits) * 1_000n + scaled(fraction, 3)
  if (digits.length === 9 || digits.length === 10) return BigInt(digits) * 1_000_000n + scaled(fraction, 6)
  return digits === '' ? ofIso(text) : undefined
}

function ofIso(text: string): bigint | undefined {
  const [, day, time, fraction = '', zone] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d+))? ?(Z|[+-]\d{2}:?\d{2})$/i.exec(text) ?? []
  if (day === undefined || time === undefined || zone === undefined) return undefined
  const milliseconds = Date.parse(`${day}T${time}${zone.toUpperCase().replace(/^(...)(\d\d)$/, '$1:$2')}`)
  return Number.isNaN(milliseconds) || milliseconds < 0
    ? undefined
    : BigInt(milliseconds) * 1_000n + scaled(fraction, 6)
}

/** The digits after a point, as a whole number with this number of digits. */
const scaled = (fraction: string, digits: number): bigint =>
  BigInt(fraction.slice(0, digits).padEnd(digits, '0') || '0')

/** As RFC 3339 in UTC, with as many digits after the point as are needed: 0, 3 or 6. */
export function timestampOf(microseconds: bigint): string {
  const seconds = new Date(Number(microseconds / 1_000_000n) * 1000).toISOString().slice(0, 19)
  const fraction = String(microseconds % 1_000_000n).padStart(6, '0')
  if (fraction === '000000') return `${seconds}Z`
  return `${seconds}.${fraction.endsWith('000') ? fraction.slice(0, 3) : fraction}Z`
}
