import type { Cell } from '@penstock/connector'

/**
 * Values that decide between records with the same key, as bytes that compare like the values: exact decimals, times to the
 * picosecond, texts by code points. A number wins against a time, a time against a text, and all of them against an empty value, in either direction.
 */

/** The first byte of a value: its kind. */
const kinds = { empty: 0, text: 1, time: 2, number: 3 } as const

/** Bytes of a text that count, and digits of a number. */
export const orderBytesMax = 240

const emptyBytes = Buffer.from([kinds.empty])

/** The bytes of a value. */
export function orderBytesOf(cell: Cell | undefined): Buffer {
  if (cell === null || cell === undefined) return emptyBytes
  const text = typeof cell === 'string' ? cell.trim() : String(Number(cell))
  if (text === '') return emptyBytes
  return numberBytes(text) ?? timeBytes(text) ?? textBytes(text)
}

/** @returns a positive number if `one` wins against `other`, a negative one if it loses, and 0 if they are equal */
export function compareOrder(one: Uint8Array, other: Uint8Array, isLeast: boolean): number {
  const byKind = (one[0] as number) - (other[0] as number)
  if (byKind !== 0) return byKind
  const compared = Buffer.compare(one, other)
  return isLeast ? -compared : compared
}

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/

/** Sign, exponent and digits. For a negative number they are inverted, and end with a byte that is higher than any digit. */
function numberBytes(text: string): Buffer | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') return undefined
  const all = whole + fraction
  const digits = all.replace(/^0+/, '')
  if (digits === '') return Buffer.from([kinds.number, 1])
  const point = whole.length - (all.length - digits.length) + Number(exponent)
  const significant = digits.replace(/0+$/, '').slice(0, orderBytesMax - 8)
  const bytes = Buffer.alloc(6 + significant.length + 1)
  bytes[0] = kinds.number
  bytes[1] = sign === '-' ? 0 : 2
  bytes.writeUInt32BE(point + 2 ** 31, 2)
  bytes.write(significant, 6, 'latin1')
  if (sign === '-') for (let at = 2; at < bytes.length; at += 1) bytes[at] = 255 - (bytes[at] as number)
  return bytes
}

const time = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d{1,12})\d*)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/

/** ISO 8601, in UTC unless it has an offset. */
function timeBytes(text: string): Buffer | undefined {
  const [, date, minute = '00:00', second = '00', fraction = '', offset = 'Z'] = time.exec(text) ?? []
  if (date === undefined) return undefined
  const zone = offset === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`
  const ms = Date.parse(`${date}T${minute}:${second}${zone}`)
  if (Number.isNaN(ms)) return undefined
  const bytes = Buffer.alloc(12)
  bytes[0] = kinds.time
  bytes.writeUIntBE(ms / 1000 + 2 ** 40, 1, 6)
  bytes.writeUIntBE(Number(fraction.padEnd(12, '0')), 7, 5)
  return bytes
}

const textBytes = (text: string): Buffer =>
  Buffer.concat([Buffer.from([kinds.text]), Buffer.from(text.slice(0, orderBytesMax)).subarray(0, orderBytesMax - 1)])
