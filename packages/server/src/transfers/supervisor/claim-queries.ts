import type { Values } from '@penstock/connector'
import type { ConsentPurpose, Shape } from '@penstock/engine'
import type { ConnectionRule, DriftMode, TransferRange, TransferTrigger } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import type { Described } from '../described.ts'
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
  /** Whether the saved configuration is another one by now. */
  srcChanged: boolean
  destChanged: boolean
  confirmed: boolean
  testRows: number | null
  /** The range that it reads; null: it is no backfill. */
  backfill: TransferRange | null
  read: number
  rejected: number
  attempt: number
  checkpointSealed: Buffer | null
  pending: number | null
  announcedSealed: Buffer | null
  unconfirmed: number | null
  /** The batch that an earlier transfer without success announced, and its key; null once this one has announced or confirmed a batch. */
  carriedFrom: string | null
  /** The part of that transfer. */
  carriedPart: number
  carriedDataKeyId: string | null
  carriedSealed: Buffer | null
  keysSalt: string | null
  sourceColumns: string[] | null
  columns: string[] | null
  dataKeyId: string | null
  createdTime: Date
  startedTime: Date
  /** How long it had run when it was read, in milliseconds. */
  ranMs: number
  /** How much of that was between an end and a retry, in milliseconds. */
  pausedMs: number
  connectionDataKeyId: string | null
  cursorSealed: Buffer | null
  /** The cursor that is confirmed in this part. */
  reachedSealed: Buffer | null
  /** The plan of the source, for all readers of the transfer. */
  planSealed: Buffer | null
  stateSealed: Buffer | null
  replaced: number | null
  /** The settings that the state of the connection describes; null: that is not known. */
  describes: Described | null
  /** Of the digests of the rows that the destination has, if only changed rows are sent. */
  digestKeySealed: Buffer | null
  digestsScope: string | null
  digestsSalt: string | null
  digestsGeneration: string | null
  traceparent: string | null
  drift: DriftMode
  /** Columns of the last successful transfer. */
  shape: Shape | null
  /** The rules of the connection as they were at the start. */
  rules: ConnectionRule[] | null
  /** The consent purposes of the sub-account as they were at the start; null: it has none. */
  purposes: ConsentPurpose[] | null
  /** The number of the part that is moved, from 1. */
  part: number
  /** How many parts the transfer has. */
  parts: number
  /** The key that the source gave the part; null: it is the only one. */
  partKeySealed: Buffer | null
  /** The table that the part is, of a transfer of many tables (docs/decisions/tables.md). */
  table: string | null
  /** The mapping of the table, which leaves out what its destination cannot have. */
  tableMapping: string | null
  /** Whether a person paused the table. */
  tablePaused: boolean
  /** The only tables that the transfer moves; null: all. */
  only: string[] | null
}

/** Whether the configuration of a side of the transfer `t` was changed since the transfer took it; one that is gone was not. */
const changedSince = (side: 'src' | 'dest') => `
    exists (
      select from configurations f
      where f.account_id = c.account_id and f.connector_id = t.${side}_connector_id and f.id = c.${side}_configuration_id
        and f.settings <> t.${side}_settings
    )`

/**
 * Only one claims at a time, so that no limit is passed by two at once. Without rows, to travel with the claim. One plan serves all claims:
 * planning one takes longer than the claim. The plan can be older than what waits, so it reads no whole table.
 */
export const holdClaims = `do $$ begin
  perform set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true);
  perform pg_advisory_xact_lock(hashtext('penstock claims'), 0);
end $$`

/** A column of what outlives the transfer: of a table, or of the connection. */
const kept = (column: string) => `case when p.table_name is null then s.${column} else k.${column} end`
/** Whether the part has a state that outlives it, and nothing of it is confirmed. */
const isFresh =
  '(t.parts = 1 or p.table_name is not null) and p.read = 0 and t.test_rows is null and t.backfill is null'

/** A column of the batch of an earlier transfer, until this one announces or confirms one; nothing of a test, a backfill and a replay. */
const carried = (column: string) => `
    case when ${isFresh} and p.pending is null and t.trigger <> 'replay' then ${kept(column)} end`

/**
 * Columns that a worker needs of a part of a transfer.
 * @param transfers the table, or the CTE, that is `t`
 * @param parts the same of `p`
 */
const workOf = (transfers: 'transfers' | 'of_turn', parts: 'transfer_parts' | 'claimed') => `
  select t.id, t.organization_id, t.account_id, t.connection_id, t.src_connector_id, t.dest_connector_id,
    c.src_configuration_id, c.dest_configuration_id, t.trigger, t.replay_of, t.src_config, t.dest_config,
    t.src_settings, t.dest_settings, ${changedSince('src')} as src_changed, ${changedSince('dest')} as dest_changed, t.confirmed, t.test_rows, t.backfill,
    p.read, p.rejected, p.attempt, p.checkpoint_sealed, p.pending, p.announced_sealed,
    case when t.parts = 1 then t.plan_sealed end as plan_sealed,
    coalesce(p.source_columns, t.source_columns) as source_columns, coalesce(p.columns, t.columns) as columns,
    t.data_key_id, t.created_time, t.started_time,
    extract(epoch from now() - t.started_time)::float8 * 1000 as ran_ms,
    extract(epoch from t.paused)::float8 * 1000 as paused_ms, t.traceparent,
    s.data_key_id as connection_data_key_id, ${kept('cursor_sealed')} as cursor_sealed, p.cursor_sealed as reached_sealed,
    s.state_sealed, s.replaced, s.describes,
    s.digest_key_sealed, s.digests_scope, s.digests_salt, s.digests_generation,
    coalesce(s.drift, 'ignore') as drift, ${kept('shape')} as shape, t.rules, t.purposes,
    case when ${isFresh} then ${kept('pending')} end as unconfirmed,
    ${carried('announced_by')} as carried_from, coalesce(k.announced_part, 1) as carried_part,
    ${carried('announced_data_key_id')} as carried_data_key_id,
    ${carried('announced_sealed')} as carried_sealed, ${kept('keys_salt')} as keys_salt,
    c.status, a.enabled as account_enabled, t.cancelling, c.account_deleted as gone,
    p.number as part, t.parts, p.key_sealed as part_key_sealed, p.table_name as "table", k.mapping as table_mapping,
    coalesce(k.paused, false) as table_paused, t.tables as only
  from ${transfers} t
  join ${parts} p on p.transfer_id = t.id
  join connections c on c.id = t.connection_id
  join accounts a on a.id = c.account_id
  left join connection_states s on s.connection_id = t.connection_id
  left join connection_tables k on k.connection_id = t.connection_id and k.name = p.table_name`

/** The limits of a claim; `fullOrganizations` and `fullAccounts` have their share of the worker. */
export type ClaimParameters = {
  perAccount: number
  perPlatform: number
  /** Parts of one transfer. */
  perTransfer: number
  platformConnectors: string
  fullOrganizations: readonly string[]
  fullAccounts: readonly string[]
  /** Of one organization, over all workers, unless it has a limit of its own; 0: no limit. */
  perOrganization: number
  /** The name of the worker that claims. */
  worker: string
} & ProgramParameters

/** All parts that run, and the next part of each divided transfer that may run another. */
const running = `
  running as (
    select transfer_id as id, 1 as part, organization_id, account_id, src_connector_id, dest_connector_id, group_name
    from active_transfers where running and not divided
    union all
    select t.transfer_id, p.number, t.organization_id, t.account_id, t.src_connector_id, t.dest_connector_id, t.group_name
    from active_transfers t join transfer_parts p on p.transfer_id = t.transfer_id and p.status = 'running'
    where t.divided
  ),
  running_organizations as (select organization_id, count(*) as runs from running group by organization_id),
  full_organizations as (
    select r.organization_id from running_organizations r
    left join organization_limits l on l.organization_id = r.organization_id and l.name = 'transfers'
    where coalesce(l.value, :perOrganization::bigint) > 0 and r.runs >= coalesce(l.value, :perOrganization::bigint)
  ),
  running_accounts as (select account_id, count(*) as runs from running group by account_id),
  platforms as (
    select p.connector, p.platform from jsonb_to_recordset(:platformConnectors::jsonb) as p (connector text, platform text)
  ),
  full_platforms as (
    select p.platform from running r join platforms p on p.connector in (r.src_connector_id, r.dest_connector_id)
    group by p.platform having count(distinct (r.id, r.part)) >= :perPlatform::int
  ),
  barred as (select connector from platforms where platform in (select platform from full_platforms)),
  full_groups as (
    select g.account_id || g.name as "group"
    from running r join transfer_groups g on g.account_id = r.account_id and g.name = r.group_name
    group by g.account_id, g.name, g.transfers_max having count(*) >= g.transfers_max
  ),
  divided as (
    select t.transfer_id as id, p.number as part, t.organization_id, t.account_id, t.src_connector_id, t.dest_connector_id,
      t.created_time, t.group_name, r.runs
    from active_transfers t
    cross join lateral (
      select number from transfer_parts where transfer_id = t.transfer_id and status = 'queued' order by number limit 1
    ) p
    cross join lateral (
      select count(*) as runs from transfer_parts where transfer_id = t.transfer_id and status = 'running'
    ) r
    where t.divided and r.runs < :perTransfer::int
  )`
/**
 * The planner takes it for true of every other row. If all transfers have the same connectors, it would take `<> all` for never true, and
 * sort all that wait instead of reading the first.
 */
const isOpen = (transfer: string) => `
  case when ${transfer}.src_connector_id = any(array(select connector from barred))
    or ${transfer}.dest_connector_id = any(array(select connector from barred))
    or ${transfer}.organization_id = any(array(select organization_id from full_organizations))
    or (${transfer}.account_id || ${transfer}.group_name) = any(array(select "group" from full_groups)) then false else true end`
const mayRun = `
  x.account_id <> all(:fullAccounts::text[]) and x.organization_id <> all(:fullOrganizations::text[]) and ${isOpen('x')}`

/**
 * The part that `next` names, and its transfer, which begins with it if it waits. Only then is the transfer locked, before the part. If
 * a newer version of the program has been here, nothing is claimed.
 */
const claimed = `
  turn as (select id, part from next where not ${isOutdated} limit 1),
  begun as (
    update transfers set
      status = 'running', attempt = attempt + 1, started_time = coalesce(started_time, now()),
      error_code = null, error_message = null, error_side = null
    where id = (select id from turn) and status = 'queued'
    returning *
  ),
  of_turn as (
    select * from begun
    union all
    select * from transfers where id = (select id from turn) and not exists (select from begun)
  ),
  claimed as (
    update transfer_parts p set
      status = 'running', worker = :worker, attempt = p.attempt + 1, heartbeat_time = now(),
      started_time = coalesce(p.started_time, now()), error_code = null, error_message = null, error_side = null
    from of_turn t
    where p.transfer_id = t.id and p.number = (select part from turn) and p.status = 'queued'
    returning p.*
  )
  ${workOf('of_turn', 'claimed')}`

/**
 * How many of the oldest waiting transfers are looked at, before every sub-account that waits is. Those of sub-accounts that run are
 * passed over: each has a few, and as many run as the workers take at once.
 */
const lookedAt = 200
/** The oldest that wait, and the next parts of divided transfers, of which there are few. */
const oldestWaiting = (where = '') => `
  (
    select transfer_id as id, 1 as part, organization_id, account_id, src_connector_id, dest_connector_id, created_time, group_name
    from active_transfers where not running ${where && `and ${where}`} order by created_time, transfer_id limit ${lookedAt}
  )
  union all
  select id, part, organization_id, account_id, src_connector_id, dest_connector_id, created_time, group_name
  from divided ${where && `where ${where}`}`

/**
 * Claims the next transfer, or the next part of one: of the organizations below their limit the one that runs least, in it of the
 * accounts below their limit the one that runs least, in it the transfer that runs least, and of those the oldest. So neither a
 * thousand transfers of one account nor a thousand parts of one transfer delay others.
 * This one looks among the oldest, and usually finds it: that of an organization of which nothing runs, or else of an account of
 * which nothing runs, in an organization that runs least. It takes as long however many wait.
 */
export const claimOldest = statement<ClaimParameters, WorkRow>(`
  with recursive ${running},
  of_idle_organizations as (
    select x.id, x.part from (${oldestWaiting()}) x
    where x.organization_id not in (select organization_id from running_organizations) and ${mayRun}
    order by x.created_time, x.id limit 1
  ),
  queued_organizations as (
    (
      select organization_id from active_transfers where not running and not exists (select from of_idle_organizations)
      order by organization_id limit 1
    )
    union all
    select (
      select t.organization_id from active_transfers t
      where not t.running and t.organization_id > w.organization_id order by t.organization_id limit 1
    )
    from queued_organizations w where w.organization_id is not null
  ),
  waiting_organizations as (
    select organization_id from queued_organizations where organization_id is not null
    union
    select organization_id from divided where not exists (select from of_idle_organizations)
  ),
  open_organizations as (
    select w.organization_id, coalesce(r.runs, 0) as runs
    from waiting_organizations w left join running_organizations r on r.organization_id = w.organization_id
    where w.organization_id <> all(:fullOrganizations::text[])
  ),
  of_idle_accounts as (
    select oldest.id, oldest.part
    from open_organizations o
    cross join lateral (
      select x.id, x.part, x.created_time from (${oldestWaiting('organization_id = o.organization_id')}) x
      where x.account_id not in (select account_id from running_accounts) and ${mayRun}
      order by x.created_time, x.id limit 1
    ) oldest
    where o.runs = (select min(runs) from open_organizations)
    order by oldest.created_time, oldest.id limit 1
  ),
  next as (select id, part from of_idle_organizations union all select id, part from of_idle_accounts),
  ${claimed}
`)

/**
 * Claims it wherever it is, by the same rule. Of each account that waits only the first transfer is looked at, and the transfers that
 * are divided: it takes longer with more accounts that wait, and not with more transfers or parts.
 */
export const claimAnywhere = statement<ClaimParameters, WorkRow>(`
  with recursive ${running},
  queued_accounts as (
    (select account_id from active_transfers where not running order by account_id limit 1)
    union all
    select (
      select t.account_id from active_transfers t
      where not t.running and t.account_id > w.account_id order by t.account_id limit 1
    )
    from queued_accounts w where w.account_id is not null
  ),
  waiting_accounts as (
    select account_id from queued_accounts where account_id is not null union select account_id from divided
  ),
  below_limit as (
    select w.account_id, coalesce(r.runs, 0) as runs
    from waiting_accounts w left join running_accounts r on r.account_id = w.account_id
    where coalesce(r.runs, 0) < :perAccount::int and w.account_id <> all(:fullAccounts::text[])
  ),
  next as (
    select first.id, first.part
    from below_limit a
    left join lateral (
      select t.transfer_id as id, t.organization_id, t.created_time from active_transfers t
      where not t.running and t.account_id = a.account_id and ${isOpen('t')}
      order by t.created_time, t.transfer_id limit 1
    ) q on true
    left join lateral (
      select d.* from divided d
      where d.account_id = a.account_id and ${isOpen('d')}
      order by d.runs, d.created_time, d.id limit 1
    ) p on true
    cross join lateral (
      select * from (
        values (q.id, 1, q.organization_id, q.created_time, 0), (p.id, p.part, p.organization_id, p.created_time, p.runs)
      ) candidates (id, part, organization_id, created_time, runs)
      where id is not null order by runs, created_time, id limit 1
    ) first
    left join running_organizations o on o.organization_id = first.organization_id
    where first.organization_id <> all(:fullOrganizations::text[])
    order by coalesce(o.runs, 0), a.runs, first.created_time, first.id limit 1
  ),
  ${claimed}
`)

/** A running part, as it is now. */
export const findWork = statement<{ id: string; part: number; parts: number }, WorkRow>(`
  ${workOf('transfers', 'transfer_parts')}
  where t.id = :id and p.number = :part and t.parts = :parts and t.status = 'running' and p.status = 'running'
`)

/** The delivery states of a part. @param after the number before its first entry */
export const deliveryStatesOf = statement<
  { transferId: string; after: number; until: number },
  { number: number; deliveryStateSealed: Buffer | null }
>(`
  select number, delivery_state_sealed from ledger
  where transfer_id = :transferId and number > :after and number <= :until order by number
`)
