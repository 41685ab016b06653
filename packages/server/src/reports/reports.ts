import { isDay } from '@penstock/connector'
import { limits } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { refuse, refuseFieldErrors } from '../refusal.ts'
import * as queries from './queries.ts'
import { viewPeriods } from './view.ts'

/** Volume by day and month, from the ledger (invariant 10). */

const dayMs = 86_400_000

export async function reportAccounts({
  db,
  actor: { organizationId, accountIds },
  query,
}: Call<'reportAccounts'>): Promise<Answer<'reportAccounts'>> {
  const days = await readDays(db, query)
  const asked = query.accountIds?.split(',') ?? null
  const filter = { organizationId, accountIds, like: containing(query.q), ids: asked }
  const pages = queries.accountsByName(filter)
  const { size, offset } = query
  const [accounts, count] = await Promise.all([
    pages.list.all(db, { ...filter, size, offset }),
    pages.count.first(db, filter),
  ])
  const rows = await queries.volumeOfAccounts.all(db, { organizationId, ids: accounts.map(({ id }) => id), ...days })
  const byId = Map.groupBy(rows, ({ id }) => id)
  return {
    reply: accounts.map(({ id, name }) => ({ accountId: id, accountName: name, ...viewPeriods(byId.get(id) ?? []) })),
    total: count?.total ?? 0,
  }
}

export async function reportConnections({
  db,
  account,
  query,
}: Call<'reportConnections'>): Promise<Answer<'reportConnections'>> {
  const days = await readDays(db, query)
  const asked = query.connectionIds?.split(',') ?? null
  const filter = { accountId: account.id, like: containing(query.q), ids: asked }
  const { size, offset } = query
  const countOfAll = filter.like === null ? queries.countAllConnections : queries.countConnections
  const [connections, count] = await Promise.all([
    (asked ? queries.connectionsAsked : queries.connectionsByName).all(db, { ...filter, size, offset }),
    (asked ? queries.countConnectionsAsked : countOfAll).first(db, filter),
  ])
  const ids = connections.map(({ id }) => id)
  const rows = await queries.volumeOfConnections.all(db, { accountId: account.id, ids, ...days })
  const byId = Map.groupBy(rows, ({ id }) => id)
  return {
    reply: connections.map(({ id, name }) => ({
      connectionId: id,
      connectionName: name,
      accountId: account.id,
      ...viewPeriods(byId.get(id) ?? []),
    })),
    total: count?.total ?? 0,
  }
}

/** The days of a report: this month unless said otherwise. Refuses days that no calendar has, and too many. */
async function readDays(db: Db, { startDate, endDate }: { startDate?: string; endDate?: string }) {
  const given = Object.entries({ startDate, endDate })
  refuseFieldErrors(
    given
      .filter(([, day]) => day !== undefined && !isDay(day))
      .map(([name]) => ({ field: `query.${name}`, message: 'must be a calendar day, YYYY-MM-DD' })),
  )
  const end = endDate ?? (await databaseNow(db)).toISOString().slice(0, 10)
  const start = startDate ?? `${end.slice(0, 7)}-01`
  const days = (Date.parse(end) - Date.parse(start)) / dayMs + 1
  if (days < 1) refuse('invalid_request', [{ field: 'query.endDate', message: 'must not be before startDate' }])
  if (days > limits.reportDaysMax) {
    refuse('invalid_request', [
      { field: 'query.startDate', message: `must be at most ${limits.reportDaysMax} days before endDate` },
    ])
  }
  return { startDate: start, endDate: end }
}
