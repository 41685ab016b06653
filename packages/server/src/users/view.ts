import type { Me, SignInMethod, User, UserSession } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { SessionRow, UserRow } from './queries.ts'
import { grantsOf } from './sessions.ts'

const optional = (time: Date | null) => (time === null ? null : unixSeconds(time))

/** A person as the API shows them. */
export const viewUser = (row: UserRow): User => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  accountIds: row.accountIds,
  status: row.deactivatedTime !== null ? 'deactivated' : row.joinedTime === null ? 'invited' : 'active',
  createdTime: unixSeconds(row.createdTime),
  lastSignedInTime: optional(row.lastSignedInTime),
  invitationExpiresTime: row.joinedTime === null ? optional(row.invitationExpiresTime) : null,
})

/** A person as they see themselves, in a session that began by a method. @param mail whether this deployment sends e-mails */
export function viewSelf(row: UserRow, method: SignInMethod, csrfToken: string | null, mail: boolean): Me {
  const { scopes, mustRegisterPasskey } = grantsOf(row, method)
  return {
    kind: 'user',
    id: row.id,
    name: row.name,
    email: row.email,
    organizationId: row.organizationId,
    organizationName: row.organizationName,
    role: row.role,
    scopes: scopes && [...scopes],
    accountIds: row.accountIds,
    method,
    hasPassword: row.hasPassword,
    mustRegisterPasskey,
    mail,
    csrfToken,
  }
}

/** A session of a person. */
export const viewSession = (row: SessionRow, currentId: string | undefined): UserSession => ({
  id: row.id,
  current: row.id === currentId,
  method: row.method,
  createdTime: unixSeconds(row.createdTime),
  lastUsedTime: unixSeconds(row.lastUsedTime),
  expiresTime: unixSeconds(row.expiresTime),
  address: row.address,
  userAgent: row.userAgent,
})
