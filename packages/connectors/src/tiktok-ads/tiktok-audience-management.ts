import { text } from '@penstock/connector'
import { type ErrorFact, idSetting } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, objectIn } from '../platform-api/json.ts'
import { advertisers } from './advertisers.ts'
import { codeOf, invalidParameter, partlyTaken, tiktokApi } from './api.ts'
import { audienceLists, isStreamed, list } from './audience-lists.ts'
import { tiktokAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** The kinds of identifiers, in the order in which a request has them. */
const schemas = ['EMAIL_SHA256', 'PHONE_SHA256', 'IDFA_SHA256', 'AAID_SHA256', 'IDFA_MD5', 'AAID_MD5'] as const

/** An advertising ID does not show of which kind of device it is, and its digest even less: both are tried, unless one is known. */
function finish({ '@maid_sha256': sha256, '@maid_md5': md5, ...person }: JsonObject): { read: JsonObject } {
  const isKnown = (hash: string) => `IDFA_${hash}` in person || `AAID_${hash}` in person
  const bySha256 = sha256 === undefined || isKnown('SHA256') ? {} : { IDFA_SHA256: sha256, AAID_SHA256: sha256 }
  const byMd5 = md5 === undefined || isKnown('MD5') ? {} : { IDFA_MD5: md5, AAID_MD5: md5 }
  return { read: { ...person, ...bySha256, ...byMd5 } }
}

/** The meaning of an answer about people, who are accepted or refused as a whole. */
function meaningOf(answer: Answer): ErrorFact | undefined {
  if (answer.status === 200 && !isObject(answer.json)) return 'malformed_response'
  const isRefused = [partlyTaken, invalidParameter].includes(codeOf(answer) ?? 0)
  return isRefused ? ['invalid_batch', 'Check how the identifiers were hashed, and the ID of the audience.'] : undefined
}

/** Members of TikTok's audience segments, changed as changes come in. */
export const tiktokAudienceManagement = audienceDestination({
  slug: 'tiktok-audience-management',
  name: 'TikTok Audience Management',
  platform: tiktokAds,
  dataType: 'audiences',
  description: 'Adds people to audience segments of TikTok and removes them, as changes arrive.',
  actions: ['add', 'remove'],
  notes:
    'TikTok must have allowed your app to stream audiences. An audience is found by its name among the streamed audiences (partner audiences), or created by rows with the action add; rows without an audience share one that is created for the connection. TikTok processes accepted rows within 24 to 48 hours, and an audience can be used from 1,000 matched people; only TikTok shows how many were matched. These audiences have no source and no lifespan at TikTok, so these two settings are for your own records. You need the consent of the people.',
  tested:
    'Our own test server, which follows the published documentation of TikTok’s API for Business and what others send to it; not TikTok itself.',
  api: { version: 'v1.3 of the API for Business', ends: 'no end is announced' },
  platformApi: tiktokApi,
  auth: { header: 'access-token', secret: 'accessToken' },
  secrets: signIn,
  account: 'advertiserId',
  findAccount: async (context, client) => (await import('./advertiser.ts')).advertiserOf(context, client),
  settings: {
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the TikTok advertiser that owns the audiences; not needed if the token is for only one',
      pattern: /^\d{1,20}$/,
      example: '6900000000000000001',
    }),
    audienceSource: text({ label: 'Audience source', description: 'Where the people in the audience come from' }),
    lifespan: text({ label: 'Lifespan', description: 'How long a person stays in the audience' }),
  },
  listed: { advertiserId: advertisers },
  batch: { rowsMax: 10_000, bytesMax: 2_000_000 },
  columns: {
    ...segmentColumns,
    email_sha256: digest('EMAIL_SHA256', 'Hashed e-mail address', 'email'),
    phone_256: digest('PHONE_SHA256', 'Hashed phone number', 'phone-e164'),
    maid_sha256: digest('@maid_sha256', 'Hashed advertising ID of a mobile device', 'device-id'),
    maid_md5: digest('@maid_md5', 'Advertising ID of a mobile device, hashed with MD5', 'device-id', { hash: 'md5' }),
    idfa_sha256: digest('IDFA_SHA256', 'Hashed advertising ID of an iOS device', 'device-id', {
      synonyms: ['idfa'],
    }),
    aaid_sha256: digest('AAID_SHA256', 'Hashed advertising ID of an Android device', 'device-id', {
      synonyms: ['gaid_sha256', 'aaid', 'gaid'],
    }),
    idfa_md5: digest('IDFA_MD5', 'Advertising ID of an iOS device, hashed with MD5', 'device-id', { hash: 'md5' }),
    aaid_md5: digest('AAID_MD5', 'Advertising ID of an Android device, hashed with MD5', 'device-id', {
      hash: 'md5',
      synonyms: ['gaid_md5'],
    }),
  },
  finish,
  lists: {
    ...audienceLists(isStreamed),
    make: ({ account }, name) => ({
      path: '/segment/audience/',
      body: { custom_audience_name: name, advertiser_id: account, action: 'create' },
    }),
    made: ({ json }) => objectIn(objectIn(json).data).audience_id,
  },
  request: (people, { account, audience, verb }) => {
    const used = schemas.filter((schema) => people.some((person) => schema in person))
    return {
      path: '/segment/mapping/',
      body: {
        advertiser_ids: [account],
        action: verb === 'add' ? 'add' : 'delete',
        id_schema: used,
        batch_data: people.map((person) =>
          used.map((schema) => (schema in person ? { id: person[schema], audience_ids: [audience] } : {})),
        ),
      },
    }
  },
  answer: { means: meaningOf },
  check: {
    authentication: { path: '/user/info/' },
    credentials: 'the access token',
    account: ({ account }) => list(account, { page: '1', page_size: '1' }),
  },
})
