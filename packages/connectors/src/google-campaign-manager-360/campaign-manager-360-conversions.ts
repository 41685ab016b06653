import { inspectBy, select, text } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { microsecondsOf } from '../google-ads/event-time.ts'
import { idSetting } from '../kit/api.ts'
import { decimal, digest, flag, object, oneOf, plain, special } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { campaignManager, campaignManagerAuth, encryptionOf, profileOf, resultsOf } from './campaign-manager.ts'
import { campaignManagerEcapi } from './ecapi.ts'
import { googleCampaignManager360 } from './platform.ts'

/** A conversion has exactly one of these: the first that its row has. */
const identifiers = ['gclid', 'dclid', 'matchId', 'mobileDeviceId', 'encryptedUserId', 'impressionId']
const floodlightId = {
  required: true,
  pattern: /^\d{1,19}$/,
  wanted: 'The value must be a Floodlight ID, which is a number.',
}
const identifies = { identifies: true }
const onlyNew = { only: { at: '@verb', is: ['insert'] } }

/**
 * Offline conversions of Floodlight activities. New conversions are inserted before conversions of the batch that correct one.
 * Campaign Manager 360 keeps one conversion of the same activity, person, day and ordinal.
 *
 * Google Data Manager also accepts Floodlight events, but it cannot replace this API. It needs a different transaction ID for
 * each event instead of the ordinal, does not correct Floodlight conversions, and does not name events that it does not use.
 */
export const campaignManager360Conversions = eventDestination({
  slug: 'campaign-manager-360-conversions',
  name: 'Campaign Manager 360 Conversions',
  platform: googleCampaignManager360,
  dataType: 'Conversions',
  description:
    'Reports offline conversions to Floodlight activities of Campaign Manager 360, and corrects earlier ones.',
  actions: ['add', 'update'],
  notes:
    'The user profile must be allowed to insert and to update offline conversions, and the refresh token needs the scope https://www.googleapis.com/auth/ddmconversions. A conversion may be at most 28 days old; wait an hour after a click. Each conversion has one identifier: if a row has several, the first of gclid, dclid, match ID, device ID, encrypted user ID and impression ID. Conversions of the same activity, person, day and ordinal count once. A missing value counts as 0, and a missing quantity as 1. A correction (action update) identifies the conversion by activity, configuration, identifier, ordinal and time, and replaces its value and quantity. Send it 90 minutes after the conversion or later: if Google does not know a conversion that is less than 6 hours old, the transfer tries again, since Google may not have processed it yet. Contact data can be added to the conversions of a tag within 24 hours, by their match ID, if the terms for enhanced conversions are accepted. Send data only of people who consented to it; adUserDataConsent transmits the consent to Google.',
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and the Campaign Manager 360 API; not Google itself.',
  api: {
    version: 'Campaign Manager 360 API v5',
    ends: 'Google has announced no end of v5, and announces an end about 7 months ahead',
  },
  secrets: googleSignIn('a user of Campaign Manager 360'),
  authorization: googleAuthorization('https://www.googleapis.com/auth/ddmconversions'),
  platformApi: campaignManager,
  auth: campaignManagerAuth,
  check: async (context) => (await import('./check-conversions.ts')).checkConversions(context),
  inspect: inspectBy(async (context) => (await import('./check-conversions.ts')).assertProfile(context)),
  settings: {
    profileId: idSetting({
      label: 'User profile ID',
      description: 'ID of the user profile that sends conversions; needed if the user has several',
      pattern: /^\d+$/,
      example: '7001',
    }),
    encryptionEntityType: select({
      label: 'Encryption entity type',
      description: 'Whose key encrypted the user IDs; needed if rows have encryptedUserId',
      options: [
        'DCM_ACCOUNT',
        'DCM_ADVERTISER',
        'DBM_PARTNER',
        'DBM_ADVERTISER',
        'ADWORDS_CUSTOMER',
        'DFP_NETWORK_CODE',
      ],
      labels: {
        DCM_ACCOUNT: 'Campaign Manager 360 account',
        DCM_ADVERTISER: 'Campaign Manager 360 advertiser',
        DBM_PARTNER: 'Display & Video 360 partner',
        DBM_ADVERTISER: 'Display & Video 360 advertiser',
        ADWORDS_CUSTOMER: 'Google Ads customer',
        DFP_NETWORK_CODE: 'Ad Manager network',
      },
    }),
    encryptionEntityId: text({
      label: 'Encryption entity ID',
      description: 'ID of the account, advertiser or partner that owns the key',
    }),
    encryptionSource: select({
      label: 'Encryption source',
      description: 'Whether the user IDs come from ad serving (the %m macro) or from Data Transfer',
      options: ['AD_SERVING', 'DATA_TRANSFER'],
      labels: { AD_SERVING: 'Ad serving', DATA_TRANSFER: 'Data Transfer' },
    }),
  },
  listed: {
    profileId: {
      kind: 'account',
      page: () => ({ path: '/userprofiles' }),
      found: ({ json }) =>
        listIn(objectIn(json).items)
          .map(objectIn)
          .map(({ profileId: id, accountName: name }) => ({ id, name })),
    },
  },
  batch: { rowsMax: 1_000, bytesMax: 4_000_000 },
  completeSettings: async (client, settings) =>
    settings.profileId === undefined
      ? { ...settings, profileId: profileOf(settings, (await client.askObject({ path: '/userprofiles' })).json) }
      : settings,
  targets: { at: '@verb', settings: { insert: null, update: null }, field: 'action' },
  request: (conversions, { settings, target }) => ({
    path: `/userprofiles/${String(settings.profileId).trim()}/conversions/batch${target}`,
    body: {
      kind: `dfareporting#conversionsBatch${target === 'insert' ? 'Insert' : 'Update'}Request`,
      conversions,
      ...(conversions.some(({ encryptedUserId }) => encryptedUserId !== undefined) && {
        encryptionInfo: encryptionOf(settings),
      }),
    },
  }),
  answer: {
    refuses: [400],
    refusal: 'Campaign Manager 360 refuses the conversion because of its content',
    results: resultsOf,
  },
  ecapi: campaignManagerEcapi,
  columns: {
    floodlightActivityId: plain(
      'floodlightActivityId',
      'ID of the Floodlight activity that the conversion counts for',
      floodlightId,
    ),
    floodlightConfigurationId: plain(
      'floodlightConfigurationId',
      'ID of the Floodlight configuration that the activity belongs to',
      floodlightId,
    ),
    timestampMicros: special(
      'When the conversion happened, in microseconds since 1970; milliseconds, seconds and 2026-01-31T12:00:00Z are accepted too',
      { required: true, synonyms: ['event_time', 'timestamp', 'conversion_time', 'occurred_at'] },
    ),
    gclid: plain('@ids.gclid', 'Click ID of Google Ads', {
      ...identifies,
      synonyms: ['google_click_id', 'click_id'],
    }),
    dclid: plain('@ids.dclid', 'Click ID of a display ad', identifies),
    encryptedUserId: plain('@ids.encryptedUserId', 'User ID, encrypted by Google', identifies),
    mobileDeviceId: plain('@ids.mobileDeviceId', 'Advertising ID of a mobile device', identifies),
    matchId: plain('@ids.matchId', 'Your own match ID', identifies),
    ordinal: plain('ordinal', 'Number that distinguishes conversions of the same day, so that none counts twice', {
      required: true,
    }),
    value: decimal('value', 'Value of the conversion, as an amount of money', {
      synonyms: ['conversion_value', 'revenue', 'amount'],
    }),
    quantity: plain('quantity', 'How many items the conversion covers', {
      pattern: /^\d{1,18}(\.0+)?$/,
      wanted: 'The quantity must be a whole number.',
    }),
    action: {
      ...oneOf('@verb', 'Whether the conversion is added or corrects an earlier one; added by default', {
        values: { add: 'insert', update: 'update' },
        wanted: 'add or update',
        usual: 'add',
      }),
      values: ['add', 'update'],
    },
    impressionId: plain('@ids.impressionId', 'Impression ID from Google', identifies),
    // Campaign Manager 360 wants dots taken out of addresses at Gmail, and says nothing of what follows a plus.
    email: digest(
      '@people.hashedEmail',
      'E-mail address to add to an earlier conversion; it is hashed before it is sent',
      'email-gmail-dots',
    ),
    phone: digest(
      '@people.hashedPhoneNumber',
      'Phone number to add to an earlier conversion; it is hashed before it is sent',
      'phone-e164',
    ),
    customVariables: object(
      '@variables',
      'Object with the values of custom Floodlight variables by name: {"U1": "red"}',
      { as: 'texts' },
    ),
    adUserDataConsent: {
      ...plain('@consent', 'Whether the person agreed that the data is sent to Google for advertising', {
        ...onlyNew,
        upper: true,
        consent: { use: 'userData', granted: 'granted', denied: 'denied' },
        synonyms: ['consent_ad_user_data', 'ad_user_data'],
      }),
      values: ['granted', 'denied', 'unspecified'],
    },
    limitAdTracking: flag('limitAdTracking', 'Whether the device limits ad tracking: true or false', onlyNew),
    childDirectedTreatment: flag(
      'childDirectedTreatment',
      'Whether the person may be under 13 years old: true or false',
      onlyNew,
    ),
    treatmentForUnderage: flag(
      'treatmentForUnderage',
      'Whether the person may be too young to consent in the European Economic Area: true or false',
      onlyNew,
    ),
    nonPersonalizedAd: flag(
      'nonPersonalizedAd',
      'Whether it must not be used for personalised ads: true or false',
      onlyNew,
    ),
  },
  puts: ['GRANTED', 'DENIED'].map((consent) => ({
    at: '@consent',
    is: [consent],
    what: { adUserDataConsent: consent },
  })),
  person: {
    anyOf: identifiers.map((one) => `@ids.${one}`),
    missing: `The row holds none of ${identifiers.join(', ')}, of which a conversion needs one.`,
    field: 'gclid',
  },
  finish(event, row) {
    const timestamp = microsecondsOf(row.text('timestampMicros') ?? '')
    if (timestamp === undefined) {
      const reason =
        'The time must be in microseconds, milliseconds or seconds since 1970, or written as 2026-01-31T12:00:00Z with its zone.'
      return { wrong: reason, field: 'timestampMicros' }
    }
    const isNew = event['@verb'] === 'insert'
    const { value = isNew ? 0 : undefined, quantity = isNew ? '1' : undefined } = event
    if (value === undefined) return { wrong: 'A correction needs the value.', field: 'value' }
    if (quantity === undefined) return { wrong: 'A correction needs the quantity.', field: 'quantity' }
    const variables = Object.entries(objectIn(event['@variables']))
    if (!variables.every(([type]) => /^U\d{1,3}$/.test(type))) {
      const reason = 'The object must have the values of custom Floodlight variables by name, U1 to U100.'
      return { wrong: reason, field: 'customVariables' }
    }
    const people = isNew ? [] : Object.entries(objectIn(event['@people']))
    const ids = objectIn(event['@ids'])
    // A conversion that gets contact data is found by its match ID.
    const order = people.length > 0 ? ['matchId', ...identifiers] : identifiers
    const id = order.find((one) => ids[one] !== undefined) ?? 'gclid'
    return {
      read: {
        ...event,
        timestampMicros: String(timestamp),
        value,
        quantity: String(quantity).replace(/\..*/, ''),
        [id]: ids[id],
        ...(variables.length > 0 && { customVariables: variables.map(([type, text]) => ({ type, value: text })) }),
        ...(people.length > 0 && { userIdentifiers: people.map(([key, sha256]) => ({ [key]: sha256 })) }),
      },
    }
  },
})
