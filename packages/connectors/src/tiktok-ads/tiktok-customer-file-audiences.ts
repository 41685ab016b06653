import { idSetting } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest, plain } from '../kit/columns.ts'
import { textIn } from '../platform-api/json.ts'
import { advertisers } from './advertisers.ts'
import { tiktokApi } from './api.ts'
import { audienceLists, list } from './audience-lists.ts'
import { fileTypeOf } from './file-types.ts'
import { tiktokAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences of TikTok, made of customer files. */
export const tiktokCustomerFileAudiences = audienceDestination({
  slug: 'tiktok-customer-file-audiences',
  name: 'TikTok Customer File Audiences',
  platform: tiktokAds,
  dataType: 'custom file audiences',
  description: 'Creates audiences at TikTok from customer files and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'An audience is found by its name among the customer file audiences, or created by rows with the action add; rows without an audience share one that is created for the connection. All files of an audience contain identifiers of one kind, which is determined by the columns of the first transfer: e-mail addresses, phone numbers, advertising IDs, or several of these; in the last case, advertising IDs must not be hashed. TikTok processes files within 24 to 48 hours, and shows how many people it matched only in its ads manager; Penstock counts the rows of files that TikTok accepted. An audience can be used when TikTok has matched 1,000 people, and TikTok refuses a change that would leave fewer. Send many rows at once: an audience accepts 500 files. TikTok limits how often its API may be called. You need the consent of the people. TikTok asked advertisers to confirm its policy for the EU by 10 January 2026: make sure that you have confirmed it.',
  tested:
    'Our own test server, which follows the published documentation of TikTok’s API for Business and its SDK; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business', ends: 'no end is announced' },
  platformApi: tiktokApi,
  auth: { header: 'access-token', secret: 'accessToken' },
  secrets: signIn,
  account: 'advertiserId',
  settings: {
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the TikTok advertiser that owns the audiences',
      required: true,
      pattern: /^\d{1,20}$/,
      example: '6900000000000000001',
    }),
  },
  listed: { advertiserId: advertisers },
  batch: { rowsMax: 200_000, bytesMax: 16_000_000 },
  columns: {
    ...segmentColumns,
    email: digest('@email', 'E-mail address; it is hashed before it is sent', 'email-plain-local'),
    email_sha256: digest('email', 'Hashed e-mail address', 'email-plain-local'),
    phone: digest('@phone', 'Phone number in E.164; it is hashed before it is sent', 'phone-digits'),
    phone_sha256: digest('phone', 'Hashed phone number', 'phone-digits'),
    maid: plain('maid', 'Advertising ID of a mobile device (GAID or IDFA), not hashed', {
      pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      wanted: 'The value is not an advertising ID of the form 8-4-4-4-12.',
      identifies: true,
      normalise: 'device-id',
    }),
    maid_sha256: digest('maid_sha256', 'Hashed advertising ID of a mobile device (GAID or IDFA)', 'device-id'),
  },
  // A column of digests has priority over the column of values.
  finish: (person) => ({
    read: { email: person['@email'], phone: person['@phone'], ...person, maid: textIn(person.maid)?.toLowerCase() },
  }),
  // An audience is made with a first file, and never empty.
  lists: audienceLists((audience) => fileTypeOf(audience) !== undefined),
  send: async (client, context) => (await import('./send-files.ts')).fileSender(client, context),
  check: {
    authentication: { path: '/user/info/' },
    credentials: 'the access token',
    account: ({ account }) => list(account, { page: '1', page_size: '1' }),
  },
})
