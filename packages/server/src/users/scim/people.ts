import { emailPattern, limits } from '@penstock/wire'
import type { Db, Transaction } from '../../db/database.ts'
import { violates } from '../../db/errors.ts'
import { refuse } from '../../refusal.ts'
import * as userQueries from '../queries.ts'
import { endSessions, refreshSessions } from '../sessions.ts'
import { addUser, requireOtherOwner } from '../users.ts'
import {
  createSelection,
  listOf,
  readPage,
  recordChange,
  requireVersion,
  type ScimAnswer,
  type ScimDeps,
  type ScimMeta,
  type ScimRequest,
  versionOf,
} from './context.ts'
import * as queries from './queries.ts'
import { attributesOf, flagOf, readFilter, readPatch, readPath, refuseScim, textOf } from './values.ts'

/**
 * People as SCIM resources (RFC 7643, section 4.1). `userName` is the e-mail address. No request makes anyone an owner, or
 * changes the address of one: with a link for a new password, that would be the same.
 */

export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'

const filterable = {
  id: 'id',
  username: 'email',
  emails: 'email',
  externalid: 'externalId',
  displayname: 'name',
} as const

export async function listPeople(request: ScimRequest, { database, publicUrl }: ScimDeps): Promise<ScimAnswer> {
  const { startIndex, limit, offset } = readPage(request)
  const given = readFilter(request.query.filter, filterable)
  const { id = null, email = null, externalId = null, name = null } = given
  const filter = { organizationId: request.actor.organizationId, id, email, externalId, name }
  const selection = createSelection(request)
  const [rows, count] = await Promise.all([
    limit === 0 ? [] : queries.listProvisioned.all(database, { ...filter, limit, offset }),
    queries.countProvisioned.first(database, filter),
  ])
  const shown = rows.map((row) => selection.of(viewPerson(row, publicUrl)))
  return { status: 200, body: listOf(shown, count?.total ?? 0, startIndex) }
}

export async function showPerson(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  return answerPerson(200, request, await requirePerson(deps.database, request, id), deps)
}

/** Adds a person with the role `viewer`. No mail is sent: they sign in at the identity provider. */
export async function createPerson(request: ScimRequest, deps: ScimDeps): Promise<ScimAnswer> {
  const given = readPerson(request.body)
  const { organizationId } = request.actor
  const email = given.userName ?? refuseScim('invalidValue', 'userName is missing.')
  return deps.database.transaction(async (tx) => {
    const id = await addUser(tx, organizationId, { email, name: null, role: 'viewer', accountIds: null })
    const row = await requirePerson(tx, request, id)
    const changed = await save(tx, request, row, given, deps)
    recordChange(tx, request, {
      action: 'scim create user',
      targetId: id,
      after: { ...auditedOf(changed), role: row.role },
    })
    return answerPerson(201, request, changed, deps)
  }, request.actor)
}

/** PUT. Attributes that the request omits do not change. */
export const replacePerson = (request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> =>
  change(request, id, readPerson(request.body), deps)

/** PATCH. */
export function patchPerson(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  const given: Given = {}
  for (const { op, path, value } of readPatch(request.body)) {
    if (op !== 'remove') setAttribute(given, path.attribute, path.sub, value)
    else if (path.attribute === 'username' || path.attribute === 'active') {
      refuseScim('mutability', `${path.attribute === 'active' ? 'active' : 'userName'} cannot be removed.`)
    } else setAttribute(given, path.attribute, path.sub, null)
  }
  return change(request, id, given, deps)
}

/** Removes a person with their sessions. Refuses with `last_owner` the only owner who can sign in. */
export function removePerson(request: ScimRequest, id: string, deps: ScimDeps): Promise<ScimAnswer> {
  return deps.database.transaction(async (tx) => {
    const row = await lockPerson(tx, request, id, deps)
    await requireOtherOwner(tx, row)
    await endSessions(tx, id, deps.userSessions)
    await userQueries.deleteUser.run(tx, { id })
    const before = { ...auditedOf(row), role: row.role }
    recordChange(tx, request, { action: 'scim remove user', targetId: id, before })
    return { status: 204 }
  }, request.actor)
}

/** Attributes of a person that a request sets, without unknown ones, which are ignored. */
type Given = {
  userName?: string
  active?: boolean
  externalId?: string | null
  displayName?: string | null
  formatted?: string | null
  givenName?: string | null
  familyName?: string | null
}

const emailForm = new RegExp(emailPattern)
/** Characters of an identifier at the identity provider. */
export const externalIdLengthMax = 255

/** A name, cut off at the bound of names: providers have longer ones, and a person is worth more than the end of a name. */
const shortNameOf = (name: string, value: unknown): string | null =>
  textOf(name, value, nameSentLengthMax)?.slice(0, limits.nameLengthMax).toWellFormed() ?? null
const nameSentLengthMax = 1_000

function setAttribute(given: Given, attribute: string, sub: string | undefined, value: unknown): void {
  switch (attribute) {
    case 'username': {
      const email = textOf('userName', value, limits.emailLengthMax)
      if (email === null || !emailForm.test(email)) refuseScim('invalidValue', 'userName must be an e-mail address.')
      else given.userName = email
      break
    }
    case 'active':
      given.active = flagOf('active', value)
      break
    case 'externalid':
      given.externalId = textOf('externalId', value, externalIdLengthMax)
      break
    case 'displayname':
      given.displayName = shortNameOf('displayName', value)
      break
    case 'name':
      if (sub !== undefined) setName(given, sub, value)
      else if (value !== null) for (const [key, one] of attributesOf(value, 'name')) setName(given, key, one)
  }
}

function setName(given: Given, sub: string, value: unknown): void {
  if (sub === 'formatted') given.formatted = shortNameOf('name.formatted', value)
  else if (sub === 'givenname') given.givenName = shortNameOf('name.givenName', value)
  else if (sub === 'familyname') given.familyName = shortNameOf('name.familyName', value)
}

function readPerson(body: unknown): Given {
  const given: Given = {}
  for (const [key, value] of attributesOf(body, 'The body')) {
    if (key === '' || key.startsWith('urn:')) continue
    if (/^[a-z]+$/.test(key)) setAttribute(given, readPath(key).attribute, undefined, value)
  }
  return given
}

async function requirePerson(db: Db, { actor }: ScimRequest, id: string): Promise<queries.ProvisionedRow> {
  return (await queries.findProvisioned.first(db, { organizationId: actor.organizationId, id })) ?? refuse('not_found')
}

/** Locks the organization, so that its people change one change at a time, and the person. */
async function lockPerson(tx: Transaction, request: ScimRequest, id: string, { publicUrl }: ScimDeps) {
  const { organizationId } = request.actor
  await userQueries.lockOrganization.first(tx, { organizationId })
  const row = (await queries.lockProvisioned.first(tx, { organizationId, id })) ?? refuse('not_found')
  requireVersion(request, viewPerson(row, publicUrl).meta.version)
  return row
}

function change(request: ScimRequest, id: string, given: Given, deps: ScimDeps): Promise<ScimAnswer> {
  return deps.database.transaction(async (tx) => {
    const row = await lockPerson(tx, request, id, deps)
    const changed = await save(tx, request, row, given, deps)
    const [before, after] = [auditedOf(row), auditedOf(changed)]
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      recordChange(tx, request, { action: 'scim update user', targetId: id, before, after })
    }
    return answerPerson(200, request, changed, deps)
  }, request.actor)
}

/**
 * Saves what a request sets. Deactivation, and another address, end the sessions of the person and the validity of their links.
 * Refuses with `last_owner` to deactivate the only owner who can sign in.
 */
async function save(
  tx: Transaction,
  { actor: { organizationId } }: ScimRequest,
  row: queries.ProvisionedRow,
  given: Given,
  { userSessions }: ScimDeps,
): Promise<queries.ProvisionedRow> {
  const { id } = row
  const email = given.userName ?? row.email
  const movesAway = email.toLowerCase() !== row.email.toLowerCase()
  if (movesAway && row.role === 'owner') {
    refuseScim('mutability', 'The userName of an owner is not changed by SCIM: with it, anyone could become the owner.')
  }
  const same = { organizationId, accountIds: null, email, exceptId: id }
  if (movesAway && (await userQueries.findVisibleByEmail.first(tx, same))) refuse('user_exists')
  const active = given.active ?? row.deactivatedTime === null
  const deactivates = !active && row.deactivatedTime === null
  if (deactivates) await requireOtherOwner(tx, row)
  const externalId = given.externalId === undefined ? row.externalId : given.externalId
  try {
    await queries.updateProvisioned.run(tx, { id, email, externalId, active, ...namesOf(row, given) })
  } catch (error) {
    if (violates(error, 'users_email')) refuse('user_exists')
    throw error
  }
  if (deactivates || movesAway) {
    await userQueries.deleteLinks.run(tx, { userId: id })
    await endSessions(tx, id, userSessions)
  } else await refreshSessions(tx, id, userSessions)
  return (await queries.findProvisioned.first(tx, { organizationId, id })) ?? refuse('not_found')
}

/** The names of a person. Without a display name in the request, it follows the parts of the name that are in it. */
function namesOf(row: queries.ProvisionedRow, given: Given) {
  const givenName = given.givenName === undefined ? row.givenName : given.givenName
  const familyName = given.familyName === undefined ? row.familyName : given.familyName
  const hasParts = given.givenName !== undefined || given.familyName !== undefined
  const joined = [givenName, familyName].filter(Boolean).join(' ').slice(0, limits.nameLengthMax)
  const name = given.displayName || given.formatted || (hasParts && joined) || row.name
  return { name, givenName, familyName }
}

type PersonResource = { readonly id: string; readonly meta: ScimMeta }

function viewPerson(row: queries.ProvisionedRow, publicUrl: string): PersonResource {
  const { id, email, name, givenName, familyName, externalId, deactivatedTime, createdTime } = row
  const shown = {
    schemas: [userSchema],
    id,
    userName: email,
    ...(externalId === null ? {} : { externalId }),
    ...(name === null ? {} : { displayName: name }),
    name: {
      ...(name === null ? {} : { formatted: name }),
      ...(givenName === null ? {} : { givenName }),
      ...(familyName === null ? {} : { familyName }),
    },
    emails: [{ value: email, type: 'work', primary: true }],
    active: deactivatedTime === null,
  }
  const meta = {
    resourceType: 'User',
    created: createdTime.toISOString(),
    location: `${publicUrl}/scim/v2/Users/${id}`,
    version: versionOf(shown),
  }
  return { ...shown, meta }
}

function answerPerson(
  status: number,
  request: ScimRequest,
  row: queries.ProvisionedRow,
  { publicUrl }: ScimDeps,
): ScimAnswer {
  const resource = viewPerson(row, publicUrl)
  const { location, version } = resource.meta
  return { status, body: createSelection(request).of(resource), etag: version, location }
}

/** The part that the audit log keeps. */
const auditedOf = ({ email, name, externalId, deactivatedTime }: queries.ProvisionedRow) => ({
  email,
  name,
  externalId,
  active: deactivatedTime === null,
})
