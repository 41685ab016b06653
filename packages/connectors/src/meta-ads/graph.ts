import { createHmac } from 'node:crypto'
import type { ConnectorContext } from '@penstock/connector'
import { openPlatform } from '../platform-api/client.ts'
import type { JsonObject } from '../platform-api/json.ts'
import { metaErrorOf } from './graph-errors.ts'

export const graphOrigin = 'https://graph.facebook.com'
/** The version of Meta's own business SDK. Meta retires one some time after the next; it answers with error 2635 then. */
const version = 'v26.0'

export type GraphAnswer = { readonly json: JsonObject; readonly bytesSent: number }

/** Meta's Graph API, signed in. Everything throws connector errors. */
export type Graph = {
  get(path: string, query?: Readonly<Record<string, string>>): Promise<GraphAnswer>
  post(path: string, body: unknown): Promise<GraphAnswer>
  /** Meta takes a body here, too. */
  delete(path: string, body: unknown): Promise<GraphAnswer>
}

/** The token travels in a header, so that no log of addresses holds it; with it goes a proof that we know the app's secret. */
export function openGraph(context: ConnectorContext): Graph {
  // One connector has its long-lived token under the other name.
  const token = String(context.secrets.accessToken ?? context.secrets.refreshToken ?? '')
  const { authType, clientSecret } = context.secrets
  // A token that was entered by hand may belong to another app than one that was named before.
  const appSecret = authType === 'api-token' ? undefined : clientSecret
  const proof: Record<string, string> =
    appSecret === undefined ? {} : { appsecret_proof: proofOf(token, String(appSecret)) }
  const meta = openPlatform(context, {
    name: 'Meta',
    baseUrl: `${graphOrigin}/${version}`,
    headers: { authorization: `Bearer ${token}` },
    errorOf: metaErrorOf,
  })
  const ask = (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    query: Readonly<Record<string, string>>,
    body?: unknown,
  ): Promise<GraphAnswer> => meta.askObject({ method, path: `/${path}`, query: { ...query, ...proof }, body })
  return {
    get: (path, query = {}) => ask('GET', path, query),
    post: (path, body) => ask('POST', path, {}, body),
    delete: (path, body) => ask('DELETE', path, {}, body),
  }
}

const proofOf = (token: string, appSecret: string) => createHmac('sha256', appSecret).update(token).digest('hex')
