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
