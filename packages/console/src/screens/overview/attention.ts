import type { Connection, Transfer } from '@penstock/wire'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { readOnce } from '../../api/queries.ts'
import { count } from '../../parts/numbers.ts'
import { overview as say } from '../../strings/overview.ts'
import { blamedSide } from '../run/blame.ts'

/** What does not go as it should, each with the one thing to do. */

/** Of each kind so many are named; how many more there are is told, with the way to them. */
const namedMax = 5
/** The unfinished are looked through for sides that are not configured, and the running transfers for errors. */
const soughtMax = 100
const againMs = 30_000

export type Kind = 'broken' | 'offline' | 'failed' | 'partial' | 'retrying' | 'unfinished' | 'connector'
export type Concern = {
  key: string
  kind: Kind
  /** What it is about, and where that is. */
  name: string
  to: string
  accountName: string | undefined
  why: string
  /** The one thing to do. */
  action: { label: string; to: string }
}
export type Attention = { concerns: Concern[]; more: { kind: Kind; n: number; to: string }[] }

export function useAttention(accountId: string | undefined): UseQueryResult<Attention, Error> {
  return useQuery({
    queryKey: ['attention', accountId],
    queryFn: () => readAttention(accountId),
    refetchInterval: againMs,
  })
}

async function readAttention(accountId: string | undefined): Promise<Attention> {
  const connectionsThatAre = (status: string, size: number) =>
    readOnce('listConnections', { accountId, query: { status, size } })
  const lastRunsThat = (status: Transfer['status'], size: number) =>
    readOnce('listAllTransfers', { accountId, query: { latest: true, status, size } })
  const [broken, offline, inProgress, failed, partial, running, connectors] = await Promise.all([
    connectionsThatAre('broken', namedMax),
    connectionsThatAre('offline', namedMax),
    connectionsThatAre('In-progress', soughtMax),
    lastRunsThat('failed', namedMax),
    lastRunsThat('partial', namedMax),
    lastRunsThat('running', soughtMax),
    accountId
      ? readOnce('listAddedConnectors', { accountId, query: { configured: false, size: namedMax } })
      : undefined,
  ])
  const unfinished = inProgress.reply.filter(({ src, dest }) => !src.configured || !dest.configured)
  const retrying = running.reply.filter(({ error }) => error !== null)
  const stuck = [...broken.reply, ...offline.reply]
  const reasons = await lastRunsOf(accountId, stuck)
  const known = new Set(stuck.map(({ id }) => id))
  // A connection that is broken is named once, though its last run failed too.
  const runs = [...failed.reply, ...retrying.slice(0, namedMax), ...partial.reply].filter(
    ({ connectionId }) => !known.has(connectionId),
  )
  const connectionsOfRuns = await Promise.all(
    runs.map(({ accountId, connectionId: id }) =>
      readOnce('getConnection', { accountId, id }).then(({ reply }) => reply),
    ),
  )
  const concerns = [
    ...stuck.map((connection) => ofStuck(connection, reasons.get(connection.id))),
    ...runs.flatMap((run, i) => ofRun(run, connectionsOfRuns[i])),
    ...unfinished.slice(0, namedMax).map(ofUnfinished),
  ]
  const named = await Promise.all(
    concerns.map(async ({ accountId: id, ...concern }) => ({
      ...concern,
      accountName: accountId ? undefined : (await readOnce('getAccount', { id })).reply.name,
    })),
  )
  const list = accountId ? `/accounts/${accountId}/connections` : '/connections'
  const more: Attention['more'] = [
    { kind: 'broken' as const, n: broken.total - broken.reply.length, to: `${list}?status=broken` },
    { kind: 'offline' as const, n: offline.total - offline.reply.length, to: `${list}?status=offline` },
    { kind: 'failed' as const, n: failed.total - failed.reply.length, to: list },
    { kind: 'retrying' as const, n: retrying.length - namedMax, to: list },
    { kind: 'partial' as const, n: partial.total - partial.reply.length, to: list },
    { kind: 'unfinished' as const, n: unfinished.length - namedMax, to: `${list}?status=In-progress` },
  ]
  if (accountId && connectors) {
    const to = `/accounts/${accountId}/connectors`
    for (const { connectorId, name } of connectors.reply) {
      const configure = `${to}?configure=${connectorId}`
      // What is to be done is said once.
      if (named.some(({ action }) => action.to === configure)) continue
      named.push({
        key: connectorId,
        kind: 'connector',
        name,
        to: configure,
        accountName: undefined,
        why: say.connectorWhy,
        action: { label: say.connectorDo(name), to: configure },
      })
    }
    more.push({ kind: 'connector', n: connectors.total - connectors.reply.length, to })
  }
  return { concerns: named, more: more.filter(({ n }) => n > 0) }
}

async function lastRunsOf(
  accountId: string | undefined,
  connections: readonly Connection[],
): Promise<Map<string, Transfer>> {
  if (connections.length === 0) return new Map()
  const connectionIds = connections.map(({ id }) => id).join(',')
  const { reply } = await readOnce('listAllTransfers', {
    accountId,
    query: { latest: true, connectionIds, size: connections.length },
  })
  return new Map(reply.map((run) => [run.connectionId, run]))
}

type Placed = Omit<Concern, 'accountName'> & { accountId: string }

const placeOf = ({ id, accountId, name }: Connection) => ({
  accountId,
  name,
  to: `/accounts/${accountId}/connections/${id}`,
})
const configureAt = (accountId: string, connectorId: string) =>
  `/accounts/${accountId}/connectors?configure=${connectorId}`

function ofStuck(connection: Connection, run: Transfer | undefined): Placed {
  const place = placeOf(connection)
  const isBroken = connection.status === 'broken'
  const error = run?.status === 'failed' ? run.error : null
  const end = blamedSide(connection, error)
  return {
    ...place,
    key: connection.id,
    kind: isBroken ? 'broken' : 'offline',
    why: error?.message ?? (isBroken ? say.brokenWhy : say.offlineWhy),
    action: end
      ? {
          label: (isBroken ? say.brokenDo : say.offlineDo)(end.connectorName),
          to: configureAt(connection.accountId, end.connectorId),
        }
      : { label: isBroken ? say.brokenDoUnknown : say.offlineDoUnknown, to: place.to },
  }
}

function ofRun(run: Transfer, connection: Connection | undefined): Placed[] {
  // What is deleted is over.
  if (!connection || connection.deleted) return []
  const place = placeOf(connection)
  const to = `${place.to}/runs/${run.id}`
  const named = { ...place, key: connection.id }
  if (run.status === 'partial') {
    const why = say.partialWhy(count(run.records.rejected), count(run.records.read))
    return [{ ...named, kind: 'partial', why, action: { label: say.partialDo, to } }]
  }
  const why = run.error?.message ?? say.failedWhy
  return run.status === 'failed'
    ? [{ ...named, kind: 'failed', why, action: { label: say.failedDo, to } }]
    : [{ ...named, kind: 'retrying', why, action: { label: say.retryingDo, to } }]
}

function ofUnfinished(connection: Connection): Placed {
  const end = connection.src.configured ? connection.dest : connection.src
  return {
    ...placeOf(connection),
    key: connection.id,
    kind: 'unfinished',
    why: say.unfinishedWhy(end.connectorName),
    action: { label: say.unfinishedDo(end.connectorName), to: configureAt(connection.accountId, end.connectorId) },
  }
}
