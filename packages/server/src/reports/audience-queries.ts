import { statement } from '../db/statement.ts'

/** Statements of the report about audiences: a page of connections is picked first, then the measurements of two days of each. */

export type MeasuredRow = {
  id: string
  name: string
  measuredTime: Date | null
  problem: string | null
  dataKeyId: string | null
  firstDay: string | null
  firstSealed: Buffer | null
  lastDay: string | null
  lastSealed: Buffer | null
}
type Filter = { accountId: string; like: string | null; ids: readonly string[] | null }
type Days = { startDate: string; endDate: string }

const measured = `
  from connections c join audience_checks a on a.connection_id = c.id
  where c.account_id = :accountId and c.status <> 'deleted' and not c.account_deleted
    and (:ids::text[] is null or c.id = any(:ids)) and (:like::text is null or (c.name || '') ilike :like)`

const dayOf = (alias: string, order: 'asc' | 'desc') => `
  left join lateral (
    select to_char(m.day, 'YYYY-MM-DD') as day, m.sealed from audience_measures m
    where m.connection_id = p.id and m.day between :startDate::date and :endDate::date
    order by m.day ${order} limit 1
  ) ${alias} on true`

export const measuredConnections = statement<Filter & Days & { size: number; offset: number }, MeasuredRow>(`
  with p as materialized (
    select c.id, c.name, a.measured_time, a.problem ${measured}
    order by lower(c.name), c.id limit :size offset :offset
  )
  select p.id, p.name, p.measured_time, p.problem, s.data_key_id,
    f.day as first_day, f.sealed as first_sealed, l.day as last_day, l.sealed as last_sealed
  from p left join connection_states s on s.connection_id = p.id ${dayOf('f', 'asc')} ${dayOf('l', 'desc')}
  order by lower(p.name), p.id
`)
export const countMeasuredConnections = statement<Filter, { total: number }>(`select count(*) as total ${measured}`)
