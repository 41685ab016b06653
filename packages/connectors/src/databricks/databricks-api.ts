import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { decodeJwt } from 'jose'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient, wait } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type AccessTokens, keepTokens, openTokens, requestToken } from '../platform-api/oauth.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

/** The REST interface of a workspace. */
export type Databricks = PlatformClient & {
  /** `https://…`, without a path. */
  readonly origin: string
  /**
   * Runs a statement to its end, and resolves with its first rows. The statement must be idempotent, since the engine repeats
   * it if an answer is lost. Throws `Misfit` if a value in the data is not valid for its column.
   */
  run(statement: DatabricksStatement): Promise<readonly (readonly unknown[])[]>
  /**
   * The same, and resolves with the whole answer. If the job is stopped or the statement takes longer than `waitMs`, it is
   * cancelled.
   */
  execute(statement: DatabricksStatement): Promise<JsonObject>
}

export type DatabricksStatement = {
  readonly text: string
  readonly warehouse: string
  /** Where the rows are: in the answer by default, or in parts at addresses of a cloud storage. */
  readonly disposition?: 'EXTERNAL_LINKS'
  /** Time limit in milliseconds. By default the limit of Databricks. */
  readonly waitMs?: number
}

/** A statement fails because of a value of a row: Databricks' own name of the error. */
export class Misfit extends Error {
  readonly condition: string
  constructor(condition: string) {
    super(`A value is not one of its column (${condition}).`)
    this.condition = condition
  }
}

/** How long one request waits for a statement. Databricks allows 5 to 50 seconds. */
const waitSeconds = 30
/** The same for a statement that can be cancelled: the answer contains its ID. */
const briefSeconds = 5
const [firstMs, mostMs] = [500, 5_000]

/** Opens the workspace. Throws `invalid_address` or `invalid_setting` if the secrets contain no valid workspace. */
export function openDatabricks(context: ConnectorContext): Databricks {
  const { secrets, signal } = context
  const origin = originOf(secrets.host)
  const credentials = credentialsOf(context, origin)
  const client = openPlatform(context, {
    name: 'Databricks',
    baseUrl: origin,
    credentials,
    errorOf: connectorErrorIn,
  })

  async function execute({ text, warehouse, disposition, waitMs: allMs }: DatabricksStatement): Promise<JsonObject> {
    const until = allMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + allMs
    let { json } = await client.askObject({
      path: '/api/2.0/sql/statements',
      method: 'POST',
      body: {
        warehouse_id: warehouse,
        statement: text,
        wait_timeout: `${allMs === undefined ? waitSeconds : briefSeconds}s`,
        on_wait_timeout: 'CONTINUE',
        disposition: disposition ?? 'INLINE',
        format: 'JSON_ARRAY',
      },
    })
    const id = textIn(json.statement_id) ?? ''
    // A stopped warehouse starts first, which takes minutes.
    for (let waitMs = firstMs; ; waitMs = Math.min(mostMs, waitMs * 2)) {
      const state = textIn(objectIn(json.status).state)
      if (state === 'SUCCEEDED') return json
      if (state === 'FAILED') throw failureIn(json)
      if ((state !== 'PENDING' && state !== 'RUNNING') || !/^[\w-]{1,100}$/.test(id)) {
        const isOver = state === 'CANCELED' || state === 'CLOSED'
        throw isOver
          ? new ConnectorError('statement_timeout', 'Databricks has cancelled the statement.')
          : new ConnectorError('malformed_response', 'Databricks did not report the state of a statement.')
      }
      try {
        if (performance.now() > until) {
          throw new ConnectorError('statement_timeout', 'The statement took too long; it was cancelled.')
        }
        await wait(waitMs, signal)
        json = (await client.askObject({ path: `/api/2.0/sql/statements/${id}` })).json
      } catch (error) {
        if (allMs !== undefined) await cancel(id)
        throw error
      }
    }
  }

  /** Cancels a statement, also after the signal of the context. */
  async function cancel(id: string): Promise<void> {
    const bounded = openPlatform(
      { ...context, signal: AbortSignal.timeout(2_000) },
      { name: 'Databricks', baseUrl: origin, credentials },
    )
    await bounded.ask({ path: `/api/2.0/sql/statements/${id}/cancel`, method: 'POST' }).catch(() => {
      // It ends by the time-out of the warehouse.
    })
  }

  return {
    ...client,
    origin,
    execute,
    async run(statement) {
      return listIn(objectIn((await execute(statement)).result).data_array).map(listIn)
    },
  }
}

function originOf(host: unknown): string {
  const bare = String(host ?? '')
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/\/.*$/s, '')
  if (/^[\w.-]+(:\d{1,5})?$/.test(bare) && URL.canParse(`https://${bare}`)) return new URL(`https://${bare}`).origin
  throw new ConnectorError(
    'invalid_address',
    'The host is not the address of a workspace, such as dbc-a1b2345c-d6e7.cloud.databricks.com.',
  )
}

function credentialsOf(context: ConnectorContext, origin: string) {
  const { authType, clientId, clientSecret, accessToken } = context.secrets
  if (authType === 'access-token') {
    const headers = async () => ({ authorization: `Bearer ${String(accessToken ?? '')}` })
    return { headers, renews: false }
  }
  const endpoint = { platform: 'Databricks', url: `${origin}/oidc/v1/token`, scope: 'all-apis' }
  if (authType === 'federation') return federatedTokens(context, origin, endpoint)
  return openTokens(context, {
    ...endpoint,
    grant: { type: 'client_credentials' },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? ''), in: 'header' },
    renewal: 'create a new OAuth secret of the service principal, and save it in the connector',
  })
}

/** Hosts that only Databricks has workspaces at, in the public and the national clouds. */
const ownHosts =
  /\.(cloud\.databricks\.(com|us|mil)|gcp\.databricks\.com|azuredatabricks\.net|databricks\.azure\.(cn|us))$/

/** https://docs.databricks.com/aws/en/dev-tools/auth/oauth-federation */
function federatedTokens(
  context: ConnectorContext,
  origin: string,
  endpoint: { readonly platform: string; readonly url: string; readonly scope: string },
): AccessTokens {
  const { clientId, identityAudience } = context.secrets
  const { hostname, port } = new URL(origin)
  if (!ownHosts.test(hostname) || port !== '') {
    const message =
      'A sign-in without a secret needs the host that Databricks gave the workspace. Enter it as the host.'
    throw new ConnectorError('invalid_setting', message)
  }
  return keepTokens(context.signal, async () => {
    const identity = await context.identityToken(String(identityAudience))
    return requestToken(context, {
      ...endpoint,
      grant: { type: 'token_exchange', subject: async () => identity },
      client: { id: String(clientId ?? '') },
      errorOf: (answer) => identityRefused(answer, identity),
    })
  })
}

function identityRefused({ status, json }: Answer, identity: string): ConnectorError | undefined {
  const code = textIn(objectIn(json).error) ?? ''
  if (status >= 500 || status === 429 || !/^invalid_|^unauthorized|^access_denied/.test(code)) return undefined
  const { iss, sub, aud } = decodeJwt(identity)
  const message = `Databricks does not accept the identity of this sub-account. The service principal needs a federation policy with the issuer ${iss}, the subject ${sub} and the audience ${aud}, and Databricks must be able to reach the issuer.`
  return new ConnectorError('invalid_credentials', message)
}

/** Codes of errors of the workspace, which do not depend on a statement. */
function connectorErrorIn(answer: Answer): ConnectorError | undefined {
  if (isSuccess(answer)) return undefined
  const code = textIn(objectIn(answer.json).error_code) ?? ''
  const named = /^[A-Z_]{1,80}$/.test(code) ? ` (${code})` : ''
  if (/^(TABLE|SCHEMA|CATALOG)_DOES_NOT_EXIST$/.test(code)) {
    return new ConnectorError(
      'table_not_found',
      `There is no such catalog, schema or table${named}; check the settings.`,
    )
  }
  if (/^(RESOURCE_EXHAUSTED|REQUEST_LIMIT_EXCEEDED)$/.test(code)) {
    const { afterMs } = connectorErrorOfStatus('Databricks', { ...answer, status: 429 })
    return new ConnectorError('rate_limited', `Databricks limits the rate of requests${named}.`, { afterMs })
  }
  if (/^(TEMPORARILY_UNAVAILABLE|SERVICE_UNDER_MAINTENANCE|WORKSPACE_TEMPORARILY_UNAVAILABLE)$/.test(code)) {
    return new ConnectorError('platform_unavailable', `Databricks is temporarily unavailable${named}.`)
  }
  if (code === 'UNAUTHENTICATED' || (answer.status === 400 && /INVALID_TOKEN/.test(code))) {
    return new ConnectorError('invalid_credentials', `Databricks does not accept the credentials${named}; renew them.`)
  }
  if (code === 'PERMISSION_DENIED') {
    return new ConnectorError(
      'permission_denied',
      `Databricks denies access${named}; grant the permissions that the page of the connector names.`,
    )
  }
  if (answer.status === 400 && code !== '') {
    return new ConnectorError('invalid_setting', `Databricks refuses a request${named}; check the settings.`)
  }
  return undefined
}

/** Conditions of errors that a value of a row causes. */
const misfits =
  /^(CAST_INVALID_INPUT|CAST_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE|CANNOT_PARSE_TIMESTAMP|EXCEED_LIMIT_LENGTH|DELTA_EXCEED_CHAR_VARCHAR_LIMIT|DELTA_NOT_NULL_CONSTRAINT_VIOLATED|DELTA_VIOLATE_CONSTRAINT_WITH_VALUES|MALFORMED_RECORD_IN_PARSING|CONVERSION_INVALID_INPUT|NOT_NULL_ASSERT_VIOLATION)(\.|$)/

/** The error of a statement that failed. Its message can quote values, so only the name of the condition is used. */
function failureIn(json: JsonObject): Error {
  const { error_code: code, message } = objectIn(objectIn(json.status).error)
  const [, condition = ''] = /\[([A-Z][A-Z0-9_]{2,80}(?:\.[A-Z0-9_]{1,80})*)\]/.exec(textIn(message) ?? '') ?? []
  const error = textIn(code) ?? ''
  const name = condition || (/^[A-Z_]{1,80}$/.test(error) ? error : 'no code')
  if (misfits.test(condition)) return new Misfit(condition)
  if (
    /^(TABLE_OR_VIEW|SCHEMA|NO_SUCH_CATALOG|DELTA_TABLE|PATH_DOES)_?NOT_(FOUND|EXIST)/.test(condition) ||
    condition.startsWith('NO_SUCH_CATALOG')
  ) {
    return new ConnectorError(
      'table_not_found',
      `There is no such catalog, schema or table (${name}); check the settings.`,
    )
  }
  if (/^INSUFFICIENT_PERMISSIONS|^PERMISSION_DENIED/.test(name)) {
    return new ConnectorError(
      'permission_denied',
      `Databricks denies access (${name}); grant the permissions that the page of the connector names.`,
    )
  }
  if (/^DELTA_CONCURRENT|^CONCURRENT_|^DELTA_METADATA_CHANGED/.test(condition)) {
    return new ConnectorError('conflict', `Another statement changed the table at the same time (${name}).`)
  }
  if (
    /^(TEMPORARILY_UNAVAILABLE|SERVICE_UNDER_MAINTENANCE|WORKSPACE_TEMPORARILY_UNAVAILABLE|INTERNAL_ERROR|IO_ERROR|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED)$/.test(
      error,
    )
  ) {
    return new ConnectorError('platform_error', `Databricks reports an internal error (${name}).`)
  }
  return new ConnectorError('statement_failed', `Databricks cannot run the statement (${name}).`)
}
