/** Kind of a value, judged only by its form. Used for display, never for delivery. */
export type Kind = 'e-mail' | 'phone' | 'hash' | 'device' | 'nested' | 'number' | 'boolean' | 'date' | 'text'

const hexadecimal = /^[0-9a-f]+$/i
const device = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** In ISO 8601, and as people write it. */
const date = /^(?:\d{4}-\d{2}-\d{2}|\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})|\d{4}([./])\d{1,2}\2\d{1,2})(?:[T ,]|$)/
const number = /^-?\d{1,18}(\.\d+)?$/
const phone = /^(\+|00|0|\()[\d\s().\-/–]{6,24}$/

export function kindOf(value: string | number | boolean): Kind {
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  const text = value.trim()
  if (/^[[{]/.test(text)) return 'nested'
  if (/[^\s@]@[^\s@]/.test(text)) return 'e-mail'
  if (device.test(text)) return 'device'
  // The digests of common functions have at least 32 characters. A truncated digest is still neither a name nor a number.
  if (text.length >= 31 && hexadecimal.test(text) && /[a-f]/i.test(text)) return 'hash'
  if (date.test(text)) return 'date'
  if (phone.test(text)) return 'phone'
  return number.test(text) ? 'number' : 'text'
}
