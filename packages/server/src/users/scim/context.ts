import { hash } from 'node:crypto'
import { record } from '../../audit/record.ts'
import { auditActorOf } from '../../audit/requests.ts'
import type { Actor } from '../../call.ts'
import type { Database, Transaction } from '../../db/database.ts'
import { refuse } from '../../refusal.ts'
import type { UserSessions } from '../sessions.ts'
import { refuseScim } from './values.ts'

/** A request to SCIM, and its answer, apart from HTTP. */

/** A request below `/scim/v2`. */
export type ScimRequest = {
  readonly method: string
  /** The parts of the path after `/scim/v2/`. */
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly ifMatch: string | undefined
  readonly actor: Actor
  readonly address: string
  readonly requestId: string
}

/** An answer. `body` is omitted if the answer is empty. */
export type ScimAnswer = {
  readonly status: number
  readonly body?: object
  /** The address of the resource that was created. */
  readonly location?: string
  readonly etag?: string
}

export type ScimDeps = {
  readonly database: Database
  readonly publicUrl: string
  readonly userSessions: UserSessions
}

/** A change of a resource, as the audit log keeps it. */
export type ScimChange = {
  /** As `scim update user`. */
  readonly action: string
  readonly targetId: string
  readonly before?: object
  readonly after?: object
  readonly details?: object
}

/** Records a change with the client as its actor. */
export function recordChange(
  tx: Transaction,
  { actor, address, requestId }: ScimRequest,
  ...changes: ScimChange[]
): void {
  const { organizationId } = actor
  record(
    tx,
    ...changes.map((change) => ({ organizationId, actor: auditActorOf(actor), address, requestId, ...change })),
  )
}

/** The `meta` of a resource (RFC 7643, section 3.1). */
export type ScimMeta = {
  readonly resourceType: string
  readonly created: string
  readonly location: string
  readonly version: string
}

/** A weak entity tag of a resource. */
export const versionOf = (shown: unknown): string =>
  `W/"${hash('sha256', JSON.stringify(shown), 'base64url').slice(0, 22)}"`

/** Refuses with `precondition_failed` a change of a version that is not the version in the request. */
export function requireVersion({ ifMatch }: ScimRequest, version: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  if (!ifMatch.split(',').some((tag) => weak(tag) === weak(version))) refuse('precondition_failed')
}

/** Most entries of one page of a list. */
export const scimPageMax = 100

/**
 * The page of a list that a request asks for. `startIndex` counts from 1. Values below 1 are treated as 1. (RFC 7644, section
 * 3.4.2.4)
 */
export function readPage({ query }: ScimRequest): { startIndex: number; limit: number; offset: number } {
  const read = (name: string, otherwise: number) => {
    const text = query[name] ?? String(otherwise)
    if (typeof text === 'string' && /^[+-]?\d{1,9}$/.test(text.trim())) return Number(text)
    return refuseScim('invalidValue', `${name} must be an integer of at most nine digits.`)
  }
  const startIndex = Math.max(1, read('startIndex', 1))
  const limit = Math.min(scimPageMax, Math.max(0, read('count', scimPageMax)))
  return { startIndex, limit, offset: startIndex - 1 }
}

/** A list (RFC 7644, section 3.4.2). */
export const listOf = (resources: readonly object[], total: number, startIndex = 1): object => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: total,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
})

/**
 * Finds the attributes that a request wants, by `attributes` or `excludedAttributes` (RFC 7644, section 3.4.2.5): of a complex
 * attribute, all or nothing. Schemas, identifier and metadata are in every answer.
 */
export function createSelection({ query }: ScimRequest): {
  wants(attribute: string): boolean
  of(resource: object): object
} {
  const read = (name: string) => {
    const text = query[name]
    if (typeof text !== 'string' || text.trim() === '') return undefined
    return new Set(
      text.split(',').map((one) =>
        one
          .trim()
          .replace(/^urn:.*:/i, '')
          .replace(/\..*$/, '')
          .toLowerCase(),
      ),
    )
  }
  const [wanted, excluded] = [read('attributes'), read('excludedAttributes')]
  const always = new Set(['schemas', 'id', 'meta'])
  const wants = (attribute: string) => {
    const name = attribute.toLowerCase()
    return always.has(name) || ((wanted?.has(name) ?? true) && !excluded?.has(name))
  }
  return { wants, of: (resource) => Object.fromEntries(Object.entries(resource).filter(([key]) => wants(key))) }
}
