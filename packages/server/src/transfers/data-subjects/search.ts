import { setImmediate } from 'node:timers/promises'
import type { Json } from '@penstock/connector'
import { type DataSubject, limits } from '@penstock/wire'
import type { ActingAccount, Actor } from '../../call.ts'
import type { Db } from '../../db/database.ts'
import { openDataKey } from '../../secrets/data-keys.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import type { MasterKey } from '../../secrets/seal.ts'
import { everyReason } from '../reject-reasons.ts'
import { openText, places } from '../sealed.ts'
import * as queries from './queries.ts'

/** Looks through the kept records of many transfers for those of one person, a bounded part at a time. */

/** Records that are in memory at the same time. */
const recordsAtOnce = 100
/** Transfers without a kept record cost a statement each: so many are looked at in one part. */
const transfersAtOnce = 200
/** Characters of records that are compared before other requests have their turn. */
const unitsInTurn = 100_000
/** No record of a transfer has a greater number. */
const lastNumber = 2_147_483_647

export type FoundRecord = {
  readonly transfer: queries.SearchedTransfer
  readonly kept: queries.SearchedRecord
  readonly reason: string
  /** Columns of the records of the transfer. */
  readonly columns: readonly string[]
  /** The values by column; undefined if they are not kept. */
  readonly values: Json | undefined
}

export type Searched = {
  readonly found: readonly FoundRecord[]
  readonly searched: number
  readonly notKept: number
  readonly next: string | null
}

/** Where an actor may look: in one sub-account, or in all that the actor may see. */
export const scopeOf = (actor: Actor, account: ActingAccount | undefined): queries.SearchScope => ({
  organizationId: actor.organizationId,
  accountId: account?.id ?? null,
  accountIds: actor.accountIds,
})

/**
 * Looks through the next part.
 * @param cursor `next` of the part before; from the newest transfer on if there is none. A transfer that was purged in the
 *   meantime begins from the newest one again, which finds nothing less.
 */
export async function searchPart(
  { db, keyring }: { readonly db: Db; readonly keyring: Keyring },
  scope: queries.SearchScope,
  { cursor }: Pick<DataSubject, 'cursor'>,
  isOfPerson: (stored: string) => boolean,
): Promise<Searched> {
  const [fromId = null, number = '0'] = cursor?.split('-') ?? []
  const transfers = await queries.searchedTransfers.all(db, { ...scope, fromId, limit: transfersAtOnce })
  const found: FoundRecord[] = []
  let searched = 0
  let notKept = 0
  let units = 0
  /** Of the records that are found, with the names of their columns. */
  let length = 0
  for (const transfer of transfers) {
    let key: MasterKey | undefined
    let columns: readonly string[] | undefined
    for (let after = transfer.id === fromId ? Math.min(Number(number), lastNumber) : 0; ; ) {
      const isFull = searched >= limits.personRecordsMax || length >= limits.rejectsAnswerLengthMax
      if (isFull) return { found, searched, notKept, next: `${transfer.id}-${after}` }
      const part = { transferId: transfer.id, number: after, limit: recordsAtOnce }
      const records = await queries.recordsAfter.all(db, part)
      if (records.length > 0 && transfer.dataKeyId) key ??= await openDataKey(db, keyring, transfer.dataKeyId)
      for (const kept of records) {
        const { reason, values, edited } = openRecord(key, transfer, kept)
        if (values === undefined) notKept++
        const texts = [...textsOf(values), ...textsOf(edited), reason]
        const ofTexts = texts.reduce((sum, text) => sum + text.length, 0)
        units += ofTexts
        if (units > unitsInTurn) {
          units = 0
          await setImmediate()
        }
        if (!texts.some(isOfPerson)) continue
        columns ??= (await queries.findColumns.first(db, { transferId: transfer.id }))?.sourceColumns ?? []
        const own = kept.ownColumns ?? columns
        found.push({ transfer, kept, reason, columns: own, values })
        const ofNames = own.reduce((sum, name) => sum + name.length, 0)
        length += Math.min(ofNames + ofTexts, limits.rejectNamedLengthMax)
      }
      searched += records.length
      after = records.at(-1)?.number ?? after
      if (records.length < recordsAtOnce) break
    }
  }
  const last = transfers.length < transfersAtOnce ? undefined : transfers.at(-1)
  return { found, searched, notKept, next: last ? `${last.id}-${lastNumber}` : null }
}

function openRecord(key: MasterKey | undefined, { id }: queries.SearchedTransfer, kept: queries.SearchedRecord) {
  const { number, reasonSealed, sealed, editedSealed } = kept
  const reason = key && reasonSealed ? everyReason(openText(key, places.reason(id, number), reasonSealed)) : ''
  const values: Json | undefined =
    key && sealed ? JSON.parse(openText(key, places.reject(id, number), sealed)) : undefined
  const edited: Json | undefined =
    key && editedSealed ? JSON.parse(openText(key, places.edit(id, number), editedSealed)) : undefined
  return { reason, values, edited }
}

/** Every text and number in a value, at any depth. */
export function textsOf(value: Json | undefined): string[] {
  if (value === undefined || value === null || typeof value === 'boolean') return []
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return Object.values(value).flatMap((one) => textsOf(one as Json))
}
