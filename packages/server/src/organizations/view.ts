import type { Client } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { ClientRow } from './client-queries.ts'

const optional = (time: Date | null) => (time === null ? null : unixSeconds(time))

/** A client as the API shows it. */
export const viewClient = (row: ClientRow): Client => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  accountIds: row.accountIds,
  createdTime: unixSeconds(row.createdTime),
  expiresTime: optional(row.expiresTime),
  lastUsedTime: optional(row.lastUsedTime),
  previousSecretExpiresTime: optional(row.previousSecretUntil),
  revokedTime: optional(row.revokedTime),
})
