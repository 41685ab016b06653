import type { Values } from '@penstock/connector'
import type {
  AuditActor,
  Blackout,
  ColumnChange,
  ConnectionStatus,
  Role,
  RuleResult,
  TransferRange,
  TransferStatus,
  TransferTrigger,
} from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { notifyOf } from '../db/notices.ts'
import { statement } from '../db/statement.ts'
import type { SecretOwner } from '../secrets/queries.ts'

export type TransferRow = {
  id: string
  accountId: string
  connectionId: string
  status: TransferStatus
  trigger: TransferTrigger
  /** At most how many records a test reads; null: it is no test. */
  testRows: number | null
  /** The range of a backfill; null: it is none. */
  backfill: TransferRange | null
  /** The only tables that it moves; null: it moves all. */
  tables: string[] | null
  read: number
  sent: number
  accepted: number
  rejected: number
  removed: number
  filtered: number
  unchanged: number
  duplicates: number
  noConsent: number
  controlGroup: number
  bytes: number
  progress: number | null
  attempt: number
  errorCode: string | null
  errorMessage: string | null
  errorSide: Role | null
  /** The group whose limit it waits for; null: it waits for none. */
  waitsForGroup: string | null
  columnChanges: ColumnChange[] | null
  ruleResults: RuleResult[] | null
  startedBy: AuditActor | null
  srcConnectorId: string
  destConnectorId: string
  createdTime: Date
  startedTime: Date | null
  finishedTime: Date | null
}

/** The columns of a `TransferRow`, of the table or the part of a statement that is named `t`. */
export const transferColumns = `
  t.id, t.account_id, t.connection_id, t.status, t.trigger, t.test_rows, t.backfill, t.tables, t.read, t.sent, t.accepted, t.rejected, t.removed,
  t.filtered, t.unchanged, t.duplicates, t.no_consent, t.control_group, t.bytes, t.progress, t.attempt, t.error_code, t.error_message, t.error_side, t.column_changes, t.rule_results,
  t.started_by, t.src_connector_id, t.dest_connector_id, t.created_time,
  t.started_time, t.finished_time, case when t.status = 'queued' then group_waited_for(t.id) end as waits_for_group`

export type RunnableRow = {
  id: string
  organizationId: string
  accountId: string
  status: ConnectionStatus
  env: string
  srcConnectorId: string
  destConnectorId: string
  srcConfigurationId: string
  destConfigurationId: string
  srcConfig: Values
  destConfig: Values
  accountEnabled: boolean
  blackout: Blackout | null
  now: Date
}

const runnable = `
  select c.id, c.organization_id, c.account_id, c.status, c.env, c.src_connector_id, c.dest_connector_id,
    c.src_configuration_id, c.dest_configuration_id, c.src_config, c.dest_config, a.enabled as account_enabled,
    (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout, now() as now
  from connections c join accounts a on a.id = c.account_id
  where c.id = :id and c.account_id = :accountId and not c.account_deleted
    and ${isKept('c')}`

/** The saved settings of a configuration; no row if it is deleted. */
export const findSettings = statement<SecretOwner, { settings: Values; env: string; oauthClientId: string | null }>(`
  select f.settings, a.env, f.oauth_client_id
  from configurations f join added_connectors a on a.account_id = f.account_id and a.connector_id = f.connector_id
  where f.account_id = :accountId and f.connector_id = :connectorId and f.id = :configurationId
`)

/** The saved settings of a side's configuration, by the values of a new transfer's connection. */
export const savedSettings = (account: string, connector: string, configuration: string) => `
  (select settings from configurations where account_id = ${account} and connector_id = ${connector} and id = ${configuration})`

/** Sides and settings of a connection for a transfer. */
export const findRunnable = statement<{ accountId: string; id: string }, RunnableRow>(runnable)

/** The same, held: its status cannot change before a transfer of it is written. */
export const holdRunnable = statement<{ accountId: string; id: string }, RunnableRow>(
  `${runnable} for no key update of c`,
)

export const insertTransfer = statement<
  {
    id: string
    organizationId: string
    accountId: string
    connectionId: string
    srcConnectorId: string
    destConnectorId: string
    srcConfigurationId: string
    destConfigurationId: string
    trigger: TransferTrigger
    replayOf: string | null
    replayRows: 'ready' | 'corrected' | null
    srcConfig: string
    destConfig: string
    confirmed: boolean
    testRows: number | null
    /** As JSON. */
    backfill: string | null
    tables: readonly string[] | null
    traceparent: string | null
  },
  TransferRow
>(`
  with t as (
    insert into transfers
      (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger, replay_of, replay_rows,
       src_config, dest_config, src_settings, dest_settings, confirmed, test_rows, backfill, tables, latest, traceparent, started_by)
    values
      (:id, :organizationId, :accountId, :connectionId, :srcConnectorId, :destConnectorId, 'queued', :trigger,
       :replayOf, :replayRows, :srcConfig, :destConfig,
       ${savedSettings(':accountId', ':srcConnectorId', ':srcConfigurationId')},
       ${savedSettings(':accountId', ':destConnectorId', ':destConfigurationId')},
       :confirmed, :testRows, :backfill, :tables::text[], :testRows::integer is null, :traceparent, actor_of_transaction())
    returning *
  )
  select ${transferColumns} from t
`)

/** The topic of the notice that a transfer may wait. */
export const transferTopic = 'transfer'
/** Wakes the workers; in the transaction of the transfers that wait. */
export const wakeWorkers = statement(notifyOf(transferTopic))

export const findActive = statement<{ connectionId: string }, TransferRow>(`
  select ${transferColumns} from transfers t
  where t.connection_id = :connectionId and t.status in ('queued', 'running')
`)

type Named = { accountId: string; connectionId: string; id: string }
const named = 't.id = :id and t.connection_id = :connectionId and t.account_id = :accountId'

export const findTransfer = statement<Named, TransferRow>(`select ${transferColumns} from transfers t where ${named}`)

export const lockTransfer = statement<Named, TransferRow & { cancelling: boolean }>(
  `select ${transferColumns}, t.cancelling from transfers t where ${named} for no key update`,
)

/**
 * A transfer that waits for its first worker ends at once. One that has begun ends at its next batch, so that its worker can
 * remove incomplete data from the destination.
 */
export const cancelTransfer = statement<{ id: string }, TransferRow>(`
  with t as (
    update transfers set
      cancelling = true,
      status = case when status = 'queued' and attempt = 0 then 'cancelled' else status end,
      finished_time = case when status = 'queued' and attempt = 0 then now() end
    where id = :id and status in ('queued', 'running')
    returning *
  ),
  part as (
    update transfer_parts p set status = t.status, finished_time = t.finished_time
    from t where p.transfer_id = t.id and t.status = 'cancelled'
  )
  select ${transferColumns} from t
`)
