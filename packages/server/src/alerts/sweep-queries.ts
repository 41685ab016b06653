import type { AlertAmountName } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { behindOf } from '../streams/behind.ts'
import { newestOf } from './check-queries.ts'
import { columnOf } from './condition-columns.ts'

/** Statements that note connections which no trigger noted: time has passed, or a rule has changed. */

/**
 * Claims a due sweep under a lease: if this process dies, another one begins it again. Claims nothing while schedules are
 * paused after a restore.
 */
export const takeSweep = statement<{ leaseSeconds: number }, { name: string }>(`
  update alert_sweeps set next_time = now() + make_interval(secs => :leaseSeconds)
  where name = (
    select name from alert_sweeps where next_time <= now() order by next_time limit 1 for update skip locked
  ) and not exists (select from schedule_pauses where reason = 'restore')
  returning name
`)
/** Touches nothing where the sweep became due in the meantime: then it begins again. */
export const extendSweep = statement<{ name: string; leaseSeconds: number }>(`
  update alert_sweeps set next_time = now() + make_interval(secs => :leaseSeconds)
  where name = :name and next_time > now()
`)
/** Says when the sweep is due next, unless it is due already. */
export const repeatSweep = statement<{ name: string; nextTime: Date }>(`
  update alert_sweeps set next_time = :nextTime where name = :name and next_time > now()
`)
export const endSweep = statement<{ name: string }>(`
  delete from alert_sweeps where name = :name and next_time > now()
`)

/**
 * Notes everything that a rule covers or has an open incident of. Connections that the rule names are noted immediately. All
 * connections of a sub-account or of the organization are noted page by page.
 */
export const sweepRule = statement<{ id: string }>(`
  with rule as (select organization_id, account_id, connection_ids from alert_rules where id = :id),
  named as (insert into alert_checks (connection_id) select unnest(connection_ids) from rule),
  swept as (
    insert into alert_sweeps (name, next_time)
    select coalesce('account ' || account_id, 'organization ' || organization_id), now() from rule
    where connection_ids is null
    on conflict (name) do update set next_time = excluded.next_time
  )
  update alert_sweeps set next_time = now() where name = 'open and idle'
`)

/** Notes connections with an open incident, after one of them. It returns the last connection of the page. */
export const noteOpen = statement<{ after: string; limit: number }, { id: string | null }>(`
  with page as materialized (
    select distinct connection_id as id from alert_incidents
    where resolved_time is null and connection_id > :after order by connection_id limit :limit
  ),
  noted as (insert into alert_checks (connection_id) select id from page)
  select max(id) as id from page
`)

/** The next organization that has a rule of a kind. */
const nextWith = (name: AlertAmountName) =>
  statement<{ after: string }, { id: string | null }>(`
    select min(organization_id) as id from alert_rules where ${columnOf(name)} is not null and organization_id > :after
  `)
export const nextWithIdle = nextWith('noSuccessHours')
export const nextWithBehind = nextWith('behindMinutes')
export const nextWithVolume = nextWith('volumePercent')

const isOn = `status in ('active', 'broken', 'offline')`

type PageRow = { id: string; createdTime: string }
/**
 * Notes connections of a page. It returns the last connection of the page, with its time as a text because a Date would
 * truncate the time.
 * @param wanted identifiers of the rows of `page` to note; @param more tables and joins that find them
 */
const notePage = (scope: string, wanted = `select id from page where ${isOn}`, more = '') =>
  statement<{ scopeId: string; createdTime: string; after: string; limit: number }, PageRow>(`
    with page as materialized (
      select id, account_id, status, created_time from connections
      where ${scope} = :scopeId and not account_deleted and (created_time, id) < (:createdTime::text::timestamptz, :after)
      order by created_time desc, id desc limit :limit
    ),
    ${more}
    noted as (insert into alert_checks (connection_id) ${wanted})
    select id, created_time::text as created_time from page order by created_time, id limit 1
  `)

/** The lowest bound of the rules of an organization, for all of it, a sub-account, or a connection that is named. */
const lowest = (name: AlertAmountName) => `
    lowest as materialized (
      select coalesce(named.id, r.account_id, '') as covers, min(r.${columnOf(name)}) as bound
      from alert_rules r left join lateral unnest(r.connection_ids) as named (id) on true
      where r.organization_id = :scopeId and r.${columnOf(name)} is not null and r.enabled group by 1
    ),
    covered as materialized (
      select p.id, p.created_time, min(l.bound) as bound
      from page p cross join lateral (values (''), (p.account_id), (p.id)) as k (covers) join lowest l using (covers)
      where ${isOn} group by p.id, p.created_time
    ),`

/** Those without a success for as long as a rule allows. */
export const noteIdle = notePage(
  'organization_id',
  `select c.id from covered c left join lateral ${newestOf('succeeded', 'partial')} s on true
   where greatest(c.created_time, s.finished_time) < now() - make_interval(hours => c.bound)`,
  lowest('noSuccessHours'),
)
/** Connections that are behind their stream for as long as a rule allows. */
export const noteBehind = notePage(
  'organization_id',
  `select v.id from covered v
   cross join lateral (select id, src_configuration_id, src_config from connections where id = v.id limit 1) c
   cross join lateral (${behindOf('c')}) behind
   where behind.seconds >= v.bound * 60`,
  lowest('behindMinutes'),
)
/** Those whose volume a rule compares. */
export const noteVolumes = notePage('organization_id', 'select id from covered', lowest('volumePercent'))
export const noteOrganization = notePage('organization_id')
export const noteAccount = notePage('account_id')
