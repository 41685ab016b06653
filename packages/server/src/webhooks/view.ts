import type { Webhook, WebhookAttempt, WebhookDelivery } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { AttemptRow, DeliveryRow } from './log-queries.ts'
import type { WebhookRow } from './queries.ts'

const optional = (time: Date | null) => (time === null ? null : unixSeconds(time))

/** The version of a webhook. The state of its deliveries does not change it. */
export const etagOf = ({ version }: Pick<WebhookRow, 'version'>): string => String(version)

export const viewWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  accountId: row.accountId,
  url: row.url,
  description: row.description,
  eventTypes: row.eventTypes,
  enabled: row.enabled,
  disabledReason: row.disabledReason as Webhook['disabledReason'],
  failingSince: optional(row.failingSince),
  lastSuccessTime: optional(row.lastSuccessTime),
  previousSecretExpiresTime: optional(row.previousSecretUntil),
  createdTime: unixSeconds(row.createdTime),
  updatedTime: unixSeconds(row.updatedTime),
})

export const viewDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  webhookId: row.webhookId,
  eventId: row.eventId,
  eventType: row.eventType,
  status: row.status,
  attempts: row.attempts,
  responseStatus: row.responseStatus,
  errorCode: row.errorCode,
  nextTime: row.status === 'pending' ? unixSeconds(row.nextTime) : null,
  createdTime: unixSeconds(row.createdTime),
})

/** @param answer what was sealed of it */
export const viewAttempt = (
  { number, time, durationMs, responseStatus, errorCode, errorMessage }: AttemptRow,
  { headers, body }: Pick<WebhookAttempt, 'headers' | 'body'>,
): WebhookAttempt => ({
  number,
  time: unixSeconds(time),
  durationMs,
  responseStatus,
  errorCode,
  errorMessage,
  headers,
  body,
})
