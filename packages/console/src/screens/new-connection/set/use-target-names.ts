import { limits } from '@penstock/wire'
import { useRead } from '../../../api/queries.ts'
import { usualName } from '../../connectors/use-standing.ts'
import { useWizard } from '../wizard.ts'
import type { Target } from './targets.ts'

/** The names of destinations: of the configuration if somebody named it, otherwise of the connector. */
export function useTargetNames(): (target: Target) => string {
  const { accountId } = useWizard()
  const query = { size: limits.pageSizeMax }
  const connectors = useRead('listConnectors', { accountId, query }).data?.reply
  const configurations = useRead('listConnectorConfigurations', { accountId, query }).data?.reply
  return ({ connectorId, configurationId }) => {
    const own = configurations?.find((one) =>
      configurationId === undefined
        ? one.first && one.connectorId === connectorId
        : one.configurationId === configurationId,
    )
    const brand = connectors?.find((one) => one.connectorId === connectorId)?.name ?? ''
    return own === undefined || own.name === usualName ? brand : own.name
  }
}
