import type { Values } from '@penstock/connector'
import { statement } from '../db/statement.ts'

/** Mirrors of a sub-account become active one after the other, so that each sees the earlier ones. */
export const holdMirrors = statement<{ accountId: string }>(`
  select pg_advisory_xact_lock(hashtextextended('penstock mirrors ' || :accountId, 0))
`)

/** The other mirrors of a sub-account that move data, or would after an outage, at the same platform with the same settings. */
export const findMirror = statement<
  { id: string; accountId: string; destConnectorId: string; destConfigurationId: string },
  { id: string; name: string; destConfig: Values }
>(`
  select c.id, c.name, c.dest_config
  from connections c join configurations o on o.id = c.dest_configuration_id join configurations own on own.id = :destConfigurationId
  where c.account_id = :accountId and c.id <> :id and c.dest_connector_id = :destConnectorId
    and c.status in ('active', 'broken', 'offline') and c.dest_config ->> 'sendRows' = 'Mirror'
    and (o.id = own.id or o.settings = own.settings)
  order by c.id
`)
