import type { UseQueryResult } from '@tanstack/react-query'
import { useRead } from '../../api/queries.ts'
import type { Volume, VolumeOf } from '../../components/volume.ts'

export type Reports = { reply: { id: string; name: string; total: Volume }[]; total: number }

/** A page of what is reported: the connections of a sub-account, or the sub-accounts. */
export function useReports(
  { accountId = '', ...days }: VolumeOf,
  page: { size: number; offset: number },
): UseQueryResult<Reports, Error> {
  const query = { ...days, ...page }
  const ofConnections = useRead('reportConnections', { accountId, query }, { enabled: accountId !== '', keep: true })
  const ofAccounts = useRead('reportAccounts', { query }, { enabled: accountId === '', keep: true })
  const entriesOfConnections = ofConnections.data && {
    total: ofConnections.data.total,
    reply: ofConnections.data.reply.map(({ connectionId: id, connectionName: name, total }) => ({ id, name, total })),
  }
  const entriesOfAccounts = ofAccounts.data && {
    total: ofAccounts.data.total,
    reply: ofAccounts.data.reply.map(({ accountId: id, accountName: name, total }) => ({ id, name, total })),
  }
  return accountId === ''
    ? ({ ...ofAccounts, data: entriesOfAccounts } as UseQueryResult<Reports, Error>)
    : ({ ...ofConnections, data: entriesOfConnections } as UseQueryResult<Reports, Error>)
}
