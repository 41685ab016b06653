import { statement } from '../db/statement.ts'

/**
 * Maximum number of sub-accounts whose names contain the text. If there are more, only the names of connections are searched.
 */
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
