import type { AudienceMeasure } from '@penstock/connector'
import type { AudienceReport } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { DataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { maybeSeconds } from '../time.ts'
import { openDay } from '../transfers/audience-measures.ts'
import * as queries from './audience-queries.ts'
import { readDays } from './days.ts'

type Deps = { readonly keyring: Keyring }
type Measured = AudienceReport['audiences'][number]

/** The audiences that the connections of a sub-account feed, at the begin and at the end of a period. */
export async function reportAudiences(
  { db, account, query }: Call<'reportAudiences'>,
  { keyring }: Deps,
): Promise<Answer<'reportAudiences'>> {
  const days = await readDays(db, query)
  const filter = { accountId: account.id, like: containing(query.q), ids: query.connectionIds?.split(',') ?? null }
  const { size, offset } = query
  const [rows, count] = await Promise.all([
    queries.measuredConnections.all(db, { ...filter, ...days, size, offset }),
    queries.countMeasuredConnections.first(db, filter),
  ])
  const reply: AudienceReport[] = []
  for (const row of rows) {
    reply.push({
      connectionId: row.id,
      connectionName: row.name,
      accountId: account.id,
      measuredTime: maybeSeconds(row.measuredTime),
      problem: row.problem,
      audiences: await openAudiences(db, keyring, row),
    })
  }
  return { reply, total: count?.total ?? 0 }
}

async function openAudiences(
  db: Db,
  keyring: Keyring,
  { id, dataKeyId, firstDay, firstSealed, lastDay, lastSealed }: queries.MeasuredRow,
): Promise<Measured[]> {
  if (lastDay === null || lastSealed === null) return []
  const key = new DataKey(keyring, dataKeyId, async () => {})
  const last = await openDay(db, key, id, lastDay, lastSealed)
  const isLonger = firstDay !== null && firstSealed !== null && firstDay !== lastDay
  const first = isLonger ? await openDay(db, key, id, firstDay, firstSealed) : undefined
  return (last ?? []).map((audience) => {
    const before = first?.find((one) => one.id === audience.id)
    return {
      id: audience.id,
      name: audience.name,
      status: audience.status,
      first: before && firstDay !== null ? sizesOn(firstDay, before) : null,
      last: sizesOn(lastDay, audience),
    }
  })
}

const sizesOn = (day: string, { low, high, received, matched }: AudienceMeasure): Measured['last'] => ({
  day,
  low,
  high,
  received,
  matched,
})
