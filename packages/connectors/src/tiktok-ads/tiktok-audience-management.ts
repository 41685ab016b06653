import { column, defineConnector, inspectBy, text } from '@penstock/connector'
import { tiktokAds } from './platform.ts'
import { segmentColumns } from './segment-columns.ts'
import { signIn } from './sign-in.ts'

const device = (description: string, digest: 'sha256' | 'md5', synonyms: readonly string[]) =>
  column({ description, normalise: 'device-id', hashed: [digest], oneOf: 'identifier', synonyms })

/** Members of TikTok's audience segments, changed as changes come in. */
export const tiktokAudienceManagement = defineConnector({
  slug: 'tiktok-audience-management',
  name: 'TikTok Audience Management',
  platform: tiktokAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Adds people to audience segments of TikTok and removes them, as changes arrive.',
  actions: ['add', 'remove'],
  notes:
    'TikTok must have allowed your app to stream audiences. An audience is found by its name among the streamed audiences (partner audiences), or created by rows with the action add; rows without an audience share one that is created for the connection. TikTok processes accepted rows within 24 to 48 hours, and an audience can be used from 1,000 matched people; only TikTok shows how many were matched. These audiences have no source and no lifespan at TikTok, so these two settings are for your own records. You need the consent of the people.',
  tested:
    'Our own test server, which follows the published documentation of TikTok’s API for Business and what others send to it; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business', ends: 'no end is announced' },
  secrets: signIn,
  check: async (context) => (await import('./check-audiences.ts')).checkAudiences(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-audience-management.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check-audiences.ts')).assertAudiences(context)),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the TikTok advertiser that owns the audiences; not needed if the token is for only one',
      }),
      audienceSource: text({ label: 'Audience source', description: 'Where the people in the audience come from' }),
      lifespan: text({ label: 'Lifespan', description: 'How long a person stays in the audience' }),
    },
    records: {
      ...segmentColumns,
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_256: column({
        description: 'Hashed phone number',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_sha256: column({
        description: 'Hashed advertising ID of a mobile device',
        normalise: 'device-id',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid_md5: column({
        description: 'Advertising ID of a mobile device, hashed with MD5',
        normalise: 'device-id',
        hashed: ['md5'],
        oneOf: 'identifier',
      }),
      idfa_sha256: device('Hashed advertising ID of an iOS device', 'sha256', ['idfa']),
      aaid_sha256: device('Hashed advertising ID of an Android device', 'sha256', ['gaid_sha256', 'aaid', 'gaid']),
      idfa_md5: device('Advertising ID of an iOS device, hashed with MD5', 'md5', []),
      aaid_md5: device('Advertising ID of an Android device, hashed with MD5', 'md5', ['gaid_md5']),
    },
  },
})
