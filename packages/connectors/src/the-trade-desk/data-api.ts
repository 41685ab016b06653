import type { Values } from '@penstock/connector'
import { type RestApi, restApi } from '../kit/api.ts'

/** The data centres that accept first-party data. Each forwards it to all others. */
export const dataCenters = {
  'US West': 'https://usw-data.adsrvr.org',
  'US East': 'https://use-data.adsrvr.org',
  Europe: 'https://euw-data.adsrvr.org',
  'Asia Pacific': 'https://sin-data.adsrvr.org',
  Japan: 'https://tok-data.adsrvr.org',
  China: 'https://data-cn2.adsrvr.cn',
} as const

/** The API for first-party data at the data center of a connection. */
export const dataApi = ({ settings }: { readonly settings: Values }): RestApi =>
  restApi({
    name: 'The Trade Desk',
    baseUrl: Object.entries(dataCenters).find(([name]) => name === settings.dataCenter)?.[1] ?? dataCenters['US West'],
    errors: {
      // Refusals are plain text or JSON of several shapes. The status is enough.
      statuses: {
        400: 'invalid_batch',
        401: ['invalid_credentials', 'Check the advertiser ID, its secret key, and the token, if there is one.'],
        403: [
          'permission_denied',
          'Ask The Trade Desk whether the advertiser may send first-party data and has not reached its limit.',
        ],
        404: ['object_not_found', 'This data center does not accept first-party data; choose another one.'],
      },
    },
  })
