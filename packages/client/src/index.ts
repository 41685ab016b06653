export type { EventType, PenstockEvent } from '@penstock/wire'
export { type ClientOptions, type Credentials, createClient, download } from './client.ts'
export { NoAnswerError, PenstockError } from './errors.ts'
export { everyEntry, everyPage } from './pages.ts'
export type { Fetch } from './transport.ts'
export type {
  Client,
  EntryOf,
  Links,
  PagedOperationId,
  ParametersOf,
  ResultOf,
  StreamedOperationId,
  StreamTypeOf,
} from './types.ts'
export { verifyWebhook, WebhookError, type WebhookHeaders, type WebhookOptions } from './webhooks.ts'
