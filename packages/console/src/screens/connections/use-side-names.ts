import type { Connection, Transfer } from '@penstock/wire'
import { useMemo } from 'react'
import { useRead } from '../../api/queries.ts'
import { pageSize } from '../../components/pager.tsx'
import type { SideName } from '../../components/sides.tsx'
import { useAllConfigurations, useStandings, usualName } from '../connectors/use-standing.ts'

type Row = Pick<Connection, 'id' | 'accountId' | 'src' | 'dest'>
export type SideNames = Readonly<Record<'src' | 'dest', SideName>>
const sides = ['src', 'dest'] as const

/**
 * The names of the configurations of both sides of connections, and how they are doing.
 * @param transfers the newest of each connection
 */
export function useSideNames(
  accountId: string | undefined,
  rows: readonly Row[],
  transfers: ReadonlyMap<string, Transfer>,
): ReadonlyMap<string, SideNames> {
  const saved = useAllConfigurations(accountId)
  // Most sub-accounts have one configuration of each connector, without a name: then the connections need not be read.
  const isNamed = saved?.some(({ first, name }) => !first || name !== usualName) ?? false
  const connectionIds = rows.map(({ id }) => id).join(',')
  const details = useRead(
    'listConnectionDetails',
    { accountId, query: { connectionIds, size: pageSize } },
    { enabled: isNamed && connectionIds !== '', keep: true },
  ).data?.reply
  const fresh = useMemo(() => [...transfers.values()], [transfers])
  const standingOf = useStandings(accountId, fresh)
  return useMemo(() => {
    const settings = new Map(details?.map((one) => [one.id, one]))
    const nameOf = (row: Row, side: (typeof sides)[number]): SideName => {
      const { connectorId, configured } = row[side]
      const id = settings.get(row.id)?.[`${side}ConfigurationId`]
      const ofConnector = saved?.filter((one) => one.accountId === row.accountId && one.connectorId === connectorId)
      const own = ofConnector?.find((one) => (id === undefined ? ofConnector.length === 1 : one.configurationId === id))
      if (!own) return {}
      const { accountId, configurationId } = own
      const { name, standing } = standingOf({ accountId, connectorId, configurationId, configured })
      return { ...(name !== undefined && { name }), standing }
    }
    return new Map(rows.map((row) => [row.id, { src: nameOf(row, 'src'), dest: nameOf(row, 'dest') }]))
  }, [rows, saved, details, standingOf])
}
