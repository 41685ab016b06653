import { type Me, type Operation, type OperationId, operations, type Scope } from '@penstock/wire'
import { access as say } from '../strings/access.ts'
import { useRead } from './queries.ts'

/**
 * Permissions of the user who is signed in. The service enforces them; the console shows them before the user tries.
 */

/** Operations that concern the whole organization, beyond what their scope says. */
const ofOrganization: readonly OperationId[] = [
  'addAccount',
  'getSingleSignOn',
  'setSingleSignOn',
  'deleteSingleSignOn',
  'getSignInRules',
  'setSignInRules',
  'getBranding',
  'setBranding',
]

/** The user who is signed in; undefined while it is not known. */
export const useMe = (): Me | undefined => useRead('getMe', {}).data?.reply

/** Why they may not call an operation; undefined if they may, and while it is not known. */
export function useForbidden(operation: OperationId): string | undefined {
  const me = useMe()
  return me && forbiddenTo(me, operation)
}

/** The same for any operation. */
export function useForbiddenOf(): (operation: OperationId) => string | undefined {
  const me = useMe()
  return (operation) => me && forbiddenTo(me, operation)
}

function forbiddenTo(me: Me, operation: OperationId): string | undefined {
  const { scope, person, unlimited }: Operation = operations[operation]
  if (scope && !(me.scopes?.includes(scope) ?? true)) return lacks(me, scope)
  if (person && me.kind !== 'user') return say.onlyPeople
  if (unlimited && me.scopes !== null) return say.onlyUnlimited
  return me.accountIds !== null && ofOrganization.includes(operation) ? say.limited : undefined
}

/** That someone does not have a scope: `Viewers cannot change connections.` */
export function lacks(me: Pick<Me, 'role'> | undefined, scope: Scope): string {
  const [resource, verb = ''] = scope.split(':') as [keyof typeof say.resource, string]
  const noun = say.resource[resource].replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
  const what = `${say.verb[verb] ?? verb} ${noun}`
  return me?.role ? say.notInRole(me.role, what) : say.notInKey(what)
}

/** The only sub-account that they are limited to, if it is one. */
export function useOnlyAccountId(): string | undefined {
  const ids = useMe()?.accountIds
  return ids?.length === 1 ? ids[0] : undefined
}
