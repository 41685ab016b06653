import type { Values } from '@penstock/connector'
import type {
  AuditActorKind,
  ConnectionEvent,
  ConnectionEventKind,
  ConnectionStatus,
  PreviousStatus,
} from '@penstock/wire'
import { isKept } from '../db/kept.ts'
import { statement } from '../db/statement.ts'

/** Entry of a connection in a list. */
export type ConnectionEntryRow = {
  id: string
  accountId: string
  name: string
  status: ConnectionStatus
  srcConnectorId: string
  destConnectorId: string
  env: string
  totalVolume: number
  usedVolume: number
  monthlyVolume: number
  createdTime: Date
  updatedTime: Date
  srcConfigured: boolean
  destConfigured: boolean
}

export type ConnectionRow = ConnectionEntryRow & {
  previousStatus: PreviousStatus | null
  srcConfig: Values
  destConfig: Values
  version: number
  srcConfigurationId: string
  destConfigurationId: string
}

const columnsOfBoth = `
  c.id, c.account_id, c.name, c.status, c.src_connector_id, c.dest_connector_id, c.env, c.total_volume, c.used_volume,
  case when c.volume_month = to_char(now() at time zone 'UTC', 'YYYY-MM') then c.monthly_volume else 0 end as monthly_volume,
  c.created_time, c.updated_time`

/** The configuration of a side, found by its key. */
const configurationOf = (side: 'src' | 'dest') => `
    from configurations a
    where a.account_id = c.account_id and a.connector_id = c.${side}_connector_id and a.id = c.${side}_configuration_id`

const configured = (side: 'src' | 'dest') => `
  coalesce((
    select a.configured ${configurationOf(side)}
  ), false)`

/** The columns of a `ConnectionEntryRow`. `c` is the connection. A subquery for one value of a side is faster than a join. */
export const entryColumns = `${columnsOfBoth},
  ${configured('src')} as src_configured, ${configured('dest')} as dest_configured`

/**
 * A connection with the present state of its sides. `sideTables` are joined to it. A deleted connection can have outlived a
 * side.
 */
export const connectionColumns = `${columnsOfBoth},
  coalesce(s.configured, false) as src_configured, coalesce(d.configured, false) as dest_configured,
  c.previous_status, c.src_config, c.dest_config, c.version, c.src_configuration_id, c.dest_configuration_id`

const sideTable = (name: string, side: 'src' | 'dest') => `
  left join lateral (
    select a.configured ${configurationOf(side)} limit 1
  ) ${name} on true`

/** The key already implies the limit of one row. With the limit, every plan looks a side up instead of reading all sides. */
export const sideTables = `${sideTable('s', 'src')} ${sideTable('d', 'dest')}`

export const findConnection = statement<{ accountId: string; id: string }, ConnectionRow>(`
  select ${connectionColumns} from connections c ${sideTables}
  where c.id = :id and c.account_id = :accountId and not c.account_deleted and ${isKept('c')}
`)

/** Locks a connection for a change. The next transaction sees what this one stored. */
export const lockConnection = statement<{ accountId: string; id: string }, { id: string }>(`
  select id from connections c
  where id = :id and account_id = :accountId and not account_deleted and ${isKept('c')}
  for no key update
`)

/** The sides that a new connection names. Without a configuration, the first configuration of the connector is used. */
type NewSides = {
  accountId: string
  srcConnectorId: string
  destConnectorId: string
  srcConfigurationId: string | null
  destConfigurationId: string | null
}

/** The sides that are added. A side without the named configuration is returned without one. */
export const findSides = statement<
  NewSides,
  { side: 'src' | 'dest'; configurationId: string | null; first: boolean | null }
>(`
  select s.side, f.id as configuration_id, f.first
  from (values
    ('src', :srcConnectorId::text, :srcConfigurationId::text),
    ('dest', :destConnectorId::text, :destConfigurationId::text)
  ) s (side, connector_id, configuration_id)
  join added_connectors a on a.account_id = :accountId and a.connector_id = s.connector_id
  left join configurations f on f.account_id = a.account_id and f.connector_id = a.connector_id
    and case when s.configuration_id is null then f.first else f.id = s.configuration_id end
`)

/**
 * Inserts a connection if its sides are added and have the configurations that it names. Otherwise returns no row. `live` and
 * `kept` are the numbers of connections that the account had before, without and with deleted connections.
 */
export const insertConnection = statement<
  NewSides & {
    id: string
    organizationId: string
    name: string
    srcConfig: string
    destConfig: string
    env: string
  },
  ConnectionRow & { live: number; kept: number }
>(`
  with c as (
    insert into connections
      (id, organization_id, account_id, name, status, src_connector_id, dest_connector_id,
       src_configuration_id, dest_configuration_id, src_first, dest_first, src_config, dest_config, env)
    select :id, :organizationId, :accountId, :name, 'In-progress', :srcConnectorId, :destConnectorId,
      src.id, dest.id, src.first, dest.first, :srcConfig::jsonb, :destConfig::jsonb, :env
    from configurations src, configurations dest
    where src.account_id = :accountId and src.connector_id = :srcConnectorId
      and case when :srcConfigurationId::text is null then src.first else src.id = :srcConfigurationId end
      and dest.account_id = :accountId and dest.connector_id = :destConnectorId
      and case when :destConfigurationId::text is null then dest.first else dest.id = :destConfigurationId end
    returning *
  )
  select ${connectionColumns},
    k.in_progress + k.active + k.disabled + k.broken + k.offline as live,
    k.in_progress + k.active + k.disabled + k.broken + k.offline + k.deleted as kept
  from c join connection_counts k on k.account_id = c.account_id ${sideTables}
`)

export type EventRow = {
  id: string
  connectionId: string
  kind: ConnectionEventKind
  was: string | null
  became: string | null
  createdTime: Date
  changes: ConnectionEvent['changes']
  actorKind: AuditActorKind | null
  actorId: string | null
  actorName: string | null
}

/** The history of a connection. Triggers write it. The identifier of an event is derived from its number. */
export const listEvents = statement<{ connectionId: string; size: number; offset: number }, EventRow>(`
  select substr(md5(connection_id || ' ' || number), 1, 16) as id, connection_id, kind, was, became, created_time,
    changes, actor_kind, actor_id, actor_name
  from connection_events where connection_id = :connectionId
  order by number desc limit :size offset :offset
`)
/** Their numbers have no gap. */
export const countEvents = statement<{ connectionId: string }, { total: number }>(`
  select coalesce(max(number) - min(number) + 1, 0) as total from connection_events where connection_id = :connectionId
`)

export const updateConnection = statement<{ id: string; name: string; srcConfig: string; destConfig: string }>(`
  update connections set
    name = :name, src_config = :srcConfig, dest_config = :destConfig, version = version + 1, updated_time = now()
  where id = :id and (name, src_config, dest_config) is distinct from (:name, :srcConfig::jsonb, :destConfig::jsonb)
`)

/** Switches a connection to other configurations. A trigger drops the state of the earlier configurations: cursor and state. */
export const changeConfigurations = statement<{
  id: string
  srcConfigurationId: string
  destConfigurationId: string
  srcFirst: boolean
  destFirst: boolean
}>(`
  update connections set
    src_configuration_id = :srcConfigurationId, dest_configuration_id = :destConfigurationId,
    src_first = :srcFirst, dest_first = :destFirst, version = version + 1, updated_time = now()
  where id = :id
`)

/** Whether a transfer of a connection is active. The connection is locked, so that no transfer starts meanwhile. */
export const hasActiveTransfer = statement<{ id: string }, { active: boolean }>(`
  select exists (
    select from transfers where connection_id = :id and status in ('queued', 'running')
  ) as active
`)

/** Whether the next transfer would continue where the last one ended. */
export const hasState = statement<{ id: string }, { found: boolean }>(`
  select exists (select from connection_states where connection_id = :id and cursor_sealed is not null)
    or exists (select from connection_tables where connection_id = :id and cursor_sealed is not null) as found
`)

export const moveConnection = statement<
  { id: string; from: ConnectionStatus; to: ConnectionStatus; previousStatus: PreviousStatus | null },
  { organizationId: string; accountId: string }
>(`
  update connections set
    status = :to, previous_status = :previousStatus,
    deleted_time = case when :to = 'deleted' then now() end,
    version = version + 1, updated_time = now()
  where id = :id and status = :from
  returning organization_id, account_id
`)

/** Locks the configurations of both sides until the transaction ends. Waits for one that is being saved. */
export const holdSides = statement<{ accountId: string; configurationIds: readonly string[] }>(`
  select from configurations where account_id = :accountId and id = any(:configurationIds) order by id for share
`)

/** The fields that configurations have filled, to know whether each is complete for a role. */
export const filledFields = statement<
  { accountId: string; configurationIds: readonly string[] },
  { configurationId: string; settings: Values; oauthClientId: string | null; secretNames: string[] }
>(`
  select a.id as configuration_id, a.settings, a.oauth_client_id,
    array(
      select s.name from secrets s
      where s.account_id = a.account_id and s.connector_id = a.connector_id and s.configuration_id = a.id
    ) as secret_names
  from configurations a
  where a.account_id = :accountId and a.id = any(:configurationIds) and a.configured
`)

/** With their account: connections that were not deleted yet become so, at the account's own time. */
export const deleteConnectionsOfAccount = statement<{ accountId: string }>(`
  update connections set
    previous_status = case when status in ('disabled', 'deleted') then previous_status else status end,
    status = 'deleted', deleted_time = coalesce(deleted_time, now()), account_deleted = true,
    version = version + 1, updated_time = now()
  where account_id = :accountId
`)

/** Restores connections with their account: those deleted at the same time, disabled like every restored connection. */
export const restoreConnectionsOfAccount = statement<{ accountId: string }>(`
  update connections c set
    status = case when c.deleted_time = a.deleted_time then 'disabled' else 'deleted' end,
    deleted_time = case when c.deleted_time = a.deleted_time then null else c.deleted_time end,
    account_deleted = false, version = c.version + 1, updated_time = now()
  from accounts a
  where a.id = :accountId and c.account_id = a.id
`)

export const purgeConnections = statement<
  { windowDays: number; limit: number },
  { id: string; organizationId: string; accountId: string; name: string }
>(`
  delete from connections where id in (
    select id from connections
    where status = 'deleted' and deleted_time < now() - make_interval(days => :windowDays)
    limit :limit for update skip locked
  )
  returning id, organization_id, account_id, name
`)
