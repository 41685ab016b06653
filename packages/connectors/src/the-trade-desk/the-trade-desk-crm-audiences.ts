import { ConnectorError, select, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { type ColumnOptions, type EventColumn, plain, whole } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { wrong } from '../platform-api/rows/events.ts'
import { developerPortal } from './developer-portal.ts'
import { theTradeDesk } from './platform.ts'
import { platformApi } from './platform-api.ts'

/** The platform API, as it answers about data from a CRM. */
const api = restApi({
  ...platformApi,
  errors: {
    statuses: {
      ...platformApi.errors?.statuses,
      400: ['request_refused', 'Check the advertiser ID, the IDs of the audiences and the region.'],
      401: ['invalid_credentials', 'Create a new token in the developer portal, and save it in the connector.'],
      404: ['object_not_found', 'Check the advertiser ID and the IDs of the audiences.'],
    },
  },
})

const auth = { header: 'ttd-auth', secret: 'apiToken' }

/** A list of audiences. Pages end with an empty one. */
const segments = (account: string, pagingToken?: string): PlatformCall => ({
  path: `/crmdata/segment/${account}`,
  query: { pagingToken },
})
const found = ({ json }: Answer) =>
  listIn(objectIn(json).Segments)
    .map(objectIn)
    .map(({ CrmDataId, SegmentName }) => ({ id: CrmDataId, name: SegmentName }))

/** A column of digests, which are written in Base64. */
const digests = (to: string, description: string, options: ColumnOptions): EventColumn => ({
  ...plain(to, description, {
    pattern: /^[A-Za-z0-9+/]{43}=$/,
    wanted: 'The value is not a SHA-256 digest in Base64.',
    identifies: true,
    digestEncoding: 'base64',
    ...options,
  }),
  hashed: ['sha256'],
})
/** A column whose values no file of this connector holds. */
const elsewhere = (name: string, description: string) => plain(name, description, { identifies: true })

/** The longest time in an audience, in minutes: 180 days. */
const minutesMax = 180 * 24 * 60

/** A person is sent by one identifier: the e-mail address, or else the phone number. */
function finish({ email, phone, TtlInMinutes, ...others }: JsonObject, _: unknown, settings: JsonObject) {
  const minutes = numberIn(TtlInMinutes)
  if (minutes !== undefined && (minutes < 1 || minutes > minutesMax)) {
    return wrong(`The value must be from 1 to ${minutesMax} minutes.`, 'TtlInMinutes')
  }
  if (email !== undefined) return { read: { EmailHashedUnifiedId2: email, TtlInMinutes } }
  if (phone === undefined) {
    const reason = 'Data from a CRM is e-mail addresses and phone numbers; use The Trade Desk First-Party Audiences.'
    return wrong(reason, Object.keys(others)[0] ?? 'Email_SHA256')
  }
  if (settings.region === 'EU') {
    return wrong('The Trade Desk takes no phone numbers in audiences of the region EU.', 'Phone_SHA256')
  }
  return { read: { PhoneHashedUnifiedId2: phone, TtlInMinutes } }
}

/** Audiences of The Trade Desk, made of contacts from a CRM. */
export const theTradeDeskCrmAudiences = audienceDestination({
  slug: 'the-trade-desk-crm-audiences',
  name: 'The Trade Desk CRM Audiences',
  platform: theTradeDesk,
  dataType: 'Audiences - CRM API',
  description: 'Creates audiences at The Trade Desk from the e-mail addresses and phone numbers in your CRM.',
  actions: ['create', 'add', 'replace'],
  notes:
    'Before the first transfer you need an access letter and an agreement on UID2 or EUID. Use a token that is valid for at least six months. Rows without an audience share the one that the connection names, or one that is created for it. E-mail addresses and phone numbers are hashed before they are sent, as UID2 prescribes; a row with both is sent by its e-mail address. The Trade Desk takes a file and processes it later: Penstock counts the rows of files that were uploaded, and The Trade Desk reports in its own interface which ones it could not use and how many people it matched. An audience needs 1,500 people. Send many rows at once, about once a day. With the action replace, the people of an audience are replaced by one file that is uploaded after the last row, so that a transfer that fails leaves the audience as it was; a transfer replaces up to 1,000,000 people, by identifiers of one kind. Rows with add that come before rows with replace are replaced, too. People cannot be removed one by one: The Trade Desk publishes no such request for data from a CRM, and its time of zero minutes, which removes people from first-party audiences, is not documented here. To take people out of an audience, replace its people by those who stay. Otherwise, a membership ends after 180 days, or after TtlInMinutes, unless it is sent again. If a person asks you to delete their data, stop sending them, and ask The Trade Desk to delete what it has. The public sources of this connector name the kind of e-mail addresses (EmailHashedUnifiedId2); that of phone numbers (PhoneHashedUnifiedId2) is inferred from it: try a few rows first. For data that already consists of UID2s or RampIDs, use The Trade Desk First-Party Audiences instead.',
  tested:
    'Our own test server, which follows published clients of The Trade Desk’s CRM API; not The Trade Desk itself.',
  api: { version: 'v3 (CRM data)', ends: 'no end is announced' },
  platformApi: api,
  auth,
  secrets: developerPortal,
  account: 'advertiserId',
  own: { name: 'audienceName' },
  settings: {
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the advertiser that owns the audiences; needed to send data',
      needed: true,
      pattern: /^[A-Za-z0-9_-]{1,64}$/,
      example: 'a1b2c3d',
    }),
    region: select({
      label: 'Region',
      description: 'Where the people come from; needed if the connection creates an audience',
      options: ['US', 'EU', 'APAC'],
      labels: {
        US: 'United States and Canada',
        EU: 'European Union and United Kingdom',
        APAC: 'Asia and the Pacific',
      },
    }),
    audienceName: text({
      asked: true,
      label: 'Audience name',
      description: 'Name of the audience for rows that do not name one; it is created if it does not exist',
    }),
  },
  batch: { rowsMax: 100_000, bytesMax: 16_000_000 },
  columns: {
    ...segmentColumns,
    action: {
      ...segmentColumns.action,
      description: 'Whether the person is added, or replaces, with all such rows, the people of the audience',
      values: ['add', 'replace'],
    },
    Email_SHA256: digests('email', 'Hashed e-mail address, with the digest in Base64', {
      normalise: 'email-gmail-com',
    }),
    Email: digests('email', 'E-mail address; it is hashed before it is sent', { normalise: 'email-gmail-com' }),
    Phone_SHA256: digests('phone', 'Hashed phone number, with the digest in Base64', { normalise: 'phone-e164' }),
    Phone: digests('phone', 'Phone number; it is hashed before it is sent', { normalise: 'phone-e164' }),
    UID2Token: elsewhere('UID2Token', 'Not sent: use The Trade Desk First-Party Audiences for tokens of UID2'),
    IDL: elsewhere('IDL', 'Not sent: use The Trade Desk First-Party Audiences for RampIDs of LiveRamp'),
    TtlInMinutes: whole('TtlInMinutes', 'How many minutes the person stays in the audience; 129600 for 90 days'),
  },
  identity: ({ TtlInMinutes, ...identifier }) => Object.entries(identifier),
  finish,
  lists: {
    id: /^[A-Za-z0-9_-]{1,64}$/,
    page: ({ account }, cursor) => segments(account, cursor),
    found,
    next: (answer) => (found(answer).length === 0 ? undefined : objectIn(answer.json).PagingToken),
    make({ account, settings }, name) {
      const region = textIn(settings.region)
      if (region === undefined) {
        const message = 'Set “Region” in the connection: a new audience has people of one region.'
        throw new ConnectorError('invalid_setting', message)
      }
      return { path: '/crmdata/segment', body: { AdvertiserId: account, SegmentName: name, Region: region } }
    },
    made: ({ json }) => objectIn(json).CrmDataId,
    // Returns the audiences of the first page. Others are looked up by name.
    get: ({ account }) => segments(account),
    isThere: (answer, id) => found(answer).some((one) => textIn(one.id) === id),
  },
  replace: {
    byRows: true,
    open: async (client, context) => (await import('./crm-drops.ts')).dropReplacement(client, context),
  },
  send: async (client, context) => (await import('./crm-drops.ts')).dropSender(client, context),
  check: {
    credentials: 'the token',
    // No request of the CRM API works without an advertiser. Whether the token can read reports does not matter.
    authentication: async (context) => {
      const { openApi } = await import('../kit/run/open-api.ts')
      const query = { path: '/myreports/reporttemplateheader/query', body: { PageStartIndex: 0, PageSize: 1 } }
      const client = await openApi(context, api, auth)
      await client.ask({ method: 'POST', ...query, repeatable: true, expects: ({ status }) => status === 403 })
    },
    account: ({ account }) => segments(account),
  },
})
