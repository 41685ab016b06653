import { column, defineConnector, inspectBy, number, text } from '@penstock/connector'
import { authorization } from './authorization.ts'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of Snapchat, made of hashed identifiers. */
export const snapchatCustomerLists = defineConnector({
  slug: 'snapchat-customer-lists',
  name: 'Snapchat Customer Lists',
  platform: snapchatAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates list audiences at Snapchat from hashed identifiers and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'A row may have identifiers of several kinds. They are sent in separate requests, and the row counts as accepted if Snapchat accepts one of them. An audience is found by its name, or created by rows with the action add; rows without an audience share one that is created for the connection. A new audience accepts members after a few seconds, for which the transfer waits. Snapchat matches people later, and an audience can be used from 1,000 matched people. The member of the organization who granted access needs a role on the ad account that may manage audiences. You need the consent of the people, and the ad account must have accepted Snapchat’s terms for customer lists.',
  tested:
    'Our own test server, which follows the published documentation of Snapchat’s Marketing API; not Snapchat itself.',
  api: { version: 'Marketing API v1', ends: 'no end is announced' },
  secrets: signIn,
  authorization,
  check: async (context) => (await import('./check-customer-lists.ts')).checkCustomerLists(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 100_000, bytesMax: 16_000_000 }),
      open: async (context) => (await import('./deliver-customer-lists.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-customer-lists.ts')).assertAccount(context)),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the Snapchat ad account that owns the audiences',
        required: true,
      }),
      lifespanDays: number({
        label: 'Lifespan (days)',
        description: 'How many days a person stays in the audience',
        min: 1,
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the audience to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id', 'list_id'] }),
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['add', 'remove'],
      }),
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'Hashed phone number, with its country code',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device (IDFA or GAID)',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
