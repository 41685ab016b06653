import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Something that is served as it is, without authentication, and may be cached. */
export type Resource = {
  readonly type: string
  readonly body: string | Buffer
  readonly etag: string
  /** How long it may be shown without asking again; 0: ask each time. */
  readonly maxAgeSeconds: number
  /** Content-Security-Policy, for what a browser opens as a page. */
  readonly policy?: string
  /** Whether pages of other sites may show it. */
  readonly shownElsewhere?: boolean
}

export const pageType = 'text/html; charset=utf-8'

/** Gives a resource the tag of its content. */
export function makeResource(resource: Omit<Resource, 'etag'>): Resource {
  const digest = createHash('sha256').update(resource.body).digest('base64url').slice(0, 22)
  return { ...resource, etag: `"${digest}"` }
}

/** Answers with a resource, or with 304 where the caller has it already. */
export function sendResource(request: FastifyRequest, reply: FastifyReply, resource: Resource): FastifyReply {
  const { type, body, etag, maxAgeSeconds, policy, shownElsewhere } = resource
  reply.headers({
    etag,
    'cache-control': maxAgeSeconds > 0 ? `public, max-age=${maxAgeSeconds}` : 'public, no-cache',
    ...(policy === undefined ? {} : { 'content-security-policy': policy }),
    ...(shownElsewhere ? { 'cross-origin-resource-policy': 'cross-origin' } : {}),
  })
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag) || known?.includes('*')) return reply.code(304).send()
  return reply.type(type).send(body)
}
