import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Db, Transaction } from '../db/database.ts'
import { makeAuditKey, openAuditKey } from '../secrets/audit-key.ts'
import type { Keyring } from '../secrets/keyring.ts'

/**
 * Seals of the ends of logs. A person who can write to the database can recompute a chain, but not its seal. The seal needs a
 * key that only processes with the master key can open.
 */

/** The end of a log: its last number, and the hash of that event in hexadecimal digits. */
export type LogEnd = { readonly organizationId: string; readonly number: number; readonly hash: string }

/** Seals ends of logs, and checks seals. */
export type HeadSeal = {
  /** The seal, in hexadecimal digits. */
  of(end: LogEnd): string
  isOf(end: LogEnd, seal: string): boolean
}

const sealWith = (key: Buffer): HeadSeal => {
  const of = ({ organizationId, number, hash }: LogEnd) =>
    createHmac('sha256', key)
      .update(JSON.stringify([organizationId, number, hash]))
      .digest('hex')
  const isOf = (end: LogEnd, given: string) => {
    const expected = of(end)
    return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  }
  return { of, isOf }
}

/**
 * The seal of a database. Undefined if no seal was made yet. Throws `Unreadable` if the master key does not open the key of the
 * seal.
 */
export async function openHeadSeal(db: Db, keyring: Keyring): Promise<HeadSeal | undefined> {
  const key = await openAuditKey(db, keyring)
  return key && sealWith(key)
}

/** The seal of a database. Creates its key if there is no key. */
export const makeHeadSeal = async (tx: Transaction, keyring: Keyring): Promise<HeadSeal> =>
  sealWith(await makeAuditKey(tx, keyring))
