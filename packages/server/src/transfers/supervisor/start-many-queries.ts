import type { TransferTrigger } from '@penstock/wire'
import { statement } from '../../db/statement.ts'
import { savedSettings, type TransferRow, transferColumns } from '../queries.ts'

/**
 * Starts a transfer of each connection that has no active one, with the settings that the connection has. The connections are
 * held, in a statement before this one. The lists have one order.
 */
export const insertStarted = statement<
  {
    ids: readonly string[]
    connectionIds: readonly string[]
    /** Actors as JSON. */
    startedBy: readonly string[]
    trigger: TransferTrigger
  },
  TransferRow
>(`
  with t as (
    insert into transfers
      (id, organization_id, account_id, connection_id, src_connector_id, dest_connector_id, status, trigger,
       src_config, dest_config, src_settings, dest_settings, started_by)
    select made.id, c.organization_id, c.account_id, c.id, c.src_connector_id, c.dest_connector_id, 'queued', :trigger::text,
      c.src_config, c.dest_config,
      ${savedSettings('c.account_id', 'c.src_connector_id', 'c.src_configuration_id')},
      ${savedSettings('c.account_id', 'c.dest_connector_id', 'c.dest_configuration_id')},
      made.started_by::jsonb
    from unnest(:ids::text[], :connectionIds::text[], :startedBy::text[]) as made (id, connection_id, started_by)
    join connections c on c.id = made.connection_id
    where not exists (
      select from transfers active where active.connection_id = c.id and active.status in ('queued', 'running')
    )
    returning *
  )
  select ${transferColumns} from t
`)
