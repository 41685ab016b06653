/**
 * The messages that a server may send, in version 3.0 of PostgreSQL's protocol: how long each may be, and whether its
 * content has the required form. The driver's parser accepts any content, and throws or misreads if it is invalid.
 */

const kib = 1024
const mib = 1024 * kib

/** The most columns that a server may describe; PostgreSQL itself has 1,664. */
export const columnsMax = 2_000
/** A name of PostgreSQL has 63 bytes, unless it was built for longer ones. */
const nameBytesMax = 1_024

export type MessageKind = {
  /** Its name in a message to a user. */
  readonly name: string
  /** The most bytes of its content. */
  readonly bytesMax: number
  /** Whether the content, from a place up to another one, has the form of this kind; absent where any content will do. */
  readonly fits?: (bytes: Buffer, from: number, to: number) => boolean
}

const isEmpty = (_bytes: Buffer, from: number, to: number): boolean => from === to

/** Behind the text that begins here and ends with a zero byte; -1 if it does not end. */
function afterText(bytes: Buffer, from: number, to: number): number {
  const end = from < 0 ? -1 : bytes.indexOf(0, from)
  return end >= 0 && end < to ? end + 1 : -1
}

/** Whether this is a number of texts, and nothing else. */
const isTexts =
  (count: number) =>
  (bytes: Buffer, from: number, to: number): boolean => {
    let at = from
    for (let left = count; left > 0 && at >= 0; left -= 1) at = afterText(bytes, at, to)
    return at === to
  }

/** Fields of an error or notice: a letter and a text each, and a zero byte at the end. */
function isFields(bytes: Buffer, from: number, to: number): boolean {
  let at = from
  for (let count = 0; at >= 0 && at < to; count += 1) {
    if (bytes[at] === 0) return at + 1 === to && count > 0
    if (count >= fieldsMax) return false
    at = afterText(bytes, at + 1, to)
  }
  return false
}
const fieldsMax = 64

function isDescription(bytes: Buffer, from: number, to: number): boolean {
  if (to - from < 2) return false
  const count = bytes.readInt16BE(from)
  if (count < 0 || count > columnsMax) return false
  let at = from + 2
  for (let left = count; left > 0; left -= 1) {
    const end = afterText(bytes, at, to)
    if (end < 0 || end - at > nameBytesMax || end + 18 > to) return false
    // All values are requested as text.
    if (bytes.readInt16BE(end + 16) !== 0) return false
    at = end + 18
  }
  return at === to
}

function isRow(bytes: Buffer, from: number, to: number): boolean {
  if (to - from < 2) return false
  let at = from + 2
  for (let left = bytes.readInt16BE(from); left > 0; left -= 1) {
    if (at + 4 > to) return false
    const length = bytes.readInt32BE(at)
    if (length < -1) return false
    at += 4 + Math.max(length, 0)
  }
  return at === to
}

/** An answer to COPY: in the text format (0) or the binary format (1), with as many columns as it says. */
const isCopy = (bytes: Buffer, from: number, to: number): boolean =>
  to - from >= 3 && (bytes[from] ?? 2) <= 1 && to - from === 3 + 2 * bytes.readInt16BE(from + 1)

const isCounted =
  (size: number) =>
  (bytes: Buffer, from: number, to: number): boolean =>
    to - from >= 2 && to - from === 2 + size * bytes.readInt16BE(from)

/** Types of authentication: what each is followed by. `undefined`: one that the connector does not know. */
export const authentications: Readonly<Record<number, 'ok' | 'password' | 'md5' | 'sasl' | 'continue' | 'final'>> = {
  0: 'ok',
  3: 'password',
  5: 'md5',
  10: 'sasl',
  11: 'continue',
  12: 'final',
}

function isAuthentication(bytes: Buffer, from: number, to: number): boolean {
  if (to - from < 4) return false
  switch (authentications[bytes.readInt32BE(from)]) {
    case 'ok':
    case 'password':
      return to - from === 4
    case 'md5':
      return to - from === 8
    case 'sasl': {
      let at = from + 4
      while (at >= 0 && at < to && bytes[at] !== 0) at = afterText(bytes, at, to)
      return at >= 0 && at + 1 === to
    }
    default:
      return true
  }
}

const isStatus = (bytes: Buffer, from: number, to: number): boolean =>
  to - from === 1 && [0x49, 0x54, 0x45].includes(bytes[from] ?? 0)

/** The kinds of messages, by their type byte. A server sends no other kinds to this connector. */
export const messageKinds: ReadonlyMap<number, MessageKind> = new Map(
  Object.entries({
    R: { name: 'authentication request', bytesMax: 64 * kib, fits: isAuthentication },
    K: { name: 'cancellation key', bytesMax: 8, fits: (_bytes, from, to) => to - from === 8 },
    S: { name: 'parameter', bytesMax: 64 * kib, fits: isTexts(2) },
    Z: { name: 'readiness', bytesMax: 1, fits: isStatus },
    E: { name: 'error', bytesMax: mib, fits: isFields },
    N: { name: 'notice', bytesMax: mib, fits: isFields },
    A: {
      name: 'notification',
      bytesMax: 64 * kib,
      fits: (bytes, from, to) => to - from > 4 && isTexts(2)(bytes, from + 4, to),
    },
    T: { name: 'row description', bytesMax: mib, fits: isDescription },
    t: { name: 'parameter description', bytesMax: 256 * kib, fits: isCounted(4) },
    D: { name: 'row', bytesMax: 16 * mib, fits: isRow },
    C: { name: 'completion', bytesMax: kib, fits: isTexts(1) },
    G: { name: 'request for COPY data', bytesMax: 16 * kib, fits: isCopy },
    H: { name: 'announcement of COPY data', bytesMax: 16 * kib, fits: isCopy },
    d: { name: 'row of COPY', bytesMax: 64 * mib },
    c: { name: 'end of COPY', bytesMax: 0, fits: isEmpty },
    I: { name: 'empty statement', bytesMax: 0, fits: isEmpty },
    n: { name: 'absence of rows', bytesMax: 0, fits: isEmpty },
    1: { name: 'parsed statement', bytesMax: 0, fits: isEmpty },
    2: { name: 'bound statement', bytesMax: 0, fits: isEmpty },
    3: { name: 'closed statement', bytesMax: 0, fits: isEmpty },
  } satisfies Record<string, MessageKind>).map(([type, kind]) => [type.charCodeAt(0), kind]),
)
