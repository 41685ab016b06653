import type { Answer, Call } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { type AttentionRow, attentionOf, rankOf } from './queries.ts'
import { viewAttention } from './view.ts'

/** The connections that need attention, of a sub-account or of the organization: one statement, however many there are. */
export async function listAttention(
  {
    db,
    actor: { organizationId, accountIds },
    account,
    query: { reason, failing, size, offset },
  }: Call<'listAttention'>,
  { catalogue }: { readonly catalogue: Catalogue },
): Promise<Answer<'listAttention'>> {
  const rows = await attentionOf[account ? 'account' : accountIds ? 'accounts' : 'organization'].all(db, {
    organizationId,
    accountId: account?.id ?? null,
    accountIds,
    size,
    offset,
    reason: reason === undefined ? null : rankOf(reason),
    failing: failing ?? null,
  })
  return {
    reply: rows.filter((row): row is AttentionRow => row.id !== null).map((row) => viewAttention(row, catalogue)),
    total: rows[0]?.total ?? 0,
  }
}
