import type { Connection, ConnectionDetails, Transfer } from '@penstock/wire'
import { useOtherConfiguration } from '../connectors/of-account.ts'
import { causeOf, failingOf } from './cause.ts'
import { ConfigurationCure } from './group-cure.tsx'

/** The field that ends the refusal of a connection, on its own page. */
export function ConnectionCure({
  connection,
  transfer,
}: {
  connection: Connection & Partial<Pick<ConnectionDetails, 'srcConfigurationId' | 'destConfigurationId'>>
  transfer: Transfer
}) {
  const { accountId, src, dest, srcConfigurationId, destConfigurationId } = connection
  const other = {
    src: useOtherConfiguration({ accountId, connectorId: src.connectorId, configurationId: srcConfigurationId }),
    dest: useOtherConfiguration({ accountId, connectorId: dest.connectorId, configurationId: destConfigurationId }),
  }
  const failing = failingOf(connection, transfer, other)
  const cause = causeOf(failing)
  return cause.at ? <ConfigurationCure cause={cause} at={cause.at} connections={[failing]} /> : null
}
