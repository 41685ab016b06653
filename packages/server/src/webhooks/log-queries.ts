import type { WebhookDeliveryStatus } from '@penstock/wire'
import { statement } from '../db/statement.ts'
import { isVisible } from './queries.ts'

/** Statements about the log of deliveries, and replays. */

type Visible = { organizationId: string; accountIds: readonly string[] | null }
export type DeliveryRow = {
  id: string
  webhookId: string
  eventId: string
  eventType: string
  status: WebhookDeliveryStatus
  attempts: number
  responseStatus: number | null
  errorCode: string | null
  nextTime: Date
  createdTime: Date
}
const columns = `
  d.id, d.webhook_id, d.event_id, e.type as event_type, d.status, d.attempts, d.response_status, d.error_code, d.next_time,
  d.created_time`

type Listed = { webhookId: string; status: WebhookDeliveryStatus | null }
const isListed = 'webhook_id = :webhookId and (:status::text is null or status = :status)'
/** The page is picked first, so that only its events are joined. */
export const listDeliveries = statement<Listed & { size: number; offset: number }, DeliveryRow>(
  `
  select ${columns} from (
    select * from webhook_deliveries where ${isListed}
    order by created_time desc, id desc limit :size offset :offset
  ) d join events e on e.id = d.event_id
  order by d.created_time desc, d.id desc
`,
  { plannedEachTime: true },
)
export const countDeliveries = statement<Listed, { total: number }>(
  `select count(*) as total from webhook_deliveries where ${isListed}`,
  { plannedEachTime: true },
)
const foundBy = `
  from webhook_deliveries d join events e on e.id = d.event_id join webhooks w on w.id = d.webhook_id
  where d.id = :id and ${isVisible}`
export const findDelivery = statement<Visible & { id: string }, DeliveryRow>(`select ${columns} ${foundBy}`)
export const findDeliveryDetails = statement<
  Visible & { id: string },
  DeliveryRow & { payload: string; dataKeyId: string }
>(`select ${columns}, e.payload, w.data_key_id ${foundBy}`)

export type AttemptRow = {
  number: number
  time: Date
  durationMs: number
  responseStatus: number | null
  errorCode: string | null
  errorMessage: string | null
  answerSealed: Buffer | null
}
export const listAttempts = statement<{ deliveryId: string; limit: number }, AttemptRow>(`
  select number, time, duration_ms, response_status, error_code, error_message, answer_sealed
  from webhook_attempts where delivery_id = :deliveryId order by number desc limit :limit
`)

export const insertDelivery = statement<{
  id: string
  webhookId: string
  eventId: string
  orderingKey: string
}>(`
  insert into webhook_deliveries (id, webhook_id, event_id, ordering_key)
  values (:id, :webhookId, :eventId, :orderingKey)
`)
const queuedAgain = `status = 'pending', queued_time = now(), next_time = now(), finished_time = null`
export const replayDelivery = statement<{ id: string }>(`
  update webhook_deliveries set ${queuedAgain} where id = :id
`)
/** Queues ended deliveries again, oldest first. Returns their number by type. */
export const replayDeliveries = statement<
  {
    webhookId: string
    since: number
    status: 'failed' | 'delivered' | null
    limit: number
  },
  { eventType: string; count: number }
>(`
  with replayed as (
    update webhook_deliveries set ${queuedAgain}
    where id in (
      select id from webhook_deliveries
      where webhook_id = :webhookId and created_time >= to_timestamp(:since::bigint) and status <> 'pending'
        and (:status::text is null or status = :status)
      order by created_time, id limit :limit for update
    )
    returning event_id
  )
  select e.type as event_type, count(*) as count from replayed r join events e on e.id = r.event_id group by e.type
`)
/** Makes the webhook due now. */
export const lookNow = statement<{ id: string }>(`update webhooks set look_again_time = null where id = :id`)
