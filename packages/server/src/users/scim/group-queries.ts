import type { UserRole } from '@penstock/wire'
import { statement } from '../../db/statement.ts'

/** Statements about groups of an identity provider, and the roles that they give. */

/** A role that a group can give. */
export type GroupRole = Exclude<UserRole, 'owner'>

export type GroupRow = {
  id: string
  displayName: string
  externalId: string | null
  role: GroupRole | null
  version: number
  createdTime: Date
}
const columns = 'id, display_name, external_id, role, version, created_time'

/** Filter of a list. Null fields do not filter. */
export type GroupFilter = {
  organizationId: string
  id: string | null
  displayName: string | null
  externalId: string | null
  memberId: string | null
}
const filtered = `
  organization_id = :organizationId and (:id::text is null or id = :id)
  and (:displayName::text is null or lower(display_name) = lower(:displayName))
  and (:externalId::text is null or external_id = :externalId)
  and (:memberId::text is null or exists (
    select from user_group_members m where m.group_id = user_groups.id and m.user_id = :memberId))`

export const listGroups = statement<GroupFilter & { limit: number; offset: number }, GroupRow>(`
  select ${columns} from user_groups where ${filtered} order by created_time, id limit :limit offset :offset
`)
export const countGroups = statement<GroupFilter, { total: number }>(
  `select count(*) as total from user_groups where ${filtered}`,
)
export const findGroup = statement<{ organizationId: string; id: string }, GroupRow>(`
  select ${columns} from user_groups where organization_id = :organizationId and id = :id
`)
export const insertGroup = statement<{
  id: string
  organizationId: string
  displayName: string
  externalId: string | null
  role: GroupRole | null
}>(`
  insert into user_groups (id, organization_id, display_name, external_id, role)
  values (:id, :organizationId, :displayName, :externalId, :role)
`)
export const updateGroup = statement<{
  id: string
  displayName: string
  externalId: string | null
  role: GroupRole | null
}>(`
  update user_groups set display_name = :displayName, external_id = :externalId, role = :role, version = version + 1
  where id = :id
`)
export const deleteGroup = statement<{ id: string }>(`delete from user_groups where id = :id`)

export type MemberRow = { groupId: string; userId: string; display: string }
export const membersOf = statement<{ groupIds: readonly string[] }, MemberRow>(`
  select m.group_id, m.user_id, coalesce(u.name, u.email) as display
  from user_group_members m join users u on u.id = m.user_id
  where m.group_id = any(:groupIds) order by m.group_id, m.user_id
`)
export const memberIdsOf = statement<{ groupId: string }, { userId: string }>(`
  select user_id from user_group_members where group_id = :groupId
`)
/** Memberships of all groups of an organization. */
export const countMemberships = statement<{ organizationId: string }, { total: number }>(`
  select count(*) as total from user_group_members m join user_groups g on g.id = m.group_id
  where g.organization_id = :organizationId
`)
/** Adds the people of a list who belong to the organization. */
export const addMembers = statement<
  { groupId: string; organizationId: string; userIds: readonly string[] },
  { userId: string }
>(`
  insert into user_group_members (group_id, user_id)
  select :groupId, id from users where organization_id = :organizationId and id = any(:userIds)
  returning user_id
`)
export const removeMembers = statement<{ groupId: string; userIds: readonly string[] }>(`
  delete from user_group_members where group_id = :groupId and user_id = any(:userIds)
`)

/**
 * People, other than owners, whose role is not the highest role of their groups, or not `viewer` if no group has a role. Locks
 * them.
 */
export const lockOtherRoles = statement<
  { userIds: readonly string[] },
  { id: string; before: GroupRole; role: GroupRole }
>(`
  select id, role as before, wanted as role from (
    select u.id, u.role, coalesce((
      select g.role from user_group_members m join user_groups g on g.id = m.group_id
      where m.user_id = u.id and g.role is not null
      order by array_position(array['admin', 'editor', 'viewer'], g.role) limit 1
    ), 'viewer') as wanted
    from users u where u.id = any(:userIds) and u.role <> 'owner'
    order by u.id for no key update of u
  ) people where role <> wanted
`)
export const saveRoles = statement<{ ids: readonly string[]; roles: readonly GroupRole[] }>(`
  update users u set role = given.role from unnest(:ids::text[], :roles::text[]) as given (id, role) where u.id = given.id
`)
/** The sessions of some people. */
export const digestsOfPeople = statement<{ userIds: readonly string[] }, { digest: Buffer }>(`
  select digest from user_sessions where user_id = any(:userIds)
`)
