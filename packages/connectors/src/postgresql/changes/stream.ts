import pg from 'pg'
import type { TableChange } from '../../databases/row-changes.ts'
import { copyOut } from '../copy.ts'
import type { PostgresSession } from '../session.ts'
import { BrokenMessage, type ChangeMessage, type Relation, readMessage, type TupleValue } from './pgoutput.ts'
import type { ChangesPlace } from './slot.ts'
import { hasSeen, lsnText, type Snapshot } from './snapshot.ts'

/** A place between two changes: how many of the table were taken since the end of a transaction. */
export type Position = { readonly lsn: bigint; readonly taken: number }

/** A change of the table, with the place of its transaction, and 32 bits of the transaction's number. */
export type RowChange = TableChange & { readonly lsn: bigint; readonly xid: number }

/** Changes, or the end of a transaction; the place is behind them. */
export type Step = { readonly change: RowChange | undefined; readonly at: Position }

/**
 * Gives the changes of a table from a place up to another, in the order of their commits. The slot keeps all of them: nothing is
 * confirmed by reading.
 * @param oid of the table: it may have had other names
 * @param seen what the copy of the table has seen already
 * @param from the end of a transaction, and how many changes of the next one are known
 * @param messagesMax after so many messages it ends with the transaction
 * @param waitMs how long the server may send nothing
 * @returns whether all changes up to `until` were given
 */
export async function* changesOf(
  session: PostgresSession,
  { slot, publication }: ChangesPlace,
  {
    oid,
    seen,
    from,
    until,
    messagesMax,
  }: { oid: number; seen: Snapshot | undefined; from: Position; until: bigint; messagesMax: number },
  waitMs: number,
): AsyncGenerator<Step[], boolean> {
  const literal = pg.escapeLiteral
  const statement = `copy (select encode(data, 'hex') from pg_logical_slot_peek_binary_changes(${literal(slot)},
    ${literal(lsnText(until))}::pg_lsn, ${messagesMax}, 'proto_version', '1', 'publication_names', ${literal(pg.escapeIdentifier(publication))})) to stdout`
  const reading = new Reading(oid, seen, from)
  let messages = 0
  for await (const lines of copyOut(session, statement, waitMs)) {
    const steps: Step[] = []
    for (const { text } of lines) {
      messages++
      try {
        for (const step of reading.read(readMessage(bytesIn(text)))) steps.push(step)
      } catch (error) {
        if (error instanceof BrokenMessage) throw session.unexpected(error.message)
        throw error
      }
    }
    yield steps
  }
  return messages < messagesMax
}

function bytesIn(line: string): Buffer {
  const hex = line.trimEnd()
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length * 2 !== hex.length) throw new BrokenMessage('a change that is not in hexadecimal digits')
  return bytes
}

/** Follows the messages of a slot. */
class Reading {
  readonly #oid: number
  readonly #seen: Snapshot | undefined
  readonly #from: Position
  readonly #relations = new Map<number, Relation>()
  /** The end of the last transaction, and how many changes were taken since. */
  #at: Position
  #transaction: (Pick<RowChange, 'committedMs' | 'lsn' | 'xid'> & { readonly isKnown: boolean }) | undefined

  constructor(oid: number, seen: Snapshot | undefined, from: Position) {
    this.#oid = oid
    this.#seen = seen
    this.#from = from
    this.#at = { lsn: from.lsn, taken: 0 }
  }

  *read(message: ChangeMessage): Generator<Step> {
    switch (message.kind) {
      case 'begin': {
        const { xid, commitLsn, committedMs } = message
        const isKnown = commitLsn < this.#from.lsn || (this.#seen !== undefined && hasSeen(this.#seen, xid))
        this.#transaction = { committedMs, lsn: commitLsn, xid, isKnown }
        return
      }
      case 'commit':
        this.#transaction = undefined
        if (message.endLsn <= this.#at.lsn) return
        this.#at = { lsn: message.endLsn, taken: 0 }
        yield { change: undefined, at: this.#at }
        return
      case 'relation':
        this.#relations.set(message.relation.id, message.relation)
        return
      case 'truncate':
        if (message.relationIds.includes(this.#oid)) yield* this.#take('truncate', new Map())
        return
      case 'other':
        return
      default: {
        const relation = this.#relationOf(message.relationId)
        if (relation.id === this.#oid) yield* this.#changesIn(message, relation)
      }
    }
  }

  *#changesIn(message: Extract<ChangeMessage, { relationId: number }>, relation: Relation): Generator<Step> {
    if (message.kind === 'insert') return yield* this.#take('insert', valuesOf(relation, message.row))
    if (message.kind === 'delete') {
      return yield* this.#take('delete', valuesOf(relation, message.old.row, message.old.of === 'key'))
    }
    const { old } = message
    const values = valuesOf(relation, message.row)
    const before = old && valuesOf(relation, old.row, old.of === 'key')
    // The old row, or its key, has what was not sent of the new one.
    if (before) for (const [name, value] of before) if (!values.has(name)) values.set(name, value)
    yield* this.#take('update', values, before)
  }

  /** @param before of an update: the row as it was, as far as it was sent */
  *#take(
    kind: RowChange['kind'],
    values: ReadonlyMap<string, string | null>,
    before?: ReadonlyMap<string, string | null>,
  ): Generator<Step> {
    const transaction = this.#transaction
    if (!transaction) throw new BrokenMessage('a change outside of a transaction')
    if (transaction.isKnown) return
    const { committedMs, lsn, xid } = transaction
    const taken = this.#at.taken + 1
    this.#at = { lsn: this.#at.lsn, taken }
    // Changes behind the place at which reading began were read before.
    if (this.#at.lsn === this.#from.lsn && taken <= this.#from.taken) return
    const bytes = sizeOf(values)
    const change: RowChange = { kind, values, committedMs, lsn, xid, bytes, ...(before && { before }) }
    yield { change, at: this.#at }
  }

  #relationOf(id: number): Relation {
    const relation = this.#relations.get(id)
    if (!relation) throw new BrokenMessage('a change of a table that was not described')
    return relation
  }
}

/** @param keysOnly the others have no value because they were not sent */
function valuesOf({ columns }: Relation, row: readonly TupleValue[], keysOnly = false): Map<string, string | null> {
  if (row.length !== columns.length) throw new BrokenMessage('a change without the columns of its table')
  const values = new Map<string, string | null>()
  for (const [at, { name, isKey }] of columns.entries()) {
    const value = row[at]
    if (value !== undefined && (isKey || !keysOnly)) values.set(name, value)
  }
  return values
}

function sizeOf(values: ReadonlyMap<string, string | null>): number {
  let bytes = 10
  for (const value of values.values()) bytes += 1 + (value?.length ?? 0)
  return bytes
}
