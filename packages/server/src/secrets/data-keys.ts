import { randomBytes } from 'node:crypto'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Keyring } from './keyring.ts'
import { findDataKey, insertDataKey } from './queries.ts'
import { type MasterKey, masterKey, seal, unseal } from './seal.ts'

/** Keys that many values are sealed under, with `seal` and `unseal`; each is itself sealed under a master key. */

/** What a data key is bound to. */
export const dataKeyPlace = (id: string) => ['data key', id]

/** Makes and stores a key. */
export async function makeDataKey(tx: Transaction, keyring: Keyring): Promise<{ id: string; key: MasterKey }> {
  const id = newIdentifier()
  const bytes = randomBytes(32)
  const master = await keyring.forSealing(tx)
  await insertDataKey.run(tx, { id, keyId: master.id, sealed: seal(master, dataKeyPlace(id), bytes) })
  return { id, key: masterKey(bytes) }
}

/** Opens a key; undefined where it is purged. */
export async function openDataKey(db: Db, keyring: Keyring, id: string): Promise<MasterKey | undefined> {
  const row = await findDataKey.first(db, { id })
  return row && masterKey(unseal(await keyring.forOpening(db, row.keyId), dataKeyPlace(id), row.sealed))
}

/** The data key of something that may have none yet: opened once, and made when the first value is sealed under it. */
export class DataKey {
  readonly #keyring: Keyring
  readonly #keep: (tx: Transaction, id: string) => Promise<unknown>
  #id: string | null
  #key: MasterKey | undefined
  /** Keys of transactions that are not committed yet: one that fails takes its key with it. */
  readonly #made = new WeakMap<Transaction, MasterKey>()

  /** @param keep stores which key was made, in the transaction that makes it */
  constructor(keyring: Keyring, id: string | null, keep: (tx: Transaction, id: string) => Promise<unknown>) {
    this.#keyring = keyring
    this.#id = id
    this.#keep = keep
  }

  /** The key; undefined where none was made. Throws where it is gone. */
  async open(db: Db): Promise<MasterKey | undefined> {
    if (this.#key || this.#id === null) return this.#key
    this.#key = await openDataKey(db, this.#keyring, this.#id)
    if (!this.#key) throw new Error(`The data key ${this.#id} is gone`)
    return this.#key
  }

  /** The key, which is made where there is none. */
  async make(tx: Transaction): Promise<MasterKey> {
    const there = this.#made.get(tx) ?? (await this.open(tx))
    if (there) return there
    const { id, key } = await makeDataKey(tx, this.#keyring)
    await this.#keep(tx, id)
    this.#made.set(tx, key)
    tx.afterCommit(() => {
      this.#id = id
      this.#key = key
    })
    return key
  }
}
