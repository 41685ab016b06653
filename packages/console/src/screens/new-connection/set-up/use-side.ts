import type { ConnectorDefinition, Role } from '@penstock/wire'
import { useRead } from '../../../api/queries.ts'
import { useDiscovery } from '../../../components/fields/use-discovery.ts'
import { parametersOf, useOtherConfiguration } from '../../connectors/of-account.ts'
import { useStandings } from '../../connectors/use-standing.ts'
import { useWizard } from '../wizard.ts'

/** The configuration that a side uses, and how its settings are listed. */
export function useSide(definition: ConnectorDefinition, role: Role, configurationId: string | undefined) {
  const { accountId } = useWizard()
  const of = { accountId, connectorId: definition.connectorId, configurationId }
  const other = useOtherConfiguration(of)
  const configured = useRead('getConnectorConfiguration', parametersOf({ ...of, configurationId: other })).data?.reply
    .configured
  const { name, ...standing } = useStandings(accountId)({ ...of, configured: configured === true })
  return {
    configurationId,
    other,
    name: name ?? definition.name,
    discovery: useDiscovery(accountId, definition, role, other),
    ...standing,
  }
}
export type UsedSide = ReturnType<typeof useSide>
