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
    'Rows may have any columns. A message is {"type": "transfer.rows", "timestamp", "data": {"transferId", "rows": [{…}]}}; one that comes a second time has the same webhook-id, also where the next transfer of an incremental connection repeats what was never confirmed, with its own transferId and timestamp. A success status takes all rows, unless the answer says {"rejected": [{"index": 0, "reason": "…"}]}; an answer that is JSON and cut off takes none, and the message comes again. A check sends a message of the type transfer.check, which holds no rows.',
  tested:
    'Our own endpoint, which verifies messages according to Standard Webhooks, without TLS and on the machine of the tests.',
  secrets: {
    url: text({
      label: 'URL',
      description: 'Address of the endpoint, with https://; it should answer within 30 seconds',
      required: true,
      binds: ['signingSecret', 'authorizationHeader'],
    }),
    signingSecret: secret({
      label: 'Signing secret',
      description: 'whsec_ and the Base64 form of 24 to 64 random bytes; the endpoint verifies signatures with it',
      required: true,
      form: 'standard-webhooks',
    }),
    authorizationHeader: secret({
      label: 'Authorization header',
      description:
        'What each request carries as its Authorization, such as Bearer and a token, where the endpoint asks for it',
    }),
  },
  destination: {
    fields: {
      rowsPerRequest: number({
        label: 'Rows per request',
        description: 'How many rows a message holds at most',
        default: 500,
        min: 1,
        max: 1000,
      }),
    },
    deliver: {
      // Many servers take a body of a megabyte and no more; keys make JSON larger than the rows that it is made of.
      batch: ({ rowsPerRequest }) => ({ rowsMax: Number(rowsPerRequest ?? 500), bytesMax: 512 * 1024 }),
      open: async (context) => (await import('./deliver.ts')).open(context),
    },
  },
  check: async (context) => (await import('./deliver.ts')).check(context),
})
