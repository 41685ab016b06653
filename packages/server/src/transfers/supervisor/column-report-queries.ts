import { statement } from '../../db/statement.ts'
import type { Fence } from './queries.ts'

/** Statements of a worker whose transfer adds columns to the mapping. Each names the attempt. */

/** Whether new columns are added to the mapping, and the mapping of the transfer; an empty text if it has none. */
export const findTransferMapping = statement<Fence, { adds: boolean; mapping: string }>(`
  select coalesce(s.drift = 'add' or s.shape -> 'adds' <> '[]'::jsonb, false) as adds, coalesce(t.dest_config ->> 'mapping', '') as mapping
  from transfers t left join connection_states s on s.connection_id = t.connection_id
  where t.id = :id and t.attempt = :attempt and t.status = 'running'
`)

export const saveTransferMapping = statement<Fence & { mapping: string }>(`
  update transfers set dest_config = jsonb_set(dest_config, '{mapping}', to_jsonb(:mapping::text))
  where id = :id and attempt = :attempt and status = 'running'
`)
