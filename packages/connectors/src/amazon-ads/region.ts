import { type ConnectorContext, select } from '@penstock/connector'

/** Where Amazon Ads keeps accounts, and the API of each region. */
const origins = {
  NA: 'https://advertising-api.amazon.com',
  EU: 'https://advertising-api-eu.amazon.com',
  FE: 'https://advertising-api-fe.amazon.com',
} as const

/** The setting that names the region of the advertiser account. */
export const region = select({
  label: 'Region',
  description: 'Region of the account',
  options: Object.keys(origins),
  labels: { NA: 'Americas', EU: 'Europe', FE: 'Far East and Australia' },
  default: 'NA',
})

/** The region of a connection. By default North America. */
export function regionOf({ settings }: Pick<ConnectorContext, 'settings'>): keyof typeof origins {
  const named = settings.region
  return named === 'EU' || named === 'FE' ? named : 'NA'
}

/** The API of the region of a connection. */
export const originOf = (context: Pick<ConnectorContext, 'settings'>): string => origins[regionOf(context)]
