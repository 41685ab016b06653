import type { ErrorFact } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'

const prefix = 'urn:li:sponsoredAccount:'

/** The form of an ad account in settings: its number or its URN. */
export const accountForm = /^(urn:li:sponsoredAccount:)?\d+$/

/** The URN of the ad account that a setting names. Empty if it names no account. */
export function accountUrn(adAccountId: unknown): string {
  const id = textIn(adAccountId)?.trim() ?? ''
  return id === '' || id.startsWith(prefix) ? id : prefix + id
}

/** A request for the roles of the user that signed in. */
export const roles: PlatformCall = { path: '/adAccountUsers', query: { q: 'authenticatedUser' } }

/** Whether the roles include one with write access on the ad account, or on any if no account is named. */
export function rolesMean({ status, json }: Answer, account: string): ErrorFact | undefined {
  if (status !== 200) return undefined
  const may = listIn(objectIn(json).elements)
    .map(objectIn)
    .filter((user) => account === '' || user.account === account)
    .some(({ role }) => textIn(role) !== undefined && role !== 'VIEWER')
  return may ? undefined : ['permission_denied', 'Give the user a role on the ad account other than viewer.']
}
