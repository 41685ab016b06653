import { statement } from '../db/statement.ts'

/** Statements that change only the mapping of a connection. */

export type MappingRow = { organizationId: string; accountId: string; mapping: string }

/** The mapping of a connection that is not deleted. An empty text if it has no mapping. Locks the connection. */
export const holdMapping = statement<{ id: string }, MappingRow>(`
  select organization_id, account_id, coalesce(dest_config ->> 'mapping', '') as mapping from connections
  where id = :id and status <> 'deleted' and not account_deleted
  for no key update
`)

export const saveMapping = statement<{ id: string; mapping: string }>(`
  update connections set
    dest_config = jsonb_set(dest_config, '{mapping}', to_jsonb(:mapping::text)), version = version + 1, updated_time = now()
  where id = :id
`)
