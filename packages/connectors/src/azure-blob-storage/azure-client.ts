import { createHmac } from 'node:crypto'
import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  type ConnectorErrorCode,
  createRedact,
} from '@penstock/connector'
import { federatedTokens } from '../azure/federation.ts'
import { discard, problemName, transientErrorOf } from '../object-stores/answers.ts'
import { encodeName, encodeValue } from '../object-stores/place.ts'
import type { Container } from './container.ts'

const version = '2023-11-03'

/** One request: to a blob, else to the container, else to the account. */
export type AzureRequest = {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  readonly blob?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** The required permission, in words: `list blobs`. */
  readonly permission: string
  readonly timeoutMs?: number
  /** Instead of the context's signal, for work after the context was aborted. */
  readonly signal?: AbortSignal
  /** The answer is the content of a blob, which is read piece by piece. */
  readonly streams?: boolean
  /** Refusals of these names are answers, too. */
  readonly takes?: RegExp
}

export type AzureClient = {
  readonly container: Container
  /** Resolves with an answer of status 2xx, or another accepted status. Throws a `ConnectorError` for all others. */
  request(asked: AzureRequest): Promise<Response>
}

/** Speaks to Azure Blob Storage over its REST interface. */
export function makeAzureClient(context: ConnectorContext, container: Container): AzureClient {
  const { access } = container
  const tokens =
    access.kind === 'application'
      ? federatedTokens(context, 'https://storage.azure.com/.default', access.login)
      : undefined
  const attempt = async (asked: AzureRequest, token: string | undefined): Promise<Response> => {
    const { method = 'GET', body, timeoutMs } = asked
    const url = urlOf(container, asked)
    const headers: Record<string, string> = {
      ...asked.headers,
      'x-ms-date': new Date().toUTCString(),
      'x-ms-version': version,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    }
    const authorization =
      token === undefined ? authorize(container, method, url, headers) : { authorization: `Bearer ${token}` }
    return context.egress.request(url, {
      method,
      headers: { ...headers, ...authorization },
      signal: asked.signal ?? context.signal,
      ...(body === undefined ? {} : { body }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(asked.streams ? { streams: true } : {}),
    })
  }
  return {
    container,
    async request(asked) {
      const token = await tokens?.token()
      let response = await attempt(asked, token)
      if (tokens && response.status === 401) {
        await discard(response)
        response = await attempt(asked, await tokens.token(token))
      }
      if (response.ok || asked.takes?.test(response.headers.get('x-ms-error-code') ?? '')) return response
      await discard(response)
      throw connectorErrorOf(response, asked, container)
    },
  }
}

/** Asks the account without credentials whether anything answers there. */
export async function connectToAzure(context: ConnectorContext, container: Container): Promise<string> {
  const { host, origin } = new URL(container.service)
  await discard(await context.egress.request(origin, { method: 'HEAD', signal: context.signal }))
  return host
}

function urlOf({ service, name, access }: Container, { blob, query = {} }: AzureRequest): URL {
  const path = `${service}/${name === '' ? '' : encodeValue(name)}${blob === undefined ? '' : `/${encodeName(blob)}`}`
  const search = Object.entries(query).map(([key, value]) => `${key}=${encodeValue(value)}`)
  if (access.kind === 'signature') search.push(access.query)
  return new URL(`${path}${search.length > 0 ? `?${search.join('&')}` : ''}`)
}

const signedInOrder = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
]

/** The signature of a request with the account's key, as Azure's description of Shared Key says. */
function authorize({ access }: Container, method: string, url: URL, headers: Record<string, string>) {
  if (access.kind !== 'key') return {}
  const signed = (name: string) => (name === 'content-length' && headers[name] === '0' ? '' : (headers[name] ?? ''))
  const own = Object.keys(headers).filter((name) => name.startsWith('x-ms-'))
  const query = [...url.searchParams].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = [
    method,
    ...signedInOrder.map(signed),
    ...own.sort().map((name) => `${name}:${headers[name]}`),
    `/${access.account}${url.pathname}`,
    ...query.map(([name, value]) => `${name.toLowerCase()}:${value}`),
  ].join('\n')
  const signature = createHmac('sha256', access.key).update(text).digest('base64')
  return { authorization: `SharedKey ${access.account}:${signature}` }
}

const noPermission =
  /^(Authorization(Permission|Protocol|SourceIP|ResourceType|Service)Mismatch|AuthorizationFailure|InsufficientAccountPermissions|AccountIsDisabled|PublicAccessNotPermitted|KeyBasedAuthenticationNotPermitted|Unauthorized.*)$/

/** An answer that is not a success, as a connector error: `source_changed` means what callers make of it. */
function connectorErrorOf(response: Response, asked: AzureRequest, container: Container): ConnectorError {
  const { status } = response
  const { access } = container
  const secret =
    access.kind === 'key' ? Buffer.from(access.key).toString('base64') : access.kind === 'signature' ? access.query : ''
  const code = problemName(response.headers.get('x-ms-error-code') ?? '', createRedact([secret].filter(Boolean)))
  const passing = transientErrorOf('Azure Blob Storage', response)
  if (passing) return passing
  const known = code ? ` (${code})` : ''
  if (
    code === 'AuthenticationFailed' ||
    code === 'NoAuthenticationInformation' ||
    code === 'InvalidAuthenticationInfo'
  ) {
    const message =
      container.access.kind === 'key'
        ? `Azure does not accept the access key of the account ${container.access.account}. Set it again, and see that the clock of this machine is right.`
        : container.access.kind === 'application'
          ? 'Azure does not accept the tokens of the application. Check that it is in the tenant of the storage account.'
          : 'Azure does not accept the signature of the SAS URL: it was changed, withdrawn, or has ended. Make a new one.'
    return new ConnectorError('invalid_credentials', message)
  }
  if (/^Container(NotFound|Disabled|BeingDeleted)$/.test(code) || (status === 404 && asked.blob === undefined)) {
    const message = `The storage account has no container ${container.name}. Check the path.`
    return new ConnectorError('bucket_not_found', message)
  }
  if (status === 401 || status === 403 || noPermission.test(code)) {
    const remedy =
      access.kind === 'application' ? ' Grant the application a role such as Storage Blob Data Contributor.' : ''
    const message = `The credentials do not allow to ${asked.permission} in the container ${container.name}${known}.${remedy}`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 412) return new ConnectorError('source_changed', 'The blob has been replaced.')
  if (status === 404) return new ConnectorError('source_changed', 'The blob is gone.')
  if (code === 'BlobArchived' || code === 'BlobBeingRehydrated') {
    return new ConnectorError('object_archived', 'The blob is archived. Rehydrate it first, then start again.')
  }
  if (code === 'InvalidBlockList') return new ConnectorError('upload_lost', 'Blocks of the blob are gone.')
  if (status >= 300 && status < 400) {
    return new ConnectorError('invalid_address', 'The address is not that of the storage account; correct it.')
  }
  return new ConnectorError('request_refused', `Azure refused a request (status ${status}${code ? `, ${code}` : ''}).`)
}

/** Whether work failed with this code. */
export const failedWith = (error: unknown, ...codes: readonly ConnectorErrorCode[]): boolean =>
  codes.some((code) => asConnectorError(error)?.code === code)
