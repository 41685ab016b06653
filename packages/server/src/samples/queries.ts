import { statement } from '../db/statement.ts'

/** The sample of a sub-account. */
export type SampleRow = {
  accountId: string
  database: string
  connectionId: string
  configurationId: string
  transferId: string
  uploadId: string
  addedConnectorIds: string[]
  createdTime: Date
}
const columns =
  'account_id, database, connection_id, configuration_id, transfer_id, upload_id, added_connector_ids, created_time'

/** Samples are created and removed one after another, so that each knows the databases of all others. */
export const lockSamples = statement<Record<never, never>, { locked: string }>(`
  select pg_advisory_xact_lock(7360217205)::text as locked
`)
export const findSample = statement<{ accountId: string }, SampleRow>(`
  select ${columns} from samples where account_id = :accountId
`)
export const listDatabases = statement<Record<never, never>, { database: string }>(`select database from samples`)
export const countOfOrganization = statement<{ organizationId: string }, { total: number }>(`
  select count(*) as total from samples where organization_id = :organizationId
`)
export const insertSample = statement<
  {
    accountId: string
    organizationId: string
    database: string
    connectionId: string
    configurationId: string
    transferId: string
    uploadId: string
    addedConnectorIds: readonly string[]
  },
  SampleRow
>(`
  insert into samples (
    account_id, organization_id, database, connection_id, configuration_id, transfer_id, upload_id, added_connector_ids
  ) values (
    :accountId, :organizationId, :database, :connectionId, :configurationId, :transferId, :uploadId, :addedConnectorIds
  ) returning ${columns}
`)
export const deleteSample = statement<{ accountId: string }>(`delete from samples where account_id = :accountId`)

/** Databases of samples that are larger than that, or that an interrupted attempt to empty them left missing. */
export const listToEmpty = statement<{ bytesMax: number }, { database: string; bytes: number | null }>(`
  select s.database, pg_database_size(d.oid) as bytes from samples s left join pg_database d on d.datname = s.database
  where d.oid is null or pg_database_size(d.oid) > :bytesMax
  order by s.database
`)
/**
 * Ends the sessions of roles of samples that run a statement or have a transaction open for longer than that, or that hold more locks.
 * A statement that was only cancelled could catch that and continue. The sessions are found first: PostgreSQL chooses the order of
 * conditions, and would otherwise end sessions before it knows whose they are.
 */
export const endSessions = statement<{ statementMs: number; locksMax: number }, { database: string }>(`
  with found as materialized (
    select a.pid, a.usename::text as database from pg_stat_activity a
    where starts_with(a.usename, 'penstock_sample_' || (select oid from pg_database where datname = current_database()) || '_')
      and (
        extract(epoch from clock_timestamp() - least(a.xact_start, case when a.state <> 'idle' then a.query_start end)) * 1000
          > :statementMs::int
        or (select count(*) from pg_locks l where l.pid = a.pid) > :locksMax
      )
  )
  select coalesce(database, '') as database from (select database, pg_terminate_backend(pid) as ended from found) as sessions
  where ended
`)
