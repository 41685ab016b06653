import type { Values } from '@penstock/connector'
import { isKept } from '../../db/kept.ts'
import { statement } from '../../db/statement.ts'
import { ofTable } from '../reject-tables.ts'

/** Statements that look through rejected records for those of one person. */

/** Where to look. */
export type SearchScope = {
  organizationId: string
  /** Null: in all sub-accounts that the actor may see. */
  accountId: string | null
  /** The sub-accounts that the actor is limited to; null: all. */
  accountIds: readonly string[] | null
}

export type SearchedTransfer = {
  id: string
  accountId: string
  accountName: string
  connectionId: string
  connectionName: string
  createdTime: Date
  dataKeyId: string | null
  /** Whether it can be shown: neither it nor what it belongs to was deleted long ago. */
  shown: boolean
}

const ofScope = `t.organization_id = :organizationId
  and (:accountId::text is null or t.account_id = :accountId)
  and (:accountIds::text[] is null or t.account_id = any(:accountIds))`

/**
 * Transfers of which records may be kept, newest first.
 * @param fromId begins at this transfer, or at the newest one if there is none with this identifier
 */
export const searchedTransfers = statement<SearchScope & { fromId: string | null; limit: number }, SearchedTransfer>(`
  select t.id, t.account_id, a.name as account_name, t.connection_id, c.name as connection_name, t.created_time, t.data_key_id,
    (not c.account_deleted and ${isKept('c')}) as shown
  from transfers t join connections c on c.id = t.connection_id join accounts a on a.id = t.account_id
  where ${ofScope} and t.data_key_id is not null and (t.created_time, t.id)
    <= (coalesce((select created_time from transfers where id = :fromId), 'infinity'), coalesce(:fromId, 'g'))
  order by t.created_time desc, t.id desc limit :limit
`)

export type SearchedRecord = {
  number: number
  row: number | null
  field: string | null
  reasonSealed: Buffer | null
  /** The redacted copy. */
  record: Record<string, string | null>
  sealed: Buffer | null
  /** With corrected values. */
  editedSealed: Buffer | null
  /** When the replay was requested that delivered it; null if none did. */
  deliveredTime: Date | null
  /** The columns of its table, if the transfer moved many. */
  ownColumns: string[] | null
}
/** Records that are not erased, in their order. A transfer keeps a bounded number of bytes. */
export const recordsAfter = statement<{ transferId: string; number: number; limit: number }, SearchedRecord>(
  `
  select number, row, field, reason_sealed, record, sealed, edited_sealed,
    (select created_time from transfers where id = r.replayed_by) as delivered_time, ${ofTable('source_columns')} as own_columns
  from rejects r where transfer_id = :transferId and number > :number and erased_time is null order by number limit :limit
`,
  { isLong: true },
)
/** The columns of the records of a transfer. */
export const findColumns = statement<{ transferId: string }, { sourceColumns: string[] | null }>(`
  select source_columns from transfers where id = :transferId
`)

/** Erases values and reasons. The rows stay: they are counted. */
export const eraseRecords = statement<{ transferId: string; numbers: readonly number[] }>(`
  update rejects set record = '{}', sealed = null, edited_sealed = null, reason_sealed = null, field = null, place = null, erased_time = now()
  where transfer_id = :transferId and number = any(:numbers)
`)

export const countActive = statement<SearchScope, { active: number }>(`
  select count(*) as active from transfers t where ${ofScope} and t.status in ('queued', 'running')
`)

/** Uploaded files that are kept in the scope, and when the last one is deleted. */
export const keptFiles = statement<SearchScope, { files: number; until: Date | null }>(`
  select count(*) as files, max(expires_time) as until from uploads t where ${ofScope} and t.expires_time > now()
`)

/** People of an organization by their e-mail addresses in lower case. */
export const usersByEmail = statement<
  { organizationId: string; emails: readonly string[] },
  { id: string; name: string }
>(`
  select id, coalesce(nullif(name, ''), email) as name from users
  where organization_id = :organizationId and lower(email) = any(:emails) order by lower(email), id
`)

type OfDestinations = { accountId: string; connectorIds: readonly string[] }

/** Configurations of destinations of a sub-account that are complete. */
export const configuredDestinations = statement<
  OfDestinations & { size: number; offset: number },
  { connectorId: string; configurationId: string; name: string; settings: Values }
>(`
  select connector_id, id as configuration_id, name, settings from configurations
  where account_id = :accountId and connector_id = any(:connectorIds) and configured
  order by connector_id, first desc, name, id limit :size offset :offset
`)

export const countConfiguredDestinations = statement<OfDestinations, { total: number }>(`
  select count(*) as total from configurations
  where account_id = :accountId and connector_id = any(:connectorIds) and configured
`)
