import { type CatalogueEntry, limits } from '@penstock/wire'
import { useState } from 'react'
import { useRead, useWrite } from '../../../api/queries.ts'
import { notifyDone } from '../../../components/notify.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { useWizard } from '../wizard.ts'
import type { Tile } from './connector-tiles.tsx'

/** The catalogue, and what of it the sub-account has. It has fewer connectors than one page takes. */
export function useCatalogue() {
  const { accountId } = useWizard()
  const query = { size: limits.pageSizeMax }
  const all = useRead('listConnectors', { accountId, query })
  const added = useRead('listAddedConnectors', { accountId, query })
  const tileOf = (entry: CatalogueEntry): Tile => {
    const own = added.data?.reply.find(({ connectorId }) => connectorId === entry.connectorId)
    return { ...entry, added: own !== undefined, configured: own?.configured ?? false }
  }
  return { all, added, tileOf }
}

/** Whether the name or a kind of a connector contains the search text. */
export const matchesSearch = ({ name, dataTypeCategory, platformType, dataType }: CatalogueEntry, q: string): boolean =>
  [name, dataTypeCategory, platformType, dataType].some((text) => text.toLowerCase().includes(q.toLowerCase()))

/** Splits connectors into added ones and others. In each group, connectors that move data come first, then by name. */
export const splitAdded = (tiles: readonly Tile[]) => {
  const sorted = [...tiles].sort(
    (one, other) => Number(other.transfer) - Number(one.transfer) || one.name.localeCompare(other.name),
  )
  return { added: sorted.filter(({ added }) => added), others: sorted.filter(({ added }) => !added) }
}

/** Picks a connector; one that is not there yet is added to the sub-account first. */
export function usePick(onPicked: (connectorId: string) => void) {
  const { accountId } = useWizard()
  const add = useWrite('addConnectors')
  const [busy, setBusy] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const pick = async ({ connectorId, name, added }: Tile) => {
    setFailure(undefined)
    try {
      if (!added) {
        setBusy(connectorId)
        await add.mutateAsync({ accountId, body: { connectorIds: [connectorId] } })
        notifyDone(say.added(name))
      }
      onPicked(connectorId)
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(undefined)
    }
  }
  return { busy, failure, pick: (tile: Tile) => void pick(tile) }
}
