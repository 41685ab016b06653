import { crc32, inflateSync, zstdDecompressSync } from 'node:zlib'
import { BrokenEvent, ByteReader } from './bytes.ts'

/**
 * The events of a binary log, version 4, of MySQL (https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_replication_binlog_event.html)
 * and MariaDB (https://mariadb.com/kb/en/replication-protocol/).
 */

export type LogEvent = EventHead &
  (
    | { readonly kind: 'format' }
    /** The log continues in another file. */
    | { readonly kind: 'rotate'; readonly file: string; readonly position: number }
    | { readonly kind: 'statement'; readonly database: string; readonly statement: string }
    | { readonly kind: 'begin' }
    /** The end of a transaction. */
    | { readonly kind: 'commit' }
    /** The end of the first half of a transaction in two phases; `commits` if there is no other half. */
    | { readonly kind: 'prepared'; readonly commits: boolean }
    | { readonly kind: 'table'; readonly body: Buffer }
    | {
        readonly kind: 'rows'
        readonly change: 'insert' | 'update' | 'delete'
        /** Its number in the table map. */
        readonly table: number
        /** The columns and the rows, uncompressed only if someone asks for them. */
        readonly body: () => Buffer
      }
    /** Compressed events of a whole transaction. */
    | { readonly kind: 'payload'; readonly events: readonly Buffer[] }
    /** The server has lost events. */
    | { readonly kind: 'incident' }
    /** JSON values as differences, of which the whole cannot be known. */
    | { readonly kind: 'partial' }
    | { readonly kind: 'other' }
  )

type EventHead = {
  /** Unix time of the statement, in seconds, by the clock of the server. */
  readonly seconds: number
  readonly serverId: number
  /** The offset behind the event in its file, modulo 2^32; 0 if it says nothing about a file. */
  readonly end: number
}

const headBytes = 19
const checksumBytes = 4
/** Events that the server makes up for the reader say nothing about a place in the log. */
const artificialFlag = 0x20

const standaloneFlag = 1

/** Largest content of a compressed event, in bytes. */
const uncompressedMax = 128 * 1024 * 1024

const typeNumbers = {
  query: 2,
  rotate: 4,
  load: 18,
  format: 15,
  xid: 16,
  table: 19,
  incident: 26,
  prepared: 38,
  partial: 39,
  payload: 40,
  mariadbGtid: 162,
  compressedQuery: 165,
} as const

/** By the number of the type: versions 1 and 2 of MySQL, and compressed ones of MariaDB. */
const rowTypes: ReadonlyMap<number, RowsType> = new Map(
  (
    [
      [23, false, false],
      [30, true, false],
      [166, false, true],
      [169, true, true],
    ] as const
  ).flatMap(([first, isSecond, isCompressed]) =>
    (['insert', 'update', 'delete'] as const).map(
      (change, at) => [first + at, { change, isSecond, isCompressed }] as const,
    ),
  ),
)

/** Reads the events of one connection, in their order. */
export class EventReader {
  /** Whether events end with a checksum; of the first event, this is found out. */
  #isChecked: boolean | undefined

  /**
   * @param bytes one event, whole
   * Throws `BrokenEvent` if it has another form, or another checksum.
   */
  read(bytes: Buffer): LogEvent {
    if (bytes.length < headBytes) throw new BrokenEvent('an event that ends too early')
    if (bytes.readUInt32LE(9) !== bytes.length) throw new BrokenEvent('an event of another length than it says')
    const type = bytes[4] ?? 0
    if (type === typeNumbers.format) this.#isChecked = formatIsChecked(bytes)
    const isChecked = this.#isChecked ?? hasChecksum(bytes)
    if (!isChecked) return eventIn(bytes)
    if (!hasChecksum(bytes)) throw new BrokenEvent('an event with a wrong checksum')
    return eventIn(bytes.subarray(0, -checksumBytes))
  }

  /** Reads an event of a compressed transaction. It has no checksum of its own, and no place in the file. */
  inner(bytes: Buffer): LogEvent {
    return { ...eventIn(bytes), end: 0 }
  }
}

const hasChecksum = (bytes: Buffer): boolean =>
  bytes.length >= headBytes + checksumBytes &&
  crc32(bytes.subarray(0, -checksumBytes)) === bytes.readUInt32LE(bytes.length - checksumBytes)

/** The description of the format says whether events are checked: before its own checksum, in its last byte. */
function formatIsChecked(bytes: Buffer): boolean {
  const algorithm = bytes[bytes.length - checksumBytes - 1]
  if (algorithm !== 0 && algorithm !== 1) throw new BrokenEvent('a log of an unknown format')
  if (bytes.readUInt16LE(headBytes) !== 4) throw new BrokenEvent('a log of another version than 4')
  return algorithm === 1
}

function eventIn(bytes: Buffer): LogEvent {
  const head = new ByteReader(bytes)
  const seconds = head.uint(4)
  const type = head.uint(1)
  const serverId = head.uint(4)
  head.skip(4)
  const end = head.uint(4)
  const isArtificial = (head.uint(2) & artificialFlag) !== 0
  return { seconds, serverId, end: isArtificial ? 0 : end, ...bodyIn(type, head.rest()) }
}

type Body<Kinds = LogEvent> = Kinds extends unknown ? Omit<Kinds, keyof EventHead> : never

function bodyIn(type: number, body: Buffer): Body {
  const rows = rowTypes.get(type)
  if (rows) return rowsIn(body, rows)
  const reader = new ByteReader(body)
  switch (type) {
    case typeNumbers.format:
      return { kind: 'format' }
    case typeNumbers.rotate: {
      const position = Number(reader.uint64())
      return { kind: 'rotate', position, file: reader.rest().toString('utf8') }
    }
    case typeNumbers.query:
      return statementIn(reader, 0, false)
    case typeNumbers.compressedQuery:
      return statementIn(reader, 0, true)
    case typeNumbers.load:
      // The numbers of a file and of places in the statement.
      return statementIn(reader, 13, false)
    case typeNumbers.xid:
      return { kind: 'commit' }
    case typeNumbers.table:
      return { kind: 'table', body }
    case typeNumbers.incident:
      return { kind: 'incident' }
    case typeNumbers.prepared:
      return { kind: 'prepared', commits: reader.uint(1) !== 0 }
    case typeNumbers.partial:
      return { kind: 'partial' }
    case typeNumbers.mariadbGtid:
      // A sequence, a domain, flags: of a statement on its own, or of a transaction that begins.
      reader.skip(12)
      return { kind: (reader.uint(1) & standaloneFlag) === 0 ? 'begin' : 'other' }
    case typeNumbers.payload:
      return { kind: 'payload', events: eventsIn(payloadIn(reader)) }
    default:
      return { kind: 'other' }
  }
}

function statementIn(reader: ByteReader, more: number, isCompressed: boolean): Body {
  reader.skip(8)
  const databaseLength = reader.uint(1)
  reader.skip(2)
  const variables = reader.uint(2)
  reader.skip(more + variables)
  const database = reader.bytes(databaseLength).toString('utf8')
  reader.skip(1)
  const statement = isCompressed ? inflated(reader.rest()) : reader.rest()
  return { kind: 'statement', database, statement: statement.toString('utf8') }
}

type RowsType = {
  readonly change: 'insert' | 'update' | 'delete'
  readonly isSecond: boolean
  readonly isCompressed: boolean
}

function rowsIn(bytes: Buffer, { change, isSecond, isCompressed }: RowsType): Body {
  const reader = new ByteReader(bytes)
  const table = reader.uint(6)
  reader.skip(2)
  // The length of the extra data of version 2 counts itself.
  if (isSecond) reader.skip(Math.max(0, reader.uint(2) - 2))
  const rest = reader.rest()
  const body = () => {
    if (!isCompressed) return rest
    const columns = new ByteReader(rest)
    const bitmap = Math.ceil(columns.count() / 8)
    columns.skip(change === 'update' ? 2 * bitmap : bitmap)
    const rows = columns.rest()
    return Buffer.concat([rest.subarray(0, rest.length - rows.length), inflated(rows)])
  }
  return { kind: 'rows', change, table, body }
}

/** Content that MariaDB compresses: the size of the length, the length, a stream of zlib. */
function inflated(bytes: Buffer): Buffer {
  const reader = new ByteReader(bytes)
  const first = reader.uint(1)
  const size = first & 0x07
  if ((first & 0xf0) !== 0x80 || size < 1 || size > 4)
    throw new BrokenEvent('an event that is compressed in an unknown way')
  const length = reader.bigEndian(size)
  return uncompressed(length, () => inflateSync(reader.rest(), { maxOutputLength: Math.max(1, length) }))
}

function uncompressed(length: number, work: () => Buffer): Buffer {
  if (length > uncompressedMax) throw new BrokenEvent('a compressed event that is larger than it may be')
  let bytes: Buffer
  try {
    bytes = work()
  } catch {
    throw new BrokenEvent('an event that cannot be uncompressed')
  }
  if (bytes.length !== length) throw new BrokenEvent('a compressed event of another length than it says')
  return bytes
}

const payloadFields = { end: 0, size: 1, compression: 2, length: 3 } as const
const compressions = { zstd: 0, none: 255 } as const

/** The events of a transaction that MySQL compresses (`binlog_transaction_compression`). */
function payloadIn(reader: ByteReader): Buffer {
  let compression: number = compressions.zstd
  let size: number | undefined
  let length: number | undefined
  for (;;) {
    const field = reader.count()
    if (field === payloadFields.end) break
    const value = new ByteReader(reader.counted())
    if (field === payloadFields.size) size = value.count()
    else if (field === payloadFields.compression) compression = value.count()
    else if (field === payloadFields.length) length = value.count()
  }
  const bytes = reader.bytes(size ?? reader.left)
  if (compression === compressions.none) return bytes
  if (compression !== compressions.zstd) throw new BrokenEvent('a transaction that is compressed in an unknown way')
  const whole = length ?? 0
  return uncompressed(whole, () => zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, whole) }))
}

/** The events of a payload, one after another. */
function eventsIn(bytes: Buffer): Buffer[] {
  const events: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    if (bytes.length - at < headBytes) throw new BrokenEvent('an event that ends too early')
    const length = bytes.readUInt32LE(at + 9)
    if (length < headBytes || length > bytes.length - at)
      throw new BrokenEvent('an event of another length than it says')
    events.push(bytes.subarray(at, at + length))
    at += length
  }
  return events
}
