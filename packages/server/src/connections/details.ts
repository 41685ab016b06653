import type { Answer, Call } from '../call.ts'
import type { ConnectionDeps } from './connections.ts'
import { chosenList, countsOfKept, detailsList } from './list-queries.ts'
import { viewConnectionWithSettings } from './view.ts'

/** The connections of one sub-account, or all connections that the actor can see, each with its settings and its version. */
export async function listConnectionDetails(
  { db, actor, account, query: { size, offset, rejectsOf, connectionIds } }: Call<'listConnectionDetails'>,
  deps: ConnectionDeps,
): Promise<Answer<'listConnectionDetails'>> {
  const { organizationId, accountIds } = actor
  const filter = { organizationId, accountId: account?.id ?? null, accountIds }
  const page = { ...filter, size, offset }
  const chosen = { rejectsOf: rejectsOf ?? null, connectionIds: connectionIds?.split(',') ?? null }
  const isAll = rejectsOf === undefined && connectionIds === undefined
  const [rows, count] = await Promise.all(
    isAll
      ? [detailsList(filter).all(db, page), countsOfKept.first(db, filter)]
      : [
          chosenList(filter).list.all(db, { ...page, ...chosen }),
          chosenList(filter).count.first(db, { ...filter, ...chosen }),
        ],
  )
  return { reply: rows.map((row) => viewConnectionWithSettings(row, deps)), total: count?.total ?? 0 }
}
