import { column, defineConnector, text } from '@penstock/connector'
import { developerPortal } from './developer-portal.ts'
import { theTradeDesk } from './platform.ts'

/** Conversions for The Trade Desk as they happen. */
export const theTradeDeskRealTimeConversions = defineConnector({
  slug: 'the-trade-desk-real-time-conversions',
  name: 'The Trade Desk Real-Time Conversion Events',
  platform: theTradeDesk,
  dataType: 'raw real-time conversion events',
  dataTypeCategory: 'events',
  description: 'Reports conversions to The Trade Desk as they happen, for retargeting and attribution.',
  notes:
    'Use a token that is valid for at least six months. An event needs the advertiser or the merchant, and a tracking tag or a universal pixel, from its row or from the connection. The Trade Desk does not accept the time of an event, so send events as they happen. It cannot recognise a repeated event: after a crash, the batch that was being sent may count twice if its events have no order_id. E-mail addresses and phone numbers are not accepted: map them to UID2 or EUID first. You need the consent of the people.',
  tested:
    'Our own test server, which follows what others have published about The Trade Desk’s real-time conversion events and its answers; not The Trade Desk itself.',
  api: { version: 'Real-time conversion events (without a version)', ends: 'no end is announced' },
  secrets: developerPortal,
  check: async (context) => (await import('./check-realtime.ts')).checkRealTime(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 100, bytesMax: 500_000 }),
      open: async (context) => (await import('./deliver-realtime.ts')).open(context),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the advertiser at The Trade Desk, for rows without one',
      }),
      merchantId: text({ label: 'Merchant ID', description: 'ID of the merchant, for rows without one' }),
      trackingTagId: text({ label: 'Tracking tag ID', description: 'ID of the tracking tag, for rows without one' }),
      universalPixelId: text({
        label: 'Universal pixel ID',
        description: 'ID of the universal pixel, for page views that are mapped by their URL',
      }),
    },
    records: {
      merchant_id: column({ description: 'ID of the merchant' }),
      tracker_id: column({ description: 'ID of the tracking tag', synonyms: ['tracking_tag_id'] }),
      adv: column({ description: 'ID of the advertiser', synonyms: ['advertiser_id'] }),
      value: column({
        description: 'Value of the conversion',
        synonyms: ['conversion_value', 'revenue', 'amount'],
      }),
      currency: column({ description: 'Currency of the value, as a code', synonyms: ['currency_code'] }),
      event_name: column({ description: 'Name of the event', synonyms: ['event'] }),
      client_ip: column({
        description: 'IP address of the visitor',
        synonyms: ['ip', 'ip_address', 'client_ip_address'],
      }),
      referrer_url: column({
        description: 'URL of the page from which the visitor came',
        synonyms: ['referrer', 'page_url', 'event_source_url', 'url'],
      }),
      adid: column({ description: 'ID of the user or the device' }),
      adid_type: column({ description: 'What kind of ID adid is: TDID, RampID, mobile advertising ID, UID2 or EUID' }),
      imp: column({ description: 'GUID of the impression' }),
      order_id: column({ description: 'ID of the order', synonyms: ['transaction_id'] }),
      items: column({ description: 'List of the items bought, each with item_code, name, qty, price and cat' }),
      td1: column({ description: 'First custom field' }),
      td2: column({ description: 'Second custom field' }),
      td3: column({ description: 'Third custom field' }),
      td4: column({ description: 'Fourth custom field' }),
      td5: column({ description: 'Fifth custom field' }),
      td6: column({ description: 'Sixth custom field' }),
      td7: column({ description: 'Seventh custom field' }),
      td8: column({ description: 'Eighth custom field' }),
      td9: column({ description: 'Ninth custom field' }),
      td10: column({ description: 'Tenth custom field' }),
      data_processing_option: column({ description: 'Privacy rules that apply to the event, and its region' }),
      data_processing_region: column({ description: 'State for limited data use, where the option is LDU: US-CA' }),
      upixel_id: column({ description: 'ID of the universal pixel', synonyms: ['universal_pixel_id'] }),
      country: column({ description: 'Country of the visitor' }),
      region: column({ description: 'Region or state of the visitor', synonyms: ['state'] }),
      metro: column({ description: 'Metropolitan area of the visitor' }),
      city: column({ description: 'City of the visitor' }),
      zip: column({ description: 'Postal code of the visitor', synonyms: ['postal_code', 'zip_code'] }),
      privacy_settings: column({
        description:
          'JSON list of the consents of the person, each with privacy_type, is_applicable and consent_string',
      }),
      privacy_type: column({ description: 'Which privacy rules the consent string is for: GDPR, CCPA or GPP' }),
      privacy_applies: column({ description: 'Whether these rules apply to the person' }),
      consent_string: column({ description: 'Consent string of the person' }),
    },
  },
})
