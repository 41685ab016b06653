import type { AccountReport } from '@penstock/wire'
import type { VolumeRow } from './queries.ts'

type Periods = Pick<AccountReport, 'total' | 'days' | 'months'>
type Volume = Periods['total']

const nothing: Volume = { read: 0, accepted: 0, rejected: 0, replayed: 0, bytes: 0 }

const add = (a: Volume, b: Volume): Volume => ({
  read: a.read + b.read,
  accepted: a.accepted + b.accepted,
  rejected: a.rejected + b.rejected,
  replayed: a.replayed + b.replayed,
  bytes: a.bytes + b.bytes,
})

/** Figures by day, by month and in total. */
export function viewPeriods(rows: readonly VolumeRow[]): Periods {
  const days = rows.map(({ id, ...day }) => day)
  const months = [...Map.groupBy(days, ({ day }) => day.slice(0, 7))].map(([month, ofMonth]) => ({
    month,
    ...ofMonth.reduce(add, nothing),
  }))
  return { total: days.reduce(add, nothing), days, months }
}
