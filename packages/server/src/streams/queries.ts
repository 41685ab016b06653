import type { Values } from '@penstock/connector'
import type { ConnectionStatus } from '@penstock/wire'
import { notifyAll } from '../db/notices.ts'
import { statement } from '../db/statement.ts'
import { behindOf } from './behind.ts'

/** Statements of streams and their write keys. */

/** A stream as the receiver of events knows it. */
export type ReceivingStream = {
  id: string
  number: number
  organizationId: string
  accountId: string
  connectorId: string
  dataKeyId: string
  settings: Values
  /** Of the configuration. */
  version: number
  /** Whether its sub-account is enabled and not deleted. */
  open: boolean
}
const receiving = `s.id, s.number, s.organization_id, s.account_id, s.connector_id, s.data_key_id, f.settings, f.version,
  a.enabled and a.deleted_time is null as open`
const ofStreams = `streams s join configurations f on f.id = s.id join accounts a on a.id = s.account_id`

export const findStreamByKey = statement<{ digest: Buffer }, ReceivingStream & { keyId: string }>(`
  select ${receiving}, k.id as key_id from stream_keys k join ${ofStreams} on s.id = k.stream_id where k.digest = :digest
`)
export const findStream = statement<{ id: string }, ReceivingStream>(
  `select ${receiving} from ${ofStreams} where s.id = :id`,
)

/** A configuration that can be a stream. Its row is held, so that it is not removed in the meantime. */
export const holdConfiguration = statement<
  { id: string; accountId: string; connectorIds: readonly string[] },
  { id: string; connectorId: string; configured: boolean; env: string }
>(`
  select f.id, f.connector_id, f.configured, a.env from configurations f
    join added_connectors a on a.account_id = f.account_id and a.connector_id = f.connector_id
  where f.id = :id and f.account_id = :accountId and f.connector_id = any(:connectorIds)
  for no key update of f
`)
/** The same without holding it. */
export const findStreamConfiguration = statement<
  { id: string; accountId: string; connectorIds: readonly string[] },
  { id: string; connectorId: string; settings: Values }
>(`
  select f.id, f.connector_id as "connectorId", f.settings from configurations f
  where f.id = :id and f.account_id = :accountId and f.connector_id = any(:connectorIds)
`)
export const insertStream = statement<{
  id: string
  organizationId: string
  accountId: string
  connectorId: string
  dataKeyId: string
}>(`
  insert into streams (id, organization_id, account_id, connector_id, data_key_id)
  values (:id, :organizationId, :accountId, :connectorId, :dataKeyId)
`)

/** How many bytes of events a sub-account and its organization keep. */
export const keptBytes = statement<
  { accountId: string; organizationId: string },
  { ofAccount: number; total: number }
>(`
  select coalesce(sum(kept_bytes) filter (where account_id = :accountId), 0)::bigint as of_account,
    coalesce(sum(kept_bytes), 0)::bigint as total
  from streams where organization_id = :organizationId
`)

export type StreamKeyRow = { id: string; hint: string; createdTime: Date; lastUsedTime: Date | null }
const keyColumns = 'k.id, k.hint, k.created_time, k.last_used_time'
export const listKeys = statement<{ streamId: string }, StreamKeyRow>(`
  select ${keyColumns} from stream_keys k where k.stream_id = :streamId order by k.created_time, k.id
`)
export const insertKey = statement<{ id: string; streamId: string; digest: Buffer; hint: string }, StreamKeyRow>(`
  insert into stream_keys as k (id, stream_id, digest, hint) values (:id, :streamId, :digest, :hint)
  returning ${keyColumns}
`)
export const deleteKey = statement<{ id: string; accountId: string }, StreamKeyRow & { streamId: string }>(`
  delete from stream_keys k using streams s
  where k.id = :id and s.id = k.stream_id and s.account_id = :accountId returning ${keyColumns}, k.stream_id
`)

/** Counts of a stream. */
export type StreamFiguresRow = {
  lastNumber: number
  lastTime: Date | null
  removedNumber: number
  keptBytes: number
  accepted: number
  duplicates: number
  refused: number
  oldestTime: Date | null
}
export const streamFigures = statement<{ id: string }, StreamFiguresRow>(`
  select s.last_number, s.last_time, s.removed_number, s.kept_bytes, s.accepted, s.duplicates, s.refused,
    (
      select b.time from stream_batches b where b.stream = s.number and b.first_number > s.removed_number
      order by b.first_number limit 1
    ) as oldest_time
  from streams s where s.id = :id
`)

export type ConsumerRow = {
  connectionId: string
  name: string
  status: ConnectionStatus
  readNumber: number | null
  behindEvents: number
  behindSeconds: number
}
/** The columns of a stream, in the order in which they were first seen. */
export const seenColumnsOf = statement<{ id: string }, { name: string; kinds: number }>(`
  select c.name, c.kinds from streams s join stream_columns c on c.stream = s.number where s.id = :id order by c.position
`)

/** The connections that read a stream, by name, and how far behind each one is. */
export const consumersOf = statement<{ id: string; accountId: string }, ConsumerRow>(`
  select c.id as connection_id, c.name, c.status, b.read_number, coalesce(b.events, 0) as behind_events,
    coalesce(b.seconds, 0) as behind_seconds
  from connections c left join lateral (${behindOf('c')}) b on true
  where c.src_configuration_id = :id and c.account_id = :accountId and c.status <> 'deleted'
  order by c.name, c.id
`)

/** The transfers that delivered events from a number on, of each connection that reads a stream. */
export const deliveriesOf = statement<
  { id: string; accountId: string; first: number; limit: number },
  { connectionId: string; id: string; after: number; last: number }
>(`
  select c.id as connection_id, t.id, coalesce(t.stream_after, 0) as after, coalesce(t.stream_read, 0) as last
  from connections c
    cross join lateral (
      select id, stream_after, stream_read from transfers
      where connection_id = c.id and stream_read >= :first order by stream_read desc limit :limit
    ) t
  where c.src_configuration_id = :id and c.account_id = :accountId and c.status <> 'deleted'
  order by c.id, t.stream_read desc
`)

/** Sends notices. In a transaction they are sent with the commit. */
export const announce = statement<{ topic: string; values: readonly string[] }>(notifyAll)
