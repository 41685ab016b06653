import type { ResultOf } from '@penstock/client'
import { limits } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead } from '../../api/queries.ts'

const againMs = 15_000
/** How many failing connections the overview groups. */
export const groupedMax = 100

/** The failing connections of a sub-account, or of the organization: as many as one page has. */
export const failingQuery = (accountId: string | undefined, size: number = limits.pageSizeMax) => ({
  accountId,
  query: { failing: true, size },
})

export function useFailing(
  accountId: string | undefined,
  { size, enabled = true }: { size?: number; enabled?: boolean } = {},
): UseQueryResult<ResultOf<'listAttention'>, Error> {
  return useRead('listAttention', failingQuery(accountId, size), { keep: true, againAfterMs: againMs, enabled })
}
