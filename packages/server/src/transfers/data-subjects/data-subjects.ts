import type { Json } from '@penstock/connector'
import { type DataSubject, type FoundDataSubject, limits } from '@penstock/wire'
import { hasScope } from '../../access.ts'
import type { Actor, Answer, Call } from '../../call.ts'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/database.ts'
import { refuseFieldErrors } from '../../refusal.ts'
import {
  eraseFromStreams,
  type FoundEvent,
  firstPlace,
  type SearchedStreams,
  searchStreams,
} from '../../streams/persons.ts'
import { unixSeconds } from '../../time.ts'
import { recordOf } from '../rejects.ts'
import type { TransferDeps } from '../transfers.ts'
import { matcherOf } from './matching.ts'
import * as queries from './queries.ts'
import { type FoundRecord, type Searched, scopeOf, searchPart, textsOf } from './search.ts'

/** One person in the records that are kept: where, and the erasure that the person can demand (GDPR, article 17). */

/** Lists the rejected records and the events of a person, without the ones of deleted sub-accounts and connections. */
export async function findDataSubject(
  { db, actor, account, body }: Call<'findDataSubject'>,
  { keyring, config }: TransferDeps,
): Promise<Answer<'findDataSubject'>> {
  requireLongValues(body)
  const scope = scopeOf(actor, account)
  const [{ found, events: all, ...progress }, elsewhere] = await Promise.all([
    searchAll(scope, body, {
      records: (isOfPerson) => searchPart({ db, keyring }, scope, body, isOfPerson),
      events: (search) => searchStreams({ db, keyring }, search),
    }),
    body.cursor === undefined ? findElsewhere(db, actor, scope, body, config) : null,
  ])
  const records = found.filter(({ transfer }) => transfer.shown).map(viewFound)
  const events = all.filter(({ stream }) => stream.shown).map(viewEvent)
  return { reply: { records, events, elsewhere, ...progress } }
}

/**
 * Looks through the next part: of rejected records first, and then of streams, in the same call if there is room.
 * @param look searches each kind
 */
async function searchAll(
  scope: queries.SearchScope,
  { values, cursor }: DataSubject,
  look: {
    readonly records: (isOfPerson: (stored: string) => boolean) => Promise<Searched>
    readonly events: (search: Parameters<typeof searchStreams>[1]) => Promise<SearchedStreams>
  },
) {
  const matches = matcherOf(values)
  const [id = '', number = ''] = cursor?.startsWith('s') ? cursor.slice(1).split('-') : []
  const records = id === '' ? await look.records(matches) : { found: [], searched: 0, notKept: 0, next: null }
  if (records.next !== null) return { ...records, events: [] }
  const { found, searched, next } = await look.events({
    scope,
    from: id === '' ? firstPlace : { id, number: Math.min(Number(number), Number.MAX_SAFE_INTEGER) },
    isOfPerson: (event) => textsOf(event as Json).some(matches),
    eventsMin: Math.max(1, limits.personRecordsMax - records.searched),
  })
  return {
    ...records,
    events: found,
    searched: records.searched + searched,
    next: next && `s${next.id}-${next.number}`,
  }
}

const viewEvent = ({ stream, number, receivedMs, event }: FoundEvent) => ({
  accountId: stream.accountId,
  accountName: stream.accountName,
  streamId: stream.id,
  streamName: stream.name,
  number,
  receivedTime: Math.floor(receivedMs / 1000),
  event,
})

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

/** Erases values and reasons of the rejected records of a person, and their events, of deleted sub-accounts too. */
export async function eraseDataSubject(
  { db: tx, actor, account, body }: Call<'eraseDataSubject'>,
  { keyring }: TransferDeps,
): Promise<Answer<'eraseDataSubject'>> {
  requireLongValues(body)
  const scope = scopeOf(actor, account)
  const { found, events, ...progress } = await searchAll(scope, body, {
    records: (isOfPerson) => searchPart({ db: tx, keyring }, scope, body, isOfPerson),
    events: (search) => eraseFromStreams({ db: tx, keyring }, search),
  })
  const byTransfer = Map.groupBy(found, ({ transfer }) => transfer.id)
  for (const [transferId, records] of byTransfer) {
    await queries.eraseRecords.run(tx, { transferId, numbers: records.map(({ kept }) => kept.number) })
  }
  const active = await queries.countActive.first(tx, scope)
  return { reply: { erased: found.length + events.length, ...progress, activeTransfers: active?.active ?? 0 } }
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
