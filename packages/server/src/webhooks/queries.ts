import type { EventType } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements about webhooks. */

export type WebhookRow = {
  id: string
  organizationId: string
  accountId: string | null
  url: string
  description: string
  eventTypes: EventType[] | null
  /** All event types that it has ever subscribed to, which its log can contain. Null means every type. */
  takenEventTypes: EventType[] | null
  enabled: boolean
  disabledReason: string | null
  failingSince: Date | null
  lastSuccessTime: Date | null
  previousSecretUntil: Date | null
  createdTime: Date
  updatedTime: Date
  version: number
}
const columns = `
  w.id, w.organization_id, w.account_id, w.url, w.description, w.event_types, w.taken_event_types, w.enabled, w.disabled_reason,
  w.failing_since, w.last_success_time,
  case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until, w.created_time,
  w.updated_time, w.version`

/** Webhooks that the actor can see: of the sub-accounts that the actor is limited to, and not of deleted ones. */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
export const isVisible = `
  w.organization_id = :organizationId and (:accountIds::text[] is null or w.account_id = any(:accountIds))
  and not exists (select from accounts a where a.id = w.account_id and a.deleted_time is not null)`

export const listWebhooks = statement<Visible & { size: number; offset: number }, WebhookRow>(`
  select ${columns} from webhooks w where ${isVisible}
  order by w.created_time desc, w.id desc limit :size offset :offset
`)
export const countWebhooks = statement<Visible, { total: number }>(
  `select count(*) as total from webhooks w where ${isVisible}`,
)
export const findWebhook = statement<Visible & { id: string }, WebhookRow>(`
  select ${columns} from webhooks w where w.id = :id and ${isVisible}
`)
export const lockWebhook = statement<Visible & { id: string }, WebhookRow & { dataKeyId: string }>(`
  select ${columns}, w.data_key_id from webhooks w where w.id = :id and ${isVisible} for no key update of w
`)

/** Locks the organization, so that its webhooks are created one at a time. Rows that refer to it need not wait. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const countForQuota = statement<
  { organizationId: string; accountId: string | null },
  { total: number; same: number }
>(`
  select count(*) as total, count(*) filter (where account_id is not distinct from :accountId) as same
  from webhooks where organization_id = :organizationId
`)
/** Holds the sub-account against deletion. */
export const holdAccount = statement<{ organizationId: string; id: string }, { id: string }>(`
  select id from accounts where id = :id and organization_id = :organizationId and deleted_time is null for key share
`)

/**
 * Runs under the lock of the organization, so that times have the order of creation: of webhooks that were created
 * concurrently, lists have the first one last.
 */
export const insertWebhook = statement<{
  id: string
  organizationId: string
  accountId: string | null
  url: string
  description: string
  eventTypes: readonly EventType[] | null
  enabled: boolean
  dataKeyId: string
  secretSealed: Buffer
}>(`
  insert into webhooks (id, organization_id, account_id, url, description, event_types, enabled, data_key_id, secret_sealed,
    created_time, updated_time)
  values (:id, :organizationId, :accountId, :url, :description, :eventTypes, :enabled, :dataKeyId, :secretSealed,
    clock_timestamp(), clock_timestamp())
`)
/**
 * Ends deliveries that wait for an address that the webhook no longer has. A process that is sending to that address loses its
 * lease, so it can no longer store the result. Nobody leases the webhook until that process has noticed, which takes as long as
 * a lease.
 */
export const endPending = statement<{ id: string; leaseSeconds: number }>(`
  with kept_away as (
    update webhooks set lease_id = 'address changed', lease_until = now() + make_interval(secs => :leaseSeconds)
    where id = :id and lease_until > now()
  ),
  ended as (
    update webhook_deliveries set status = 'failed', error_code = 'address_changed', finished_time = now()
    where webhook_id = :id and status = 'pending'
    returning id
  )
  insert into webhook_totals as t (outcome, deliveries)
  select 'failed', count(*) from ended having count(*) > 0
  on conflict (outcome) do update set deliveries = t.deliveries + excluded.deliveries
`)
/** A webhook that is enabled again starts over. Its earlier failures are ignored. */
export const updateWebhook = statement<{
  id: string
  url: string
  description: string
  eventTypes: readonly EventType[] | null
  enabled: boolean
}>(`
  update webhooks set
    url = :url, description = :description, event_types = :eventTypes, enabled = :enabled,
    disabled_reason = case when enabled = :enabled then disabled_reason end,
    failing_since = case when enabled = :enabled and url = :url then failing_since end,
    look_again_time = null, version = version + 1, updated_time = now()
  where id = :id
`)
export const deleteWebhook = statement<{ id: string }>(`delete from webhooks where id = :id`)
export const replaceSecret = statement<{ id: string; secretSealed: Buffer; overlapHours: number }>(`
  update webhooks set
    previous_secret_sealed = case when :overlapHours::integer > 0 then secret_sealed end,
    previous_secret_until = case when :overlapHours > 0 then now() + make_interval(hours => :overlapHours) end,
    secret_sealed = :secretSealed, version = version + 1, updated_time = now()
  where id = :id
`)
