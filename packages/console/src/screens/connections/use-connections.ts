import type { ParametersOf } from '@penstock/client'
import {
  type Connection,
  type ConnectionLabels,
  connectionOrders,
  type ScheduleEntry,
  type Transfer,
} from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { foundOf, pageSize } from '../../components/pager.tsx'
import { failingQuery } from '../failing/use-failing.ts'

/** How soon the list is read again while something of it transfers, and while nothing does. */
const busyMs = 1_500
const quietMs = 15_000
/** The next page is read once this one has been there for as long, so that it does not compete with it. */
const aheadAfterMs = 300

/** Lists of connections by how they are doing: failing, or with rejected rows in the newest transfer. */
export const endings = ['failing', 'transfer_partial'] as const
export type Ending = (typeof endings)[number]
export function endingOf({ value }: ListAddress): Ending | undefined {
  // Saved addresses may have the former name.
  const asked = value('last') === 'transfer_failed' ? 'failing' : value('last')
  return endings.find((one) => one === asked)
}

/** A row of the list; the volume is only known in the list of all. */
export type Listed = Pick<Connection, 'id' | 'accountId' | 'name' | 'status' | 'src' | 'dest'> & Partial<Connection>
type Page = UseQueryResult<{ reply: readonly Listed[]; total: number }, Error>

const isActive = ({ status }: Transfer) => status === 'queued' || status === 'running'

/** Reads the page of connections that an address names. */
export const readConnections = (accountId: string | undefined, place: ListAddress) => {
  const ending = endingOf(place)
  if (ending === 'failing') return readOnce('listAttention', failingQuery(accountId))
  return ending
    ? readOnce('listAttention', endedOf(accountId, place.page))
    : readOnce('listConnections', listOf(accountId, place))
}

/**
 * The page of connections that the address names, with the newest transfer and the schedule of each. All are refreshed; the
 * next page is read ahead, so that it is shown at once.
 */
export function useConnections(accountId: string | undefined): {
  connections: Page
  transfers: ReadonlyMap<string, Transfer>
  schedules: ReadonlyMap<string, ScheduleEntry>
  labels: ReadonlyMap<string, ConnectionLabels>
} {
  const { value, page } = useAddress()
  const ending = endingOf({ value, page })
  const [isBusy, setBusy] = useState(false)
  const againAfterMs = isBusy ? busyMs : quietMs
  const pageOf = (page: number) => listOf(accountId, { value, page })
  const all = useRead('listConnections', pageOf(page), { keep: true, againAfterMs, enabled: !ending })
  const ended = useRead('listAttention', endedOf(accountId, page), {
    keep: true,
    againAfterMs,
    enabled: ending === 'transfer_partial',
  })
  const connections: Page = ending ? ended : all
  const connectionIds = connections.data?.reply.map(({ id }) => id).join(',') ?? ''
  const { data } = useRead('listAllTransfers', transfersOf(accountId, connectionIds), {
    enabled: connectionIds !== '',
    keep: true,
    againAfterMs: (result) => (result?.reply.some(isActive) ? busyMs : quietMs),
  })
  const { data: scheduled } = useRead('listSchedules', schedulesOf(accountId, connectionIds), {
    enabled: useForbidden('listSchedules') === undefined && connectionIds !== '',
    keep: true,
    againAfterMs: quietMs,
  })
  const { data: labelled } = useRead('listConnectionLabels', schedulesOf(accountId, connectionIds), {
    enabled: connectionIds !== '',
    keep: true,
    againAfterMs: quietMs,
  })
  const newest = data?.reply
  useEffect(() => setBusy(newest?.some(isActive) ?? false), [newest])

  const { isPlaceholderData } = connections
  const hasNext = !ending && !isPlaceholderData && (connections.data?.total ?? 0) > (page + 1) * pageSize
  const next = pageOf(page + 1)
  const nextKey = JSON.stringify(next)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all that the parameters do.
  useEffect(() => {
    if (!hasNext) return
    const ahead = setTimeout(() => {
      // If reading ahead fails, the list is read when it is opened, and reports the error then.
      readOnce('listConnections', next)
        .then(({ reply }) => {
          const connectionIds = reply.map(({ id }) => id).join(',')
          return Promise.all([
            readOnce('listAllTransfers', transfersOf(accountId, connectionIds)),
            readOnce('listSchedules', schedulesOf(accountId, connectionIds)),
            readOnce('listConnectionLabels', schedulesOf(accountId, connectionIds)),
          ])
        })
        .catch(() => {})
    }, aheadAfterMs)
    return () => clearTimeout(ahead)
  }, [hasNext, nextKey])

  const transfers = useMemo(() => new Map(newest?.map((transfer) => [transfer.connectionId, transfer])), [newest])
  const schedules = useMemo(
    () => new Map(scheduled?.reply.map((schedule) => [schedule.connectionId, schedule])),
    [scheduled],
  )
  const labels = useMemo(() => new Map(labelled?.reply.map((one) => [one.connectionId, one])), [labelled])
  return { connections, transfers, schedules, labels }
}

/** How many connections ended so; undefined while it is not known. */
export function useEnded(accountId: string | undefined, ending: Ending): number | undefined {
  const query = ending === 'failing' ? { failing: true, size: 1 } : { reason: ending, size: 1 }
  return useRead('listAttention', { accountId, query }, { keep: true, againAfterMs: quietMs }).data?.total
}

/** A page of the list as the address has it. */
const listOf = (accountId: string | undefined, address: ListAddress): ParametersOf<'listConnections'> => ({
  accountId,
  query: {
    ...foundOf(address),
    status: address.value('status') || undefined,
    tags: address.value('tags') || undefined,
    owner: /^(?:[0-9a-f]{16}|none)$/.test(address.value('owner')) ? address.value('owner') : undefined,
    sort: connectionOrders.find((order) => order === address.value('sort')),
  },
})

const endedOf = (accountId: string | undefined, page: number): ParametersOf<'listAttention'> => ({
  accountId,
  query: { reason: 'transfer_partial', size: pageSize, offset: page * pageSize },
})

const transfersOf = (accountId: string | undefined, connectionIds: string): ParametersOf<'listAllTransfers'> => ({
  accountId,
  query: { latest: true, connectionIds, size: pageSize },
})

const schedulesOf = (accountId: string | undefined, connectionIds: string): ParametersOf<'listSchedules'> => ({
  accountId,
  query: { connectionIds, size: pageSize },
})
