import { statement } from '../../db/statement.ts'
import { takeCursorsOfTables } from '../ending-queries.ts'
import { ownPart, type PartFence } from './queries.ts'

/** Statements of transfers of many tables, whose parts are tables (docs/decisions/tables.md). */

/** The tables that a connection has moved before. */
export const knownTables = statement<{ connectionId: string }, { name: string; paused: boolean }>(`
  select name, paused from connection_tables where connection_id = :connectionId
`)
/** How many tables a connection knows: several times as many as it moves, so that a table that is excluded for a while is not forgotten. */
const knownMax = 5_000

/** Knows these tables from now on. */
export const knowTables = statement<{
  connectionId: string
  names: readonly string[]
  destinations: readonly string[]
}>(`
  insert into connection_tables as k (connection_id, name, destination)
  select :connectionId, name, destination from unnest(:names::text[], :destinations::text[]) as listed (name, destination)
  on conflict (connection_id, name) do update set listed_time = excluded.listed_time, destination = excluded.destination
`)
/** Forgets the tables that were not listed for longest. */
export const forgetTables = statement<{ connectionId: string }>(`
  delete from connection_tables where connection_id = :connectionId and name in (
    select name from connection_tables where connection_id = :connectionId order by listed_time desc, name offset ${knownMax}
  )
`)

/** Ends the part that listed the tables. */
export const endListing = statement<{ id: string }>(`
  update transfer_parts set table_name = '', status = 'succeeded', progress = 1, share = 0, heartbeat_time = null,
    finished_time = clock_timestamp(), error_code = null, error_message = null, error_side = null
  where transfer_id = :id and number = 1
`)

/** Stores where the next transfer continues with a table, before its part ends: where the confirmed records end. */
export const saveTable = statement<Omit<PartFence, 'parts'> & { succeeded: boolean }>(
  takeCursorsOfTables(':succeeded::boolean', ownPart),
)

/** Stores the columns of a table, and the changes since its last successful transfer. No row: the part is another worker's. */
export const recordTableColumns = statement<PartFence & { shape: string; changes: string }>(`
  update transfer_parts p set shape = :shape, column_changes = :changes from transfers t
  where ${ownPart} and t.id = p.transfer_id and t.parts = :parts
`)

/** Stores the mapping of a table, which it keeps in later transfers. */
export const saveTableMapping = statement<PartFence & { mapping: string }>(`
  update connection_tables k set mapping = nullif(:mapping::text, '') from transfers t, transfer_parts p
  where ${ownPart} and t.id = p.transfer_id and t.parts = :parts and k.connection_id = t.connection_id and k.name = p.table_name
`)

/** Of the tables of a transfer: how many were moved, and how many were not, because of an error. */
export const countTables = statement<{ id: string }, { moved: number; failed: number; left: number }>(`
  select count(*) filter (where status = 'succeeded')::int as moved, count(*) filter (where status = 'failed')::int as failed,
    count(*) filter (where status = 'skipped' and error_code is null)::int as left
  from transfer_parts where transfer_id = :id and table_name <> ''
`)
