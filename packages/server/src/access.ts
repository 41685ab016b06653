import { type EventType, events, eventTypeNames, type Scope, scopesOfEvents } from '@penstock/wire'
import type { Actor, Grants } from './call.ts'
import { refuse } from './refusal.ts'

/** Permissions of an actor. This module makes every decision about access; the scopes are in `wire/scopes.ts`. */

export const hasScope = ({ scopes }: Grants, scope: Scope): boolean => scopes === null || scopes.includes(scope)

/**
 * How previews and discoveries show values of records: whole to an actor who can read records and opens a view, otherwise as
 * masks. Owners, admins and editors can read records; so can keys with the scope. Nothing else decides this.
 */
export const showingTo = (actor: Actor, view: string | undefined): 'whole' | 'masked' =>
  view !== undefined && hasScope(actor, 'records:read') ? 'whole' : 'masked'

/** Refuses with `forbidden` where the actor does not have the scope. */
export function requireScope(actor: Actor, scope: Scope): void {
  if (!hasScope(actor, scope)) refuse('forbidden', [{ field: 'scope', message: `${scope} is missing` }])
}

/**
 * Refuses with `forbidden` an actor who lacks a scope that events of these types need (null: every type). The refusal names the
 * missing scopes.
 */
export function requireScopesOfEvents(actor: Actor, types: readonly EventType[] | null): void {
  const missing = scopesOfEvents(types).filter((scope) => !hasScope(actor, scope))
  if (missing.length === 0) return
  refuse(
    'forbidden',
    missing.map((scope) => {
      const all = (types ?? eventTypeNames).filter((type) => events[type]?.scope === scope)
      return { field: 'scope', message: `${scope} is missing: events need it of the type ${all.join(', ')}` }
    }),
  )
}

/**
 * Refuses with `forbidden` an actor who is neither an owner nor has credentials without limits. An actor who sets how people
 * sign in can become any of them, and so can do everything that they can do.
 */
export function requireUnlimited(actor: Actor): void {
  requireAllAccounts(actor)
  if (actor.scopes === null) return
  const message =
    'who says how people sign in can become any of them: it takes an owner, or client credentials without limits'
  refuse('forbidden', [{ field: 'scopes', message }])
}

/** Refuses with `forbidden` an actor who is not a person. */
export function requirePerson({ kind }: Actor): void {
  if (kind !== 'user') refuse('forbidden', [{ field: 'person', message: 'only a person who is signed in can do this' }])
}

/** Refuses with `forbidden` what the page of a connect link cannot do: all but what its customers need. */
export function requireOnPage({ link }: Actor, isOnPage: boolean): void {
  if (!link || isOnPage) return
  refuse('forbidden', [{ field: 'link', message: 'the page of a connect link cannot do this' }])
}

/** Refuses with `not_found` a connector that does not belong to the connect link of the page. */
export function requireOfLink({ link }: Actor, id: string): void {
  if (link && id !== '' && !link.connectorIds.includes(id)) refuse('not_found')
}

/** The configuration that a connect link is for, of one of its connectors. Null means the connector's first configuration. */
export const configurationOfLink = (
  { connectorIds, configurationIds }: NonNullable<Actor['link']>,
  connectorId: string,
): string | null => configurationIds[connectorIds.indexOf(connectorId)] || null

/** Refuses with `second_factor_required` a person who must register a passkey before they can do anything else. */
export function requireSecondFactor({ person }: Actor): void {
  if (person?.mustRegisterPasskey) refuse('second_factor_required')
}

/** Whether the actor can act in the sub-account. Other sub-accounts are reported as not found. */
export const mayActIn = ({ accountIds }: Grants, accountId: string): boolean =>
  accountIds === null || accountIds.includes(accountId)

/** Refuses with `forbidden` where the actor is limited to named sub-accounts, for what concerns the whole organization. */
export function requireAllAccounts({ accountIds }: Actor): void {
  if (accountIds === null) return
  const message = 'your credentials are limited to named sub-accounts, and this concerns the whole organization'
  refuse('forbidden', [{ field: 'accountIds', message }])
}

/** Refuses with `forbidden` what grants more than the actor has itself: no one passes on what they do not have. */
export function requireGrantable(actor: Actor, grants: Grants): void {
  const { scopes } = actor
  if (scopes !== null) {
    if (grants.scopes === null) {
      refuse('forbidden', [{ field: 'body.scopes', message: 'you do not have every scope: name those to grant' }])
    }
    const missing = grants.scopes.filter((scope) => !scopes.includes(scope))
    if (missing.length > 0) {
      refuse('forbidden', [{ field: 'body.scopes', message: `you do not have ${missing.join(', ')}` }])
    }
  }
  if (actor.accountIds === null) return
  if (grants.accountIds === null) {
    const message = 'you are limited to named sub-accounts: name those to grant'
    refuse('forbidden', [{ field: 'body.accountIds', message }])
  }
}
