import { connectionStatuses } from '@penstock/wire'
import { readOnce } from '../../api/queries.ts'
import type { ListAddress } from '../../components/address.ts'
import { readVolumeOnce } from '../../components/volume.ts'
import { failingQuery, groupedMax } from '../failing/use-failing.ts'
import { attentionOf, reasonOf } from './attention.ts'
import { countOf } from './by-status.tsx'
import { lately } from './moved.tsx'

/** Reads what both overviews show, of a sub-account or of the organization, before the screen is drawn. */
export const readOverview = (accountId: string | undefined, address: ListAddress): Promise<unknown> =>
  Promise.all([
    ...connectionStatuses.map((status) => readOnce('listConnections', countOf(accountId, status))),
    readOnce('listAttention', attentionOf(accountId, reasonOf(address), address.page)),
    readOnce('listAttention', failingQuery(accountId, groupedMax)),
    readVolumeOnce({ accountId, ...lately() }),
  ])
