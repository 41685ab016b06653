import { statement } from '../db/statement.ts'

/** Sub-accounts with a text in their names; a text that more have finds connections by their own names only. */
export const namedMax = 100
export const findNamed = statement<
  { organizationId: string; accountIds: readonly string[] | null; like: string },
  { id: string }
>(`
  select id from accounts
  where organization_id = :organizationId and deleted_time is null and name ilike :like
    and (:accountIds::text[] is null or id = any(:accountIds::text[]))
  limit ${namedMax + 1}
`)
