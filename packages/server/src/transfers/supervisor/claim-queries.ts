import type { Json, Values } from '@penstock/connector'
import type { TransferTrigger } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { StandingRow } from './queries.ts'

/** Statements that claim a transfer and read what its worker must know. */

export type WorkRow = StandingRow & {
  id: string
  organizationId: string
  accountId: string
  connectionId: string
  srcConnectorId: string
  destConnectorId: string
  trigger: TransferTrigger
  replayOf: string | null
  srcConfig: Values
  destConfig: Values
  /** Saved configuration without secrets as it was at the start; none in rows of earlier versions. */
  srcSettings: Values | null
  destSettings: Values | null
  confirmed: boolean
  read: number
  attempt: number
  checkpointSealed: Buffer | null
  checkpoint: Json | null
  pending: number | null
  unconfirmed: number | null
  sourceColumns: string[] | null
  columns: string[] | null
  dataKeyId: string | null
  createdTime: Date
  startedTime: Date
  connectionDataKeyId: string | null
  cursorSealed: Buffer | null
  cursor: Json | null
  stateSealed: Buffer | null
  state: Json | null
  replaced: number | null
  traceparent: string | null
}

/** Only one claims at a time, so that no limit is passed by two at once. */
export const holdClaims = statement(`select pg_advisory_xact_lock(hashtext('penstock claims'), 0)`)

/** What a worker must know of a transfer. */
const workOf = (transfers: 'transfers' | 'claimed') => `
  select t.id, t.organization_id, t.account_id, t.connection_id, t.src_connector_id, t.dest_connector_id, t.trigger,
    t.replay_of,
    case when t.src_settings is null then c.src_config || t.src_config else t.src_config end as src_config,
    case when t.src_settings is null then c.dest_config || t.dest_config else t.dest_config end as dest_config,
    t.src_settings, t.dest_settings, t.confirmed, t.read, t.attempt, t.position_sealed as checkpoint_sealed, t.position as checkpoint, t.pending,
    t.source_columns, t.columns, t.data_key_id, t.created_time, t.started_time, t.traceparent,
    m.data_key_id as connection_data_key_id, m.marker_sealed as cursor_sealed, m.marker as cursor, m.memory_sealed as state_sealed, m.memory as state, m.replaced,
    case when t.read = 0 then m.pending end as unconfirmed,
    c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone
  from ${transfers} t
  join connections c on c.id = t.connection_id
  join accounts a on a.id = c.account_id
  left join connection_memories m on m.connection_id = t.connection_id`

/**
 * Claims the next transfer: of the organizations below their limit the one that runs least, in it of the accounts below
 * their limit the one that runs least, and in it the oldest. So a thousand transfers of one account delay no one else. Of
 * each account that waits only the first transfer is looked at: it takes longer with more accounts that wait, and not
 * with more transfers.
 */
export const claimTransfer = statement<
  {
    perAccount: number
    perPlatform: number
    platformConnectors: string
    fullOrganizations: readonly string[]
    fullAccounts: readonly string[]
  },
  WorkRow
>(`
  with recursive running as (
    select id, organization_id, account_id, src_connector_id, dest_connector_id from transfers where status = 'running'
  ),
  platforms as (
    select p.connector, p.platform from jsonb_to_recordset(:platformConnectors::jsonb) as p (connector text, platform text)
  ),
  full_platforms as (
    select p.platform from running r join platforms p on p.connector in (r.src_connector_id, r.dest_connector_id)
    group by p.platform having count(distinct r.id) >= :perPlatform::int
  ),
  barred as (select connector from platforms where platform in (select platform from full_platforms)),
  waiting_accounts as (
    (select account_id from transfers where status = 'queued' order by account_id limit 1)
    union all
    select (
      select t.account_id from transfers t
      where t.status = 'queued' and t.account_id > w.account_id order by t.account_id limit 1
    )
    from waiting_accounts w where w.account_id is not null
  ),
  below_limit as (
    select w.account_id, coalesce(r.runs, 0) as runs
    from waiting_accounts w
    left join (select account_id, count(*) as runs from running group by account_id) r on r.account_id = w.account_id
    where w.account_id is not null and coalesce(r.runs, 0) < :perAccount::int
      and w.account_id <> all(:fullAccounts::text[])
  ),
  next as (
    select oldest.id
    from below_limit a
    cross join lateral (
      select t.id, t.organization_id, t.created_time from transfers t
      where t.status = 'queued' and t.account_id = a.account_id
        and not exists (select from barred b where b.connector in (t.src_connector_id, t.dest_connector_id))
      order by t.created_time, t.id limit 1
    ) oldest
    left join (select organization_id, count(*) as runs from running group by organization_id) o
      on o.organization_id = oldest.organization_id
    where oldest.organization_id <> all(:fullOrganizations::text[])
    order by coalesce(o.runs, 0), a.runs, oldest.created_time, oldest.id limit 1
  ),
  claimed as (
    update transfers set
      status = 'running', attempt = attempt + 1, heartbeat_time = now(), started_time = coalesce(started_time, now()),
      error_code = null, error_message = null, error_side = null
    where id in (select id from next) and status = 'queued'
    returning *
  )
  ${workOf('claimed')}
`)

/** A running transfer, as it is now. */
export const findWork = statement<{ id: string }, WorkRow>(`
  ${workOf('transfers')} where t.id = :id and t.status = 'running'
`)

export const deliveryStatesOf = statement<
  { transferId: string },
  { number: number; deliveryStateSealed: Buffer | null; deliveryState: Json | null }
>(`
  select number, receipt_sealed as delivery_state_sealed, receipt as delivery_state from ledger where transfer_id = :transferId order by number
`)
