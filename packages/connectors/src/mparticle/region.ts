import { type ConnectorContext, ConnectorError } from '@penstock/connector'

/** The regions in which mParticle stores the data of an account. */
export const regions = ['US1', 'US2', 'EU1', 'AU1'] as const

/** The address of the region that the connector names. */
export function originOf({ secrets }: Pick<ConnectorContext, 'secrets'>): string {
  const region = regions.find((one) => one === (secrets.region ?? 'US1'))
  if (region) return `https://s2s.${region.toLowerCase()}.mparticle.com`
  throw new ConnectorError('invalid_setting', `Region must be one of ${regions.join(', ')}.`)
}
