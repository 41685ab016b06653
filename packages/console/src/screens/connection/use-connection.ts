import type { ResultOf } from '@penstock/client'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useParams } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { useAccount } from '../../shell/account.ts'
import { type Reasons, reasonsOf } from './reasons.ts'

const liveMs = 1_500
const idleMs = 10_000

export const isActive = (transfer: Pick<Transfer, 'status'> | undefined): boolean =>
  transfer?.status === 'queued' || transfer?.status === 'running'

/** How soon a list of transfers is read again: soon while one of them is active. For `againAfterMs`. */
export const againWhileActive = (result: { reply: readonly Transfer[] } | undefined): number =>
  result?.reply.some(isActive) ? liveMs : idleMs

/** The connection that the address names, with its latest transfer. */
export function useConnection(): {
  accountId: string
  connectionId: string
  query: UseQueryResult<ResultOf<'getConnection'>, Error>
  latest: UseQueryResult<ResultOf<'listTransfers'>, Error>
} {
  const { accountId = '', connectionId = '' } = useParams()
  const of = { accountId, id: connectionId }
  const query = useRead('getConnection', of, { againAfterMs: idleMs })
  const latest = useRead('listTransfers', { ...of, query: { size: 1 } }, { againAfterMs: againWhileActive })
  const moves = isActive(latest.data?.reply[0])
  useReadAgainAfter(moves)
  return { accountId, connectionId, query, latest }
}

/** What a transfer changes (status, figures, history) is read again once it has ended. */
export function useReadAgainAfter(moves: boolean): void {
  const queries = useQueryClient()
  const moved = useRef(moves)
  useEffect(() => {
    if (moved.current && !moves) void queries.invalidateQueries()
    moved.current = moves
  }, [moves, queries])
}

/** Why each action on a connection is impossible now. */
export function useReasons(connection: ConnectionDetails, latest: Transfer | undefined): Reasons {
  const { account } = useAccount()
  const { accountId, src, dest } = connection
  const source = useRead('getConnector', { accountId, id: src.connectorId })
  const destination = useRead('getConnector', { accountId, id: dest.connectorId })
  const sides = [source.data?.reply, destination.data?.reply]
  const forbidden = useForbiddenOf()
  const reasons = reasonsOf(connection, {
    accountEnabled: account?.enabled,
    entriesOnly: sides.flatMap((side) => (side && !side.integrated ? [side.name] : [])),
    active: isActive(latest),
  })
  const move = forbidden('updateConnectionStatus')
  return {
    run: forbidden('startTransfer') ?? reasons.run,
    activate: move ?? reasons.activate,
    enable: move ?? reasons.enable,
    disable: move ?? reasons.disable,
    delete: forbidden('deleteConnection') ?? reasons.delete,
    restore: forbidden('restoreConnection') ?? reasons.restore,
    edit: forbidden('updateConnection') ?? reasons.edit,
  }
}
