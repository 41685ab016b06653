import type { ParametersOf } from '@penstock/client'
import type { Transfer } from '@penstock/wire'
import { useEffect, useState } from 'react'
import { readOnce, useRead } from '../../api/queries.ts'
import { type Place, useAddress } from '../../parts/address.ts'
import { pageSize } from '../../parts/pager.tsx'

/** How soon the list is read again while something of it runs, and while nothing does. */
const busyMs = 1_500
const quietMs = 15_000
/** The next page is read once this one has been there for as long, so that it does not compete with it. */
const aheadAfterMs = 300

const isUnderWay = ({ status }: Transfer) => status === 'queued' || status === 'running'

/** Reads the page of connections that an address names. */
export const readConnections = (accountId: string | undefined, place: Place) =>
  readOnce('listConnections', listOf(accountId, place))

/**
 * The page of connections that the address names, and the last run of each. Both stay current by themselves; the next
 * page is read ahead, so that it is there when it is asked for.
 */
export function useConnections(accountId: string | undefined) {
  const { value, page } = useAddress()
  const [isBusy, setBusy] = useState(false)
  const pageOf = (page: number) => listOf(accountId, { value, page })
  const connections = useRead('listConnections', pageOf(page), {
    keep: true,
    againAfterMs: isBusy ? busyMs : quietMs,
  })
  const connectionIds = connections.data?.reply.map(({ id }) => id).join(',') ?? ''
  const runs = useRead('listAllTransfers', runsOf(accountId, connectionIds), {
    enabled: connectionIds !== '',
    keep: true,
    againAfterMs: (result) => (result?.reply.some(isUnderWay) ? busyMs : quietMs),
  })
  const newest = runs.data?.reply
  useEffect(() => setBusy(newest?.some(isUnderWay) ?? false), [newest])

  const { isPlaceholderData } = connections
  const hasNext = !isPlaceholderData && (connections.data?.total ?? 0) > (page + 1) * pageSize
  const next = pageOf(page + 1)
  const nextKey = JSON.stringify(next)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the parameters do.
  useEffect(() => {
    if (!hasNext) return
    const ahead = setTimeout(() => {
      // What cannot be read ahead is read when it is asked for, and says then what is wrong.
      readOnce('listConnections', next)
        .then(({ reply }) => readOnce('listAllTransfers', runsOf(accountId, reply.map(({ id }) => id).join(','))))
        .catch(() => {})
    }, aheadAfterMs)
    return () => clearTimeout(ahead)
  }, [hasNext, nextKey])

  return { connections, runs: new Map(newest?.map((run) => [run.connectionId, run])) }
}

/** A page of the list as the address has it. */
const listOf = (accountId: string | undefined, { value, page }: Place): ParametersOf<'listConnections'> => ({
  accountId,
  query: {
    q: value('q') || undefined,
    status: value('status') || undefined,
    size: pageSize,
    offset: page * pageSize,
  },
})

const runsOf = (accountId: string | undefined, connectionIds: string): ParametersOf<'listAllTransfers'> => ({
  accountId,
  query: { latest: true, connectionIds, size: pageSize },
})
