import { eventTypeNames } from '../events.ts'
import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { webhookDeliveryStatuses } from '../terms.ts'
import { type Static, Type } from '../type.ts'
import { RotateClient } from './client.ts'
import {
  addressPatterns,
  count,
  exactly,
  flag,
  Identifier,
  identifier,
  oneOf,
  secret,
  text,
  unixSeconds,
} from './kinds.ts'

/** Webhooks and their deliveries. Not in the specification. */

const eventType = oneOf(eventTypeNames, { description: 'Type of an event', examples: ['transfer.failed'] })
const eventTypes = Type.Union([Type.Array(eventType, { minItems: 1, uniqueItems: true }), Type.Null()], {
  description: 'Types of events that the webhook receives; null: all, including later ones',
  examples: [['transfer.failed', 'connection.status_changed']],
})
const url = Type.String({
  minLength: 1,
  maxLength: limits.webhookUrlLengthMax,
  pattern: addressPatterns.receiver,
  description: `Address that events are posted to. It must be an address that begins with https://, without user name, password or fragment, of at most ${limits.webhookUrlLengthMax} characters. It must be reachable under the network policy of the operator`,
  examples: ['https://example.com/penstock'],
})
const description = Type.String({
  maxLength: limits.webhookDescriptionLengthMax,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'Description, without control characters',
  examples: ['Alerts the on-call team'],
})
const optionalTime = (about: string, shown: number | null) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: `${about}, Unix time in seconds`,
    examples: [shown],
  })

const webhookFields = {
  id: identifier('the webhook', example.webhookId),
  accountId: Type.Union([Identifier, Type.Null()], {
    description: 'Sub-account whose events the webhook receives; null: the whole organization',
    examples: [null],
  }),
  url: text('Address that events are posted to', 'https://example.com/penstock'),
  description: text('Description', 'Alerts the on-call team'),
  eventTypes,
  enabled: flag('Whether events are sent to it'),
  disabledReason: Type.Union(
    [oneOf(['gone', 'failing'], { description: 'Reason', examples: ['failing'] }), Type.Null()],
    {
      description: `Why the service disabled it. gone: it answered with the status 410. failing: no delivery succeeded for ${limits.webhookFailureDays} days. null: not disabled by the service`,
      examples: [null],
    },
  ),
  failingSince: optionalTime('The first failure since the last success; null: the last attempt succeeded', null),
  lastSuccessTime: optionalTime('When a delivery last succeeded; null: never', example.updatedTime),
  previousSecretExpiresTime: optionalTime(
    'Time until which the secret before the last rotation also signs; null: only the current secret signs',
    null,
  ),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it was last changed', example.updatedTime),
}

/** A webhook without its secret. */
export const Webhook = exactly(webhookFields, { description: 'Webhook, without the secret' })
export type Webhook = Static<typeof Webhook>

export const WebhookWithSecret = exactly(
  {
    ...webhookFields,
    secret: secret('The secret that signs events. Store it now: no later response contains it', 'whsec_…'),
  },
  { description: 'Webhook with a new secret' },
)
export type WebhookWithSecret = Static<typeof WebhookWithSecret>

export const CreateWebhook = exactly(
  {
    url,
    description: Type.Optional(description),
    accountId: Type.Optional(
      Type.Union([Identifier, Type.Null()], {
        description:
          'Sub-account whose events the webhook receives; null or omitted: the whole organization. Required for credentials that are limited to sub-accounts',
        examples: [example.accountId],
      }),
    ),
    eventTypes: Type.Optional(eventTypes),
    enabled: Type.Optional(flag('Whether events are sent to the webhook; true by default')),
  },
  { description: 'Webhook to create' },
)

export const UpdateWebhook = Type.Object(
  {
    url: Type.Optional(url),
    description: Type.Optional(description),
    eventTypes: Type.Optional(eventTypes),
    enabled: Type.Optional(
      flag('Whether events are sent to the webhook. Waiting deliveries are sent when it is enabled again'),
    ),
  },
  { additionalProperties: false, minProperties: 1, description: 'Changes to the webhook; at least one of these' },
)

export const RotateWebhookSecret = exactly(
  {
    overlapHours: Type.Optional({
      ...RotateClient.properties.overlapHours,
      description: 'Hours for which the current secret also signs. 0: only the new secret signs, immediately',
    }),
  },
  { description: 'Options of the rotation' },
)

const deliveryFields = {
  id: identifier('the delivery', example.deliveryId),
  webhookId: identifier('the webhook', example.webhookId),
  eventId: identifier('the event: the header `webhook-id`', example.eventId),
  eventType: text('Type of the event', 'transfer.failed'),
  status: oneOf(webhookDeliveryStatuses, {
    description:
      'pending: it waits or is retried. delivered: the receiver answered with success. failed: it is not retried any more',
    examples: ['delivered'],
  }),
  attempts: count('How many times it was sent', 1),
  responseStatus: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the last response; null: no response',
    examples: [200],
  }),
  errorCode: Type.Union([Type.String(), Type.Null()], {
    description:
      'Why the last attempt got no response, such as `timeout`; `address_changed`: the address of the webhook changed while the delivery waited, so it was not sent; null: there was a response, or no attempt',
    examples: [null],
  }),
  nextTime: optionalTime('Earliest time of the next attempt; null: no further attempt', null),
  createdTime: unixSeconds('When the event was written', example.createdTime),
}
export const WebhookDelivery = exactly(deliveryFields, { description: 'Delivery of an event to a webhook' })
export type WebhookDelivery = Static<typeof WebhookDelivery>

const attempt = exactly(
  {
    number: Type.Integer({ minimum: 1, description: 'Number of the attempt', examples: [1] }),
    time: unixSeconds('When it was sent', example.createdTime),
    durationMs: count('Milliseconds until the response was read', 87),
    responseStatus: Type.Union([Type.Integer(), Type.Null()], {
      description: 'HTTP status of the response; null: no response',
      examples: [200],
    }),
    errorCode: Type.Union([Type.String(), Type.Null()], {
      description: 'Why there was no response; null: there was a response',
      examples: [null],
    }),
    errorMessage: Type.Union([Type.String(), Type.Null()], {
      description: 'The reason in words',
      examples: [null],
    }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the response',
      examples: [{ 'content-type': 'text/plain' }],
    }),
    body: text('The beginning of the body of the response', 'ok'),
  },
  { description: 'Attempt of a delivery, with its response' },
)
export type WebhookAttempt = Static<typeof attempt>

export const WebhookDeliveryDetails = exactly(
  {
    ...deliveryFields,
    payload: text('The body of the request: the same bytes in every attempt', '{"type" : "transfer.failed", …}'),
    log: Type.Array(attempt, {
      description: `The attempts, newest first; at most ${limits.webhookAttemptsMax}`,
    }),
  },
  { description: 'Delivery with its request and its responses' },
)
export type WebhookDeliveryDetails = Static<typeof WebhookDeliveryDetails>

export const ReplayWebhook = exactly(
  {
    since: Type.Integer({
      minimum: 1,
      maximum: limits.unixSecondsMax,
      description: 'Events written since then, Unix time in seconds',
      examples: [example.createdTime],
    }),
    status: Type.Optional(
      oneOf(['failed', 'delivered'], {
        description: 'Only deliveries with this status; by default, failed and delivered',
        examples: ['failed'],
      }),
    ),
  },
  { description: 'What to send again' },
)
export const ReplayedWebhook = exactly(
  {
    replayed: count('Number of deliveries that were queued again', 42),
    complete: flag(
      `Whether all deliveries were queued. false: there are more than ${limits.webhookReplayMax}; repeat the request for the others`,
    ),
  },
  { description: 'Deliveries that are sent again' },
)
