import { createHmac } from 'node:crypto'
import { ConnectorError, type Values } from '@penstock/connector'
import { type Auth, restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { metaErrorOf } from './graph-errors.ts'

export const graphOrigin = 'https://graph.facebook.com'

/**
 * Meta's Graph API, in the version of its own business SDK. Meta retires a version some time after the next one, and then
 * answers with error 2635.
 */
export const metaApi = restApi({ name: 'Meta', baseUrl: `${graphOrigin}/v26.0`, errorOf: metaErrorOf })

/**
 * Authenticates with a token, in a header, so that no log of addresses contains it. Meta also requires, in the query, a proof
 * that the caller knows the app secret. @param token the field of the connector's secrets
 */
export const metaAuth = (token: string): Auth => ({
  bearer: token,
  query(secrets) {
    const { authType, clientSecret } = secrets
    // A token that was entered by hand can belong to another app than the stored secret.
    if (authType === 'api-token' || clientSecret === undefined) return {}
    return {
      appsecret_proof: createHmac('sha256', String(clientSecret))
        .update(String(secrets[token] ?? ''))
        .digest('hex'),
    }
  },
})

/** A request for the permissions of a token. */
export const permissions = { path: '/me/permissions' }

/** Makes the function that finds in an answer which permission the token lacks: it needs one of them. */
export const lacking =
  (...anyOf: readonly string[]) =>
  ({ json }: Answer): string | undefined => {
    const granted = listIn(objectIn(json).data)
      .map(objectIn)
      .some(({ permission, status }) => status === 'granted' && anyOf.some((one) => one === permission))
    return granted ? undefined : `The access token lacks the permission ${anyOf[0]}; create one that has it.`
  }

/** The ad account that a setting names: `act_123` for `123` and for `act_123`. Throws `invalid_setting`. */
export function accountPath({ advertiserId }: Values): string {
  const digits = /^(?:act_)?(\d+)$/.exec(String(advertiserId ?? '').trim())?.[1]
  if (!digits) throw new ConnectorError('invalid_setting', 'Ad account ID must be the number of an ad account at Meta.')
  return `act_${digits}`
}
