import { limits } from '@penstock/wire'

/** Bounds of requests with events. Sizes are in bytes. */
export const eventBounds = {
  /** Of a body as it arrives, and of a body once it is decompressed. */
  body: 4 * 1024 ** 2,
  /** Of the JSON of one event. */
  event: 256 * 1024,
  /** Events of one request. */
  events: 5_000,
  /** Levels of nested objects and lists of one event, and keys in it. */
  levels: 32,
  keys: 2_000,
  /** Characters of a message ID. Longer ones are not used to find repeated events. */
  messageId: 500,
  /** Columns of one stream. */
  columns: limits.streamColumnsMax,
  /** Hours for which a message ID is kept. Senders of webhooks retry for up to 76 hours. */
  messageHours: 76,
  /** Of the lines of one stored batch before they are compressed, and its events. */
  batch: 512 * 1024,
  batchEvents: 2_000,
  /** Of the requests in progress: of all, and of one stream, one sub-account or one address without a known stream. */
  inProgress: { total: 128 * 1024 ** 2, ofName: 32 * 1024 ** 2 },
  /** The same of events on their way to topics, which a slow broker holds up. */
  toTopics: { total: 64 * 1024 ** 2, ofName: 16 * 1024 ** 2 },
  /** Bytes that a request counts at least. */
  request: 4 * 1024,
} as const
