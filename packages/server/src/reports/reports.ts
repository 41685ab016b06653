import type { Answer, Call } from '../call.ts'
import { containing } from '../db/like.ts'
import { readDays } from './days.ts'
import * as queries from './queries.ts'
import { viewPeriods } from './view.ts'

/** Volume by day and month, from the ledger (invariant 10). */

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
