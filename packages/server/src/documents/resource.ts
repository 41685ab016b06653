import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Content that is served unchanged and without authentication, and can be cached. */
export type Resource = {
  readonly type: string
  readonly body: string | Buffer
  readonly etag: string
  /** How long it can be shown without revalidation. 0 means that each use revalidates. */
  readonly maxAgeSeconds: number
  /** Content-Security-Policy, for what a browser opens as a page. */
  readonly policy?: string
  /** Whether pages of other sites can show it. */
  readonly shownElsewhere?: boolean
}

export const pageType = 'text/html; charset=utf-8'
export const markdownType = 'text/markdown; charset=utf-8'

/** Adds the ETag of the content to a resource. */
export function makeResource(resource: Omit<Resource, 'etag'>): Resource {
  const digest = createHash('sha256').update(resource.body).digest('base64url').slice(0, 22)
  return { ...resource, etag: `"${digest}"` }
}

/** Smaller bodies fit into one packet without compression. */
const compressedBytesMin = 1_000
/** Whether a body shrinks: text that is not too short. */
const isCompressible = ({ type, body }: Resource) =>
  type !== 'image/png' && Buffer.byteLength(body) >= compressedBytesMin

/**
 * Quality of Brotli. For bodies of this size, the highest quality would cost more processor time than it saves on the network.
 */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }

const encoders = {
  br: (body: Buffer) => promisify(brotliCompress)(body, brotliOptions),
  gzip: (body: Buffer) => promisify(gzip)(body),
} as const
type Encoding = keyof typeof encoders

const encodedBodies: Readonly<Record<Encoding, WeakMap<Resource, Promise<Buffer>>>> = {
  br: new WeakMap(),
  gzip: new WeakMap(),
}

/** The body in an encoding. Each encoding is created once per resource. */
function encode(resource: Resource, encoding: Encoding): Promise<Buffer> {
  const made = encodedBodies[encoding].get(resource) ?? encoders[encoding](Buffer.from(resource.body))
  encodedBodies[encoding].set(resource, made)
  return made
}

/**
 * The encoding to answer with (RFC 9110, section 12.5.3). Undefined if the client does not accept one, or if the body is too
 * small.
 */
function encodingFor({ headers }: FastifyRequest, resource: Resource): Encoding | undefined {
  if (!isCompressible(resource)) return undefined
  const accepted = [headers['accept-encoding'] ?? []]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
    .map((one) => one.split(';')[0]?.trim())
  return (['br', 'gzip'] as const).find((encoding) => accepted.includes(encoding))
}

/** Answers with a resource, compressed if the client accepts that, or with 304 if the caller has it already. */
export async function sendResource(
  request: FastifyRequest,
  reply: FastifyReply,
  resource: Resource,
): Promise<FastifyReply> {
  const { type, body, maxAgeSeconds, policy, shownElsewhere } = resource
  const encoding = encodingFor(request, resource)
  // Each encoding is a separate representation, with its own tag.
  const etag = encoding ? resource.etag.replace(/"$/, `-${encoding}"`) : resource.etag
  reply.headers({ etag, 'cache-control': maxAgeSeconds > 0 ? `public, max-age=${maxAgeSeconds}` : 'public, no-cache' })
  if (isCompressible(resource))
    reply.header('vary', [reply.getHeader('vary') ?? [], 'accept-encoding'].flat().join(', '))
  if (policy !== undefined) reply.header('content-security-policy', policy)
  if (shownElsewhere) reply.header('cross-origin-resource-policy', 'cross-origin')
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag) || known?.includes('*')) return reply.code(304).send()
  if (encoding === undefined) return reply.type(type).send(body)
  const encoded = await encode(resource, encoding)
  return reply.type(type).header('content-encoding', encoding).send(encoded)
}
