import { limits } from '@penstock/wire'
import type { Transaction } from '../../db/database.ts'
import { violates } from '../../db/errors.ts'
import { newIdentifier } from '../../identifiers.ts'
import { refuse } from '../../refusal.ts'
import { lockOrganization } from '../queries.ts'
import { announce } from '../sessions.ts'
import {
  createSelection,
  listOf,
  readPage,
  recordChange,
  requireVersion,
  type ScimAnswer,
  type ScimDeps,
  type ScimRequest,
  versionOf,
} from './context.ts'
import * as queries from './group-queries.ts'
import { externalIdLengthMax } from './people.ts'
import { attributesOf, readFilter, readPatch, refuseScim, stringOf, textOf } from './values.ts'

/**
 * Groups as SCIM resources (RFC 7643, section 4.2), and the roles that they give to their members by their names. No group
 * makes an owner, or changes what an owner is.
 */

export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** Characters of a name, as in Microsoft Entra ID. */
const groupNameLengthMax = 256
const roleForm = /^(?:penstock[ _:-]+)?(admin|editor|viewer)s?$/i

/** The role of a group with this name: `admin`, `Editors`, `Penstock viewers`. Null if the name is not a role. */
const roleOfGroup = (displayName: string): queries.GroupRole | null =>
  (roleForm.exec(displayName)?.[1]?.toLowerCase() as queries.GroupRole | undefined) ?? null

const filterable = {
  id: 'id',
  displayname: 'displayName',
  externalid: 'externalId',
  members: 'memberId',
} as const

export async function listGroups(request: ScimRequest, { database, publicUrl }: ScimDeps): Promise<ScimAnswer> {
  const { startIndex, limit, offset } = readPage(request)
  const given = readFilter(request.query.filter, filterable)
  const { id = null, displayName = null, externalId = null, memberId = null } = given
  const filter = { organizationId: request.actor.organizationId, id, displayName, externalId, memberId }
  const selection = createSelection(request)
  const [rows, count] = await Promise.all([
    limit === 0 ? [] : queries.listGroups.all(database, { ...filter, limit, offset }),
    queries.countGroups.first(database, filter),
  ])
  const groupIds = selection.wants('members') ? rows.map((row) => row.id) : []
  const members = groupIds.length === 0 ? [] : await queries.membersOf.all(database, { groupIds })
  const byGroup = Map.groupBy(members, ({ groupId }) => groupId)
  const shown = rows.map((row) => selection.of(viewGroup(row, byGroup.get(row.id) ?? [], publicUrl)))
  return { status: 200, body: listOf(shown, count?.total ?? 0, startIndex) }
}

export async function showGroup(
  request: ScimRequest,
  id: string,
  { database, publicUrl }: ScimDeps,
): Promise<ScimAnswer> {
  const { organizationId } = request.actor
  const row = (await queries.findGroup.first(database, { organizationId, id })) ?? refuse('not_found')
  const selection = createSelection(request)
  const members = selection.wants('members') ? await queries.membersOf.all(database, { groupIds: [id] }) : []
  const resource = viewGroup(row, members, publicUrl)
  return { status: 200, body: selection.of(resource), etag: resource.meta.version, location: resource.meta.location }
}

export function createGroup(request: ScimRequest, deps: ScimDeps): Promise<ScimAnswer> {
  const given = readGroup(request.body)
  const displayName = given.displayName ?? refuseScim('invalidValue', 'displayName is missing.')
  const { organizationId } = request.actor
  return deps.database.transaction(async (tx) => {
    await lockOrganization.first(tx, { organizationId })
    const everyGroup = { organizationId, id: null, displayName: null, externalId: null, memberId: null }
    const count = await queries.countGroups.first(tx, everyGroup)
    if ((count?.total ?? 0) >= limits.userGroupsMax) {
      refuse('quota_exceeded', [
        { field: 'groups', message: `at most ${limits.userGroupsMax} groups of the organization` },
      ])
    }
    const id = newIdentifier()
    const role = roleOfGroup(displayName)
    const externalId = given.externalId ?? null
    await orTaken(queries.insertGroup.run(tx, { id, organizationId, displayName, externalId, role }))
    const row = (await queries.findGroup.first(tx, { organizationId, id })) ?? refuse('not_found')
    recordChange(tx, request, { action: 'scim create group', targetId: id, after: auditedOf(row) })
    await changeMembers(tx, request, row, row, given.members, deps)
    const members = await queries.membersOf.all(tx, { groupIds: [id] })
    const resource = viewGroup(row, members, deps.publicUrl)
    const { location, version: etag } = resource.meta
    return { status: 201, body: createSelection(request).of(resource), etag, location }
  }, request.actor)
}

/** PUT. Attributes that the request omits do not change. */
export async function replaceGroup(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  await change(request, id, readGroup(request.body), deps)
  return showGroup(request, id, deps)
}

/** PATCH. It is answered without the group, which can have thousands of members. */
export async function patchGroup(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  const given: Given = { members: [] }
  for (const { op, path, value } of readPatch(request.body)) {
    if (path.attribute === 'members') given.members.push(readMembers(op, path.filter, value))
    else if (op !== 'remove') setAttribute(given, path.attribute, value)
    else if (path.attribute === 'displayname') refuseScim('mutability', 'displayName cannot be removed.')
    else setAttribute(given, path.attribute, null)
  }
  await change(request, id, given, deps)
  return { status: 204 }
}

/** Removes a group. Its members lose the role that it gave. */
export function removeGroup(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  return deps.database.transaction(async (tx) => {
    const row = await lockGroup(tx, request, id)
    const members = await queries.memberIdsOf.all(tx, { groupId: id })
    await queries.deleteGroup.run(tx, { id })
    const details = { members: members.length }
    recordChange(tx, request, { action: 'scim remove group', targetId: id, before: auditedOf(row), details })
    if (row.role !== null)
      await giveRoles(
        tx,
        request,
        id,
        members.map(({ userId }) => userId),
        deps,
      )
    return { status: 204 }
  }, request.actor)
}

/** A change of the members, by their identifiers. */
type MemberChange = { readonly op: 'add' | 'remove' | 'replace'; readonly ids: readonly string[] }
/** Attributes of a group that a request sets, without unknown ones, which are ignored. */
type Given = { displayName?: string; externalId?: string | null; members: MemberChange[] }

function setAttribute(given: Given, attribute: string, value: unknown): void {
  if (attribute === 'displayname') {
    given.displayName =
      textOf('displayName', value, groupNameLengthMax) ?? refuseScim('invalidValue', 'displayName is empty.')
  } else if (attribute === 'externalid') given.externalId = textOf('externalId', value, externalIdLengthMax)
}

function readGroup(body: unknown): Given {
  const given: Given = { members: [] }
  for (const [key, value] of attributesOf(body, 'The body')) {
    if (key === 'members') given.members.push(readMembers('replace', undefined, value))
    else setAttribute(given, key, value)
  }
  return given
}

const memberFilter = /^\s*value\s+eq\s+("(?:[^"\\]|\\.)*")\s*$/i

/**
 * Members in each form in which they are sent: a list of `{"value": "…"}`, one of these, and for `remove` a filter in the
 * path, which Okta sends, a list in the value, which Microsoft Entra ID sends, or neither, which is everyone.
 */
function readMembers(op: MemberChange['op'], filter: string | undefined, value: unknown): MemberChange {
  if (filter !== undefined) {
    if (op !== 'remove') refuseScim('invalidPath', 'Members are added and replaced without a filter in the path.')
    const id =
      stringOf(memberFilter.exec(filter)?.[1] ?? '') ?? refuseScim('invalidFilter', 'Use members[value eq "…"].')
    return { op, ids: [id] }
  }
  if (value === undefined || value === null) {
    return op === 'add' ? refuseScim('invalidValue', 'members is missing.') : { op: 'replace', ids: [] }
  }
  const ids = (Array.isArray(value) ? value : [value]).map((one) => {
    const id = textOf('members.value', attributesOf(one, 'A member').get('value') ?? null, externalIdLengthMax)
    return id ?? refuseScim('invalidValue', 'A member has no value.')
  })
  return { op, ids }
}

async function lockGroup(tx: Transaction, request: ScimRequest, id: string): Promise<queries.GroupRow> {
  const { organizationId } = request.actor
  await lockOrganization.first(tx, { organizationId })
  const row = (await queries.findGroup.first(tx, { organizationId, id })) ?? refuse('not_found')
  requireVersion(request, versionOf([id, row.version]))
  return row
}

const orTaken = (saved: Promise<number>): Promise<number> =>
  saved.catch((error) => {
    if (violates(error, 'user_groups_name')) refuseScim('uniqueness', 'There is a group with this displayName.')
    throw error
  })

function change(request: ScimRequest, id: string, given: Given, deps: ScimDeps): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const before = await lockGroup(tx, request, id)
    const displayName = given.displayName ?? before.displayName
    const externalId = given.externalId === undefined ? before.externalId : given.externalId
    const after = { ...before, displayName, externalId, role: roleOfGroup(displayName) }
    await orTaken(queries.updateGroup.run(tx, after))
    if (displayName !== before.displayName || externalId !== before.externalId) {
      const [was, is] = [auditedOf(before), auditedOf(after)]
      recordChange(tx, request, { action: 'scim update group', targetId: id, before: was, after: is })
    }
    await changeMembers(tx, request, before, after, given.members, deps)
  }, request.actor)
}

const auditedIdsMax = 100

/**
 * Makes the changes of the members in their order, and updates the roles of the changed people. Refuses with `invalidValue`
 * members who are not people of the organization, and with `quota_exceeded` too many memberships.
 */
async function changeMembers(
  tx: Transaction,
  request: ScimRequest,
  before: queries.GroupRow,
  after: queries.GroupRow,
  changes: readonly MemberChange[],
  deps: ScimDeps,
): Promise<void> {
  const { id: groupId } = after
  const { organizationId } = request.actor
  const was = new Set((await queries.memberIdsOf.all(tx, { groupId })).map(({ userId }) => userId))
  const is = new Set(was)
  for (const { op, ids } of changes) {
    if (op === 'replace') is.clear()
    for (const id of ids) op === 'remove' ? is.delete(id) : is.add(id)
  }
  const [added, removed] = [[...is].filter((id) => !was.has(id)), [...was].filter((id) => !is.has(id))]
  if (removed.length > 0) await queries.removeMembers.run(tx, { groupId, userIds: removed })
  if (added.length > 0) {
    const found = await queries.addMembers.all(tx, { groupId, organizationId, userIds: added })
    if (found.length < added.length) {
      const known = new Set(found.map(({ userId }) => userId))
      const unknown = added.filter((id) => !known.has(id)).slice(0, 10)
      refuseScim('invalidValue', `No people of the organization: ${unknown.join(', ')}.`)
    }
    const { total = 0 } = (await queries.countMemberships.first(tx, { organizationId })) ?? {}
    if (total > limits.userGroupMembershipsMax) {
      const message = `at most ${limits.userGroupMembershipsMax} memberships of all groups of the organization`
      refuse('quota_exceeded', [{ field: 'members', message }])
    }
  }
  if (added.length + removed.length > 0) {
    const some = (ids: string[]) => ({ count: ids.length, ids: ids.slice(0, auditedIdsMax) })
    const details = { added: some(added), removed: some(removed) }
    recordChange(tx, request, { action: 'scim change members', targetId: groupId, details })
  }
  const concerned =
    before.role === after.role ? (after.role === null ? [] : [...added, ...removed]) : [...new Set([...is, ...was])]
  await giveRoles(tx, request, groupId, concerned, deps)
}

/** Updates the roles of people from their groups, with immediate effect in their sessions. */
async function giveRoles(
  tx: Transaction,
  request: ScimRequest,
  groupId: string,
  userIds: readonly string[],
  { userSessions }: ScimDeps,
): Promise<void> {
  if (userIds.length === 0) return
  const people = await queries.lockOtherRoles.all(tx, { userIds })
  if (people.length === 0) return
  const ids = people.map(({ id }) => id)
  await queries.saveRoles.run(tx, { ids, roles: people.map(({ role }) => role) })
  await announce(tx, await queries.digestsOfPeople.all(tx, { userIds: ids }), userSessions)
  recordChange(
    tx,
    request,
    ...people.map(({ id, before, role }) => ({
      action: 'scim change role',
      targetId: id,
      before: { role: before },
      after: { role },
      details: { groupId },
    })),
  )
}

function viewGroup(row: queries.GroupRow, members: readonly queries.MemberRow[], publicUrl: string) {
  const { id, displayName, externalId, createdTime, version } = row
  return {
    schemas: [groupSchema],
    id,
    displayName,
    ...(externalId === null ? {} : { externalId }),
    members: members.map(({ userId, display }) => ({ value: userId, display, type: 'User' })),
    meta: {
      resourceType: 'Group',
      created: createdTime.toISOString(),
      location: `${publicUrl}/scim/v2/Groups/${id}`,
      version: versionOf([id, version]),
    },
  }
}

/** The part that the audit log keeps. */
const auditedOf = ({ displayName, externalId, role }: queries.GroupRow) => ({ displayName, externalId, role })
