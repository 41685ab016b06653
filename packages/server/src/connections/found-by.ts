import type { Call } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { idsNamed } from '../connectors/connectors.ts'
import { containing } from '../db/like.ts'
import { statement } from '../db/statement.ts'

/** Sub-accounts with a text in their names; a text that more have finds connections by their own names only. */
const namedMax = 100
const findNamed = statement<
  { organizationId: string; accountIds: readonly string[] | null; like: string },
  { id: string }
>(`
  select id from accounts
  where organization_id = :organizationId and deleted_time is null and name ilike :like
    and (:accountIds::text[] is null or id = any(:accountIds::text[]))
  limit ${namedMax + 1}
`)

/** Finds a search text in the names of connectors, and in the names of sub-accounts if the list has several. */
export async function foundBy(
  { db, actor: { organizationId, accountIds }, account }: Pick<Call<'listConnections'>, 'db' | 'actor' | 'account'>,
  q: string | undefined,
  catalogue: Catalogue,
): Promise<{
  like: string | null
  connectorIds: readonly string[] | null
  /** Null: no sub-account, or too many. */
  namedAccountIds: readonly string[] | null
}> {
  const like = containing(q)
  const connectorIds = idsNamed(catalogue, q)
  if (like === null || account) return { like, connectorIds, namedAccountIds: null }
  const named = (await findNamed.all(db, { organizationId, accountIds, like })).map(({ id }) => id)
  return { like, connectorIds, namedAccountIds: named.length === 0 || named.length > namedMax ? null : named }
}
