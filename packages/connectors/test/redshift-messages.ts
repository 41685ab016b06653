import type net from 'node:net'
import { encode, type Message } from './rogue-postgresql-scripts.ts'

/** Messages of PostgreSQL’s protocol, which Redshift speaks. */

/**
 * Calls back with each message that a socket receives.
 * @param untyped whether the first one has no type, as that of a client
 */
export function onMessages(socket: net.Socket, untyped: boolean, take: (message: Message) => void): void {
  let isFirst = untyped
  let buffered: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    buffered = buffered.length === 0 ? bytes : Buffer.concat([buffered, bytes])
    while (true) {
      const at = isFirst ? 0 : 1
      if (buffered.length < at + 4 || buffered.length < at + buffered.readUInt32BE(at)) return
      const end = at + buffered.readUInt32BE(at)
      const type = isFirst ? '' : String.fromCharCode(buffered[0] ?? 0)
      const body = buffered.subarray(at + 4, end)
      buffered = buffered.subarray(end)
      isFirst = false
      take({ type, body })
    }
  })
}

export const textOf = (body: Buffer): string => body.subarray(0, body.indexOf(0)).toString()

/** A simple query. */
export const queryOf = (text: string): Buffer => encode({ type: 'Q', body: Buffer.from(`${text}\0`) })

/** An error of the server. */
export const errorOf = (state: string, message: string): Buffer =>
  encode({ type: 'E', body: Buffer.from(`SERROR\0C${state}\0M${message}\0\0`) })

/** The code and the message of an error. */
export function readError(body: Buffer): { readonly state: string; readonly message: string } {
  const fields = body.toString().split('\0')
  const field = (letter: string) => fields.find((each) => each.startsWith(letter))?.slice(1) ?? ''
  return { state: field('C'), message: field('M') }
}

/** The values of a row, as texts. */
export function readRow(body: Buffer): (string | null)[] {
  const values: (string | null)[] = []
  let at = 2
  while (at < body.length) {
    const length = body.readInt32BE(at)
    at += 4
    values.push(length < 0 ? null : body.subarray(at, at + length).toString())
    at += Math.max(length, 0)
  }
  return values
}

function rowOf(values: readonly (string | null)[]): Buffer {
  const head = Buffer.alloc(2)
  head.writeInt16BE(values.length)
  const parts = values.flatMap((value) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value))
    return value === null ? [length] : [length, Buffer.from(value)]
  })
  return Buffer.concat([head, ...parts])
}

const superOf = new Map([[3802, 4000]])
const bytea = 17
const varbyte = 6551

/**
 * Makes of the results of PostgreSQL those of Redshift: the identifiers of types that PostgreSQL does not have, and bytes as hexadecimal
 * digits alone. Called with all messages of a connection in their order.
 */
export function makeTranslation(): (message: Message) => Message {
  let bytesAt: readonly number[] = []
  return ({ type, body }) => {
    if (type === 'T') {
      const changed = Buffer.from(body)
      const found: number[] = []
      let at = 2
      for (let column = 0; column < body.readInt16BE(0); column++) {
        at = body.indexOf(0, at) + 1
        const oid = body.readUInt32BE(at + 6)
        if (oid === bytea) found.push(column)
        changed.writeUInt32BE(oid === bytea ? varbyte : (superOf.get(oid) ?? oid), at + 6)
        at += 18
      }
      bytesAt = found
      return { type, body: changed }
    }
    if (type !== 'D' || bytesAt.length === 0) return { type, body }
    const values = readRow(body).map((value, at) =>
      bytesAt.includes(at) ? (value?.replace(/^\\x/, '') ?? null) : value,
    )
    return { type, body: rowOf(values) }
  }
}
