import { createHash, randomBytes } from 'node:crypto'
import { ConnectorError, type Values } from '@penstock/connector'
import {
  type DigestPage,
  type DigestRecords,
  type DigestsState,
  type KeyPages,
  mirrorsRows,
  recordBytes,
  sendsChangedRows,
} from '@penstock/engine'
import type { Database, Transaction } from '../../db/database.ts'
import { newIdentifier } from '../../identifiers.ts'
import { bytesLeft } from '../../organizations/limits.ts'
import type { DataKey } from '../../secrets/data-keys.ts'
import { type MasterKey, seal, unseal } from '../../secrets/seal.ts'
import { places } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import type { KeptLimits } from './deps.ts'
import * as queries from './digest-queries.ts'
import { Lost } from './endings.ts'

/** Bytes of digests in one message, and pages that are read at once. */
const messageBytes = 384 * 1024
const pagesAtOnce = 512

/** Settings that decide how rows are mapped, which the digest of a row has in it. */
const mappingSettings = ['mapping', 'defaultCountry', 'defaultTimezone']

/**
 * The digests of the connection of one transfer, in the database (docs/decisions/rows-to-send.md). They belong to certain
 * settings of the destination: under others, none is kept.
 */
export class KeptDigests {
  readonly #db: Database
  readonly #work: WorkRow
  readonly #connectionKey: DataKey
  #generation = ''
  #salt: string | null = null
  #master: MasterKey | undefined
  #staging: string | undefined
  /** The space that the organization has left, as of the beginning of the attempt; missing: there is no limit. */
  #capacity: { left: number; readonly max: number; readonly setting: string } | undefined

  private constructor(db: Database, work: WorkRow, connectionKey: DataKey) {
    this.#db = db
    this.#work = work
    this.#connectionKey = connectionKey
  }

  /**
   * The digests, and what a runner must know of them. If all rows are sent, digests of earlier transfers are forgotten, since
   * what the destination has is not compared with them any more. The keys of a mirror stay, so that it removes rows that leave the source meanwhile:
   * a transfer into the same table adds its own.
   */
  static async open(
    db: Database,
    work: WorkRow,
    connectionKey: DataKey,
    keptLimits?: KeptLimits,
  ): Promise<{ kept: KeptDigests; state: DigestsState } | undefined> {
    const { connectionId } = work
    const comparing = sendsChangedRows(work.destConfig)
    if (!comparing && !keepsKeys(work)) {
      if (work.digestsScope !== null) await forgetRows(db, connectionId)
      return undefined
    }
    const kept = new KeptDigests(db, work, connectionKey)
    if (keptLimits && comparing) kept.#capacity = await bytesLeft(db, keptLimits, work.organizationId, 'digests-mb')
    const key = (await kept.#openKey()) ?? (await kept.#begin())
    const of = { connectionId, generation: kept.#generation }
    await queries.deleteLostDigests.run(db, { ...of, id: work.id })
    const { bytes = 0 } = (await queries.sizeOfDigests.first(db, of)) ?? {}
    return {
      kept,
      state: {
        key: key.toString('base64'),
        records: Math.floor(bytes / recordBytes),
        salt: kept.#salt,
        keys: keepsKeys(work),
      },
    }
  }

  /** Whether the organization keeps all the digests that it may. Delivered rows are still recorded, so that no row is lost or sent twice. */
  get isFull(): boolean {
    return this.#capacity !== undefined && this.#capacity.left <= 0
  }

  /** Throws before a batch is delivered whose digests would be too many. */
  requireCapacity(): void {
    if (!this.#capacity || !this.isFull) return
    const { max, setting } = this.#capacity
    throw new ConnectorError(
      'digests_full',
      `The organization has reached its limit of ${max / 1024 ** 2} MiB for remembered rows (${setting}). Send all rows with a connection that sends only changed rows, delete a connection that is not needed, or ask the operator to raise the limit.`,
    )
  }

  get #fence() {
    const { id, attempt, connectionId } = this.#work
    return { id, attempt, connectionId }
  }

  async #openKey(): Promise<Buffer | undefined> {
    const { digestKeySealed, digestsScope, digestsSalt, digestsGeneration, connectionId } = this.#work
    const master = await this.#connectionKey.open(this.#db)
    if (!master || !digestKeySealed || digestsGeneration === null || digestsScope !== scopeOf(this.#work))
      return undefined
    this.#generation = digestsGeneration
    this.#salt = digestsSalt
    this.#master = master
    return unseal(master, places.digestKey(connectionId), digestKeySealed)
  }

  async #begin(): Promise<Buffer> {
    const key = randomBytes(32)
    const [generation, salt] = [newIdentifier(), newIdentifier()]
    await this.#db.transaction(async (tx) => {
      const master = await this.#connectionKey.make(tx)
      this.#master = master
      const keySealed = seal(master, places.digestKey(this.#work.connectionId), key)
      const scope = scopeOf(this.#work)
      const begun = await queries.beginDigests.run(tx, { ...this.#fence, keySealed, scope, salt, generation })
      if (begun === 0) throw new Lost()
    })
    this.#generation = generation
    this.#salt = salt
    return key
  }

  /** The pages after a number, as many as one message takes; `null` if there are none. */
  async read(after: number): Promise<DigestPage | null> {
    const { connectionId } = this.#work
    const pages = await queries.readDigests.all(this.#db, {
      connectionId,
      generation: this.#generation,
      after,
      limit: pagesAtOnce,
      bytes: messageBytes,
    })
    const last = pages.at(-1)
    if (!last) return null
    const digests = Buffer.concat(pages.map((page) => page.digests)).toString('base64')
    return { digests, last: last.number, pages: pages.length }
  }

  /** The pages after a number that have keys, as many as one message takes; `null` if there are none. */
  async readKeys(after: number): Promise<KeyPages | null> {
    const { connectionId } = this.#work
    const of = { connectionId, generation: this.#generation, after, limit: pagesAtOnce, bytes: messageBytes }
    const pages = await queries.readKeys.all(this.#db, of)
    const last = pages.at(-1)
    if (!last) return null
    const opened = pages.map(({ digests, keysSealed }) => ({
      records: digests.toString('base64'),
      keys: unseal(this.#sealing(), places.rowKeys(connectionId, this.#generation), keysSealed).toString('base64'),
    }))
    return { pages: opened, last: last.number }
  }

  /** Stores that keys are uncertain: new ones, if they come with them. Throws `Lost` if the transfer is another worker's. */
  async doubt({ records, keys }: DigestRecords): Promise<void> {
    const digests = recordsOf(records)
    const kept = keys === null ? -digests.length / recordBytes : 0
    await this.#add(this.#db, { generation: this.#generation, kept, transferId: null, digests, keys })
  }

  /**
   * Stores the digests of confirmed rows, in the transaction of the confirmation.
   * @param isConditional whether the destination may drop the rows if the transfer ends without success
   */
  async confirm(tx: Transaction, records: readonly string[], isConditional: boolean): Promise<void> {
    const digests = Buffer.concat(records.map(recordsOf))
    if (digests.length === 0) return
    const transferId = isConditional ? this.#work.id : null
    const generation = this.#generation
    await this.#add(tx, { generation, kept: certainIn(digests), transferId, digests, keys: null })
  }

  /** Stores a page that `replace` puts in place later. @param isFirst whether pages before it are dropped */
  async stage({ records, keys, isFirst }: DigestRecords & { readonly isFirst: boolean }): Promise<void> {
    if (isFirst) this.#staging = newIdentifier()
    const digests = recordsOf(records)
    const generation = this.#staging ?? refuseJob()
    await this.#add(this.#db, { generation, kept: certainIn(digests), transferId: null, digests, keys })
  }

  /** Puts the staged pages in the place of all others; without any, no digest is left. */
  async replace({ isEmpty }: { isEmpty: boolean }): Promise<void> {
    const generation = isEmpty ? newIdentifier() : (this.#staging ?? refuseJob())
    const { connectionId, id } = this.#work
    await this.#db.transaction(async (tx) => {
      if ((await queries.useGeneration.run(tx, { ...this.#fence, generation })) === 0) throw new Lost()
      await queries.deleteLostDigests.run(tx, { connectionId, id, generation })
    })
    this.#generation = generation
    this.#staging = undefined
  }

  async #add(
    db: Database | Transaction,
    {
      keys,
      ...page
    }: { generation: string; kept: number; transferId: string | null; digests: Buffer; keys: string | null },
  ): Promise<void> {
    const place = places.rowKeys(this.#work.connectionId, page.generation)
    const keysSealed = keys === null ? null : seal(this.#sealing(), place, Buffer.from(String(keys), 'base64'))
    if (this.#capacity) this.#capacity.left -= page.digests.length + (keysSealed?.length ?? 0)
    if ((await queries.addDigests.run(db, { ...this.#fence, ...page, keysSealed })) === 0) throw new Lost()
  }

  #sealing(): MasterKey {
    if (!this.#master) throw new Error('The digests of a connection were used before they were opened')
    return this.#master
  }
}

/** How many records have the digest of a row: those of removed rows, and of keys that are uncertain, have none. */
function certainIn(digests: Buffer): number {
  let certain = 0
  for (let end = recordBytes; end <= digests.length; end += recordBytes)
    if (digests.readUInt32LE(end - 4) > 0) certain++
  return certain
}

/** Forgets which rows the destination has. The keys of a mirror stay. */
export async function forgetRows(db: Database | Transaction, connectionId: string): Promise<void> {
  if ((await queries.saltDigests.run(db, { connectionId, salt: newIdentifier() })) > 0) return
  await queries.forgetDigests.run(db, { connectionId })
}

/** Changes if keys of mirrors have other digests than before, so that their state begins anew. */
const formOfKeys = 'texts'

/** Digests belong to the destination as its settings name it. */
const scopeOf = (work: WorkRow): string => (keepsKeys(work) ? scopeOfMirror(work) : digestOf(work, mappingSettings))

/** Whether the keys of rows are kept: of a mirror, and of the table that was one, whatever rows are sent now. */
const keepsKeys = (work: WorkRow): boolean =>
  mirrorsRows(work.destConfig) || (work.digestsScope !== null && work.digestsScope === scopeOfMirror(work))

/** Settings that decide which rows are sent. A mirror removes the rows that they leave out. */
const selectingSettings = ['filter', 'controlGroup', 'controlKey', 'controlPercent', 'controlSalt', 'sendRows']
const scopeOfMirror = (work: WorkRow): string => digestOf(work, [...mappingSettings, ...selectingSettings], formOfKeys)

/** @param ignored names of settings that do not count */
function digestOf(
  { destConfigurationId, destConfig, destSettings }: WorkRow,
  ignored: readonly string[],
  ...form: readonly string[]
): string {
  const without = (values: Values) =>
    Object.entries(values)
      .filter(([name]) => !ignored.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
  const settings = JSON.stringify([...form, destConfigurationId, without(destConfig), without(destSettings)])
  return createHash('sha256').update(settings).digest('hex').slice(0, 32)
}

/** The records of a message, which is not trusted: whole records alone. */
function recordsOf(text: string): Buffer {
  const digests = Buffer.from(String(text), 'base64')
  if (digests.length % recordBytes !== 0) refuseJob()
  return digests
}

const refuseJob = (): never => {
  throw new Error('A runner sent digests that are not in their form')
}
