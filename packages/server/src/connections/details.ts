import type { Answer, Call } from '../call.ts'
import type { ConnectionDeps } from './connections.ts'
import { countsOfKept, detailsList, readersList } from './list-queries.ts'
import { viewConnectionWithSettings } from './view.ts'

/** The connections of one sub-account, or of all that the actor may see, each with its settings and its version. */
export async function listConnectionDetails(
  { db, actor, account, query: { size, offset, rejectsOf } }: Call<'listConnectionDetails'>,
  deps: ConnectionDeps,
): Promise<Answer<'listConnectionDetails'>> {
  const { organizationId, accountIds } = actor
  const filter = { organizationId, accountId: account?.id ?? null, accountIds }
  const readers = readersList(filter)
  const [rows, count] = await Promise.all(
    rejectsOf === undefined
      ? [detailsList(filter).all(db, { ...filter, size, offset }), countsOfKept.first(db, filter)]
      : [
          readers.list.all(db, { ...filter, rejectsOf, size, offset }),
          readers.count.first(db, { ...filter, rejectsOf }),
        ],
  )
  return { reply: rows.map((row) => viewConnectionWithSettings(row, deps)), total: count?.total ?? 0 }
}
