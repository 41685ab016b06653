import { type DataSubject, type FoundDataSubject, limits } from '@penstock/wire'
import { hasScope } from '../../access.ts'
import type { Actor, Answer, Call } from '../../call.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/database.ts'
import { refuseFieldErrors } from '../../refusal.ts'
import { unixSeconds } from '../../time.ts'
import { recordOf } from '../rejects.ts'
import type { TransferDeps } from '../transfers.ts'
import * as queries from './queries.ts'
import { type FoundRecord, scopeOf, searchPart } from './search.ts'

/** One person in the records that are kept: where, and the erasure that the person can demand (GDPR, article 17). */

/** Lists the rejected records of a person, without those of deleted sub-accounts and connections. */
export async function findDataSubject(
  { db, actor, account, body }: Call<'findDataSubject'>,
  { keyring, config }: TransferDeps,
): Promise<Answer<'findDataSubject'>> {
  requireLongValues(body)
  const scope = scopeOf(actor, account)
  const [{ found, ...progress }, elsewhere] = await Promise.all([
    searchPart({ db, keyring }, scope, body),
    body.cursor === undefined ? findElsewhere(db, actor, scope, body, config) : null,
  ])
  const records = found.filter(({ transfer }) => transfer.shown).map(viewFound)
  return { reply: { records, elsewhere, ...progress } }
}

/** Finds other places: a search reads no files, and people are found by their e-mail addresses. */
async function findElsewhere(
  db: Db,
  actor: Actor,
  scope: queries.SearchScope,
  { values }: DataSubject,
  { rejects }: Pick<Config, 'rejects'>,
): Promise<FoundDataSubject['elsewhere']> {
  const emails = values.map((value) => value.trim().toLowerCase())
  const { organizationId } = scope
  // A person who is limited to sub-accounts does not see everyone.
  const seesUsers = hasScope(actor, 'users:read') && actor.accountIds === null
  const [kept, users] = await Promise.all([
    queries.keptFiles.first(db, scope),
    seesUsers ? queries.usersByEmail.all(db, { organizationId, emails }) : null,
  ])
  return {
    users,
    files: kept?.files ?? 0,
    filesUntil: kept?.until ? unixSeconds(kept.until) : null,
    rejectDays: rejects.days,
  }
}

/** Erases values and reasons of the rejected records of a person, of deleted sub-accounts too. */
export async function eraseDataSubject(
  { db: tx, actor, account, body }: Call<'eraseDataSubject'>,
  { keyring }: TransferDeps,
): Promise<Answer<'eraseDataSubject'>> {
  requireLongValues(body)
  const scope = scopeOf(actor, account)
  const { found, ...progress } = await searchPart({ db: tx, keyring }, scope, body)
  const byTransfer = Map.groupBy(found, ({ transfer }) => transfer.id)
  for (const [transferId, records] of byTransfer) {
    await queries.eraseRecords.run(tx, { transferId, numbers: records.map(({ kept }) => kept.number) })
  }
  const active = await queries.countActive.first(tx, scope)
  return { reply: { erased: found.length, ...progress, activeTransfers: active?.active ?? 0 } }
}

/** Spaces around a value are not part of it. */
function requireLongValues({ values }: DataSubject): void {
  const { personValueLengthMin: min } = limits
  refuseFieldErrors(
    values.flatMap((value, i) =>
      value.trim().length < min
        ? [
            {
              field: `body.values.${i}`,
              message: `must have at least ${min} characters: shorter ones are found in records of others`,
            },
          ]
        : [],
    ),
  )
}

const viewFound = ({ transfer, kept, reason, columns, values }: FoundRecord) => ({
  accountId: transfer.accountId,
  accountName: transfer.accountName,
  connectionId: transfer.connectionId,
  connectionName: transfer.connectionName,
  transferId: transfer.id,
  transferTime: unixSeconds(transfer.createdTime),
  deliveredTime: kept.deliveredTime && unixSeconds(kept.deliveredTime),
  row: kept.row,
  field: kept.field,
  reason,
  record: recordOf(columns, values ?? null) ?? kept.record,
})
