import { column, defineConnector, inspectBy, text } from '@penstock/connector'
import { tiktokAds } from './platform.ts'
import { segmentColumns } from './segment-columns.ts'
import { signIn } from './sign-in.ts'

/** Audiences of TikTok, made of customer files. */
export const tiktokCustomerFileAudiences = defineConnector({
  slug: 'tiktok-customer-file-audiences',
  name: 'TikTok Customer File Audiences',
  platform: tiktokAds,
  dataType: 'custom file audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates audiences at TikTok from customer files and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'An audience is found by its name among the customer file audiences, or created by rows with the action add; rows without an audience share one that is created for the connection. All files of an audience contain identifiers of one kind, which is determined by the columns of the first transfer: e-mail addresses, phone numbers, advertising IDs, or several of these; in the last case, advertising IDs must not be hashed. TikTok processes files within 24 to 48 hours, and shows how many people it matched only in its ads manager; Penstock counts the rows of files that TikTok accepted. An audience can be used when TikTok has matched 1,000 people, and TikTok refuses a change that would leave fewer. Send many rows at once: an audience accepts 500 files. TikTok limits how often its API may be called. You need the consent of the people. TikTok asked advertisers to confirm its policy for the EU by 10 January 2026: make sure that you have confirmed it.',
  tested:
    'Our own test server, which follows the published documentation of TikTok’s API for Business and its SDK; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business', ends: 'no end is announced' },
  secrets: signIn,
  check: async (context) => (await import('./check-audiences.ts')).checkAudiences(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 200_000, bytesMax: 16_000_000 }),
      open: async (context) => (await import('./deliver-file-audiences.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-audiences.ts')).assertAudiences(context)),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the TikTok advertiser that owns the audiences',
        required: true,
      }),
    },
    records: {
      ...segmentColumns,
      email: column({
        description: 'E-mail address; it is hashed before it is sent',
        normalise: 'email-plain-local',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email-plain-local',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone: column({
        description: 'Phone number in E.164; it is hashed before it is sent',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'Hashed phone number',
        normalise: 'phone-digits',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({
        description: 'Advertising ID of a mobile device (GAID or IDFA), not hashed',
        normalise: 'device-id',
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device (GAID or IDFA)',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
    },
  },
})
