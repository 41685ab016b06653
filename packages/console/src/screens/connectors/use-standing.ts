import { limits } from '@penstock/wire'
import { useMemo } from 'react'
import { useRead } from '../../api/queries.ts'
import {
  type ConfigurationStanding,
  configurationStandingOf,
  type Evidence,
  evidenceOf,
} from '../../components/standing.ts'
import { useKeptCheck } from './kept-checks.ts'
import { type ConnectorOfAccount, useConfigurations } from './of-account.ts'

/** Evidence of the newest transfers about the configurations of a sub-account, by connector, from its newest 500 connections. */
export type EvidenceByConnector = ReadonlyMap<string, Evidence>

/** Connectors with several configurations are left out, because a list of connections does not name the configuration. */
export function useEvidence(accountId: string): {
  evidence: EvidenceByConnector
  /** When each first configuration was saved, in seconds since 1970, by connector. */
  saved: ReadonlyMap<string, number>
} {
  const query = { size: limits.pageSizeMax }
  const connections = useRead('listConnections', { accountId, query }).data?.reply
  const transfers = useRead('listAllTransfers', { accountId, query: { latest: true, size: limits.pageSizeMax } }).data
    ?.reply
  const configurations = useRead('listConnectorConfigurations', { accountId, query }).data?.reply
  return useMemo(() => {
    const several = new Set(configurations?.flatMap(({ first, connectorId }) => (first ? [] : [connectorId])))
    const latest = new Map(transfers?.map((transfer) => [transfer.connectionId, transfer]))
    const evidence = new Map<string, Evidence>()
    for (const { id, src, dest } of connections ?? []) {
      for (const [side, { connectorId }] of [['source', src] as const, ['destination', dest] as const]) {
        const found = evidenceOf(latest.get(id), side)
        if (!found || several.has(connectorId)) continue
        const known = evidence.get(connectorId)
        if (!known || found.time > known.time) evidence.set(connectorId, found)
      }
    }
    const saved = new Map(
      configurations?.filter(({ first }) => first).map(({ connectorId, lastUpdated }) => [connectorId, lastUpdated]),
    )
    return { evidence, saved }
  }, [connections, transfers, configurations])
}

/** How a configuration is doing, and what its failed check said. @param savedTime in seconds since 1970 */
export function useConfigurationStanding(
  of: ConnectorOfAccount & { configured: boolean; savedTime?: number | undefined },
  transfers: readonly (Evidence | undefined)[],
): { standing: ConfigurationStanding; why: string | undefined } {
  const check = useKeptCheck(of)
  const evidence = check && { ok: check.ok, time: check.checkedTime }
  const standing = configurationStandingOf(of.configured, of.savedTime, [evidence, ...transfers])
  return { standing, why: standing === 'failed' && check?.ok === false ? check.message : undefined }
}

/** The name that the service gives the first configuration of a connector. It tells people nothing. */
const usualName = 'Default'

/**
 * The name of a configuration, and how it is doing.
 * @param of without an identifier, the first configuration
 * @returns `name`: undefined if nobody named it, so that its connector names it
 */
export function useNamedConfiguration(
  of: ConnectorOfAccount & { configured: boolean },
  transfers: readonly (Evidence | undefined)[] = [],
): ReturnType<typeof useConfigurationStanding> & { name: string | undefined } {
  const { accountId, connectorId, configurationId: id } = of
  const own = useConfigurations(accountId, connectorId)?.find((one) =>
    id === undefined ? one.first : one.configurationId === id,
  )
  const configurationId = own?.first === false ? own.configurationId : undefined
  const standing = useConfigurationStanding({ ...of, configurationId, savedTime: own?.lastUpdated }, transfers)
  return { ...standing, name: own?.name === usualName ? undefined : own?.name }
}
