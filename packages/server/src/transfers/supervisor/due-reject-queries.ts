import { type Blackout, type ConnectionStatus, rejectedRecordsConnectorId } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import { savedSettings, type TransferRow, transferColumns } from '../queries.ts'

/** Statements that start transfers of rejected records, many at once. */

export type DueRejectsRow = {
  connectionId: string
  organizationId: string
  accountId: string
  status: ConnectionStatus
  accountEnabled: boolean
  srcConnectorId: string
  destConnectorId: string
  blackout: Blackout | null
  /** The time of the database. */
  now: Date
}

/**
 * Connections that read the rejected records of another one, of which there are some that they have not delivered; held, so that none
 * changes before its transfer is written. One with a schedule waits for it, and one whose last transfer failed waits before the next one.
 */
export const takeDueRejects = statement<{ limit: number; againSeconds: number }, DueRejectsRow>(`
  select c.id as connection_id, c.organization_id, c.account_id, c.status, a.enabled as account_enabled,
    c.src_connector_id, c.dest_connector_id,
    (select r.blackout from connection_rules r where r.connection_id = c.id) as blackout, now() as now
  from connections c join accounts a on a.id = c.account_id
  where c.src_connector_id = '${rejectedRecordsConnectorId}' and c.status = 'active' and a.enabled and not c.account_deleted
    and not exists (select from schedule_pauses)
    and not exists (select from schedules s where s.connection_id = c.id and s.enabled)
    and not exists (select from transfers t where t.connection_id = c.id and t.status in ('queued', 'running'))
    and not exists (
      select from transfers t
      where t.connection_id = c.id and t.latest and t.status in ('failed', 'cancelled')
        and t.finished_time > now() - make_interval(secs => :againSeconds)
    )
    and exists (
      select from rejecting_transfers e join connections o on o.id = e.connection_id
      where o.account_id = c.account_id and (o.id = c.src_config ->> 'connection' or o.name = c.src_config ->> 'connection')
        and e.position > coalesce(
        (select s.rejects_read from connection_states s where s.connection_id = c.id and s.rejects_of = e.connection_id), 0
      )
    )
  limit :limit for no key update of c skip locked
`)

/** Starts a transfer of each connection, with the settings that it has. They are held, in a statement before this one. */
export const insertOfRejects = statement<{ ids: readonly string[]; connectionIds: readonly string[] }, TransferRow>(`
  with t as (
    insert into transfers
      (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
       src_config, dest_config, src_settings, dest_settings, started_by)
    select made.id, c.organization_id, c.account_id, c.id, c.src_connector_id, c.dest_connector_id, 'queued', 'rejects',
      c.src_config, c.dest_config,
      ${savedSettings('c.account_id', 'c.src_connector_id', 'c.src_configuration_id')},
      ${savedSettings('c.account_id', 'c.dest_connector_id', 'c.dest_configuration_id')},
      jsonb_build_object('kind', 'service', 'id', null, 'name', null)
    from unnest(:ids::text[], :connectionIds::text[]) as made (id, connection_id)
    join connections c on c.id = made.connection_id
    where not exists (
      select from transfers active where active.connection_id = c.id and active.status in ('queued', 'running')
    )
    returning *
  )
  select ${transferColumns} from t
`)
