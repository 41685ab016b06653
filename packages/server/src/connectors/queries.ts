import type { Values } from '@penstock/connector'
import type { AddedConnectorOrder, Role } from '@penstock/wire'
import { distinct } from '../db/distinct.ts'
import { type Statement, statement } from '../db/statement.ts'

/** A configuration of an added connector. */
export type ConfigurationRow = {
  connectorId: string
  configurationId: string
  /** Whether this configuration is used if a request names no configuration. */
  first: boolean
  configured: boolean
  name: string
  secretName: string
  settings: Values
  /** The client ID of the operator's app that its refresh token was granted to. */
  oauthClientId: string | null
  savedTime: Date | null
  /** The environment of its connector. */
  env: string
  version: number
}

/** An added connector, with its first configuration. */
export type AddedConnectorRow = ConfigurationRow & { srcConnections: number; destConnections: number }

/** Of a configuration `f` of the connector `a`. */
const configurationColumns = `
  a.connector_id, f.id as configuration_id, f.first, f.configured, f.name, f.secret_name, f.settings, f.oauth_client_id,
  f.saved_time, a.env, f.version`

const addedColumns = `${configurationColumns}, k.src_connections, k.dest_connections`

/** The key already implies the limit of one row. With the limit, every plan looks the counts up instead of reading them all. */
const addedCounts = `
  join lateral (
    select src_connections, dest_connections from connector_counts
    where account_id = a.account_id and connector_id = a.connector_id limit 1
  ) k on true`

const firstConfiguration = `
  join lateral (
    select * from configurations where account_id = a.account_id and connector_id = a.connector_id and first limit 1
  ) f on true`

const one = `
  from added_connectors a join configurations f on f.account_id = a.account_id and f.connector_id = a.connector_id
  where a.account_id = :accountId and a.connector_id = :connectorId
    and case when :configurationId::text is null then f.first else f.id = :configurationId end`

/** A configuration of an added connector. Null means the first configuration. */
export type OfConfiguration = { accountId: string; connectorId: string; configurationId: string | null }

export const findConfiguration = statement<OfConfiguration, ConfigurationRow>(`select ${configurationColumns} ${one}`)

/** Locks a configuration for a change. Neither the configuration nor its connector can be removed meanwhile. */
export const lockConfiguration = statement<OfConfiguration, ConfigurationRow>(
  `select ${configurationColumns} ${one} for no key update of f`,
)

/** Whether a connector is added. */
export const isAdded = statement<{ accountId: string; connectorId: string }, { env: string }>(`
  select env from added_connectors where account_id = :accountId and connector_id = :connectorId
`)

/** Locks an added connector, to remove it or to add another configuration. */
export const lockAdded = statement<{ accountId: string; connectorId: string }, { env: string }>(`
  select env from added_connectors where account_id = :accountId and connector_id = :connectorId for no key update
`)

type AddedFilter = { accountId: string; connectorIds: readonly string[] | null; configured: boolean | null }
type AddedPage = AddedFilter & { size: number | null; offset: number }

/** The connectors of an account, newest first. */
export const listAdded = statement<AddedPage, AddedConnectorRow>(`
  select ${addedColumns}
  from (
    select a.* from added_connectors a
    where a.account_id = :accountId
      and (:connectorIds::text[] is null or a.connector_id = any(:connectorIds))
      and (:configured::boolean is null or exists (
        select from configurations
        where account_id = a.account_id and connector_id = a.connector_id and first and configured = :configured
      ))
    order by a.created_time desc, a.connector_id desc limit :size offset :offset
  ) a ${addedCounts} ${firstConfiguration}
  order by a.created_time desc, a.connector_id desc
`)

/** The identifiers of all connectors in the order of their names. */
type InOrder = AddedPage & { idsByName: readonly string[] }

const newestAdded = 'a.created_time desc, a.connector_id desc'
const oldestAdded = 'a.created_time, a.connector_id'
const byName = 'array_position(:idsByName::text[], a.connector_id)'
const uses = 'k.src_connections + k.dest_connections'
/** An account has each connector at most once, so a page sorts at most as many rows as the catalogue has connectors. */
const orders: Readonly<Record<Exclude<AddedConnectorOrder, '-added'>, string>> = {
  added: oldestAdded,
  name: `${byName}, ${oldestAdded}`,
  '-name': `${byName} desc, ${newestAdded}`,
  configured: `f.configured, ${newestAdded}`,
  '-configured': `f.configured desc, ${newestAdded}`,
  '-connections': `${uses} desc, ${newestAdded}`,
  connections: `${uses}, ${newestAdded}`,
}

const addedInOrder = (order: string) =>
  statement<InOrder, AddedConnectorRow>(`
    select ${addedColumns}
    from added_connectors a ${addedCounts} ${firstConfiguration}
    where a.account_id = :accountId
      and (:connectorIds::text[] is null or a.connector_id = any(:connectorIds))
      and (:configured::boolean is null or f.configured = :configured)
    order by ${order} limit :size offset :offset
  `)
const added: Readonly<Record<AddedConnectorOrder, Statement<InOrder, AddedConnectorRow>>> = {
  '-added': listAdded,
  added: addedInOrder(orders.added),
  name: addedInOrder(orders.name),
  '-name': addedInOrder(orders['-name']),
  configured: addedInOrder(orders.configured),
  '-configured': addedInOrder(orders['-configured']),
  '-connections': addedInOrder(orders['-connections']),
  connections: addedInOrder(orders.connections),
}
/** The statement of the list in an order. */
export const addedList = (sort: AddedConnectorOrder) => added[sort]

/** Accounts of an organization that the actor can see, or the requested account. */
const ofAccounts = `
  join accounts on accounts.id = a.account_id and accounts.organization_id = :organizationId
    and accounts.deleted_time is null and (:accountIds::text[] is null or accounts.id = any(:accountIds))`
type OfAccounts = { organizationId: string; accountIds: readonly string[] | null }

export type ListedConfigurationRow = ConfigurationRow & {
  accountId: string
  secrets: string[]
  references: Record<string, string>
}

/** In the order in which they are listed: by sub-account and connector, the first one first, then the oldest. */
const listedOrder = (f: string) => `${f}.account_id, ${f}.connector_id, ${f}.first desc, ${f}.created_time, ${f}.id`

type ConfigurationFilter = {
  connectorId: string | null
  /** Keeps or skips the configurations of these connectors, unless `streams` is null. */
  streamConnectorIds: readonly string[]
  streams: boolean | null
}
const ofConnectors = `(:connectorId::text is null or a.connector_id = :connectorId)
    and (:streams::boolean is null or (a.connector_id = any(:streamConnectorIds)) = :streams)`

/** The page is picked first, and only its secrets are looked up. */
export const listConfigurations = statement<
  OfAccounts & ConfigurationFilter & { size: number; offset: number },
  ListedConfigurationRow
>(`
  select f.account_id, f.connector_id, f.id as configuration_id, f.first, f.configured, f.name, f.secret_name, f.settings,
    f.oauth_client_id, f.saved_time, e.env, f.version,
    array(
      select s.name from secrets s
      where s.account_id = f.account_id and s.connector_id = f.connector_id and s.configuration_id = f.id order by s.name
    ) as secrets,
    coalesce((
      select jsonb_object_agg(s.name, s.reference) from secrets s
      where s.account_id = f.account_id and s.connector_id = f.connector_id and s.configuration_id = f.id
        and s.reference is not null
    ), '{}') as "references"
  from (
    select a.* from configurations a ${ofAccounts}
    where ${ofConnectors}
    order by ${listedOrder('a')} limit :size offset :offset
  ) f
  join lateral (
    select env from added_connectors where account_id = f.account_id and connector_id = f.connector_id limit 1
  ) e on true
  order by ${listedOrder('f')}
`)

export const countConfigurations = statement<OfAccounts & ConfigurationFilter, { total: number }>(`
  select count(*) as total from configurations a ${ofAccounts} where ${ofConnectors}
`)

export const countAdded = statement<AddedFilter, { total: number }>(`
  select count(*) as total from added_connectors a
  where account_id = :accountId
    and (:connectorIds::text[] is null or connector_id = any(:connectorIds))
    and (:configured::boolean is null or exists (
      select from configurations
      where account_id = a.account_id and connector_id = a.connector_id and first and configured = :configured
    ))
`)

/** One that is there already is taken, not changed: it cannot be removed before this transaction has ended. */
export const insertAdded = statement<{ accountId: string; env: string; connectorIds: readonly string[] }>(`
  insert into added_connectors (account_id, env, connector_id)
  select :accountId, :env, unnest(:connectorIds::text[])
  on conflict (account_id, connector_id) do update set env = added_connectors.env
`)

/** The first configurations of connectors that have no configuration yet. */
export const insertFirstConfigurations = statement<
  {
    accountId: string
    connectorIds: readonly string[]
    configurationIds: readonly string[]
    configured: readonly boolean[]
    secretNames: readonly string[]
  },
  { connectorId: string }
>(`
  insert into configurations (account_id, connector_id, id, first, configured, name, secret_name)
  select :accountId, connector_id, configuration_id, true, configured, 'Default', secret_name
  from unnest(:connectorIds::text[], :configurationIds::text[], :configured::boolean[], :secretNames::text[])
    as new (connector_id, configuration_id, configured, secret_name)
  on conflict (account_id, connector_id) where first do nothing
  returning connector_id
`)

/** Another configuration of an added connector. Violates `configurations_name` if another configuration has the name. */
export const insertConfiguration = statement<{
  accountId: string
  connectorId: string
  configurationId: string
  configured: boolean
  name: string
  secretName: string
}>(`
  insert into configurations (account_id, connector_id, id, first, configured, name, secret_name)
  values (:accountId, :connectorId, :configurationId, false, :configured, :name, :secretName)
`)

/** The connectors of these configurations, if the sub-account has them. */
export const connectorsOfConfigurations = statement<
  { accountId: string; configurationIds: readonly string[] },
  { configurationId: string; connectorId: string }
>(`
  select id as configuration_id, connector_id from configurations
  where account_id = :accountId and id = any(:configurationIds)
`)

/** How many configurations an added connector has. */
export const countOfConnector = statement<{ accountId: string; connectorId: string }, { total: number }>(`
  select count(*) as total from configurations where account_id = :accountId and connector_id = :connectorId
`)

type Named = { accountId: string; connectorId: string; configurationId: string }
const named = 'account_id = :accountId and connector_id = :connectorId and id = :configurationId'

export const saveConfiguration = statement<
  Named & { name: string; secretName: string; settings: string; oauthClientId: string | null },
  { savedTime: Date; version: number }
>(`
  update configurations set
    configured = true, name = :name, secret_name = :secretName, settings = :settings,
    oauth_client_id = :oauthClientId, saved_time = now(), version = version + 1
  where ${named}
  returning saved_time, version
`)

export const deleteConfiguration = statement<Named>(`delete from configurations where ${named}`)

export const deleteAdded = statement<{ accountId: string; connectorId: string }>(`
  delete from added_connectors where account_id = :accountId and connector_id = :connectorId
`)

/** Some connections that hold a connector, or one of its configurations, in place, to name them in the refusal. */
export const connectionsUsing = statement<OfConfiguration & { limit: number }, { id: string; name: string }>(`
  select id, name from connections
  where account_id = :accountId and (live_src_connector_id = :connectorId or live_dest_connector_id = :connectorId)
    and (:configurationId::text is null or :configurationId in (src_configuration_id, dest_configuration_id))
  order by created_time desc, id desc limit :limit
`)

/** How many connections have a state that belongs to a configuration. */
export const statesUsing = statement<Named, { states: number }>(`
  select count(*) as states from connections c join connection_states s on s.connection_id = c.id
  where c.account_id = :accountId and (c.live_src_connector_id = :connectorId or c.live_dest_connector_id = :connectorId)
    and :configurationId in (c.src_configuration_id, c.dest_configuration_id) and s.cursor_sealed is not null
`)

/** Some active connections that a configuration plays any of these roles in, to name them in the refusal. */
export const activeConnectionsUsing = statement<
  Named & { roles: readonly Role[]; limit: number },
  { id: string; name: string }
>(`
  select id, name from connections
  where account_id = :accountId and status = 'active' and not account_deleted and (
    (live_src_connector_id = :connectorId and src_configuration_id = :configurationId and 'Source' = any(:roles))
    or (live_dest_connector_id = :connectorId and dest_configuration_id = :configurationId and 'Destination' = any(:roles))
  )
  order by created_time desc, id desc limit :limit
`)

/**
 * The connectors that accounts have but the catalogue does not: how many accounts have each, and how many connections use it.
 */
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
