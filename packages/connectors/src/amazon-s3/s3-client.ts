import { createHash } from 'node:crypto'
import { type ConnectorContext, ConnectorError, createRedact, type Redact, type Values } from '@penstock/connector'
import { AwsV4Signer } from 'aws4fetch'
import type { AwsCredentials } from '../aws/sts.ts'
import { roleOfIdentity } from '../aws/web-identity.ts'
import { discard } from '../object-stores/answers.ts'
import { encodeName, encodeValue } from '../object-stores/place.ts'
import { connectorErrorOf, problemOf, type S3Error } from './s3-errors.ts'
import { assumeRole, roleIn } from './s3-role.ts'

/** One request. Without a bucket it goes to the service itself, without a key to the bucket. */
export type S3Request = {
  readonly method?: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly bucket?: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** The permission that is missing if the request is forbidden: `s3:ListBucket`. */
  readonly permission: string
  readonly timeoutMs?: number
  /** The answer is the content of an object, which is read piece by piece. */
  readonly streams?: boolean
  /** Instead of the context's signal, for cleanup after the context was aborted. */
  readonly signal?: AbortSignal
}

export type S3Client = {
  /** Removes the credentials from what the store says. */
  readonly redact: Redact
  /** Resolves with an answer of status 2xx. Throws a `ConnectorError` for all others. */
  request(asked: S3Request): Promise<Response>
  /** For another service that reads the same objects: the credentials in use, and the region that the last request went to. */
  access(): Promise<{ readonly credentials: AwsCredentials; readonly region: string }>
}

/**
 * A client of the REST interface of Amazon S3, or of a compatible store. If a bucket is in another region than expected, S3
 * returns the region, and the client uses it from then on.
 */
export function makeS3Client(context: ConnectorContext): S3Client {
  const { secrets, egress } = context
  const key = isKeyless(secrets) ? undefined : credentialsOf(secrets)
  const keys = key ? [key] : []
  const redactKey = redactOf(keys)
  /** The credentials that were used last. */
  let used = key
  let redactUsed = redactKey
  const redact: Redact = (text, lengthMax) => redactUsed(text, lengthMax)
  const endpoint = key && endpointOf(secrets)
  const store = endpoint ? endpoint.host : 'Amazon S3'
  const signer = key ? 'access key' : 'role'
  let region = regionNamed(secrets.region) ?? 'us-east-1'

  const role = !key
    ? roleOfIdentity(context, () => region)
    : roleIn(secrets) === undefined
      ? undefined
      : assumeRole(context, key, () => ({ region, endpoint }), redactKey)
  const present = async (): Promise<AwsCredentials> => (role ? role.current() : (key as AwsCredentials))

  const attempt = async (asked: S3Request): Promise<Response> => {
    const { method = 'GET', body } = asked
    const credentials = await present()
    if (credentials !== used) {
      used = credentials
      redactUsed = redactOf([...keys, credentials])
    }
    const request = new AwsV4Signer({
      ...credentials,
      method,
      region,
      service: 's3',
      url: urlOf(asked, region, endpoint).href,
      headers: {
        ...asked.headers,
        'x-amz-content-sha256': digestOf(body),
        // Buckets with Object Lock take nothing without it, and other stores know it, too.
        ...(body === undefined ? {} : { 'content-md5': createHash('md5').update(body).digest('base64') }),
      },
      ...(body === undefined ? {} : { body }),
    })
    const { url, headers } = await request.sign()
    return egress.request(url, {
      method,
      headers: Object.fromEntries(headers),
      signal: asked.signal ?? context.signal,
      ...(body === undefined ? {} : { body }),
      ...(asked.timeoutMs === undefined ? {} : { timeoutMs: asked.timeoutMs }),
      ...(asked.streams ? { streams: true } : {}),
    })
  }

  return {
    redact,
    access: async () => ({ credentials: await present(), region }),
    async request(asked) {
      let response = await attempt(asked)
      if (response.ok) return response
      let problem = await problemOf(response, store, redact)
      if (problem.region && problem.region !== region && !problem.passing) {
        region = problem.region
        response = await attempt(asked)
        if (response.ok) return response
        problem = await problemOf(response, store, redact)
      }
      if (role && isExpired(problem)) {
        role.forget()
        response = await attempt(asked)
        if (response.ok) return response
        problem = await problemOf(response, store, redact)
      }
      throw connectorErrorOf(problem, asked, store, signer)
    },
  }
}

/** Whether the settings sign in without a stored key. */
export const isKeyless = ({ authType }: Values): boolean => authType === 'web-identity'

/** A function that removes the secrets of credentials. */
const redactOf = (all: readonly AwsCredentials[]): Redact =>
  createRedact(all.flatMap(({ secretAccessKey, sessionToken = '' }) => [secretAccessKey, sessionToken]).filter(Boolean))

/** Whether temporary credentials are refused, so that new ones of the same role are requested. */
const isExpired = ({ code }: S3Error): boolean => code === 'ExpiredToken' || code === 'TokenRefreshRequired'

/** The address of requests without a bucket, to see whether anything answers. */
export async function connectToS3(context: ConnectorContext): Promise<string> {
  const endpoint = isKeyless(context.secrets) ? undefined : endpointOf(context.secrets)
  const url = urlOf({}, regionNamed(context.secrets.region) ?? 'us-east-1', endpoint)
  await discard(await context.egress.request(url, { method: 'HEAD', signal: context.signal }))
  return url.host
}

function credentialsOf({ accessKeyId, secretAccessKey, sessionToken }: Values): AwsCredentials {
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') {
    throw new ConnectorError('invalid_credentials', 'The access key is not complete; set its ID and its secret.')
  }
  return {
    accessKeyId: accessKeyId.trim(),
    secretAccessKey: secretAccessKey.trim(),
    ...(typeof sessionToken === 'string' ? { sessionToken: sessionToken.trim() } : {}),
  }
}

function endpointOf({ endpoint }: Values): URL | undefined {
  if (typeof endpoint !== 'string') return undefined
  const url = URL.canParse(endpoint.trim()) ? new URL(endpoint.trim()) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username) return url
  const message = 'The endpoint must be only the address of a store, such as https://minio.example.com.'
  throw new ConnectorError('invalid_address', message)
}

/** A region becomes part of a host's name: whatever else it holds must not lead elsewhere. */
function regionNamed(region: unknown): string | undefined {
  if (typeof region !== 'string') return undefined
  const name = region.trim().toLowerCase()
  if (/^[a-z0-9-]{1,40}$/.test(name)) return name
  throw new ConnectorError('invalid_address', 'The region must be a region name, such as eu-central-1.')
}

/** The host contains the bucket if possible. No certificate would match the name of a bucket with dots. */
function urlOf({ bucket, key, query = {} }: Partial<S3Request>, region: string, endpoint: URL | undefined): URL {
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  const inHost = !endpoint && bucket !== undefined && /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket)
  const base = endpoint ? endpoint.href.replace(/\/+$/, '') : `https://${inHost ? `${bucket}.` : ''}${host}`
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeValue(value)}`)
  const path = `${bucket !== undefined && !inHost ? `/${bucket}` : ''}/${key === undefined ? '' : encodeName(key)}`
  return new URL(`${base}${path}${search.length > 0 ? `?${search.join('&')}` : ''}`)
}

const digestOf = (body: Uint8Array | string = ''): string => createHash('sha256').update(body).digest('hex')
