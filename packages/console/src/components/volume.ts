import type { ParametersOf } from '@penstock/client'
import type { ConnectionReport } from '@penstock/wire'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { queryClient, readEveryPage } from '../api/queries.ts'

/** Volume summed over many sub-accounts or connections, from the reports. */

export type Volume = ConnectionReport['total']
export type Report = Pick<ConnectionReport, 'total' | 'days' | 'months'>
export type VolumeSum = {
  total: Volume
  /** By day, and by month; those without volume are left out. */
  days: ReadonlyMap<string, Volume>
  months: ReadonlyMap<string, Volume>
}
export type VolumeOf = { accountId: string | undefined; startDate: string; endDate: string; q?: string | undefined }

const sizeMax = 500
const staleMs = 30_000
/** Rows that were rejected and not accepted since. Rows that were resent may have been rejected before the period. */
export const stillRejected = ({ rejected, replayed }: Volume): number => Math.max(0, rejected - replayed)
export const noVolume: Volume = { read: 0, accepted: 0, rejected: 0, replayed: 0, bytes: 0 }

/** The sum over everything that fits; the days of it are many and are kept as sums alone. */
export function useVolume(of: VolumeOf, { enabled = true } = {}): UseQueryResult<VolumeSum, Error> {
  return useQuery({ ...queryOf(of), enabled })
}

/** Reads it ahead for a screen that shows it. */
export const readVolumeOnce = (of: VolumeOf): Promise<VolumeSum> => queryClient.fetchQuery(queryOf(of))

const queryOf = (of: VolumeOf) => ({
  queryKey: ['volume', of],
  queryFn: () => readVolume(of),
  staleTime: staleMs,
})

type Entry = { id: string; name: string; report: Report }

/** Walks the reports of all sub-accounts, or of all connections of one. */
export async function* everyReport({ accountId, ...days }: VolumeOf): AsyncGenerator<Entry, void, undefined> {
  const query = { ...days, size: sizeMax }
  if (!accountId) return yield* everyAccount(query)
  for await (const { reply } of readEveryPage('reportConnections', { accountId, query })) {
    for (const report of reply) yield { id: report.connectionId, name: report.connectionName, report }
  }
}

async function* everyAccount(query: NonNullable<ParametersOf<'reportAccounts'>['query']>): AsyncGenerator<Entry, void> {
  for await (const { reply } of readEveryPage('reportAccounts', { query })) {
    for (const report of reply) yield { id: report.accountId, name: report.accountName, report }
  }
}

async function readVolume(of: VolumeOf): Promise<VolumeSum> {
  const { accountId, q, ...period } = of
  // A sub-account is reported as a whole, however many connections it has.
  const reports = accountId && !q ? everyAccount({ ...period, accountIds: accountId }) : everyReport(of)
  const days = new Map<string, Volume>()
  const months = new Map<string, Volume>()
  let total = noVolume
  for await (const { report } of reports) {
    total = sum(total, report.total)
    for (const { day, ...volume } of report.days) days.set(day, sum(days.get(day) ?? noVolume, volume))
    for (const { month, ...volume } of report.months) months.set(month, sum(months.get(month) ?? noVolume, volume))
  }
  return { total, days, months }
}

export const sum = (a: Volume, b: Volume): Volume => ({
  read: a.read + b.read,
  accepted: a.accepted + b.accepted,
  rejected: a.rejected + b.rejected,
  replayed: a.replayed + b.replayed,
  bytes: a.bytes + b.bytes,
})
