import {
  type AttentionReason,
  attentionReasons,
  type ConnectionStatus,
  type Role,
  type TransferStatus,
} from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** A connection that needs attention, with the present names of its sides and its newest transfer. */
export type AttentionRow = {
  /** Of all pages. */
  total: number
  id: string
  accountId: string
  accountName: string
  name: string
  status: ConnectionStatus
  /** Places in `attentionReasons`, in order. */
  reasons: number[]
  srcConnectorId: string
  destConnectorId: string
  /** Null: the first one of its connector. */
  srcConfigurationId: string | null
  destConfigurationId: string | null
  srcConfigured: boolean
  destConfigured: boolean
  /** Null where the connection has no transfer, with all that follows. */
  transferId: string | null
  transferStatus: TransferStatus
  finishedTime: Date | null
  read: number
  sent: number
  accepted: number
  rejected: number
  errorCode: string | null
  errorMessage: string | null
  errorSide: Role | null
}
/** An empty page returns one row with only the total. */
type TotalRow = { total: number; id: null }

type Filter = {
  organizationId: string
  accountId: string | null
  /** The sub-accounts that the actor is limited to. Null means all. */
  accountIds: readonly string[] | null
  /** An index of `attentionReasons`. Null keeps every reason. */
  reason: number | null
  /** Keeps failing connections, or only the others. Null keeps both. */
  failing: boolean | null
  size: number
  offset: number
}

/** A reason as the statement knows it: the smaller, the worse. */
export const rankOf = (reason: AttentionReason): number => attentionReasons.indexOf(reason)

/** Connections that can need attention. A disabled connection was stopped on purpose. */
const isLive = "status not in ('disabled', 'deleted') and not account_deleted"

/** Looked up by a key for each row: with a limit of one row, no plan reads the whole table instead. */
const lookUp = (name: string, select: string) => `left join lateral (${select} limit 1) ${name} on true`
const configuredOf = (side: 'src' | 'dest') => `
  select configured from configurations
  where account_id = c.account_id and connector_id = c.${side}_connector_id and id = c.${side}_configuration_id`

/**
 * Finds connections by what is wrong with them. Each kind of problem has an index that contains only affected connections. Only
 * the rows of the page are read completely. So the cost depends on the number of affected connections, not on the number of
 * connections.
 * @param scope the condition on a table with the columns of an organization and an account
 * @param bare configurations of the scope that are not configured
 */
const listIn = (scope: string, bare: string) =>
  statement<Filter, AttentionRow | TotalRow>(`
    with wrong (id, created_time, reason) as (
      select id, created_time, case status when 'broken' then ${rankOf('broken')} else ${rankOf('offline')} end
      from connections where ${scope} and status in ('broken', 'offline') and not account_deleted
      union all
      select t.connection_id, c.created_time, case t.status
        when 'failed' then ${rankOf('transfer_failed')}
        when 'partial' then ${rankOf('transfer_partial')}
        else ${rankOf('transfer_retrying')} end
      from (
        select connection_id, status from transfers
        where ${scope} and latest and status in ('failed', 'partial', 'queued', 'running')
          and (status in ('failed', 'partial') or error_code is not null)
      ) t
      cross join lateral (select created_time from connections where id = t.connection_id and ${isLive} limit 1) c
      union all
      select c.id, c.created_time, ${rankOf('not_configured')}
      from (${bare}) a
      cross join lateral (
        select id, created_time from connections
        where account_id = a.account_id and ${isLive} and a.connector_id in (live_src_connector_id, live_dest_connector_id)
          and a.configuration_id in (src_configuration_id, dest_configuration_id)
        offset 0
      ) c
      union all
      select c.id, c.created_time, ${rankOf('dependency_failed')}
      from (select connection_id, after_connection_id from connection_dependencies where ${scope}) d
      cross join lateral (select id, created_time from connections where id = d.connection_id and ${isLive} limit 1) c
      left join lateral (select status from connections where id = d.after_connection_id limit 1) u on true
      left join lateral (select status from transfers where connection_id = d.after_connection_id and latest limit 1) t on true
      where u.status is distinct from 'active' or t.status in ('failed', 'cancelled')
      union all
      select c.id, c.created_time, ${rankOf('log_kept')}
      from (select connection_id from change_logs where ${scope} and warns) k
      cross join lateral (
        select id, created_time from connections
        where id = k.connection_id and status <> 'deleted' and not account_deleted limit 1
      ) c
    ),
    found as (
      select id, created_time, array_agg(distinct reason order by reason) as reasons from wrong
      group by id, created_time
      having (:reason::integer is null or :reason = any(array_agg(reason)))
        and (:failing::boolean is null or :failing = (min(reason) <= ${rankOf('transfer_retrying')}))
    ),
    page as (
      select * from found order by reasons[1], created_time desc, id desc limit :size offset :offset
    )
    select counted.total, c.id, c.account_id, a.name as account_name, c.name, c.status, p.reasons,
      c.src_connector_id, c.dest_connector_id,
      case when not c.src_first then c.src_configuration_id end as src_configuration_id,
      case when not c.dest_first then c.dest_configuration_id end as dest_configuration_id,
      coalesce(s.configured, false) as src_configured, coalesce(d.configured, false) as dest_configured,
      t.id as transfer_id, t.status as transfer_status, t.finished_time, t.read, t.sent, t.accepted, t.rejected,
      t.error_code, t.error_message, t.error_side
    from (select count(*) as total from found) counted
    left join page p on true
    ${lookUp('c', 'select * from connections where id = p.id')}
    ${lookUp('a', 'select name from accounts where id = c.account_id')}
    ${lookUp('t', 'select * from transfers where connection_id = p.id and latest')}
    ${lookUp('s', configuredOf('src'))} ${lookUp('d', configuredOf('dest'))}
    order by p.reasons[1], p.created_time desc, p.id desc
  `)

const bareConfigurations = 'select f.account_id, f.connector_id, f.id as configuration_id from configurations f'

/** Of one sub-account, of some, or of the organization: no plan would fit all. */
export const attentionOf = {
  account: listIn(
    'organization_id = :organizationId and account_id = :accountId',
    `${bareConfigurations} where f.account_id = :accountId and not f.configured`,
  ),
  organization: listIn(
    'organization_id = :organizationId',
    `${bareConfigurations} join accounts o on o.id = f.account_id
        where o.organization_id = :organizationId and o.deleted_time is null and not f.configured`,
  ),
  accounts: listIn(
    'organization_id = :organizationId and account_id = any(:accountIds)',
    `${bareConfigurations} where f.account_id = any(:accountIds) and not f.configured`,
  ),
}
