import type { ResultOf } from '@penstock/client'
import type { BodyOf } from '@penstock/wire'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf, readOnce } from '../../api/queries.ts'

/**
 * Looks at the records of a connection's source. Platforms count what is read of them, so nothing is read again by itself
 * but after a change.
 */
export function usePreview(
  connection: { accountId: string; id: string },
  body: BodyOf<'previewConnection'>,
  enabled: boolean,
): UseQueryResult<ResultOf<'previewConnection'>, Error> {
  const parameters = { ...connection, body }
  return useQuery({
    queryKey: ['looked at', ...keyOf('previewConnection', parameters)],
    queryFn: () => readOnce('previewConnection', parameters),
    enabled,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}
