import type { Values } from '@penstock/connector'
import type { Shape } from '@penstock/engine'
import type { DriftMode, TransferTrigger } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { StandingRow } from './queries.ts'
import { isOutdated, type ProgramParameters } from './version-queries.ts'

/** Statements that claim a transfer and read what its worker must know. */

export type WorkRow = StandingRow & {
  id: string
  organizationId: string
  accountId: string
  connectionId: string
  srcConnectorId: string
  destConnectorId: string
  /** Of the connection. */
  srcConfigurationId: string
  destConfigurationId: string
  trigger: TransferTrigger
  replayOf: string | null
  srcConfig: Values
  destConfig: Values
  /** Saved configuration without secrets as it was at the start. */
  srcSettings: Values
  destSettings: Values
  confirmed: boolean
  testRows: number | null
  read: number
  attempt: number
  checkpointSealed: Buffer | null
  pending: number | null
  unconfirmed: number | null
  sourceColumns: string[] | null
  columns: string[] | null
  dataKeyId: string | null
  createdTime: Date
  startedTime: Date
  /** How long it had run when it was read, in milliseconds. */
  ranMs: number
  connectionDataKeyId: string | null
  cursorSealed: Buffer | null
  stateSealed: Buffer | null
  replaced: number | null
  traceparent: string | null
  drift: DriftMode
  /** Columns of the last successful transfer. */
  shape: Shape | null
}

/** Only one claims at a time, so that no limit is passed by two at once. Without rows, to travel with the claim. */
export const holdClaims = `do $$ begin perform pg_advisory_xact_lock(hashtext('penstock claims'), 0); end $$`

/** Columns of a transfer that a worker needs. */
const workOf = (transfers: 'transfers' | 'claimed') => `
  select t.id, t.organization_id, t.account_id, t.connection_id, t.src_connector_id, t.dest_connector_id,
    c.src_configuration_id, c.dest_configuration_id, t.trigger, t.replay_of, t.src_config, t.dest_config,
    t.src_settings, t.dest_settings, t.confirmed, t.test_rows, t.read, t.attempt,
    t.checkpoint_sealed, t.pending, t.source_columns, t.columns, t.data_key_id, t.created_time, t.started_time,
    extract(epoch from now() - t.started_time)::float8 * 1000 as ran_ms, t.traceparent,
    s.data_key_id as connection_data_key_id, s.cursor_sealed, s.state_sealed, s.replaced,
    coalesce(s.drift, 'ignore') as drift, s.shape,
    case when t.read = 0 and t.test_rows is null then s.pending end as unconfirmed,
    c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
  from ${transfers} t
  join connections c on c.id = t.connection_id
  join accounts a on a.id = c.account_id
  left join connection_states s on s.connection_id = t.connection_id`

/** The limits of a claim; `fullOrganizations` and `fullAccounts` have their share of the worker. */
export type ClaimParameters = {
  perAccount: number
  perPlatform: number
  platformConnectors: string
  fullOrganizations: readonly string[]
  fullAccounts: readonly string[]
} & ProgramParameters

const running = `
  running as (
    select transfer_id as id, organization_id, account_id, src_connector_id, dest_connector_id from active_transfers where running
  ),
  running_organizations as (select organization_id, count(*) as runs from running group by organization_id),
  running_accounts as (select account_id, count(*) as runs from running group by account_id),
  platforms as (
    select p.connector, p.platform from jsonb_to_recordset(:platformConnectors::jsonb) as p (connector text, platform text)
  ),
  full_platforms as (
    select p.platform from running r join platforms p on p.connector in (r.src_connector_id, r.dest_connector_id)
    group by p.platform having count(distinct r.id) >= :perPlatform::int
  ),
  barred as (select connector from platforms where platform in (select platform from full_platforms))`
const mayRun = `
  x.account_id <> all(:fullAccounts::text[]) and x.organization_id <> all(:fullOrganizations::text[])
  and x.src_connector_id <> all(array(select connector from barred))
  and x.dest_connector_id <> all(array(select connector from barred))`

/** A transfer of which `next` is the identifier. Where a newer version of the program has been here, there is none. */
const claimed = `
  claimed as (
    update transfers set
      status = 'running', attempt = attempt + 1, heartbeat_time = now(), started_time = coalesce(started_time, now()),
      error_code = null, error_message = null, error_side = null
    where id in (select id from next where not ${isOutdated} limit 1) and status = 'queued'
    returning *
  )
  ${workOf('claimed')}`

/**
 * How many of the oldest waiting transfers are looked at, before every sub-account that waits is. Those of sub-accounts that run are
 * passed over: each has a few, and as many run as the workers take at once.
 */
const lookedAt = 200
const queued = `
  select transfer_id as id, organization_id, account_id, src_connector_id, dest_connector_id, created_time
  from active_transfers`

/**
 * Claims the next transfer: of the organizations below their limit the one that runs least, in it of the accounts below
 * their limit the one that runs least, and in it the oldest. So a thousand transfers of one account delay no one else.
 * This one looks among the oldest, and usually finds it: that of an organization of which nothing runs, or else of an account of
 * which nothing runs, in an organization that runs least. It takes as long however many wait.
 */
export const claimOldest = statement<ClaimParameters, WorkRow>(`
  with recursive ${running},
  of_idle_organizations as (
    select x.id from (
      ${queued} where not running order by created_time, transfer_id limit ${lookedAt}
    ) x
    where x.organization_id not in (select organization_id from running_organizations) and ${mayRun}
    order by x.created_time, x.id limit 1
  ),
  waiting_organizations as (
    (
      select organization_id from active_transfers where not running and not exists (select from of_idle_organizations)
      order by organization_id limit 1
    )
    union all
    select (
      select t.organization_id from active_transfers t
      where not t.running and t.organization_id > w.organization_id order by t.organization_id limit 1
    )
    from waiting_organizations w where w.organization_id is not null
  ),
  open_organizations as (
    select w.organization_id, coalesce(r.runs, 0) as runs
    from waiting_organizations w left join running_organizations r on r.organization_id = w.organization_id
    where w.organization_id is not null and w.organization_id <> all(:fullOrganizations::text[])
  ),
  of_idle_accounts as (
    select oldest.id
    from open_organizations o
    cross join lateral (
      select x.id, x.created_time from (
        ${queued} where not running and organization_id = o.organization_id
        order by created_time, transfer_id limit ${lookedAt}
      ) x
      where x.account_id not in (select account_id from running_accounts) and ${mayRun}
      order by x.created_time, x.id limit 1
    ) oldest
    where o.runs = (select min(runs) from open_organizations)
    order by oldest.created_time, oldest.id limit 1
  ),
  next as (select id from of_idle_organizations union all select id from of_idle_accounts),
  ${claimed}
`)

/**
 * Claims it wherever it is, by the same rule. Of each account that waits only the first transfer is looked at: it takes longer with
 * more accounts that wait, and not with more transfers.
 */
export const claimAnywhere = statement<ClaimParameters, WorkRow>(`
  with recursive ${running},
  waiting_accounts as (
    (select account_id from active_transfers where not running order by account_id limit 1)
    union all
    select (
      select t.account_id from active_transfers t
      where not t.running and t.account_id > w.account_id order by t.account_id limit 1
    )
    from waiting_accounts w where w.account_id is not null
  ),
  below_limit as (
    select w.account_id, coalesce(r.runs, 0) as runs
    from waiting_accounts w left join running_accounts r on r.account_id = w.account_id
    where w.account_id is not null and coalesce(r.runs, 0) < :perAccount::int
      and w.account_id <> all(:fullAccounts::text[])
  ),
  next as (
    select oldest.id
    from below_limit a
    cross join lateral (
      select t.transfer_id as id, t.organization_id, t.created_time from active_transfers t
      where not t.running and t.account_id = a.account_id
        and not exists (select from barred b where b.connector in (t.src_connector_id, t.dest_connector_id))
      order by t.created_time, t.transfer_id limit 1
    ) oldest
    left join running_organizations o on o.organization_id = oldest.organization_id
    where oldest.organization_id <> all(:fullOrganizations::text[])
    order by coalesce(o.runs, 0), a.runs, oldest.created_time, oldest.id limit 1
  ),
  ${claimed}
`)

/** A running transfer, as it is now. */
export const findWork = statement<{ id: string }, WorkRow>(`
  ${workOf('transfers')} where t.id = :id and t.status = 'running'
`)

export const deliveryStatesOf = statement<
  { transferId: string },
  { number: number; deliveryStateSealed: Buffer | null }
>(`
  select number, delivery_state_sealed from ledger where transfer_id = :transferId order by number
`)
