import { BoundedBytes } from '../../databases/bounded-bytes.ts'

/**
 * The messages of pgoutput, protocol version 1, which a logical replication slot of PostgreSQL gives
 * (https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html). Nothing that they say about lengths is believed.
 */

/** A value of a tuple: its text, `null`, or `undefined` if it was stored out of line and has not changed, so that it is not sent. */
export type TupleValue = string | null | undefined

export type ChangeMessage =
  /** A transaction begins, which was committed at `commitLsn`. `committedMs`: Unix time. */
  | { readonly kind: 'begin'; readonly xid: number; readonly commitLsn: bigint; readonly committedMs: number }
  /** It ends: reading after it begins at `endLsn`. */
  | { readonly kind: 'commit'; readonly endLsn: bigint }
  /** The columns of a table from here on. */
  | { readonly kind: 'relation'; readonly relation: Relation }
  | { readonly kind: 'insert'; readonly relationId: number; readonly row: readonly TupleValue[] }
  | {
      readonly kind: 'update'
      readonly relationId: number
      readonly row: readonly TupleValue[]
      /** The key that the row had, if it changed, or the whole row as it was: with REPLICA IDENTITY FULL. */
      readonly old: OldTuple | undefined
    }
  | { readonly kind: 'delete'; readonly relationId: number; readonly old: OldTuple }
  | { readonly kind: 'truncate'; readonly relationIds: readonly number[] }
  /** Of no interest here: a type, an origin, a message. */
  | { readonly kind: 'other' }

/** Of a key, only the columns of the key have a value. */
export type OldTuple = { readonly of: 'key' | 'row'; readonly row: readonly TupleValue[] }

export type Relation = {
  readonly id: number
  readonly schema: string
  readonly table: string
  readonly columns: readonly { readonly name: string; readonly isKey: boolean; readonly typeId: number }[]
}

/** A message that does not have the form of the protocol. Its message contains no values. */
export class BrokenMessage extends Error {
  override readonly name = 'BrokenMessage'
}

/** 2000-01-01, from which PostgreSQL counts microseconds. */
const epochMs = Date.UTC(2000, 0, 1)

/** Reads one message. Throws `BrokenMessage` if it has another form. */
export function readMessage(bytes: Buffer): ChangeMessage {
  const reader = new MessageReader(bytes)
  const message = messageIn(reader)
  if (message.kind !== 'other') reader.end()
  return message
}

function messageIn(reader: MessageReader): ChangeMessage {
  switch (reader.character()) {
    case 'B': {
      const commitLsn = reader.int64()
      const committedMs = Number(reader.int64() / 1000n) + epochMs
      return { kind: 'begin', commitLsn, committedMs, xid: reader.uint32() }
    }
    case 'C': {
      reader.skip(1)
      reader.int64()
      const endLsn = reader.int64()
      reader.int64()
      return { kind: 'commit', endLsn }
    }
    case 'R':
      return { kind: 'relation', relation: relationIn(reader) }
    case 'I': {
      const relationId = reader.uint32()
      reader.expect('N')
      return { kind: 'insert', relationId, row: tupleIn(reader) }
    }
    case 'U': {
      const relationId = reader.uint32()
      const old = reader.peek() === 'N' ? undefined : oldIn(reader)
      reader.expect('N')
      return { kind: 'update', relationId, old, row: tupleIn(reader) }
    }
    case 'D': {
      const relationId = reader.uint32()
      return { kind: 'delete', relationId, old: oldIn(reader) }
    }
    case 'T': {
      const count = reader.uint32()
      reader.skip(1)
      if (count * 4 !== reader.left) throw new BrokenMessage('a truncation without its tables')
      return { kind: 'truncate', relationIds: Array.from({ length: count }, () => reader.uint32()) }
    }
    case 'Y':
    case 'O':
    case 'M':
      return { kind: 'other' }
    default:
      throw new BrokenMessage('a change of an unknown kind')
  }
}

function relationIn(reader: MessageReader): Relation {
  const id = reader.uint32()
  // An empty name stands for pg_catalog.
  const schema = reader.text() || 'pg_catalog'
  const table = reader.text()
  reader.skip(1)
  const count = reader.uint16()
  const columns = Array.from({ length: count }, () => {
    const isKey = (reader.uint8() & 1) === 1
    const name = reader.text()
    const typeId = reader.uint32()
    reader.skip(4)
    return { name, isKey, typeId }
  })
  return { id, schema, table, columns }
}

function oldIn(reader: MessageReader): OldTuple {
  const mark = reader.character()
  if (mark !== 'K' && mark !== 'O') throw new BrokenMessage('a change without the row that it is about')
  return { of: mark === 'K' ? 'key' : 'row', row: tupleIn(reader) }
}

function tupleIn(reader: MessageReader): TupleValue[] {
  const count = reader.uint16()
  return Array.from({ length: count }, () => {
    switch (reader.character()) {
      case 'n':
        return null
      case 'u':
        return undefined
      case 't':
        return reader.sized()
      default:
        throw new BrokenMessage('a value that is no text')
    }
  })
}

class MessageReader extends BoundedBytes {
  constructor(bytes: Buffer) {
    super(bytes, () => new BrokenMessage('a change that ends too early'))
  }

  uint8(): number {
    return this.buffer.readUInt8(this.take(1))
  }

  uint16(): number {
    return this.buffer.readUInt16BE(this.take(2))
  }

  uint32(): number {
    return this.buffer.readUInt32BE(this.take(4))
  }

  int64(): bigint {
    return this.buffer.readBigInt64BE(this.take(8))
  }

  character(): string {
    return String.fromCharCode(this.uint8())
  }

  peek(): string {
    return String.fromCharCode(this.buffer[this.at] ?? 0)
  }

  expect(mark: string): void {
    if (this.character() !== mark) throw new BrokenMessage('a change without its row')
  }

  /** A text that ends with a zero. */
  text(): string {
    const end = this.buffer.indexOf(0, this.at)
    if (end === -1) throw new BrokenMessage('a name without an end')
    const text = this.buffer.toString('utf8', this.at, end)
    this.at = end + 1
    return text
  }

  /** A text with its length before it. */
  sized(): string {
    const length = this.uint32()
    const at = this.take(length)
    return this.buffer.toString('utf8', at, at + length)
  }

  end(): void {
    if (this.left !== 0) throw new BrokenMessage('a change that is longer than it says')
  }
}
