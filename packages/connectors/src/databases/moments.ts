/**
 * A moment or day as a column without a time zone takes it: in UTC, `YYYY-MM-DD HH:MM:SS` with as many fractional digits
 * as it came with. A text without an offset stays what it says; what is no ISO 8601 comes back as it is, for the database
 * to judge.
 */
export function withoutOffset(text: string): string {
  const found = moment.exec(text)
  if (!found) return text
  const [, day = '', time = '', fraction = '', offset = ''] = found
  if (offset === '' || offset === 'Z' || offset === 'z' || zero.test(offset)) return `${day} ${time}${fraction}`
  const at = Date.parse(`${day}T${time}${offset}`)
  // Fractions of a second are the same in every zone, so they need not pass through milliseconds.
  return Number.isNaN(at) ? text : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}${fraction}`
}

const moment = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?$/
const zero = /^[+-]00:00$/
