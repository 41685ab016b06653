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

/** Webhooks and their deliveries; ours. */

const eventType = oneOf(eventTypeNames, { description: 'Type of an event', examples: ['transfer.failed'] })
const eventTypes = Type.Union([Type.Array(eventType, { minItems: 1, uniqueItems: true }), Type.Null()], {
  description: 'Types of events that it takes; null: all, later ones included',
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
  description: 'What it is for, without control characters',
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
    description: 'Sub-account whose events it takes; null: those of the whole organization',
    examples: [null],
  }),
  url: text('Address that events are posted to', 'https://example.com/penstock'),
  description: text('What it is for', 'Alerts the on-call team'),
  eventTypes,
  enabled: flag('Whether events are sent to it'),
  disabledReason: Type.Union(
    [oneOf(['gone', 'failing'], { description: 'Reason', examples: ['failing'] }), Type.Null()],
    {
      description: `Why the service disabled it. gone: it answered with the status 410. failing: no delivery succeeded for ${limits.webhookFailureDays} days. null: the service did not`,
      examples: [null],
    },
  ),
  failingSince: optionalTime('The first failure since the last success; null: the last attempt succeeded', null),
  lastSuccessTime: optionalTime('When a delivery last succeeded; null: never', example.updatedTime),
  previousSecretExpiresTime: optionalTime(
    'Until when the secret before the last rotation signs as well; null: there is none that does',
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
    secret: secret('The secret that signs events. Store it now: no later answer contains it', 'whsec_…'),
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
          'Sub-account whose events it takes; null or omitted: those of the whole organization. Required of credentials that are limited to sub-accounts',
        examples: [example.accountId],
      }),
    ),
    eventTypes: Type.Optional(eventTypes),
    enabled: Type.Optional(flag('Whether events are sent to it; true unless given')),
  },
  { description: 'Webhook to create' },
)

export const UpdateWebhook = Type.Object(
  {
    url: Type.Optional(url),
    description: Type.Optional(description),
    eventTypes: Type.Optional(eventTypes),
    enabled: Type.Optional(flag('Whether events are sent to it. What waits is sent once it is enabled again')),
  },
  { additionalProperties: false, minProperties: 1, description: 'What to change; at least one of these' },
)

export const RotateWebhookSecret = exactly(
  {
    overlapHours: Type.Optional({
      ...RotateClient.properties.overlapHours,
      description: 'Hours for which the present secret signs as well. 0: the new one alone signs at once',
    }),
  },
  { description: 'How the secret is rotated' },
)

const deliveryFields = {
  id: identifier('the delivery', example.deliveryId),
  webhookId: identifier('the webhook', example.webhookId),
  eventId: identifier('the event: the header `webhook-id`', example.eventId),
  eventType: text('Type of the event', 'transfer.failed'),
  status: oneOf(webhookDeliveryStatuses, {
    description:
      'pending: it waits, or is tried again. delivered: it was answered with success. failed: it was given up',
    examples: ['delivered'],
  }),
  attempts: count('How many times it was sent', 1),
  responseStatus: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the last answer; null: there was none',
    examples: [200],
  }),
  errorCode: Type.Union([Type.String(), Type.Null()], {
    description:
      'Why there was no answer the last time, such as `timeout`; `address_changed`: it waited when the webhook got another address, and was not sent there; null: there was an answer, or no attempt',
    examples: [null],
  }),
  nextTime: optionalTime('When it is sent, at the earliest; null: it is not sent any more', null),
  createdTime: unixSeconds('When the event was written', example.createdTime),
}
export const WebhookDelivery = exactly(deliveryFields, { description: 'Delivery of an event to a webhook' })
export type WebhookDelivery = Static<typeof WebhookDelivery>

const attempt = exactly(
  {
    number: Type.Integer({ minimum: 1, description: 'Number of the attempt', examples: [1] }),
    time: unixSeconds('When it was sent', example.createdTime),
    durationMs: count('Milliseconds until the answer was read', 87),
    responseStatus: Type.Union([Type.Integer(), Type.Null()], {
      description: 'HTTP status of the answer; null: there was none',
      examples: [200],
    }),
    errorCode: Type.Union([Type.String(), Type.Null()], {
      description: 'Why there was no answer; null: there was one',
      examples: [null],
    }),
    errorMessage: Type.Union([Type.String(), Type.Null()], {
      description: 'The same in words',
      examples: [null],
    }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the answer',
      examples: [{ 'content-type': 'text/plain' }],
    }),
    body: text('The beginning of the body of the answer', 'ok'),
  },
  { description: 'Attempt of a delivery, with its answer' },
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
  { description: 'Delivery with its request and its answers' },
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
        description: 'Those alone that were given up, or that were delivered; both unless given',
        examples: ['failed'],
      }),
    ),
  },
  { description: 'What to send again' },
)
export const ReplayedWebhook = exactly(
  {
    replayed: count('Deliveries that were queued again', 42),
    complete: flag(
      `Whether that is all. false: there are more than ${limits.webhookReplayMax}; repeat the request for the others`,
    ),
  },
  { description: 'What is sent again' },
)
