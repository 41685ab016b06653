import { type ConnectionDetails, limits } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { dayAfter, dayOf, everyDay } from '../../parts/days.ts'
import { noVolume, type Volume } from '../../parts/volume.ts'

const shownDays = 30

export type VolumeOfConnection = { total: Volume; periods: readonly string[]; days: ReadonlyMap<string, Volume> }

/** What the connection moved in the last 30 days: each of them, and all together. Undefined until it is known. */
export function useVolumeOf({ accountId, id, name }: ConnectionDetails): VolumeOfConnection | undefined {
  const endDate = dayOf(Date.now())
  const startDate = dayAfter(endDate, 1 - shownDays)
  // Reports are of an account's connections, found by name; others may be called the same.
  const query = { startDate, endDate, q: name, size: limits.pageSizeMax }
  const { data } = useRead('reportConnections', { accountId, query }, { keep: true })
  if (!data) return undefined
  const report = data.reply.find(({ connectionId }) => connectionId === id)
  return {
    total: report?.total ?? noVolume,
    periods: everyDay(startDate, endDate),
    days: new Map(report?.days.map(({ day, ...volume }) => [day, volume])),
  }
}
