import { asConnectorError, type ConnectorContext, ConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import { googleAccount } from '../google/account.ts'
import type { ServiceAccount } from '../google/service-account.ts'
import { discard, errorTextOf, transientErrorOf } from '../object-stores/answers.ts'
import { encodeValue } from '../object-stores/place.ts'
import { parseObject } from '../platform-api/json.ts'

const origin = 'https://storage.googleapis.com'
const scope = 'https://www.googleapis.com/auth/devstorage.read_write'

/** One request to a bucket. */
export type GcsRequest = {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** Behind the bucket, encoded: `/o`, `/iam/testPermissions`. */
  readonly path: string
  /** Whether the request goes to the upload interface, which accepts the bytes of objects. */
  readonly upload?: boolean
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** The permission that is missing if the request is forbidden: `storage.objects.list`. */
  readonly permission: string
  readonly timeoutMs?: number
  /** The answer is the content of an object, which is read piece by piece. */
  readonly streams?: boolean
  /** Instead of the context's signal, for cleanup after the context was aborted. */
  readonly signal?: AbortSignal
}

export type GcsClient = {
  readonly bucket: string
  readonly account: ServiceAccount
  /** Resolves with an answer of status 2xx. Throws a `ConnectorError` for all others. */
  request(asked: GcsRequest): Promise<Response>
}

export const accountOf = (context: ConnectorContext): ServiceAccount => googleAccount(context, scope)

/** Speaks to Google Cloud Storage over its JSON interface. A token that is not accepted any more is replaced once. */
export function makeGcsClient(context: ConnectorContext, bucket: string): GcsClient {
  const account = accountOf(context)
  const attempt = async (asked: GcsRequest, token: string): Promise<Response> => {
    const { method = 'GET', query = {}, body, timeoutMs } = asked
    const search = Object.entries(query).map(([name, value]) => `${name}=${encodeValue(value)}`)
    const path = `${asked.upload ? '/upload' : ''}/storage/v1/b/${encodeValue(bucket)}${asked.path}`
    return context.egress.request(`${origin}${path}${search.length > 0 ? `?${search.join('&')}` : ''}`, {
      method,
      headers: { ...asked.headers, authorization: `Bearer ${token}` },
      signal: asked.signal ?? context.signal,
      ...(body === undefined ? {} : { body }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(asked.streams ? { streams: true } : {}),
    })
  }
  return {
    bucket,
    account,
    async request(asked) {
      const token = await account.token()
      let response = await attempt(asked, token)
      if (response.status === 401) {
        await discard(response)
        response = await attempt(asked, await account.token(token))
      }
      if (response.ok) return response
      throw await connectorErrorOf(response, asked, bucket, account.email)
    },
  }
}

/** Whether anything answers where Google keeps objects. */
export async function connectToGcs(context: ConnectorContext): Promise<string> {
  await discard(await context.egress.request(`${origin}/`, { method: 'HEAD', signal: context.signal }))
  return new URL(origin).host
}

const tooMany = /^(rateLimitExceeded|userRateLimitExceeded|quotaExceeded|dailyLimitExceeded)$/

/** An answer that is not a success, as a connector error: `source_changed` means what callers make of it. */
async function connectorErrorOf(
  response: Response,
  asked: GcsRequest,
  bucket: string,
  email: string,
): Promise<ConnectorError> {
  const { status } = response
  const passing = transientErrorOf('Google Cloud Storage', response)
  const text = await errorTextOf(response)
  if (passing) return passing
  const reason = reasonOf(text)
  if (status === 401) {
    const message = `Google Cloud Storage does not accept the tokens of ${email}. Check that the service account is still there, and set its key again.`
    return new ConnectorError('invalid_credentials', message)
  }
  if (status === 403 && tooMany.test(reason)) {
    return new ConnectorError('rate_limited', `Google Cloud Storage limits the rate of requests (${reason}).`)
  }
  if (status === 403) {
    const message = `${email} may not do this in the bucket ${bucket} (${asked.permission}${reason ? `; ${reason}` : ''}). Grant it a role that allows it.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404 && (asked.path === '/o' || /^The specified bucket does not exist/.test(messageOf(text)))) {
    return new ConnectorError('bucket_not_found', `Google Cloud Storage has no bucket ${bucket}. Check the path.`)
  }
  if (status === 412) return new ConnectorError('source_changed', 'The object has been replaced.')
  if (status === 404) return new ConnectorError('source_changed', 'The object is gone.')
  const known = reason ? `, ${reason}` : ''
  return new ConnectorError('request_refused', `Google Cloud Storage refused a request (status ${status}${known}).`)
}

const errorOf = (text: string): Record<string, unknown> => (parseObject(text).error ?? {}) as Record<string, unknown>

const messageOf = (text: string): string => String(errorOf(text).message ?? '')

function reasonOf(text: string): string {
  const { errors } = errorOf(text)
  const reason: unknown = Array.isArray(errors) ? errors[0]?.reason : undefined
  return typeof reason === 'string' && /^[A-Za-z]{1,60}$/.test(reason) ? reason : ''
}

/** Whether work failed with this code. */
export const failedWith = (error: unknown, ...codes: readonly ConnectorErrorCode[]): boolean =>
  codes.some((code) => asConnectorError(error)?.code === code)
