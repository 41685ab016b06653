import { column, defineConnector, inspectBy, select, text } from '@penstock/connector'
import { authorization } from './authorization.ts'
import { eventColumns, personColumns } from './event-columns.ts'
import { amazonAds } from './platform.ts'
import { region } from './region.ts'
import { country } from './settings.ts'
import { signIn } from './sign-in.ts'

const consentOptions = ['GRANTED', 'DENIED']

/** Conversions from outside the browser, for Amazon Ads. */
export const amazonAdsDspEvents = defineConnector({
  slug: 'amazon-ads-dsp-events',
  name: 'Amazon Ads DSP Events',
  platform: amazonAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions that your CRM, your shops or your servers recorded to Amazon Ads.',
  actions: ['add'],
  notes:
    'The user who signs in needs the event_manager_edit permission on the DSP advertiser. Accept the terms of the advertiser in its Events Manager first. Each event needs a country, from its row or the connection. In the region EU, an event without information on consent is rejected. The row or the connection must give a TCF or GPP string, an IP address, or GRANTED or DENIED. The person is identified by separate columns, which are normalised and hashed, or by userId: an e-mail address or its SHA-256 digest, a phone number with its plus sign, or a device ID. Phone numbers are hashed as digits with their country code and without a plus sign. The currency and the number of items are sent with purchases only. An event without eventSource counts as an event of a website. Amazon keeps only one of several events with the same eventId, even if their types differ. Report events soon: older events are matched less often.',
  tested:
    'Our own test server, which follows the published documentation of the Events API of Amazon Ads and its models; not Amazon itself.',
  api: { version: 'Events API of the Amazon Ads API v1, an open beta', ends: 'no end is announced' },
  secrets: signIn,
  authorization,
  check: async (context) => (await import('./check-sign-in.ts')).checkSignIn(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 500, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./deliver-dsp-events.ts')).open(context),
      inspect: inspectBy(async (context) => {
        ;(await import('./deliver-dsp-events.ts')).defaultsOf(context)
        await (await import('./amazon-api.ts')).assertProfiles(context)
      }),
    },
    fields: {
      region,
      country,
      dataSetName: text({
        label: 'Dataset name',
        description: 'Dataset of Ads data manager that the events belong to; Default_Events by default',
      }),
      consentAdStorage: select({
        label: 'Ad storage consent',
        description: 'Whether people agreed that data is stored for advertising, for events that do not say so',
        options: consentOptions,
      }),
      consentUserData: select({
        label: 'User data consent',
        description: 'Whether people agreed that their data is used for advertising, for events that do not say so',
        options: consentOptions,
      }),
    },
    records: {
      advertiserId: column({ description: 'ID of the advertiser that the event is credited to', required: true }),
      eventType: column({
        description: 'What the person did, for example a purchase',
        required: true,
        synonyms: ['conversion_type', 'event'],
      }),
      eventTime: column({
        description: 'When it happened, in ISO 8601 form or in seconds since 1970',
        required: true,
        synonyms: ['timestamp', 'occurred_at'],
      }),
      eventValue: column({
        description: 'Value of the event, as an amount of money',
        required: true,
        synonyms: ['value', 'conversion_value', 'revenue', 'amount'],
      }),
      currency: column({
        description: 'Currency of the value as its ISO 4217 code',
        required: true,
        synonyms: ['currency_code'],
      }),
      userId: column({
        description: 'Who converted: hashed contact data or the advertising ID of a mobile device',
        oneOf: 'identifier',
      }),
      eventAttributionSource: column({
        description: 'How the event was recorded: by Amazon’s tag or from server to server',
        values: ['AMAZON_AD_TAG', 'SERVER_TO_SERVER'],
      }),
      ...personColumns,
      matchId: column({
        description: 'Your own opaque ID of the person, which Amazon’s tag also reports; not hashed',
        oneOf: 'identifier',
      }),
      ...eventColumns,
      eventSource: column({
        description: 'Where it happened: WEBSITE, ANDROID, IOS, FIRE_TV or OFFLINE',
        synonyms: ['action_source', 'event_action_source'],
      }),
      consentAdStorage: column({
        description: 'Whether the person agreed that data is stored for advertising: GRANTED or DENIED',
        synonyms: ['amzn_ad_storage', 'consent_ad_storage'],
      }),
      consentUserData: column({
        description: 'Whether the person agreed that data is used for advertising: GRANTED or DENIED',
        synonyms: ['amzn_user_data', 'consent_ad_user_data'],
      }),
      tcf: column({
        description: 'Consent string of the Transparency and Consent Framework',
        synonyms: ['consent_tcf'],
      }),
      gpp: column({ description: 'Consent string of the Global Privacy Platform', synonyms: ['consent_gpp'] }),
      ipAddress: column({
        description: 'IP address of the person, from which Amazon determines whether consent is needed',
        synonyms: ['ip', 'client_ip', 'client_ip_address'],
      }),
      customData: column({
        description: 'Object with at most 13 custom attributes: brand, category, productId and others',
        synonyms: ['custom_attributes', 'properties'],
      }),
    },
  },
})
