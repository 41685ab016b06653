import { limits, type SavedValues, type Transfer } from '@penstock/wire'
import { useMemo } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import {
  type ConfigurationStanding,
  configurationStandingOf,
  evidenceByConfiguration,
  isSilent,
} from '../../components/standing.ts'
import { useKeptChecks } from './kept-checks.ts'
import type { ConnectorOfAccount } from './of-account.ts'

/** The name that the service gives the first configuration of a connector. It tells people nothing. */
export const usualName = 'Default'

/** How many connections count, the newest ones, and behind how many silent transfers older ones are looked up. */
const connectionsMax = 200
const silentMax = 50
const noTransfers: readonly Transfer[] = []

/**
 * @param configured undefined: whether the configuration is complete
 * @param configurationId undefined: the first configuration of the connector
 */
type Asked = Omit<ConnectorOfAccount, 'accountId'> & { accountId: string; configured?: boolean | undefined }
export type NamedStanding = {
  readonly standing: ConfigurationStanding
  /** The message of the failed check or transfer. */
  readonly why: string | undefined
  /** Undefined if nobody named the configuration, so that its connector names it. */
  readonly name: string | undefined
}

/** All configurations of a sub-account, or of all of them; undefined while they are not known. */
export function useAllConfigurations(accountId: string | undefined): readonly SavedValues[] | undefined {
  const mayRead = useForbidden('listConnectorConfigurations') === undefined
  const query = { size: limits.pageSizeMax }
  return useRead('listConnectorConfigurations', { accountId, query }, { enabled: mayRead, keep: true }).data?.reply
}

/**
 * How each configuration of a sub-account, or of all of them, is doing. The newest check in this browser and the newest
 * transfer of each connection decide. If that transfer says nothing about a side, the one before it decides. Every screen asks
 * here, so that no two screens show different words for one configuration.
 * @param fresh transfers that the screen reads more often
 */
export function useStandings(
  accountId: string | undefined,
  fresh: readonly Transfer[] = noTransfers,
): (of: Asked) => NamedStanding {
  const saved = useAllConfigurations(accountId)
  const query = { size: connectionsMax }
  // A list of connections does not name their configurations. With one of each connector, it need not.
  const isSeveral = saved?.some(({ first }) => !first) ?? false
  const isKnown = saved !== undefined
  const plain = useRead('listConnections', { accountId, query }, { enabled: isKnown && !isSeveral, keep: true }).data
  const detailed = useRead('listConnectionDetails', { accountId, query }, { enabled: isSeveral, keep: true }).data
  const latest = useRead('listAllTransfers', { accountId, query: { latest: true, ...query } }, { keep: true }).data
    ?.reply
  const silent = (latest ?? []).filter(isSilent).slice(0, silentMax)
  const connectionIds = silent.map(({ connectionId }) => connectionId).join(',')
  const before = useRead(
    'listAllTransfers',
    { accountId, query: { connectionIds, ...query } },
    { enabled: connectionIds !== '', keep: true },
  ).data?.reply
  const checkOf = useKeptChecks()
  return useMemo(() => {
    const key = (account: string, connectorId: string) => `${account} ${connectorId}`
    const firsts = new Map(
      saved?.filter(({ first }) => first).map((one) => [key(one.accountId, one.connectorId), one.configurationId]),
    )
    const byId = new Map(saved?.map((one) => [one.configurationId, one]))
    const connections = isSeveral
      ? (detailed?.reply ?? []).map(({ id, srcConfigurationId: source, destConfigurationId: destination }) => ({
          id,
          source,
          destination,
        }))
      : (plain?.reply ?? []).map(({ id, accountId: account, src, dest }) => ({
          id,
          source: firsts.get(key(account, src.connectorId)),
          destination: firsts.get(key(account, dest.connectorId)),
        }))
    const evidence = evidenceByConfiguration(connections, [...(latest ?? []), ...(before ?? []), ...fresh])
    return ({ accountId: account, connectorId, configurationId, configured }: Asked): NamedStanding => {
      const id = configurationId ?? firsts.get(key(account, connectorId))
      const own = id === undefined ? undefined : byId.get(id)
      const isFirst = configurationId === undefined || own?.first === true
      const check = checkOf({ accountId: account, connectorId, configurationId: isFirst ? undefined : configurationId })
      const ofCheck = check && { ok: check.ok, time: check.checkedTime, why: check.message }
      const ofTransfers = id === undefined ? undefined : evidence.get(id)
      return {
        ...configurationStandingOf(configured ?? own?.configured ?? false, own?.lastUpdated, [ofCheck, ofTransfers]),
        name: own === undefined || own.name === usualName ? undefined : own.name,
      }
    }
  }, [saved, isSeveral, plain, detailed, latest, before, fresh, checkOf])
}

/** How many configurations of a sub-account are known not to work. */
export function useFailedCount(accountId: string): number {
  const standingOf = useStandings(accountId)
  const saved = useAllConfigurations(accountId) ?? []
  return saved.filter((one) => standingOf(one).standing === 'failed').length
}
