import type { ParametersOf } from '@penstock/client'
import type { Transfer } from '@penstock/wire'
import { useEffect, useMemo, useState } from 'react'
import { readOnce, useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { foundOf, pageSize } from '../../components/pager.tsx'

/** How soon the list is read again while something of it transfers, and while nothing does. */
const busyMs = 1_500
const quietMs = 15_000
/** The next page is read once this one has been there for as long, so that it does not compete with it. */
const aheadAfterMs = 300

const isActive = ({ status }: Transfer) => status === 'queued' || status === 'running'

/** Reads the page of connections that an address names. */
export const readConnections = (accountId: string | undefined, place: ListAddress) =>
  readOnce('listConnections', listOf(accountId, place))

/**
 * The page of connections that the address names, and the last transfer of each. Both are refreshed; the next page is read
 * ahead, so that it is shown at once.
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
  const { data } = useRead('listAllTransfers', transfersOf(accountId, connectionIds), {
    enabled: connectionIds !== '',
    keep: true,
    againAfterMs: (result) => (result?.reply.some(isActive) ? busyMs : quietMs),
  })
  const newest = data?.reply
  useEffect(() => setBusy(newest?.some(isActive) ?? false), [newest])

  const { isPlaceholderData } = connections
  const hasNext = !isPlaceholderData && (connections.data?.total ?? 0) > (page + 1) * pageSize
  const next = pageOf(page + 1)
  const nextKey = JSON.stringify(next)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the parameters do.
  useEffect(() => {
    if (!hasNext) return
    const ahead = setTimeout(() => {
      // If reading ahead fails, the list is read when it is opened, and reports the error then.
      readOnce('listConnections', next)
        .then(({ reply }) => readOnce('listAllTransfers', transfersOf(accountId, reply.map(({ id }) => id).join(','))))
        .catch(() => {})
    }, aheadAfterMs)
    return () => clearTimeout(ahead)
  }, [hasNext, nextKey])

  const transfers = useMemo(() => new Map(newest?.map((transfer) => [transfer.connectionId, transfer])), [newest])
  return { connections, transfers }
}

/** A page of the list as the address has it. */
const listOf = (accountId: string | undefined, address: ListAddress): ParametersOf<'listConnections'> => ({
  accountId,
  query: { ...foundOf(address), status: address.value('status') || undefined },
})

const transfersOf = (accountId: string | undefined, connectionIds: string): ParametersOf<'listAllTransfers'> => ({
  accountId,
  query: { latest: true, connectionIds, size: pageSize },
})
