import { ConnectorError, isDay } from '@penstock/connector'

/**
 * A time or day as a column without a time zone takes it: in UTC, `YYYY-MM-DD HH:MM:SS` with as many fractional digits
 * as it came with. A text without an offset stays what it says; what is no ISO 8601, and a day that no calendar has, comes
 * back as it is, for the database to judge.
 */
export function withoutOffset(text: string): string {
  const found = timestamp.exec(text)
  if (!found) return text
  const [, day = '', minutes = '', seconds = ':00', fraction = '', offset = '', hours = '', rest = '00'] = found
  if (offset === '' || isZero.test(offset)) return `${day} ${minutes}${seconds}${fraction}`
  const at = Date.parse(`${day}T${minutes}${seconds}${hours}:${rest}`)
  if (Number.isNaN(at) || !isDay(day)) return text
  // Fractions of a second are the same in every zone, so they need not pass through milliseconds.
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}${fraction}`
}

const timestamp = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?( ?(?:[Zz]|([+-]\d\d)(?::?(\d\d))?))?$/
const isZero = /^ ?(?:[Zz]|[+-]00(?::?00)?)$/

/**
 * Whether a text names a time zone which `withoutOffset` does not understand, so that a database would ignore it: by a
 * name, with seconds, beyond the year 9999. Also true for a day that no calendar has with an offset behind it.
 */
export function ignoresZone(text: string): boolean {
  if (timestamp.test(text)) return withoutOffset(text) === text && /(?:[Zz]|[+-]\d\d(?::?\d\d)?)$/.test(text.slice(16))
  const behind = /\d:\d\d(?::\d\d(?:\.\d*)?)?(.*)$/s.exec(text)?.[1] ?? ''
  return !/^(?:\s*(?:[AP]M|BC|AD|\d{4}(?:-\d\d-\d\d)?)\b)*\s*$/i.test(behind)
}

/** A time as the clocks of a time zone show it, `YYYY-MM-DD HH:MM:SS`. Throws `invalid_setting` if there is no such zone. */
export function inTimezone(at: Date, timezone: string): string {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: '2-digit', day: '2-digit' } as const),
      ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
    })
  } catch {
    throw new ConnectorError('invalid_setting', 'Unknown time zone. Use a name such as Europe/Paris, or UTC.')
  }
  const part = (type: string) => format.formatToParts(at).find((each) => each.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}:${part('second')}`
}

/** The day before a day, both as YYYY-MM-DD. */
export const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)

const nanosecondsOfSecond = 1_000_000_000n

/** Nanoseconds since 1970 as `YYYY-MM-DDTHH:MM:SS`, with as many digits behind the point as say something. */
export function localTime(nanoseconds: bigint): string | undefined {
  const fraction = ((nanoseconds % nanosecondsOfSecond) + nanosecondsOfSecond) % nanosecondsOfSecond
  const date = new Date(Number((nanoseconds - fraction) / nanosecondsOfSecond) * 1000)
  if (Number.isNaN(date.getTime())) return undefined
  const digits = String(fraction).padStart(9, '0').replace(/0+$/, '')
  return `${date.toISOString().slice(0, -5)}${digits === '' ? '' : `.${digits}`}`
}
