import type { Account, AccountEntry } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { AccountRow } from './queries.ts'

/** An account as the single-account operations answer it (specification, section 2.7). */
export const viewAccount = (row: AccountRow): Account => ({ ...viewAccountEntry(row), userEmail: row.userEmail })

/** An account as an entry of the list: without `userEmail`. */
export const viewAccountEntry = (row: AccountRow): AccountEntry => ({
  id: row.id,
  name: row.name,
  enabled: row.enabled,
  connections: String(row.connections),
  createdTime: unixSeconds(row.createdTime),
  updatedTime: unixSeconds(row.updatedTime),
  env: { host: row.envHost, id: row.envId, name: row.env },
  userId: row.userId,
  volume: row.volume,
})
