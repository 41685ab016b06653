import {
  type Client,
  everyPage,
  NoAnswerError,
  type PagedOperationId,
  type ParametersOf,
  PenstockError,
  type ResultOf,
} from '@penstock/client'
import type { ConnectorDefinition, OperationId } from '@penstock/wire'
import {
  keepPreviousData,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useRef } from 'react'
import { readDefinitionsBy } from './definitions.ts'
import { client, sessionStore } from './session.ts'
import { viewOfPage } from './view.ts'
import { showWritten } from './written.ts'

/** How screens read and write: by the names of the contract's operations, and in no other way. */

const staleMs = 5_000
const retriesMax = 2

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: staleMs,
      refetchOnWindowFocus: true,
      // Refusals are not retried. An unavailable service is.
      retry: (failures, error) =>
        failures < retriesMax &&
        (error instanceof NoAnswerError || (error instanceof PenstockError && error.status >= 500)),
    },
  },
})

// Data that one client has read is not shown to the next one.
let reader = sessionStore.read()
sessionStore.subscribe(() => {
  if (sessionStore.read() === reader) return
  reader = sessionStore.read()
  queryClient.clear()
})

type Reading<I extends OperationId> = {
  /** False: nothing is read yet. */
  enabled?: boolean
  /** Reads again in this time, in milliseconds, after an answer of which this says so; 0: never. */
  againAfterMs?: number | ((result: ResultOf<I> | undefined) => number)
  /** Shows what was there until what is asked for now has come: for lists whose filter changes. */
  keep?: boolean
}

type Call<I extends OperationId> = (parameters: ParametersOf<I>) => Promise<ResultOf<I>>
const call = <I extends OperationId>(operation: I, parameters: ParametersOf<I>): Promise<ResultOf<I>> =>
  (caller[operation] as unknown as Call<I>)(parameters)

let caller: Client = client
/** From now on calls are made by another client than that of the session: the page of a connect link has a token of its own. */
export function callBy(other: Client): void {
  caller = other
}

/** Key of a query in the cache; use it to read or to drop the result. */
export const keyOf = <I extends OperationId>(operation: I, parameters?: ParametersOf<I>): unknown[] =>
  parameters === undefined ? [operation] : [operation, parameters]

readDefinitionsBy(() =>
  queryClient
    .getQueriesData<{ reply: ConnectorDefinition }>({ queryKey: keyOf('getConnectorDefinition') })
    .flatMap(([, data]) => (data ? [data.reply] : [])),
)

/** Calls an operation that reads, and keeps its result for every part of the page that asks for the same. */
export function useRead<I extends OperationId>(
  operation: I,
  parameters: ParametersOf<I>,
  { enabled = true, againAfterMs = 0, keep = false }: Reading<I> = {},
): UseQueryResult<ResultOf<I>, Error> {
  return useQuery<ResultOf<I>, Error>({
    queryKey: keyOf(operation, parameters),
    queryFn: ({ signal }) => call(operation, { ...parameters, signal }),
    enabled,
    refetchInterval: ({ state }) =>
      (typeof againAfterMs === 'function' ? againAfterMs(state.data) : againAfterMs) || false,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
}

/**
 * The same for what may not exist: null if there is none, which is kept as an answer is. Every part of the page that reads the
 * operation reads it this way.
 */
export function useReadIfAny<I extends OperationId>(
  operation: I,
  parameters: ParametersOf<I>,
  { againAfterMs = 0 }: { againAfterMs?: number } = {},
): UseQueryResult<ResultOf<I> | null, Error> {
  return useQuery<ResultOf<I> | null, Error>({
    ...queryIfAny(operation, parameters),
    refetchInterval: againAfterMs || false,
  })
}

const queryIfAny = <I extends OperationId>(operation: I, parameters: ParametersOf<I>) => ({
  queryKey: keyOf(operation, parameters),
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<ResultOf<I> | null> =>
    call(operation, { ...parameters, signal }).catch(nullIfNone),
})

function nullIfNone(error: unknown): null {
  if (error instanceof PenstockError && error.code === 'not_found') return null
  throw error
}

/** The service keeps the answer of a platform as long. */
const discoveryStaleMs = 120_000

/**
 * Lists the values that a platform has for a setting, page by page as far as the user asks. `refresh` has the service ask the
 * platform again.
 */
export function useDiscovered(
  { body, ...of }: ParametersOf<'discoverValues'>,
  { enabled = true }: { enabled?: boolean } = {},
) {
  const isFresh = useRef(false)
  const query = useInfiniteQuery({
    queryKey: keyOf('discoverValues', { ...of, body }),
    queryFn: ({ signal, pageParam: cursor }) =>
      call('discoverValues', {
        ...of,
        body: {
          ...body,
          ...(body.field === 'columns' && { view: viewOfPage }),
          ...(cursor === undefined ? {} : { cursor }),
          ...(isFresh.current ? { fresh: true } : {}),
        },
        signal,
      }),
    enabled,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ reply }) => reply.next ?? undefined,
    staleTime: discoveryStaleMs,
    refetchOnWindowFocus: false,
  })
  const pages = query.data?.pages ?? []
  const refresh = () => {
    isFresh.current = true
    void query.refetch().finally(() => {
      isFresh.current = false
    })
  }
  return { query, items: pages.flatMap(({ reply }) => reply.items), time: pages[0]?.reply.discoveredTime, refresh }
}

/**
 * Reads once, outside of a render; the result is kept as that of `useRead` is.
 * @param options `fresh`: reads although it was read just before
 */
export function readOnce<I extends OperationId>(
  operation: I,
  parameters: ParametersOf<I>,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<ResultOf<I>> {
  return queryClient.fetchQuery<ResultOf<I>, Error>({
    queryKey: keyOf(operation, parameters),
    queryFn: ({ signal }) => call(operation, { ...parameters, signal }),
    ...(fresh ? { staleTime: 0 } : {}),
  })
}

/** The result of an operation that was read before, if it is still kept. */
export const kept = <I extends OperationId>(operation: I, parameters: ParametersOf<I>): ResultOf<I> | undefined =>
  queryClient.getQueryData<ResultOf<I>>(keyOf(operation, parameters))

/** Reads once what may not exist; the result is kept as that of `useReadIfAny` is. */
export const readOnceIfAny = <I extends OperationId>(
  operation: I,
  parameters: ParametersOf<I>,
): Promise<ResultOf<I> | null> => queryClient.fetchQuery<ResultOf<I> | null, Error>(queryIfAny(operation, parameters))

/** Reads once, and keeps nothing of it. */
export const readNow = <I extends OperationId>(operation: I, parameters: ParametersOf<I>): Promise<ResultOf<I>> =>
  call(operation, parameters)

/** Reads a list page by page to its end, and keeps nothing of it: for sums and downloads. */
export function readEveryPage<I extends PagedOperationId>(
  operation: I,
  parameters: ParametersOf<I>,
): AsyncGenerator<ResultOf<I>, void, undefined> {
  return (everyPage as EveryPage<I>)(client, operation, parameters)
}
type EveryPage<I extends PagedOperationId> = (
  client: Client,
  operation: I,
  parameters: ParametersOf<I>,
) => AsyncGenerator<ResultOf<I>, void, undefined>

/** Reads that ask platforms, or walk through all reports: they are read again, but no button waits for them. */
const slow: readonly unknown[] = ['discoverValues', 'volume']
/** After so long, a button waits no more: the write was done, and its reply is shown. */
const waitMs = 1_000

/** Reads everything again after a write. A first read that is still active began before it, so it is repeated too. */
async function readAgain(queries: QueryClient): Promise<void> {
  const begun = queries.getQueryCache().findAll({
    predicate: ({ state }) => state.fetchStatus === 'fetching' && state.data === undefined,
  })
  const again = begun.map(async ({ queryKey, promise }) => {
    await promise?.catch(() => undefined)
    await queries.invalidateQueries({ queryKey, exact: true })
  })
  void queries.invalidateQueries({ predicate: ({ queryKey: [of] }) => slow.includes(of) })
  const others = queries.invalidateQueries({ predicate: ({ queryKey: [of] }) => !slow.includes(of) })
  await Promise.race([Promise.all([others, ...again]), new Promise((done) => setTimeout(done, waitMs))])
}

/**
 * Calls an operation that writes, and shows its reply at once. Whatever was read before is read again: what one write changes, the
 * service knows.
 */
export function useWrite<I extends OperationId>(operation: I): UseMutationResult<ResultOf<I>, Error, ParametersOf<I>> {
  const queries = useQueryClient()
  return useMutation<ResultOf<I>, Error, ParametersOf<I>>({
    mutationFn: (parameters) => call(operation, parameters),
    onSuccess: (result, parameters) => showWritten(queries, operation, parameters, result),
    onSettled: () => readAgain(queries),
  })
}
