import { connectLinkScopes, type Scope, userRoles } from '@penstock/wire'
import { hasScope, mayActIn } from '../access.ts'
import type { Grants } from '../call.ts'
import type { CreatorRow } from './queries.ts'

/** Scopes that the creator of a link needs in addition to the scope to create it: the scopes of the link's page. */
export const scopesOfPage = (hasTemplate: boolean): readonly Scope[] => [
  ...connectLinkScopes,
  ...(hasTemplate ? (['connections:write'] as const) : []),
]

/** Current permissions of the creator. Undefined if the credentials or the person no longer exist. */
function grantsOf(row: CreatorRow): Grants | undefined {
  const { clientId, clientCounts, clientScopes, clientAccountIds, userRole, userAccountIds } = row
  if (clientId !== null) return clientCounts ? { scopes: clientScopes, accountIds: clientAccountIds } : undefined
  if (userRole === null) return undefined
  return { scopes: userRole === 'owner' ? null : userRoles[userRole], accountIds: userAccountIds }
}

/**
 * Whether the creator of a link could create it now. A link never allows more than its creator can do. It ends with the
 * creator's credentials, and is suspended while the creator's role or sub-accounts do not cover it.
 */
export function isCovered(row: CreatorRow & { accountId: string; template: object | null }): boolean {
  const grants = grantsOf(row)
  if (!grants || !mayActIn(grants, row.accountId)) return false
  return ['connect:write' as const, ...scopesOfPage(row.template !== null)].every((scope) => hasScope(grants, scope))
}
