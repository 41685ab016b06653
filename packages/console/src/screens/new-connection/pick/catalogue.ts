import { type CatalogueEntry, limits } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../../api/queries.ts'
import { notifyDone } from '../../../components/notify.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { kindOf } from '../../catalogue/use-catalogue.ts'
import { usualName } from '../../connectors/use-standing.ts'
import { useWizard } from '../wizard.ts'
import { type Tile, titleOf } from './connector-tiles.tsx'

/** The catalogue, and what of it the sub-account has. It has fewer connectors than one page takes. */
export function useCatalogue() {
  const { accountId } = useWizard()
  const query = { size: limits.pageSizeMax }
  const all = useRead('listConnectors', { accountId, query })
  const added = useRead('listAddedConnectors', { accountId, query })
  // Until the words are read, and without them, the terms of the specification are shown.
  const words = useRead('listConnectorWords', {}).data?.reply
  const saved = useRead('listConnectorConfigurations', { accountId, query })
  /** The tiles of a connector: one for each of its configurations. */
  const tilesOf = (entry: CatalogueEntry): Tile[] => {
    const own = added.data?.reply.find(({ connectorId }) => connectorId === entry.connectorId)
    const kind = words?.find(({ connectorId }) => connectorId === entry.connectorId)?.kind ?? null
    const kindName = kindOf({ kind, platformType: entry.platformType })
    const tile = { ...entry, accountId, kindName, added: own !== undefined }
    const configurations = saved.data?.reply.filter(({ connectorId }) => connectorId === entry.connectorId) ?? []
    if (!own || configurations.length === 0) return [{ ...tile, configured: own?.configured ?? false }]
    return configurations.map(({ first, configurationId, name, configured }) => ({
      ...tile,
      configured,
      ...(first ? {} : { configurationId }),
      ...(name === usualName ? {} : { configurationName: name }),
    }))
  }
  return { all, saved, added, tilesOf }
}

/** Whether a name or a kind of a connector contains the search text. */
export const matchesSearch = (
  {
    name,
    dataTypeCategory,
    platformType,
    dataType,
    kindName = platformType,
    configurationName = '',
  }: CatalogueEntry & Partial<Tile>,
  q: string,
): boolean =>
  [name, configurationName, dataTypeCategory, kindName, dataType].some((text) =>
    text.toLowerCase().includes(q.toLowerCase()),
  )

/** Splits connectors into added ones and others. In each group, connectors that move data come first, then by name. */
export const splitAdded = (tiles: readonly Tile[]) => {
  const sorted = [...tiles].sort(
    (one, other) => Number(other.transfer) - Number(one.transfer) || titleOf(one).localeCompare(titleOf(other)),
  )
  return { added: sorted.filter(({ added }) => added), others: sorted.filter(({ added }) => !added) }
}

/** Picks a connector and its configuration; a connector that is not there yet is added to the sub-account first. */
export function usePick(onPicked: (tile: Tile) => void) {
  const { accountId } = useWizard()
  const add = useWrite('addConnectors')
  const [busy, setBusy] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const pick = async (tile: Tile) => {
    const { connectorId, name, added } = tile
    setFailure(undefined)
    try {
      if (!added) {
        setBusy(connectorId)
        await add.mutateAsync({ accountId, body: { connectorIds: [connectorId] } })
        notifyDone(say.added(name))
      }
      onPicked(tile)
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(undefined)
    }
  }
  return { busy, failure, pick: (tile: Tile) => void pick(tile) }
}
