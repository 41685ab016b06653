import { defineConnector, number, secret, text } from '@penstock/connector'
import { webhookPlatform } from './platform.ts'

/** Rows as signed messages to an endpoint of your own. */
export const webhook = defineConnector({
  slug: 'webhook',
  name: 'Webhook',
  platform: webhookPlatform,
  dataType: 'raw events data stream',
  dataTypeCategory: 'events',
  description: 'Posts rows as JSON to your own endpoint, signed according to Standard Webhooks.',
  actions: ['send'],
  notes:
    'Rows may have any columns. A message is {"type": "transfer.rows", "timestamp", "data": {"transferId", "rows": [{…}]}}. A repeated message has the same webhook-id, so ignore a webhook-id that you have processed. If the source changed in the meantime, the repeated message contains only the rows of the first message that are unchanged; new and changed rows arrive with another webhook-id. The next transfer repeats rows of an incremental connection that were not confirmed, with its own transferId and timestamp. A success status accepts all rows, unless the response body is {"rejected": [{"index": 0, "reason": "…"}]}. A list answers with a value for each row is recorded as its outcome, if the connection records outcomes. A truncated JSON response accepts none, and the message is sent again. A check sends a message of the type transfer.check without rows.',
  tested:
    'Our own endpoint, which verifies messages according to Standard Webhooks, without TLS, on the machine that ran the tests.',
  secrets: {
    url: text({
      label: 'URL',
      description: 'URL of the endpoint, with https://; it should respond within 30 seconds',
      required: true,
      binds: ['signingSecret', 'authorizationHeader'],
    }),
    signingSecret: secret({
      label: 'Signing secret',
      description: 'whsec_ followed by 24 to 64 random bytes in Base64; the endpoint uses it to verify signatures',
      required: true,
      form: 'standard-webhooks',
    }),
    authorizationHeader: secret({
      label: 'Authorization header',
      description:
        'Value of the Authorization header of each request, such as Bearer and a token. Only if the endpoint requires it',
    }),
  },
  destination: {
    fields: {
      rowsPerRequest: number({
        keepsState: 'pace',
        label: 'Rows per request',
        description: 'Maximum number of rows in a message',
        default: 500,
        min: 1,
        max: 1000,
      }),
    },
    deliver: {
      // Many servers accept bodies of at most a megabyte, and keys make JSON larger than its rows.
      batch: ({ rowsPerRequest }) => ({ rowsMax: Number(rowsPerRequest ?? 500), bytesMax: 512 * 1024 }),
      recognisesKeys: true,
      open: async (context) => (await import('./deliver.ts')).open(context),
    },
  },
  check: async (context) => (await import('./deliver.ts')).check(context),
})
