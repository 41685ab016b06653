import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { linkedinOrigin, openLinkedIn } from './linkedin-api.ts'

const accountPrefix = 'urn:li:sponsoredAccount:'

/** The URN of the ad account that a setting names by its number or its URN; `undefined` where it names none. */
export function accountUrn(adAccountId: unknown): string | undefined {
  const text = String(adAccountId ?? '').trim()
  if (text === '') return undefined
  const digits = text.startsWith(accountPrefix) ? text.slice(accountPrefix.length) : text
  if (/^\d+$/.test(digits)) return accountPrefix + digits
  throw new ConnectorError('invalid_setting', 'Ad account ID must be the number of an ad account at LinkedIn.')
}

/** Whether the user that signed in has a role on the ad account, or on any where none is named, with which changes are made. */
export async function assertRole(context: ConnectorContext): Promise<string> {
  const account = accountUrn(context.settings.adAccountId)
  const { json } = await openLinkedIn(context).askObject({
    path: '/adAccountUsers',
    query: { q: 'authenticatedUser' },
  })
  const roles = listIn(json.elements)
    .map(objectIn)
    .filter((user) => account === undefined || user.account === account)
    .map(({ role }) => textIn(role))
  if (roles.some((role) => role !== undefined && role !== 'VIEWER')) {
    return account === undefined ? 'The user may change an ad account.' : 'The user may change the ad account.'
  }
  const which = account === undefined ? 'an ad account' : 'the ad account of the connection'
  throw new ConnectorError(
    'permission_denied',
    `The user that signed in at LinkedIn may not change ${which}; give it a role there other than viewer.`,
  )
}

export const checkLinkedIn: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${linkedinOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openLinkedIn(context).tokens.token()
      return 'LinkedIn accepts the app and the refresh token.'
    },
  ],
  ['permissions', assertRole],
)
