import type { Call } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { idsNamed } from '../connectors/connectors.ts'
import { containing } from '../db/like.ts'
import { findNamed, namedMax } from './found-by-queries.ts'

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
