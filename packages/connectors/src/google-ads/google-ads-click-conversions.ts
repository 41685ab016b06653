import { defineConnector } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
import { dataManagerApi } from './api-version.ts'
import { conversionColumns, conversionFields, conversionNotes, conversionsTested } from './conversion-fields.ts'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Conversions that followed a click on an ad. */
export const googleAdsClickConversions = defineConnector({
  slug: 'google-ads-click-conversions',
  name: 'Google Ads Click Conversions',
  platform: googleAds,
  dataType: 'click conversions',
  dataTypeCategory: 'events',
  description: 'Reports conversions to Google Ads, each with the ad click that led to it.',
  notes: `${conversionNotes} Each row needs a gclid, gbraid or wbraid, and the conversion action must be one for imports from clicks.`,
  tested: conversionsTested,
  api: dataManagerApi,
  secrets: signIn,
  authorization: dataManagerAuthorization,
  check: async (context) => {
    const { checkConversions } = await import('./check-data-manager.ts')
    return checkConversions((await import('./conversion-plans.ts')).clickConversions)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 2_000, bytesMax: 4_000_000 }),
      open: async (context) => {
        const { openConversions } = await import('./deliver-conversions.ts')
        return openConversions(context, (await import('./conversion-plans.ts')).clickConversions(context))
      },
    },
    fields: conversionFields,
    records: conversionColumns,
  },
})
