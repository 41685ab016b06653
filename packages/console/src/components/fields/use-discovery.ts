import type { ConnectorDefinition, Role } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import type { Discovery } from './discovery.ts'

/** Which settings of a side can be picked from a list: none while the connector is not configured in the sub-account. */
export function useDiscovery(
  accountId: string,
  definition: ConnectorDefinition,
  role: Role,
  configurationId?: string,
): Discovery | undefined {
  const { connectorId, source, destination } = definition
  const fields = (role === 'Source' ? source : destination)?.discover ?? []
  const forbidden = useForbidden('discoverValues')
  const enabled = fields.length > 0 && !forbidden
  const of = { accountId, id: connectorId, ...(configurationId === undefined ? {} : { query: { configurationId } }) }
  const { data, isError } = useRead('getConnectorConfiguration', of, { enabled })
  // Most connectors are configured, so a list is offered until the opposite is known.
  const isConfigured = data ? data.reply.configured : !isError
  return enabled && isConfigured ? { accountId, connectorId, configurationId, role, fields } : undefined
}
