import type { ResultOf } from '@penstock/client'
import type { ConnectionDetails, Drift, Transfer } from '@penstock/wire'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useParams } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead, useReadIfAny } from '../../api/queries.ts'
import { refusesCredentials } from '../../components/standing.ts'
import { useAccount } from '../../shell/account.ts'
import { idleNames } from '../new-connection/settings.ts'
import { type Reasons, reasonsOf } from './reasons.ts'

const liveMs = 1_500
const idleMs = 10_000

export const isActive = (transfer: Pick<Transfer, 'status'> | undefined): boolean =>
  transfer?.status === 'queued' || transfer?.status === 'running'

/** How soon a list of transfers is read again: soon while one of them is active. For `againAfterMs`. */
export const againWhileActive = (result: { reply: readonly Transfer[] } | undefined): number =>
  result?.reply.some(isActive) ? liveMs : idleMs

/** The connection that the address names, with its newest transfer, which may be a test, and its latest one that is none. */
export function useConnection(): {
  accountId: string
  query: UseQueryResult<ResultOf<'getConnection'>, Error>
  newest: Transfer | undefined
  latest: Transfer | undefined
  /** Whether all was read, or could not be, that decides which parts the page has: what is shown before would move. */
  isRead: boolean
} {
  const { accountId = '', connectionId = '' } = useParams()
  const of = { accountId, id: connectionId }
  const query = useRead('getConnection', of, { againAfterMs: idleMs })
  const ofNewest = useRead('listTransfers', { ...of, query: { size: 1 } }, { againAfterMs: againWhileActive })
  const newest = ofNewest.data?.reply[0]
  const behindTest = useRead(
    'listAllTransfers',
    { accountId, query: { latest: true, connectionIds: connectionId } },
    { enabled: newest?.test ?? false },
  )
  const latest = newest?.test ? behindTest.data?.reply[0] : newest
  const schedule = useReadIfAny('getSchedule', of)
  const drift = useRead('getDrift', of, { enabled: isStoppedByColumns(latest) })
  useReadAgainAfter(isActive(newest))
  const isRead = ![query, ofNewest, behindTest, schedule, drift].some(({ isLoading }) => isLoading)
  return { accountId, query, newest, latest, isRead }
}

/** Whether a transfer, or tables of it, may have stopped since columns have changed. */
export const isStoppedByColumns = (transfer: Transfer | undefined): boolean =>
  transfer?.error?.code === 'columns_changed' || transfer?.error?.code === 'tables_failed'

/** Whether changed columns wait for a decision. */
export const hasWaitingColumns = (drift: Drift | undefined): boolean =>
  drift !== undefined && (drift.changes.length > 0 || (drift.tables?.length ?? 0) > 0)

/** Reads the status, figures and history again when a transfer has ended, since it changes them. */
export function useReadAgainAfter(moves: boolean): void {
  const queries = useQueryClient()
  const moved = useRef(moves)
  useEffect(() => {
    if (moved.current && !moves) void queries.invalidateQueries()
    moved.current = moves
  }, [moves, queries])
}

/** Why each action on a connection is impossible now. */
export function useReasons(connection: ConnectionDetails, newest: Transfer | undefined): Reasons {
  const { account } = useAccount()
  const { src, dest } = connection
  const source = useRead('getConnectorDefinition', { id: src.connectorId })
  const destination = useRead('getConnectorDefinition', { id: dest.connectorId })
  const forbidden = useForbiddenOf()
  const reasons = reasonsOf(connection, {
    accountEnabled: account?.enabled,
    entriesOnly: idleNames(source.data?.reply, destination.data?.reply),
    noRanges: source.data?.reply.source?.backfill === undefined ? source.data?.reply.name : undefined,
    active: isActive(newest),
    refused: refusesCredentials(newest),
  })
  const move = forbidden('updateConnectionStatus')
  return {
    run: forbidden('startTransfer') ?? reasons.run,
    test: forbidden('startTransfer') ?? reasons.test,
    backfill: forbidden('startTransfer') ?? reasons.backfill,
    activate: move ?? reasons.activate,
    enable: move ?? reasons.enable,
    disable: move ?? reasons.disable,
    delete: forbidden('deleteConnection') ?? reasons.delete,
    restore: forbidden('restoreConnection') ?? reasons.restore,
    duplicate: forbidden('createConnection') ?? reasons.duplicate,
    edit: forbidden('updateConnection') ?? reasons.edit,
  }
}
