import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { errorOf } from '../kit/run/open-api.ts'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformCall, type PlatformClient } from '../platform-api/client.ts'
import { isObject, textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens, type TokenOptions } from '../platform-api/oauth.ts'
import { loginOrigins, myDomainOrigin, requireMyDomain } from './hosts.ts'

/** The version of the API, of Summer ’25. */
export const apiVersion = 'v64.0'

/** A limit of a day is released over the next 24 hours, so the transfer does not ask again soon. */
const limitMs = 10 * 60_000
const undoMs = 3_000

const spent = (code: string): ConnectorError =>
  new ConnectorError(
    'rate_limited',
    `Salesforce takes no more requests of this organization for now (${code}): a limit of 24 hours is used up. The transfer tries again later; look at Company Information in Setup, or ask Salesforce for more requests.`,
    { afterMs: limitMs },
  )

/** Codes of limits of a day: of API calls, of batches, of query jobs. */
const limits = new Set(['REQUEST_LIMIT_EXCEEDED', 'TXN_SECURITY_METERING_ERROR', 'EXCEEDEDQUOTA', 'LIMIT_EXCEEDED'])

/** Whether a code means that a limit of a day is used up. */
export const isSpent = (code: string): boolean => limits.has(code.toUpperCase())

const ask = 'Check the permissions of the user in Salesforce, and that the edition has the API.'

const api = restApi({
  name: 'Salesforce',
  baseUrl: '',
  errors: {
    codeAt: 'errorCode',
    codes: {
      INVALID_SESSION_ID: 'expired_credentials',
      INVALID_AUTH_HEADER: 'expired_credentials',
      API_CURRENTLY_DISABLED: ['permission_denied', ask],
      API_DISABLED_FOR_ORG: ['permission_denied', ask],
      FEATURENOTENABLED: ['permission_denied', ask],
      INSUFFICIENT_ACCESS: ['permission_denied', ask],
      INSUFFICIENT_ACCESS_OR_READONLY: ['permission_denied', ask],
      INVALID_TYPE: ['object_not_found', 'Check the object, and that the user may see it.'],
      INVALIDENTITY: ['object_not_found', 'Check the object, and that Bulk API 2.0 supports it.'],
      INVALID_FIELD: ['invalid_query', 'Check the fields, and that the user may see them.'],
      MALFORMED_QUERY: ['invalid_query', 'Check the SOQL query.'],
      API_ERROR: [
        'invalid_query',
        'Bulk API 2.0 does not support the query; it can have no aggregates and no subqueries.',
      ],
      UNSUPPORTED_API_VERSION: 'version_retired',
      UNABLE_TO_LOCK_ROW: 'platform_error',
      SERVER_UNAVAILABLE: 'platform_unavailable',
      SERVER_ERROR: 'platform_error',
      UNKNOWN_EXCEPTION: 'platform_error',
      REQUEST_RUNNING_TOO_LONG: 'platform_error',
      QUERY_TIMEOUT: 'platform_error',
      INVALIDJOBSTATE: 'request_refused',
    },
    statuses: {
      400: 'request_refused',
      // Edges of Salesforce answer so while an organization is moved or busy.
      406: 'platform_unavailable',
      410: 'version_retired',
      414: 'invalid_query',
      415: 'request_refused',
      420: 'platform_unavailable',
    },
    special({ json }: Answer) {
      const [first] = [json].flat()
      const code = isObject(first) ? textIn(first.errorCode) : undefined
      return code !== undefined && isSpent(code) ? spent(code.toUpperCase()) : undefined
    },
  },
})

/** The API of one organization within one job. */
export type Salesforce = {
  readonly client: PlatformClient
  /** A last request to undo something, even if the job was stopped. Takes at most 3 seconds, and never throws. */
  undo(asked: PlatformCall): Promise<void>
}

/**
 * Authenticates, and opens the API at the address that Salesforce returns for the organization. Throws `invalid_credentials`,
 * `invalid_setting`, and `malformed_response` if Salesforce returns a host that is not its own.
 */
export async function openSalesforce(context: ConnectorContext): Promise<Salesforce> {
  let origin: string | undefined
  const tokens = tokensOf(context, (found) => {
    origin = found
  })
  await tokens.token()
  if (origin === undefined) throw new ConnectorError('malformed_response', 'Salesforce did not return a token.')
  const baseUrl = `${origin}/services/data/${apiVersion}`
  const open = (own: ConnectorContext) =>
    openPlatform(own, { name: api.name, baseUrl, credentials: tokens, errorOf: (answer) => errorOf(api, answer) })
  return {
    client: open(context),
    async undo(asked) {
      const signal = AbortSignal.timeout(undoMs)
      await open({ ...context, signal })
        .ask(asked)
        .catch(() => {})
    },
  }
}

/** The address at which tokens are issued. The client secret is sent only there. */
export const tokenOriginOf = ({ secrets }: ConnectorContext): string =>
  secrets.authType === 'client-credentials'
    ? requireMyDomain(String(secrets.myDomain ?? ''))
    : (loginOrigins[String(secrets.organizationType)] ?? 'https://login.salesforce.com')

/** @param found gets the origin of the API with each token */
function tokensOf(context: ConnectorContext, found: (origin: string) => void): AccessTokens {
  const { secrets } = context
  const byClient = secrets.authType === 'client-credentials'
  const origin = tokenOriginOf(context)
  const options: TokenOptions = {
    platform: api.name,
    url: `${origin}/services/oauth2/token`,
    onAnswer({ instance_url: instance }) {
      // A token goes to no other host, whatever the answer names.
      const named = instance === undefined && byClient ? origin : myDomainOrigin(String(instance ?? ''))
      if (named === undefined) {
        const message = 'Salesforce did not say at which My Domain the organization is; report this to your operator.'
        throw new ConnectorError('malformed_response', message)
      }
      found(named)
    },
    errorOf({ json }) {
      const said = isObject(json) ? textIn(json.error_description) : undefined
      if (said === undefined || !/already being processed/i.test(said)) return undefined
      return new ConnectorError('conflict', 'Salesforce is still answering another request for a token.')
    },
    grant: byClient ? { type: 'client_credentials' } : { type: 'refresh_token', rotates: true },
    client: byClient
      ? { id: String(secrets.serviceClientId ?? ''), secret: String(secrets.serviceClientSecret ?? '') }
      : { id: String(secrets.clientId ?? ''), secret: String(secrets.clientSecret ?? '') },
    renewal: byClient
      ? 'check in Salesforce that the app has the client credentials flow and a user to run as'
      : 'authorize the connector again, or save a new refresh token in it',
  }
  return openTokens(context, options)
}
