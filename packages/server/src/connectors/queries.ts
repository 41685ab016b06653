import type { Values } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import { distinct } from '../db/distinct.ts'
import { statement } from '../db/statement.ts'

export type AddedConnectorRow = {
  connectorId: string
  configurationId: string
  configured: boolean
  name: string
  secretName: string
  settings: Values
  /** The client ID of the operator's app that its refresh token was granted to. */
  oauthClientId: string | null
  savedTime: Date | null
  env: string
  version: number
  srcConnections: number
  destConnections: number
}

const addedColumns = `
  a.connector_id, a.configuration_id, a.configured, a.name, a.secret_name, a.settings, a.oauth_client_id, a.saved_time, a.env,
  a.version,
  k.src_connections, k.dest_connections`

/** The limit of one row says what the key says already, so that every plan looks the counts up and none reads them all. */
const addedCounts = `
  join lateral (
    select src_connections, dest_connections from connector_counts
    where account_id = a.account_id and connector_id = a.connector_id limit 1
  ) k on true`

export const findAdded = statement<{ accountId: string; connectorId: string }, AddedConnectorRow>(`
  select ${addedColumns} from added_connectors a ${addedCounts}
  where a.account_id = :accountId and a.connector_id = :connectorId
`)

export type ConfigurationRow = Omit<AddedConnectorRow, 'srcConnections' | 'destConnections'>

/** Takes an added connector for a change of its configuration. */
export const lockAdded = statement<{ accountId: string; connectorId: string }, ConfigurationRow>(`
  select connector_id, configuration_id, configured, name, secret_name, settings, oauth_client_id, saved_time, env, version
  from added_connectors
  where account_id = :accountId and connector_id = :connectorId
  for no key update
`)

export const listAdded = statement<
  {
    accountId: string
    connectorIds: readonly string[] | null
    configured: boolean | null
    size: number | null
    offset: number
  },
  AddedConnectorRow
>(`
  select ${addedColumns}
  from (
    select * from added_connectors
    where account_id = :accountId
      and (:connectorIds::text[] is null or connector_id = any(:connectorIds))
      and (:configured::boolean is null or configured = :configured)
    order by created_time desc, connector_id desc limit :size offset :offset
  ) a ${addedCounts}
  order by a.created_time desc, a.connector_id desc
`)

/** Accounts of an organization that the actor may see, or the one that is asked for. */
const ofAccounts = `
  join accounts on accounts.id = a.account_id and accounts.organization_id = :organizationId
    and accounts.deleted_time is null and (:accountIds::text[] is null or accounts.id = any(:accountIds))`
type OfAccounts = { organizationId: string; accountIds: readonly string[] | null }

export type ListedConfigurationRow = ConfigurationRow & { accountId: string; secrets: string[] }

/** The page is picked by the primary key; only its secrets are looked up. */
export const listConfigurations = statement<OfAccounts & { size: number; offset: number }, ListedConfigurationRow>(`
  select a.account_id, a.connector_id, a.configuration_id, a.configured, a.name, a.secret_name, a.settings,
    a.oauth_client_id, a.saved_time, a.env, a.version,
    array(
      select s.name from secrets s where s.account_id = a.account_id and s.connector_id = a.connector_id order by s.name
    ) as secrets
  from (
    select a.* from added_connectors a ${ofAccounts}
    order by a.account_id, a.connector_id limit :size offset :offset
  ) a
  order by a.account_id, a.connector_id
`)

export const countConfigurations = statement<OfAccounts, { total: number }>(`
  select count(*) as total from added_connectors a ${ofAccounts}
`)

export const countAdded = statement<
  { accountId: string; connectorIds: readonly string[] | null; configured: boolean | null },
  { total: number }
>(`
  select count(*) as total from added_connectors
  where account_id = :accountId
    and (:connectorIds::text[] is null or connector_id = any(:connectorIds))
    and (:configured::boolean is null or configured = :configured)
`)

/** One that is there already is taken, not changed: it cannot be removed before this transaction has ended. */
export const insertAdded = statement<{
  accountId: string
  env: string
  connectorIds: readonly string[]
  configurationIds: readonly string[]
  configured: readonly boolean[]
  secretNames: readonly string[]
}>(`
  insert into added_connectors (account_id, env, connector_id, configuration_id, configured, name, secret_name)
  select :accountId, :env, connector_id, configuration_id, configured, 'Default', secret_name
  from unnest(:connectorIds::text[], :configurationIds::text[], :configured::boolean[], :secretNames::text[])
    as new (connector_id, configuration_id, configured, secret_name)
  on conflict (account_id, connector_id) do update set env = added_connectors.env
`)

export const saveConfiguration = statement<
  {
    accountId: string
    connectorId: string
    name: string
    secretName: string
    settings: string
    oauthClientId: string | null
  },
  { savedTime: Date; version: number }
>(`
  update added_connectors set
    configured = true, name = :name, secret_name = :secretName, settings = :settings,
    oauth_client_id = :oauthClientId, saved_time = now(), version = version + 1
  where account_id = :accountId and connector_id = :connectorId
  returning saved_time, version
`)

export const deleteAdded = statement<{ accountId: string; connectorId: string }>(`
  delete from added_connectors where account_id = :accountId and connector_id = :connectorId
`)

/** Some connections that hold a connector in place, to name them in the refusal. */
export const connectionsUsing = statement<
  { accountId: string; connectorId: string; limit: number },
  { id: string; name: string }
>(`
  select id, name from connections
  where account_id = :accountId and (live_src_connector_id = :connectorId or live_dest_connector_id = :connectorId)
  order by created_time desc, id desc limit :limit
`)

/** Some active connections that a connector plays any of these roles in, to name them in the refusal. */
export const activeConnectionsUsing = statement<
  { accountId: string; connectorId: string; roles: readonly Role[]; limit: number },
  { id: string; name: string }
>(`
  select id, name from connections
  where account_id = :accountId and status = 'active' and not account_deleted and (
    (src_connector_id = :connectorId and 'Source' = any(:roles))
    or (dest_connector_id = :connectorId and 'Destination' = any(:roles))
  )
  order by created_time desc, id desc limit :limit
`)

/** The connectors that are held somewhere and are none of these: how many accounts have them, how many connections use them. */
export const unknownConnectors = statement<
  { known: readonly string[] },
  { connectorId: string; accounts: number; connections: number }
>(`
  with recursive
    ${distinct('added', 'added_connectors', 'connector_id')},
    ${distinct('sources', 'connections', 'src_connector_id')},
    ${distinct('destinations', 'connections', 'dest_connector_id')}
  select held.id as connector_id,
    (select count(*) from added_connectors where connector_id = held.id) as accounts,
    (select count(*) from connections where src_connector_id = held.id or dest_connector_id = held.id) as connections
  from (select id from added union select id from sources union select id from destinations) held
  where held.id <> all(:known)
  order by held.id
`)
