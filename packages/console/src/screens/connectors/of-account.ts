import { limits, type SavedValues } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'

/** A configuration of a connector; without its identifier, the first one. */
export type ConnectorOfAccount = {
  readonly accountId: string
  readonly connectorId: string
  readonly configurationId?: string | undefined
}

/** Parameters of an operation on it. */
export const parametersOf = ({ accountId, connectorId, configurationId }: ConnectorOfAccount) => ({
  accountId,
  id: connectorId,
  ...(configurationId === undefined ? {} : { query: { configurationId } }),
})

/** The address at which a configuration of a connector is opened. */
export const configureAt = (connectorId: string, configurationId?: string): string =>
  `connectors?configure=${connectorId}${configurationId === undefined ? '' : `&configuration=${configurationId}`}`

/** The address at which the source of a configuration is described. */
export const buildSourceAt = (connectorId: string, configurationId?: string): string =>
  `connectors/${connectorId}/build${configurationId === undefined ? '' : `?configuration=${configurationId}`}`

/** The identifier of a configuration, unless it is the first one or not known. */
export function useOtherConfiguration({ accountId, connectorId, configurationId }: ConnectorOfAccount) {
  const all = useConfigurations(accountId, connectorId, { enabled: configurationId !== undefined })
  return all?.find((one) => one.configurationId === configurationId && !one.first)?.configurationId
}

/** The parameters that list the configurations of a connector. */
export const configurationsOf = (accountId: string, connectorId: string) => ({
  accountId,
  query: { connectorId, size: limits.configurationsOfConnectorMax },
})

/** The configurations of a connector in a sub-account, the first one first; undefined while they are not known. */
export function useConfigurations(
  accountId: string,
  connectorId: string,
  { enabled = true }: { enabled?: boolean } = {},
): readonly SavedValues[] | undefined {
  return useRead('listConnectorConfigurations', configurationsOf(accountId, connectorId), { enabled }).data?.reply
}
