import { createHmac } from 'node:crypto'
import { ConnectorError, type ConnectorErrorCode, type Row, retryAfterMs, type Values } from '@penstock/connector'
import { secretFormError } from '@penstock/wire/rules'

/** The properties of an endpoint that every message requires. */
export type Endpoint = {
  readonly url: string
  readonly key: Uint8Array
  readonly authorization: string | undefined
}

/** Reads the endpoint from a connector's values. Throws `invalid_credentials` if the signing secret is invalid. */
export function endpointOf({ url, signingSecret, authorizationHeader }: Values): Endpoint {
  const secret = String(signingSecret)
  const problem = secretFormError('standard-webhooks', secret)
  if (problem) throw new ConnectorError('invalid_credentials', `The signing secret ${problem}.`)
  const key = Buffer.from(secret.trim().slice('whsec_'.length), 'base64')
  return {
    url: String(url),
    key,
    authorization: authorizationHeader === undefined ? undefined : String(authorizationHeader),
  }
}

/** Secrets that must not appear in messages. An endpoint can repeat values that it received or knows. */
export const secretsOfEndpoint = ({ key, authorization, url }: Endpoint): string[] => {
  const { search } = new URL(url)
  return [
    Buffer.from(key).toString('base64'),
    Buffer.from(key).toString('hex'),
    ...(authorization === undefined ? [] : [authorization, authorization.replace(/^\S+\s+/, '')]),
    ...(search.length > 1 ? [search.slice(1)] : []),
  ]
}

/** The headers of a message. Its time is the time of the attempt, so that a late attempt is not mistaken for a replay. */
export function headersOf({ key, authorization }: Endpoint, id: string, body: string): Record<string, string> {
  const seconds = Math.floor(Date.now() / 1000)
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signatureOf(key, id, seconds, body),
    ...(authorization === undefined ? {} : { authorization }),
  }
}

/** The signature of a message, as Standard Webhooks has it. */
export const signatureOf = (key: Uint8Array, id: string, seconds: number, body: string): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`

/** Makes what turns rows into objects by their columns. */
export function objectMaker(columns: readonly string[]): (row: Row) => Record<string, unknown> {
  // An assignment to this name changes an object instead of filling it.
  if (columns.includes('__proto__')) {
    return (row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null]))
  }
  return (row) => {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < columns.length; index++) object[columns[index] ?? ''] = row[index] ?? null
    return object
  }
}

/** The error for a status other than success. It does not quote the response, which could be a whole page. */
export function connectorErrorOf(response: Response, host: string): ConnectorError {
  const { status } = response
  const answered = `${host} answered ${status}`
  const refused = (code: ConnectorErrorCode, advice: string) => new ConnectorError(code, `${answered}: ${advice}`)
  if (status === 401 || status === 403) {
    return refused(
      'invalid_credentials',
      'it does not accept the signature or the Authorization header; check the secrets.',
    )
  }
  if (status === 404 || status === 410) return refused('object_not_found', 'there is no endpoint; check the URL.')
  if (status >= 300 && status < 400) {
    return refused('invalid_address', 'it redirects, which messages do not follow; set the URL to where it leads.')
  }
  if (status === 400 || status === 413 || status === 422) {
    const reason = status === 413 ? 'the message is too large' : 'it does not accept the message'
    return new ConnectorError('invalid_batch', `${answered}: ${reason}.`)
  }
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const code = status === 429 ? 'rate_limited' : 'platform_error'
    const message = `${answered}: it cannot take messages right now.`
    return new ConnectorError(code, message, { afterMs: retryAfterMs(response) })
  }
  return new ConnectorError(
    'unexpected_response',
    `${answered}, which is not a valid response to a webhook. Ask its operator.`,
  )
}
