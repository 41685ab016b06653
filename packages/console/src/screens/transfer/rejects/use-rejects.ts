import type { ResultOf } from '@penstock/client'
import { limits, type Reject, type RejectState, type Transfer } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import { useRead } from '../../../api/queries.ts'
import { useAddress } from '../../../components/address.ts'
import { isActive, useReadAgainAfter } from '../../connection/use-connection.ts'
import { type FieldOfRecord, groupsOf, isOfValues } from './groups.ts'

/** Rows that are read and grouped together. */
export const chunk = limits.pageSizeMax
const liveMs = 1_500
const activeMs = 3_000

type Rejects = UseQueryResult<ResultOf<'listRejects'>, Error>

/** The rejected rows of a transfer, from the row and for the search in the address. They follow a resend while it is active. */
export function useRejects(transfer: Transfer): { readonly query: Rejects; readonly q: string; readonly from: number } {
  const { value } = useAddress()
  const q = value('q').trim()
  const start = Number(value('from'))
  const from = Number.isSafeInteger(start) && start > 0 ? Math.floor(start / chunk) * chunk : 0
  return { query: useChunk(transfer, q, from), q, from }
}

/** The first rejected rows of a transfer, whatever the page searches for: for what a resend sends. */
export const useFirstRejects = (transfer: Transfer): readonly Reject[] => useChunk(transfer, '', 0).data?.reply ?? []

function useChunk(transfer: Transfer, q: string, from: number): Rejects {
  const { accountId, connectionId, id } = transfer
  const query = useRead(
    'listRejects',
    { accountId, id: connectionId, transferId: id, query: { size: chunk, offset: from, ...(q ? { q } : {}) } },
    {
      keep: true,
      againAfterMs: (result) => (isActive(transfer) ? activeMs : isSending(result?.reply) ? liveMs : 0),
    },
  )
  useReadAgainAfter(isSending(query.data?.reply))
  return query
}

const isSending = (rejects: readonly Reject[] = []): boolean => rejects.some(({ state }) => state === 'sending')

/** How many rows were accepted when they were resent; 0 until it is known. */
export function useResent({ accountId, connectionId, id, records, test }: Transfer): number {
  const { data } = useRead(
    'getReplayable',
    { accountId, id: connectionId, transferId: id },
    { enabled: records.rejected > 0 && !test },
  )
  return data?.reply.replayed ?? 0
}

/** Whether every rejected row was accepted when it was resent. */
export function useIsSettled(transfer: Transfer): boolean {
  const resent = useResent(transfer)
  return transfer.records.rejected > 0 && resent >= transfer.records.rejected
}

/** How many rows are in each state. */
export function countStates(rejects: readonly Reject[]): ReadonlyMap<RejectState, number> {
  const counts = new Map<RejectState, number>()
  for (const { state, count } of rejects) counts.set(state, (counts.get(state) ?? 0) + count)
  return counts
}

/**
 * Whether a correction is the next step, and not a resend: the values of rows are wrong, and no correction waits to be sent. So
 * the page has one primary action.
 */
export function isCorrectedFirst(
  rejects: readonly Reject[],
  columnOf: (fault: FieldOfRecord) => string | undefined,
): boolean {
  if (rejects.some(({ state }) => state === 'corrected')) return false
  const open = rejects.filter(({ editable, state }) => editable && state !== 'sending')
  return groupsOf(open, columnOf).some(isOfValues)
}

/** States of rows that a resend sends as they are. */
export const readyStates: readonly RejectState[] = ['waiting', 'rejected_again', 'corrected']
