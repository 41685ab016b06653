import { defineConnector } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
import { dataManagerApi } from './api-version.ts'
import {
  conversionColumns,
  conversionFields,
  conversionNotes,
  conversionsTested,
  eventSourceColumn,
  eventSourceField,
  optionalSignIn,
} from './conversion-fields.ts'
import { googleAds } from './platform.ts'

/** Conversions of any kind, for Google Ads. */
export const googleAdsConversions = defineConnector({
  slug: 'google-ads-conversions',
  name: 'Google Ads Conversions',
  platform: googleAds,
  dataType: 'Conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to a Google Ads account.',
  notes: `${conversionNotes} If events add data to those of a Google tag, use the conversion action of the website; each row then needs the transaction ID that the tag sent.`,
  tested: conversionsTested,
  api: dataManagerApi,
  secrets: optionalSignIn,
  authorization: dataManagerAuthorization,
  check: async (context) => {
    const { checkConversions } = await import('./check-data-manager.ts')
    return checkConversions((await import('./conversion-plans.ts')).conversions)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2_000, bytesMax: 4_000_000 }),
      open: async (context) => {
        const { openConversions } = await import('./deliver-conversions.ts')
        return openConversions(context, (await import('./conversion-plans.ts')).conversions(context))
      },
    },
    fields: { ...conversionFields, eventSource: eventSourceField },
    records: { ...conversionColumns, event_source: eventSourceColumn },
  },
})
