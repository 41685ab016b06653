/**
 * Checks of single packets of the MySQL protocol. Each takes a payload that is whole, and answers what is wrong with it, or
 * `undefined`.
 */

const capability = {
  longPassword: 0x0000_0001,
  compress: 0x0000_0020,
  protocol41: 0x0000_0200,
  secureConnection: 0x0000_8000,
  pluginAuth: 0x0008_0000,
  sessionTrack: 0x0080_0000,
  deprecateEof: 0x0100_0000,
  optionalMetadata: 0x0200_0000,
  queryAttributes: 0x0800_0000,
  multiFactor: 0x1000_0000,
} as const

const moreResults = 0x0008
const utf8mb4 = 45
const binary = 63
const versionBytesMax = 255

/**
 * Checks a greeting, and removes in place what the driver must not use: capabilities that this connector does not need,
 * and character sets that the driver may not know.
 */
export function problemOfGreeting(payload: Buffer): string | undefined {
  if (payload[0] !== 10) return 'its greeting is not of protocol version 10'
  const version = payload.indexOf(0, 1)
  if (version < 0 || version > versionBytesMax) return 'the version in its greeting has no end'
  // Connection, first part of the challenge, a zero, capabilities, character set, status, capabilities, length, ten bytes.
  const low = version + 1 + 4 + 8 + 1
  const rest = low + 2 + 1 + 2 + 2 + 1 + 10
  if (payload.length < rest + 12) return 'its greeting is cut off'
  const high = low + 5
  const capabilities = payload.readUInt16LE(low) + payload.readUInt16LE(high) * 0x1_0000
  const has = (flag: number) => (capabilities & flag) !== 0
  if (!has(capability.protocol41) || !has(capability.secureConnection)) return 'it is older than MySQL 4.1'
  const { compress, sessionTrack, deprecateEof, optionalMetadata, queryAttributes, multiFactor } = capability
  const kept =
    capabilities & ~(compress | sessionTrack | deprecateEof | optionalMetadata | queryAttributes | multiFactor)
  payload.writeUInt16LE(kept & 0xffff, low)
  payload.writeUInt16LE((kept >>> 16) & 0xffff, high)
  payload[low + 2] = utf8mb4
  // MariaDB offers more of its own here.
  if (!has(capability.longPassword)) payload.fill(0, rest - 4, rest)
  return undefined
}

export function problemOfConfirmation(payload: Buffer): string | undefined {
  const affected = numberEnd(payload, 1)
  const inserted = affected === undefined ? undefined : numberEnd(payload, affected)
  if (inserted === undefined || inserted + 4 > payload.length) return 'a confirmation is cut off'
  if ((payload.readUInt16LE(inserted) & moreResults) !== 0) return 'it announces more results than were asked for'
  return undefined
}

export function problemOfError(payload: Buffer): string | undefined {
  if (payload.length < 3 || (payload[3] === 0x23 && payload.length < 9)) return 'an error is cut off'
  return undefined
}

export function problemOfEnd(payload: Buffer): string | undefined {
  if (payload.length !== 5) return 'the end of a list is cut off'
  if ((payload.readUInt16LE(3) & moreResults) !== 0) return 'it announces more results than were asked for'
  return undefined
}

/** Checks the definition of a column, and puts a character set there that the driver knows. */
export function problemOfColumn(payload: Buffer): string | undefined {
  let at: number | undefined = 0
  for (let text = 0; text < 6 && at !== undefined; text += 1) at = textEnd(payload, at)
  // The length of the rest, then character set, length, type, flags, decimals and two bytes more.
  if (at === undefined || payload.length !== at + 13) return 'the definition of a column is cut off'
  if (payload.readUInt16LE(at + 1) !== binary) payload.writeUInt16LE(utf8mb4, at + 1)
  return undefined
}

/** The number of columns that a result begins with; `undefined` if it is none. */
export function columnCount(payload: Buffer): number | undefined {
  const count = readNumber(payload, 0)
  return count !== undefined && count > 0 && numberEnd(payload, 0) === payload.length ? count : undefined
}

/**
 * Whether a row is made of just so many values, and ends with the last one.
 * @param byteAt a byte of the payload
 */
export function rowFits(byteAt: (at: number) => number, length: number, columns: number): boolean {
  let at = 0
  for (let column = 0; column < columns; column += 1) {
    if (at >= length) return false
    const first = byteAt(at)
    at += 1
    if (first < 251) {
      at += first
    } else if (first !== 251) {
      const size = sizes[first]
      if (size === undefined || at + size > length) return false
      let value = 0
      for (let index = size - 1; index >= 0; index -= 1) value = value * 256 + byteAt(at + index)
      at += size + value
    }
    if (at > length) return false
  }
  return at === length
}

/** How many bytes of a number follow its first byte, by that byte. */
const sizes: Readonly<Record<number, number>> = { 252: 2, 253: 3, 254: 8 }

function numberEnd(payload: Buffer, at: number): number | undefined {
  const first = payload[at]
  if (first === undefined) return undefined
  const end = at + 1 + (first < 251 ? 0 : (sizes[first] ?? Number.POSITIVE_INFINITY))
  return end <= payload.length ? end : undefined
}

function readNumber(payload: Buffer, at: number): number | undefined {
  const end = numberEnd(payload, at)
  if (end === undefined) return undefined
  if (end === at + 1) return payload[at]
  let value = 0
  for (let index = end - 1; index > at; index -= 1) value = value * 256 + (payload[index] ?? 0)
  return value
}

function textEnd(payload: Buffer, at: number): number | undefined {
  const length = readNumber(payload, at)
  const start = numberEnd(payload, at)
  if (length === undefined || start === undefined) return undefined
  return start + length <= payload.length ? start + length : undefined
}
