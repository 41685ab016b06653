import { randomBytes } from 'node:crypto'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import type { Keyring } from './keyring.ts'
import { type DataKeyRow, findDataKey, insertDataKey } from './queries.ts'
import { type MasterKey, masterKey, seal, Unreadable, unseal } from './seal.ts'

/** Keys that many values are sealed under, with `seal` and `unseal`; each is itself sealed under a master key. */

/** Place that a data key is bound to. */
export const dataKeyPlace = (id: string) => ['data key', id]

/** A key that is not stored yet, sealed under a master key. */
export type NewDataKey = Readonly<DataKeyRow> & { readonly key: MasterKey }

function newDataKey(master: MasterKey): NewDataKey {
  const id = newIdentifier()
  const bytes = randomBytes(32)
  return { id, keyId: master.id, sealed: seal(master, dataKeyPlace(id), bytes), key: masterKey(bytes) }
}

/** Makes and stores a key. */
export async function makeDataKey(tx: Transaction, keyring: Keyring): Promise<NewDataKey> {
  const made = newDataKey(await keyring.forSealing(tx))
  await insertDataKey.run(tx, made)
  return made
}

/** Opens a key; undefined if it is purged. */
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
  /** Keys of transactions that are not committed yet: if one fails, its key is dropped. */
  readonly #made = new WeakMap<Transaction, MasterKey>()

  /** @param keep stores which key was made, in the transaction that makes it */
  constructor(keyring: Keyring, id: string | null, keep: (tx: Transaction, id: string) => Promise<unknown>) {
    this.#keyring = keyring
    this.#id = id
    this.#keep = keep
  }

  /** The key; undefined if none was made. Throws if it is gone. */
  async open(db: Db): Promise<MasterKey | undefined> {
    if (this.#key || this.#id === null) return this.#key
    this.#key = await openDataKey(db, this.#keyring, this.#id)
    if (!this.#key) throw new Unreadable(`The data key ${this.#id} is gone`)
    return this.#key
  }

  /** The key, which is made if there is none. */
  async make(tx: Transaction): Promise<MasterKey> {
    const there = this.#made.get(tx) ?? (await this.open(tx))
    if (there) return there
    const made = await makeDataKey(tx, this.#keyring)
    await this.#keep(tx, made.id)
    this.#made.set(tx, made.key)
    tx.afterCommit(() => this.use(made))
    return made.key
  }

  /**
   * A key for a statement of the caller's, which stores it while the master key that it is sealed under is the current
   * one; undefined if there is a key already. Once it is stored: `use`.
   */
  candidate(): NewDataKey | undefined {
    return this.#id === null ? newDataKey(this.#keyring.latest()) : undefined
  }

  /** From now on this is the key, which is stored. */
  use({ key, id }: NewDataKey): void {
    this.#id = id
    this.#key = key
  }

  /** The key, if it was opened or made before. */
  get opened(): MasterKey | undefined {
    return this.#key
  }
}
