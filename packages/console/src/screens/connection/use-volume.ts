import type { ConnectionDetails } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { dayAfter, dayOf, everyDay } from '../../components/days.ts'
import { noVolume, type Volume } from '../../components/volume.ts'

const shownDays = 30

export type VolumeOfConnection = { total: Volume; periods: readonly string[]; days: ReadonlyMap<string, Volume> }

/** Records that the connection moved in the last 30 days: by day, and in total. Undefined until it is known. */
export function useVolumeOf({ accountId, id }: ConnectionDetails): VolumeOfConnection | undefined {
  const endDate = dayOf(Date.now())
  const startDate = dayAfter(endDate, 1 - shownDays)
  const query = { startDate, endDate, connectionIds: id }
  const { data } = useRead('reportConnections', { accountId, query }, { keep: true })
  if (!data) return undefined
  const [report] = data.reply
  return {
    total: report?.total ?? noVolume,
    periods: everyDay(startDate, endDate),
    days: new Map(report?.days.map(({ day, ...volume }) => [day, volume])),
  }
}
