import type { CatalogueEntry } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'

const sizeMax = 500

/** Every connector of the catalogue; undefined while it is not known. The catalogue is the same for all sub-accounts. */
export function useCatalogue(accountId: string): readonly CatalogueEntry[] | undefined {
  return useRead('listConnectors', { accountId, query: { size: sizeMax } }).data?.reply
}
