import type { ConnectionDetails, ConnectionReport } from '@penstock/wire'
import { limits } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'

const shownDays = 30
const dayMs = 86_400_000

export type Day = { day: string; accepted: number; rejected: number }
export type Volume = { total: ConnectionReport['total']; days: Day[] }

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** What the connection moved in the last 30 days: each of them, and all together. Undefined until it is known. */
export function useVolume({ accountId, id, name }: ConnectionDetails): Volume | undefined {
  const today = dayOf(Date.now())
  const days = Array.from({ length: shownDays }, (_, ago) => dayOf(Date.parse(today) - (shownDays - 1 - ago) * dayMs))
  // Reports are of an account's connections, found by name; others may be called the same.
  const { data } = useRead(
    'reportConnections',
    { accountId, query: { startDate: days[0], endDate: today, q: name, size: limits.pageSizeMax } },
    { keep: true },
  )
  if (!data) return undefined
  const report = data.reply.find(({ connectionId }) => connectionId === id)
  const none = { read: 0, accepted: 0, rejected: 0, replayed: 0, bytes: 0 }
  return {
    total: report?.total ?? none,
    days: days.map((day) => {
      const { accepted, rejected } = report?.days.find((one) => one.day === day) ?? none
      return { day, accepted, rejected }
    }),
  }
}
