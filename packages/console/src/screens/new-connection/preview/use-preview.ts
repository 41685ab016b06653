import type { ResultOf } from '@penstock/client'
import type { BodyOf, ConnectionDetails } from '@penstock/wire'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keyOf, readOnce } from '../../../api/queries.ts'

/**
 * Previews the records of a connection's source. Platforms count reads, so records are read again only after a change.
 * A preview with other settings of the source is not shown for the current ones.
 * @param connection undefined: none is previewed yet
 * @param options.keep shows the one before while another is read
 */
export function usePreview(
  connection: Pick<ConnectionDetails, 'accountId' | 'id' | 'srcConnectionConfig'> | undefined,
  body: BodyOf<'previewConnection'>,
  enabled: boolean,
  { keep = false }: { keep?: boolean } = {},
): UseQueryResult<ResultOf<'previewConnection'>, Error> {
  const { accountId = '', id = '', srcConnectionConfig } = connection ?? {}
  const parameters = { accountId, id, body }
  return useQuery({
    queryKey: ['looked at', srcConnectionConfig, ...keyOf('previewConnection', parameters)],
    queryFn: () => readOnce('previewConnection', parameters, { fresh: true }),
    enabled: enabled && connection !== undefined,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}
