import { activecampaignKey, startActiveCampaign } from '../../packages/connectors/test/activecampaign-server.ts'
import { criteoSecrets, startCriteo } from '../../packages/connectors/test/criteo-server.ts'
import { googleSecrets, startDataManager } from '../../packages/connectors/test/data-manager-server.ts'
import { hubspotRoutes, hubspotSecrets, startHubSpot } from '../../packages/connectors/test/hubspot-server.ts'
import { linkedinSecrets, startLinkedIn } from '../../packages/connectors/test/linkedin-server.ts'
import {
  marketingCloudRoutes,
  marketingCloudSecrets,
  people,
  startMarketingCloud,
  subdomain,
} from '../../packages/connectors/test/marketing-cloud-server.ts'
import { metaSecrets, startMeta } from '../../packages/connectors/test/meta-server.ts'
import { microsoftSecrets, microsoftSettings, startMicrosoft } from '../../packages/connectors/test/microsoft-server.ts'
import { pinterestSecrets, startPinterest } from '../../packages/connectors/test/pinterest-server.ts'
import type { Received } from '../../packages/connectors/test/platform-server.ts'
import { redditSecrets, startReddit } from '../../packages/connectors/test/reddit-server.ts'
import { shopifyRoutes, shopifySecrets, startShopify } from '../../packages/connectors/test/shopify-server.ts'
import { adAccount, startSnapchatAds } from '../../packages/connectors/test/snapchat-ads-server.ts'
import { snapchatOrigins, snapchatSecrets } from '../../packages/connectors/test/snapchat-server.ts'
import {
  advertiser,
  startTikTokAudiences,
  tiktokAudienceSecrets,
} from '../../packages/connectors/test/tiktok-audience-server.ts'
import { crmRoutes, crmSecrets, startCrm } from '../../packages/connectors/test/trade-desk-crm-server.ts'
import { startTradeDesk, tradeDeskSecrets } from '../../packages/connectors/test/trade-desk-server.ts'
import { startX, xSecrets } from '../../packages/connectors/test/x-server.ts'
import { startYahooAudiences, yahooAudienceRoutes } from '../../packages/connectors/test/yahoo-audiences-server.ts'
import { yahooSecrets } from '../../packages/connectors/test/yahoo-events-server.ts'
import { amazons } from './amazon.ts'
import { adobe, liveRamp, lotame, nexxen } from './collected-files.ts'
import { apart, type Platform, saying, type Wanted, whole } from './compare.ts'
import { type Json, listOf, objectOf, single, zipped } from './json.ts'
import { cellsOf, type Person } from './people.ts'
import { births, digest, emails, names, phoneDigest, phones, places, plain, same } from './rules.ts'

/** Audience platforms: the expected data of a person at each, and where its requests contain it. */

const adding = { segment_name: { value: 'Buyers' }, action: { value: 'add' } }

/** The members of a list at a path of a body. */
const membersOf =
  (path: RegExp, list: (body: Json) => unknown, read: (member: Json) => string | readonly string[]) =>
  ({ path: requested, json }: Received): string[] =>
    path.test(requested) ? listOf(list(objectOf(json))).flatMap((member) => read(objectOf(member))) : []

const meta: Platform = {
  slug: 'meta-custom-audiences',
  secrets: metaSecrets,
  settings: { advertiserId: '900', audienceSource: 'CRM' },
  mapping: adding,
  start: startMeta,
  origins: ['https://graph.facebook.com'],
  wants: (person) => {
    const { email, first, last, birth, gender, city, state, zip, country, device } = person
    return whole({
      EMAIL: digest(email, emails.plain),
      PHONE: phoneDigest(person, phones.digits),
      FN: digest(first, names.joined.first),
      LN: digest(last, names.joined.last),
      DOBY: digest(birth, births.year),
      DOBM: digest(birth, births.month),
      DOBD: digest(birth, births.day),
      GEN: digest(gender, same),
      CT: digest(city, places.joined),
      ST: digest(state, places.state),
      ZIP: digest(zip, places.zip),
      COUNTRY: digest(country, same),
      MADID: plain(device, same),
    })
  },
  reads: ({ path, json }) => {
    if (!path.endsWith('/users')) return []
    const { schema, data } = objectOf(objectOf(json).payload)
    return listOf(data).map((row) => saying(zipped(schema, row)))
  },
}

/** An address counts where all of it is known. */
export function addressOf(
  { first, last, country, zip }: Person,
  keys: readonly string[] = ['givenName', 'familyName', 'regionCode', 'postalCode'],
): string | undefined {
  const parts = [
    digest(first, names.google.first),
    digest(last, names.google.last),
    plain(country, (code) => code.toUpperCase()),
    plain(zip, same),
  ]
  return parts.includes(undefined) ? undefined : saying(Object.fromEntries(keys.map((key, at) => [key, parts[at]])))
}

const googleMember = (member: Json): string => {
  const parts: Json = {}
  for (const identifier of listOf(objectOf(member.userData).userIdentifiers).map(objectOf)) {
    for (const [key, value] of Object.entries(identifier)) {
      parts[key] = key === 'address' ? saying(objectOf(value)) : value
    }
  }
  return saying(parts)
}

const googleOf = (slug: string, settings: Platform['settings'], own: Partial<Platform>): Platform => ({
  slug,
  secrets: googleSecrets,
  mapping: adding,
  start: () => startDataManager(),
  settings: { ...settings, resultWaitSeconds: 0 },
  origins: ['https://datamanager.googleapis.com', 'https://oauth2.googleapis.com'],
  wants: (person) =>
    whole({
      emailAddress: digest(person.email, emails.google),
      phoneNumber: phoneDigest(person, phones.e164),
      address: addressOf(person),
    }),
  reads: membersOf(/audienceMembers:ingest$/, ({ audienceMembers }) => audienceMembers, googleMember),
  ...own,
})

const consents = { adUserDataConsent: 'Granted', adPersonalizationConsent: 'Granted' }
const google: readonly Platform[] = [
  googleOf(
    'google-data-manager-audiences',
    {
      accountType: 'Google Ads',
      advertiserId: '1234567890',
      audienceType: 'Contact Information',
      dataSourceType: 'FIRST_PARTY',
      ...consents,
    },
    {},
  ),
  googleOf(
    'google-ads-customer-match',
    { customerId: '1234567890', audienceType: 'Contact Information', retentionDays: 30, ...consents },
    {},
  ),
  googleOf(
    'dv360-customer-match',
    { advertiserId: '555', audienceType: 'Contact Info', retentionDays: 30 },
    { start: () => startDataManager({ accountType: 'DISPLAY_VIDEO_ADVERTISER', accountId: '555' }) },
  ),
]

const linkedin: Platform = {
  slug: 'linkedin-dmp-segments',
  secrets: linkedinSecrets,
  settings: { adAccountId: '500', sourcePlatform: 'PENSTOCK_TEST' },
  mapping: { ...adding, google_aid: 'device_id' },
  start: startLinkedIn,
  origins: ['https://api.linkedin.com', 'https://www.linkedin.com'],
  wants: (person) => {
    const ids = {
      SHA256_EMAIL: digest(person.email, emails.plain),
      GOOGLE_AID: plain(person.device, same),
    }
    const [firstName, lastName] = [person.first.cell.trim(), person.last.cell.trim()]
    if (whole(ids) === 'refused' && (firstName === '' || lastName === '')) return 'refused'
    return whole({ ...ids, firstName, lastName, country: plain(person.country, (code) => code.toUpperCase()) })
  },
  reads: membersOf(
    /\/users$/,
    ({ elements }) => elements,
    ({ action: _, userIds, ...about }) =>
      saying({
        ...Object.fromEntries(listOf(userIds).map((id) => [objectOf(id).idType, objectOf(id).idValue])),
        ...about,
      }),
  ),
}

const emailsAlone = (person: Person): Wanted => apart({ email: digest(person.email, emails.plain) })

/** A company is no person. */
const linkedinCompanies: Platform = {
  ...linkedin,
  slug: 'linkedin-company-segments',
  mapping: { ...adding, company_name: 'id' },
  wants: ({ id }) => whole({ companyName: id || undefined }),
  reads: membersOf(
    /\/companies$/,
    ({ elements }) => elements,
    ({ action: _, ...company }) => saying(company),
  ),
}

const microsoft: Platform = {
  slug: 'microsoft-ads-customer-match',
  secrets: microsoftSecrets,
  settings: microsoftSettings,
  mapping: adding,
  start: startMicrosoft,
  origins: ['https://campaign.api.bingads.microsoft.com', 'https://login.microsoftonline.com'],
  wants: emailsAlone,
  reads: ({ path, json }) => {
    const { CustomerListItems: items } = objectOf(objectOf(json).CustomerListUserData)
    return /CustomerListUserData\/Apply$/.test(path) ? listOf(items).map((email) => saying({ email })) : []
  },
}

const pinterest: Platform = {
  slug: 'pinterest-customer-lists',
  secrets: pinterestSecrets,
  settings: { adAccountId: '549', audienceName: 'Buyers' },
  mapping: { ...adding, maid: 'device_id' },
  start: startPinterest,
  origins: ['https://api.pinterest.com'],
  wants: ({ email, device }) => apart({ record: digest(email, emails.plain), other: digest(device, same) }),
  reads: ({ path, json }) => {
    const { records } = objectOf(json)
    return /customer_lists/.test(path) && typeof records === 'string'
      ? records.split(',').flatMap((record) => [saying({ record })])
      : []
  },
}

const reddit: Platform = {
  slug: 'reddit-audiences',
  secrets: redditSecrets,
  settings: { advertiserId: 'a2_loyal' },
  mapping: adding,
  start: startReddit,
  origins: ['https://ads-api.reddit.com', 'https://www.reddit.com'],
  // Device IDs are hashed unchanged.
  wants: ({ email, device }) =>
    whole({
      EMAIL_SHA256: digest(email, emails.reddit),
      MAID_SHA256: digest(device, () => device.cell),
    }),
  reads: ({ path, json }) => {
    const { column_order: columns, user_data: rows } = objectOf(objectOf(json).data)
    if (!/\/users$/.test(path)) return []
    return listOf(rows).map((row) => saying(zipped(columns, row)))
  },
}

const snapchat: Platform = {
  slug: 'snapchat-customer-lists',
  secrets: snapchatSecrets,
  settings: { advertiserId: adAccount },
  mapping: { ...adding, maid_sha256: 'device_id' },
  start: startSnapchatAds,
  origins: snapchatOrigins,
  wants: (person) =>
    apart({
      EMAIL_SHA256: digest(person.email, emails.plain),
      PHONE_SHA256: phoneDigest(person, phones.digits),
      MOBILE_AD_ID_SHA256: digest(person.device, same),
    }),
  reads: membersOf(
    /\/users$/,
    ({ users }) => users,
    ({ schema, data }) => listOf(data).map((row) => saying({ [String(listOf(schema)[0])]: listOf(row)[0] })),
  ),
}

const tiktok = (slug: string, own: Pick<Platform, 'wants' | 'reads' | 'mapping'>): Platform => ({
  slug,
  secrets: tiktokAudienceSecrets,
  settings: { advertiserId: advertiser },
  start: startTikTokAudiences,
  origins: ['https://business-api.tiktok.com'],
  ...own,
})

const tiktoks: readonly Platform[] = [
  tiktok('tiktok-audience-management', {
    mapping: { ...adding, idfa_sha256: 'device_id' },
    wants: (person) =>
      whole({
        EMAIL_SHA256: digest(person.email, emails.plain),
        PHONE_SHA256: phoneDigest(person, phones.e164),
        IDFA_SHA256: digest(person.device, same),
      }),
    reads: ({ path, json }) => {
      const { id_schema: schema, batch_data: data } = objectOf(json)
      if (!/segment\/mapping/.test(path)) return []
      return listOf(data).map((slots) =>
        saying(
          zipped(
            schema,
            listOf(slots).map((slot) => objectOf(slot).id),
          ),
        ),
      )
    },
  }),
  tiktok('tiktok-customer-file-audiences', {
    mapping: { ...adding, maid: null },
    wants: (person) =>
      apart({ record: digest(person.email, emails.untagged), other: phoneDigest(person, phones.digits) }),
    reads: ({ path, text }) =>
      /file\/upload/.test(path)
        ? [...text.matchAll(/(?<=^|,)[0-9a-f]{64}(?=,|$)/gm)].map(([record]) => saying({ record }))
        : [],
  }),
]

const x: Platform = {
  slug: 'x-custom-audiences',
  secrets: xSecrets,
  settings: { accountId: 'acc1' },
  mapping: { ...adding, phone_number: 'phone', device_id: 'device_id' },
  start: startX,
  origins: ['https://ads-api.x.com'],
  wants: (person) =>
    whole({
      email: digest(person.email, emails.plain),
      phone_number: phoneDigest(person, phones.e164),
      device_id: digest(person.device, same),
    }),
  reads: ({ path, json }) =>
    /\/users$/.test(path)
      ? listOf(json)
          .flatMap((operation) => listOf(objectOf(objectOf(operation).params).users))
          .map((user) => saying(single(user)))
      : [],
}

const criteo: Platform = {
  slug: 'criteo-commerce-growth-audiences',
  secrets: criteoSecrets,
  settings: { advertiserId: '77', audienceSource: 'CRM' },
  mapping: { ...adding, madid: null, phonenumber: null },
  start: startCriteo,
  origins: ['https://api.criteo.com'],
  // Criteo also accepts MD5 digests.
  wants: ({ email }) => apart({ email: email.kind === 'md5' ? email.hex : digest(email, emails.plain) }),
  reads: ({ path, json }) => {
    const { identifierType, identifiers } = objectOf(objectOf(objectOf(json).data).attributes)
    if (!/contact-list$/.test(path)) return []
    return listOf(identifiers).map((identifier) => saying({ [String(identifierType)]: identifier }))
  },
}

const criteoRetailMedia: Platform = {
  slug: 'criteo-retail-media-audiences',
  secrets: criteoSecrets,
  settings: { accountId: '9001', retailerId: '12', identifierType: 'Email' },
  mapping: adding,
  start: startCriteo,
  origins: ['https://api.criteo.com'],
  wants: ({ email }) => whole({ Email: digest(email, emails.plain) }),
  reads: ({ path, json }) => {
    const { identifierType, identifiers } = objectOf(objectOf(objectOf(json).data).attributes)
    if (!/add-remove$/.test(path)) return []
    return listOf(identifiers).map((identifier) => saying({ [String(identifierType)]: identifier }))
  },
}

const activecampaign: Platform = {
  slug: 'activecampaign',
  secrets: { apiUrl: 'https://acme.api-us1.com', apiKey: activecampaignKey },
  settings: { resultWaitSeconds: 0 },
  mapping: {},
  start: startActiveCampaign,
  origins: ['https://acme.api-us1.com'],
  takesContacts: true,
  wants: (person) => {
    const email = plain(person.email, emails.plain)
    if (email === undefined) return 'refused'
    const { first_name, last_name, phone } = cellsOf(person)
    return [saying({ email, first_name: first_name.trim(), last_name: last_name.trim(), phone: phone.trim() })]
  },
  reads: membersOf(
    /bulk_import$/,
    ({ contacts }) => contacts,
    (contact) => saying(contact),
  ),
}

/** A table of the customer's own: its columns are filled as the mapping says. */
const marketingCloud: Platform = {
  slug: 'salesforce-marketing-cloud-data-extensions',
  secrets: marketingCloudSecrets,
  settings: { operationType: 'Add Data', apiType: 'Upsert', subdomain, dataExtensionKey: 'People 1' },
  mapping: { Email: { column: 'email', normalise: 'email' }, 'First Name': 'first_name' },
  start: async () => {
    const server = await startMarketingCloud()
    const extension = { id: 'id-p', key: 'People 1', name: 'People', categoryId: 7, columns: people, rows: [] }
    server.extensions.push(extension)
    return server
  },
  origins: Object.keys(marketingCloudRoutes('')),
  takesContacts: true,
  wants: ({ email }) => whole({ Email: plain(email, emails.plain) }),
  reads: membersOf(
    /\/rows$/,
    ({ items }) => items,
    // Rows without a key are sent too, and refused.
    ({ Email }) => (Email === undefined ? [] : saying({ Email })),
  ),
}

/** Unhashed contacts, with a separate request for each. */
const marketingCloudContacts: Platform = {
  ...marketingCloud,
  slug: 'salesforce-marketing-cloud-contacts',
  settings: {},
  mapping: { contact_key: 'id', mobile_number: null },
  start: startMarketingCloud,
  oneByOne: true,
  wants: ({ id, email }) => {
    if (id === '' || !['value', 'missing'].includes(email.kind)) return 'refused'
    // Without attributes, a contact is only created.
    return email.kind === 'missing' ? [] : [saying({ id, address: plain(email, emails.plain) })]
  },
  reads: ({ method, path, json }) => {
    if (method !== 'PATCH' || !path.endsWith('/contacts')) return []
    const { contactKey: id, attributeSets } = objectOf(json)
    const [value] = listOf(attributeSets)
      .flatMap((set) => listOf(objectOf(set).items))
      .flatMap((item) => listOf(objectOf(item).values))
    return [saying({ id, address: objectOf(value).value })]
  },
}

const hubspot: Platform = {
  slug: 'hubspot-crm',
  secrets: hubspotSecrets,
  settings: { objectType: 'contacts', idProperty: 'email', operation: 'upsert' },
  mapping: { email: { column: 'email', normalise: 'email' }, firstname: 'first_name' },
  start: startHubSpot,
  origins: Object.keys(hubspotRoutes('')),
  takesContacts: true,
  wants: ({ email }) => whole({ email: plain(email, emails.plain) }),
  reads: membersOf(
    /batch\/upsert$/,
    ({ inputs }) => inputs,
    ({ id }) => saying({ email: id }),
  ),
}

/** Lines of a file that is uploaded. */
const shopify: Platform = {
  slug: 'shopify-admin',
  secrets: shopifySecrets,
  settings: { matchBy: 'Email' },
  mapping: { email: 'email', first_name: 'first_name', phone: null, last_name: null, customer_id: null },
  start: startShopify,
  origins: Object.keys(shopifyRoutes('')),
  takesContacts: true,
  wants: ({ email }) => whole({ email: plain(email, emails.plain) }),
  reads: ({ text }) =>
    text.split('\n').flatMap((line) => (line.startsWith('{"identifier"') ? saying(JSON.parse(line).identifier) : [])),
}

const tradeDesk: Platform = {
  slug: 'the-trade-desk-first-party-audiences',
  secrets: tradeDeskSecrets,
  mapping: { ...adding, DAID: 'device_id' },
  start: startTradeDesk,
  origins: ['https://usw-data.adsrvr.org'],
  wants: ({ device }) => whole({ DAID: plain(device, same) }),
  reads: membersOf(
    /\/data\/advertiser$/,
    ({ Items }) => Items,
    ({ DAID }) => saying({ DAID }),
  ),
}

const inBase64 = (hex: string | undefined): string | undefined =>
  hex === undefined ? undefined : Buffer.from(hex, 'hex').toString('base64')

const tradeDeskCrm: Platform = {
  slug: 'the-trade-desk-crm-audiences',
  secrets: crmSecrets,
  settings: { advertiserId: 'adv1', region: 'US' },
  mapping: adding,
  start: startCrm,
  origins: Object.keys(crmRoutes('')),
  // A person is sent by the phone number only without an e-mail address.
  wants: (person) => whole({ digest: inBase64(digest(person.email, emails.uid2) ?? phoneDigest(person, phones.e164)) }),
  reads: ({ method, text }) =>
    method === 'PUT'
      ? text
          .split('\n')
          .filter(Boolean)
          .map((line) => saying({ digest: line }))
      : [],
}

const yahoo: Platform = {
  slug: 'yahoo-dsp-audiences',
  secrets: yahooSecrets,
  settings: { advertiserId: '1356341' },
  mapping: { ...adding, phone_sha256: null },
  start: startYahooAudiences,
  origins: Object.keys(yahooAudienceRoutes('')),
  wants: ({ email }) => whole({ EMAIL: digest(email, emails.plain) }),
  reads: ({ json }) => {
    const { seedList, seedListType } = objectOf(json)
    return listOf(seedList).map((seed) => saying({ [String(seedListType)]: seed }))
  },
}

/** The same platform with a list that does not say which of two columns a value is from. */
const merged = (platform: Platform): Platform => ({
  ...platform,
  wants: (person) => {
    const things = platform.wants(person)
    return things === 'refused' ? things : things.map((thing) => thing.replace('"other"', '"record"'))
  },
})

export const audiences: readonly Platform[] = [
  meta,
  ...amazons,
  ...google,
  linkedin,
  linkedinCompanies,
  microsoft,
  merged(pinterest),
  reddit,
  snapchat,
  ...tiktoks.map(merged),
  x,
  criteo,
  criteoRetailMedia,
  activecampaign,
  marketingCloud,
  marketingCloudContacts,
  hubspot,
  shopify,
  nexxen,
  adobe,
  liveRamp,
  lotame,
  tradeDesk,
  tradeDeskCrm,
  yahoo,
]
