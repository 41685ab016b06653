import { column, defineConnector, number, secret, select, text } from '@penstock/connector'
import { theTradeDesk } from './platform.ts'

const id = (description: string, synonyms: readonly string[]) =>
  column({ description, oneOf: 'identifier', normalise: 'text', synonyms })

/** Segments of The Trade Desk, made of identifiers that you collected yourself. */
export const theTradeDeskFirstPartyAudiences = defineConnector({
  slug: 'the-trade-desk-first-party-audiences',
  name: 'The Trade Desk First-Party Audiences',
  platform: theTradeDesk,
  dataType: 'Audiences - Data API',
  dataTypeCategory: 'audience activation',
  description: 'Adds identifiers from your own data to segments of The Trade Desk, which are found by name or created.',
  actions: ['create', 'add', 'remove'],
  notes:
    'Before the first transfer you need an access letter and an agreement on UID2. A row may have several identifiers. E-mail addresses and phone numbers are not accepted: map them to UID2 or EUID first, or use The Trade Desk CRM Audiences. A membership ends after the configured number of days unless it is sent again.',
  tested:
    'Our own test server, which follows the published documentation of The Trade Desk’s endpoint for first-party data; not The Trade Desk itself.',
  api: { version: 'Data API v0.1 (POST /data/advertiser)', ends: 'no end is announced' },
  secrets: {
    advertiserId: text({
      label: 'Advertiser ID',
      description: 'ID of your advertiser at The Trade Desk',
      required: true,
    }),
    advertiserSecretKey: secret({
      label: 'Advertiser secret key',
      description: 'Secret key from the preferences of the advertiser',
      required: true,
    }),
    apiToken: secret({
      label: 'API token',
      description: 'Token from The Trade Desk that is sent with the signature; leave it empty if you have none',
    }),
  },
  check: async (context) => (await import('./check-first-party.ts')).checkFirstParty(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 1600, bytesMax: 1_000_000 }),
      open: async (context) => (await import('./deliver-first-party.ts')).open(context),
    },
    fields: {
      dataCenter: select({
        label: 'Data center',
        description: 'Data center that receives the data; The Trade Desk copies it to all others',
        options: ['US West', 'US East', 'Europe', 'Asia Pacific', 'Japan', 'China'],
        default: 'US West',
      }),
      membershipDays: number({
        label: 'Days of membership',
        description: 'How many days a person stays in a segment unless added again; 30 or more are recommended',
        min: 1,
        max: 180,
        default: 90,
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the segment; it is created if it does not exist',
        required: true,
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['add', 'remove'],
      }),
      TDID: column({
        description: 'The Trade Desk’s ID of the person',
        oneOf: 'identifier',
        normalise: 'lower',
        synonyms: ['trade_desk_id', 'ttd_id'],
      }),
      UID2: column({
        description: 'Unified ID 2.0 of the person',
        oneOf: 'identifier',
        normalise: 'text',
        synonyms: ['unified_id', 'raw_uid2'],
      }),
      DAID: column({
        description: 'Advertising ID of a device',
        oneOf: 'identifier',
        normalise: 'device-id',
        synonyms: ['maid', 'madid', 'mobile_advertiser_id', 'idfa', 'gaid', 'aaid'],
      }),
      RampID: id('RampID of LiveRamp, mapped for The Trade Desk', ['ramp_id', 'idl', 'liveramp_id']),
      EUID: id('European Unified ID of the person', ['raw_euid']),
      UID2Token: id('Token of a Unified ID 2.0', ['uid2_token', 'uid2_advertising_token']),
      EUIDToken: id('Token of a European Unified ID', ['euid_token']),
      ID5: id('ID5 of the person', ['id5_id']),
      NetID: id('netID of the person', ['net_id']),
      FirstID: id('FirstID of the person', ['first_id']),
    },
  },
})
