import { type AccountFiguresOrder, type AlertReason, accountFiguresOrders } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements of the figures of sub-accounts and of the whole organization. */

type Scope = {
  organizationId: string
  /** The sub-accounts that the actor is limited to. Null means all. */
  accountIds: readonly string[] | null
}
export type FiguresFilter = Scope & {
  like: string | null
  /** Whether to list sub-accounts with failing connections. Null means every sub-account. */
  failing: boolean | null
  sort: AccountFiguresOrder
  /** Whether the actor can see incidents. */
  incidents: boolean
}

export type ConnectionFigures = { failing: number; active: number; draft: number; disabled: number }
export type AccountFiguresRow = ConnectionFigures & {
  /** Of all pages. */
  total: number
  id: string
  name: string
  enabled: boolean
  rows: number
  openIncidents: number
  /** Null if the sub-account has no incident, with all that follows. */
  incidentId: string | null
  ruleName: string
  connectionId: string
  connectionName: string
  reasons: AlertReason[]
  errorCode: string | null
  openedTime: Date
  resolvedTime: Date | null
  acknowledgedTime: Date | null
}
/** An empty page returns one row with only the total. */
type TotalRow = { total: number; id: null }

/** Open incidents of a sub-account are counted up to this number. */
const incidentsCountedMax = 1_000

const rowsOf = (table: string) =>
  `case when ${table}.volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM') then ${table}.monthly_volume else 0 end`
const isVisible = (accounts: string) => (accounts === '' ? '' : 'and i.rule_account_id = any(:accountIds)')

/**
 * Failing connections, each once, with their sub-accounts: found by indexes that hold only broken and offline
 * connections, and only the newest transfers that failed.
 */
const failing = (accounts: string) => `
  failing as (
    select account_id, count(*) as failing, count(*) filter (where status = 'active') as failing_active
    from (
      select account_id, status from connections
      where organization_id = :organizationId ${accounts} and status in ('broken', 'offline') and not account_deleted
      union all
      select c.account_id, c.status
      from (
        select connection_id from transfers
        where organization_id = :organizationId ${accounts} and latest and status = 'failed'
      ) t
      cross join lateral (
        select account_id, status from connections
        where id = t.connection_id and status = 'active' and not account_deleted limit 1
      ) c
    ) wrong
    group by account_id
  )`

/** Sub-accounts of the scope with the counts of their connections, `k`, and their failing connections, `f`. */
const accountsOf = (limited: string, joined = '') => `
  accounts a
  join connection_counts k on k.account_id = a.id
  left join failing f on f.account_id = a.id
  ${joined}
  where a.organization_id = :organizationId ${limited} and a.deleted_time is null`

const states = `
  coalesce(f.failing, 0) as failing, k.active - coalesce(f.failing_active, 0) as active, k.in_progress as draft, k.disabled`

/** The newest open incident of a sub-account, otherwise the newest resolved one: each by the index of its incidents. */
const lastIncident = (account: string, accounts: string, columns: string) => `
  left join lateral (
    select ${columns} from alert_incidents i
    where i.account_id = ${account} and :incidents ${isVisible(accounts)}
    order by (i.resolved_time is not null), i.opened_time desc, i.id desc limit 1
  )`

const orders: Readonly<Record<string, string>> = {
  name: 'lower(a.name)',
  failing: 'coalesce(f.failing, 0)',
  connections: 'k.active + k.in_progress + k.disabled + k.broken + k.offline',
  rows: rowsOf('a'),
  incident: "coalesce(last.opened_time, '-infinity')",
}

/**
 * A page and its total in one statement. It reads all sub-accounts of the organization, whose number is limited, and its
 * failing connections. It reads incidents and names only for the page. `sort=incident` looks up one incident for each
 * sub-account.
 */
const listOf = (sort: AccountFiguresOrder, limited: string, accounts: string) => {
  const key = sort.replace('-', '')
  const direction = sort.startsWith('-') ? 'desc' : 'asc'
  const last = key === 'incident' ? `${lastIncident('a.id', accounts, 'i.opened_time')} last on true` : ''
  return statement<FiguresFilter & { size: number; offset: number }, AccountFiguresRow | TotalRow>(`
    with ${failing(accounts)},
    found as materialized (
      select a.id, a.name, a.enabled, ${states}, ${rowsOf('a')} as rows, ${orders[key]} as sorted_by
      from ${accountsOf(limited, last)} and (:like::text is null or a.name ilike :like)
        and (:failing::boolean is null or (f.failing is not null) = :failing)
    ),
    page as (
      select * from found order by sorted_by ${direction}, lower(name), id limit :size offset :offset
    )
    select counted.total, p.id, p.name, p.enabled, p.failing, p.active, p.draft, p.disabled, p.rows, o.open_incidents,
      i.id as incident_id, r.name as rule_name, i.connection_id, c.name as connection_name, i.reasons, i.error_code,
      i.opened_time, i.resolved_time, i.acknowledged_time
    from (select count(*) as total from found) counted
    left join page p on true
    ${lastIncident('p.id', accounts, 'i.*')} i on true
    left join lateral (
      select count(*) as open_incidents from (
        select from alert_incidents i
        where i.account_id = p.id and (i.resolved_time is not null) = false and :incidents ${isVisible(accounts)}
        limit ${incidentsCountedMax}
      ) open
    ) o on true
    left join lateral (select name from alert_rules where id = i.rule_id limit 1) r on true
    left join lateral (select name from connections where id = i.connection_id limit 1) c on true
    order by p.sorted_by ${direction}, lower(p.name), p.id
  `)
}

const ofAll = ['', ''] as const
const ofSome = ['and a.id = any(:accountIds)', 'and account_id = any(:accountIds)'] as const
const listsOf = ([limited, accounts]: readonly [string, string]) =>
  new Map(accountFiguresOrders.map((sort) => [sort, listOf(sort, limited, accounts)]))
const lists = { all: listsOf(ofAll), some: listsOf(ofSome) }

/** Picks the statement of a list: one plan would not fit all. */
export function figuresList({ sort, accountIds }: FiguresFilter) {
  const list = lists[accountIds === null ? 'all' : 'some'].get(sort)
  if (!list) throw new Error(`No list of figures is sorted by ${sort}`)
  return list
}

export type UsageRow = ConnectionFigures & {
  accounts: number
  failingAccounts: number
  rows: number
  openIncidents: number
  /** When the oldest open incident began. */
  since: Date | null
}
const usageOf = ([limited, accounts]: readonly [string, string]) => {
  const rows =
    limited === ''
      ? `(select coalesce(sum(r.rows), 0)::bigint from organization_rows r
          where r.organization_id = :organizationId and r.month = to_char(now() at time zone 'UTC', 'YYYY-MM'))`
      : `coalesce(sum(${rowsOf('a')}), 0)::bigint`
  const total = (sum: string) => `coalesce(sum(${sum}), 0)::bigint`
  return statement<Scope & { incidents: boolean }, UsageRow>(`
    with ${failing(accounts)},
    of_accounts as (
      select count(*) as accounts, count(f.failing) as failing_accounts, ${total('f.failing')} as failing,
        ${total('k.active - coalesce(f.failing_active, 0)')} as active, ${total('k.in_progress')} as draft,
        ${total('k.disabled')} as disabled, ${rows} as rows
      from ${accountsOf(limited)}
    ),
    of_incidents as (
      select count(*) as open_incidents, min(i.opened_time) as since from alert_incidents i
      where i.organization_id = :organizationId and (i.resolved_time is not null) = false and :incidents
        ${isVisible(accounts)} and (select deleted_time is null from accounts where id = i.account_id)
    )
    select accounts, failing_accounts, failing, active, draft, disabled, rows, open_incidents, since
    from of_accounts cross join of_incidents
  `)
}
/** The figures of an organization, or of the sub-accounts that an actor is limited to. */
export const usage = { all: usageOf(ofAll), some: usageOf(ofSome) }
