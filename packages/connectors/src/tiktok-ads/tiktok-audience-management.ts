import { column, defineConnector, text } from '@penstock/connector'
import { tiktokAds } from './platform.ts'
import { segmentColumns } from './segment-columns.ts'
import { signIn } from './sign-in.ts'

/** Members of TikTok's audience segments, changed as changes come in. */
export const tiktokAudienceManagement = defineConnector({
  slug: 'tiktok-audience-management',
  name: 'TikTok Audience Management',
  platform: tiktokAds,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Puts people into audience segments of TikTok and takes them out, as the changes come in.',
  actions: ['add', 'remove'],
  secrets: signIn,
  destination: {
    fields: {
      audienceSource: text({ label: 'Audience source', description: 'Origin of the people in the audience' }),
      lifespan: text({ label: 'Lifespan', description: 'For what time a person remains in the audience' }),
    },
    records: {
      ...segmentColumns,
      email_sha256: column({
        description: 'Hashed e-mail address',
        normalise: 'email-plain-local',
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
    },
  },
})
