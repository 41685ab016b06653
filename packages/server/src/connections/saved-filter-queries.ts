import { statement } from '../db/statement.ts'

/** Statements of saved filters. */

export type SavedFilterRow = {
  id: string
  accountId: string | null
  userId: string | null
  name: string
  query: string
  createdTime: Date
}
const columns = 'f.id, f.account_id, f.user_id, f.name, f.query, f.created_time'

/** Filters that a person can use: their own, and shared ones of the lists that they can see. */
type Visible = { organizationId: string; userId: string; accountIds: readonly string[] | null }
const isVisible = `
  f.organization_id = :organizationId and (f.user_id is null or f.user_id = :userId)
  and (:accountIds::text[] is null or f.account_id = any(:accountIds) or (f.account_id is null and f.user_id = :userId))
  and (f.account_id is null or exists (select from accounts where id = f.account_id and deleted_time is null))`
type Filter = Visible & { like: string | null }
const listed = `${isVisible} and (:like::text is null or f.name ilike :like)`

export const listFilters = statement<Filter & { size: number; offset: number }, SavedFilterRow>(`
  select ${columns} from saved_filters f where ${listed}
  order by lower(f.name), f.id limit :size offset :offset
`)
export const countFilters = statement<Filter, { total: number }>(
  `select count(*) as total from saved_filters f where ${listed}`,
)
export const lockFilter = statement<Visible & { id: string }, SavedFilterRow>(`
  select ${columns} from saved_filters f where f.id = :id and ${isVisible} for no key update of f
`)
/** Counts the filters of a person, or the shared filters of the organization if no person is given. */
export const countForBound = statement<{ organizationId: string; userId: string | null }, { total: number }>(`
  select count(*) as total from saved_filters
  where organization_id = :organizationId and user_id is not distinct from :userId
`)
/** Filters are saved one after another, so that the bound holds. */
export const holdOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const insertFilter = statement<
  {
    id: string
    organizationId: string
    accountId: string | null
    userId: string | null
    name: string
    query: string
  },
  SavedFilterRow
>(`
  insert into saved_filters as f (id, organization_id, account_id, user_id, name, query)
  values (:id, :organizationId, :accountId, :userId, :name, :query)
  returning ${columns}
`)
export const updateFilter = statement<{ id: string; name: string; query: string }>(`
  update saved_filters set name = :name, query = :query where id = :id
`)
export const deleteFilter = statement<{ id: string }>(`delete from saved_filters where id = :id`)
