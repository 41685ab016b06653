import { type Asked, changeMembers, entityRoute, hasOnly, pageOf, type Routes } from './platform-routes.ts'
import type { Reply } from './platform-server.ts'

/**
 * The contact lists of Criteo Retail Media, written from the OpenAPI document of its API (2026-07): no key that a schema does not
 * have, lists of one kind of identifiers, counts and samples of invalid ones, warnings in place of what cannot be made.
 */

export type RetailList = {
  id: string
  name: string
  description: string
  retailerId: string
  identifierType: string
  createdAt: string
  isReadOnly: boolean
  members: Set<string>
}

const problem = (type: string, code: string) => ({
  traceId: '80a1a0ba3981b04d',
  type,
  code,
  instance: '/x',
  title: 'x',
  detail: 'may quote jane@example.com',
})
/** A refusal of any of Criteo's APIs. */
export const criteoRefusal = (status: number, type: string, code: string): Reply => ({
  status,
  json: { errors: [problem(type, code)], warnings: [] },
})
type Json = Record<string, unknown>
const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** The routes of Retail Media, for a client that is signed in. The account 9001 has consented, 9002 has not. */
export function retailMediaRoutes(lists: RetailList[], samples: { readonly most: number }): Routes {
  const base = '/2026-07/retail-media'
  return {
    [`GET ${base}/accounts`]: ({ query }) => {
      const [index, size] = [Number(query.get('pageIndex') ?? 0), Number(query.get('pageSize') ?? 25)]
      const all = ['9001', '9002'].map((id) => ({
        id,
        type: 'RetailMediaAccount',
        attributes: { name: `Brand ${id}` },
      }))
      const metadata = { currentPageIndex: index, currentPageSize: size, totalPages: 2, totalItemsAcrossAllPages: 2 }
      return { json: { data: pageOf(all, index, 1).page, metadata, errors: [], warnings: [] } }
    },
    [`POST ${base}/audience-segments/{id:\\d+}/contact-list/add-remove`]: entityRoute(
      lists,
      criteoRefusal(404, 'authorization', 'audience-invalid'),
      (list, asked) => amend(asked, list, samples.most),
    ),
    [`POST ${base}/accounts/9001/audience-segments/search`]: (asked) => search(asked, lists),
    [`POST ${base}/accounts/9001/audience-segments/create`]: (asked) => make(asked, lists),
  }
}

function search({ body, query }: Asked, lists: readonly RetailList[]): Reply {
  const filter = objectOf(objectOf(body.data).attributes)
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  if (!hasOnly(filter, 'audienceSegmentTypes retailerIds audienceSegmentIds') || limit > 500) {
    return criteoRefusal(400, 'validation', 'invalid-filter')
  }
  const { retailerIds, audienceSegmentIds: ids } = filter as Record<string, string[] | undefined>
  const all = lists.filter(
    ({ id, retailerId }) => (ids ?? [id]).includes(id) && (retailerIds ?? [retailerId]).includes(retailerId),
  )
  const data = pageOf(all, offset, Math.min(limit, 2)).page.map(({ id, name, retailerId, createdAt, ...one }) => ({
    id,
    type: 'AudienceSegment',
    attributes: {
      name,
      retailerId,
      createdAt,
      type: 'ContactList',
      contactList: { identifierType: one.identifierType, isReadOnly: one.isReadOnly, sharingStatus: 'NotShared' },
    },
  }))
  return { json: { meta: { totalItems: all.length, limit, offset }, data, errors: [], warnings: [] } }
}

const forms: Readonly<Record<string, RegExp>> = {
  Email: /^(?!99999999)[0-9a-f]{64}$/,
  PhoneNumber: /^(?!99999999)[0-9a-f]{64}$/,
  UserIdentifier: /^[0-9a-f-]{36}$/i,
  IdentityLink: /^\S+$/,
  CustomerId: /^\S+$/,
}

function make({ body }: Asked, lists: RetailList[]): Reply {
  const [resource, ...more] = body.data as unknown[]
  const { name, description, retailerId, contactList, ...others } = objectOf(objectOf(resource).attributes)
  const { identifierType = 'Email', ...strange } = objectOf(contactList)
  const well = typeof name === 'string' && typeof description === 'string' && typeof retailerId === 'string'
  const known = Object.hasOwn(forms, String(identifierType))
  if (!well || !known || more.length + Object.keys({ ...others, ...strange }).length > 0) {
    return criteoRefusal(400, 'validation', 'invalid-segment')
  }
  if (lists.some((list) => list.name === name && list.retailerId === retailerId)) {
    return { json: { data: [], errors: [], warnings: [problem('validation', 'name-must-be-unique')] } }
  }
  const id = String(568_708_742_535_471_104n + BigInt(lists.length))
  const createdAt = new Date(Date.UTC(2026, 0, 1 + lists.length)).toISOString()
  const kind = String(identifierType)
  lists.push({
    id,
    name,
    description,
    retailerId,
    identifierType: kind,
    createdAt,
    isReadOnly: false,
    members: new Set(),
  })
  return { json: { data: [{ id, type: 'AudienceSegment', attributes: { name } }], errors: [], warnings: [] } }
}

/** Adds or removes the valid identifiers of an amendment, and counts the others. `undefined` if it is not an amendment. */
export function takeContacts(
  { id, members }: { readonly id: string; readonly members: Set<string> },
  { operation, identifierType, identifiers }: Json,
  form: RegExp,
  samplesMost: number,
  prefix = '',
): Record<string, unknown> | { status: number; text: string } | undefined {
  if ((operation !== 'add' && operation !== 'remove') || !Array.isArray(identifiers) || identifiers.length === 0) {
    return undefined
  }
  if (identifiers.length > 50_000) return { status: 413, text: '' }
  const [valid, invalid] = [identifiers.filter((one) => form.test(one)), identifiers.filter((one) => !form.test(one))]
  changeMembers(
    members,
    operation === 'add',
    valid.map((one) => `${prefix}${one}`),
  )
  return {
    contactListId: Number(id),
    operation,
    identifierType,
    requestDate: '2026-11-22T10:00:50Z',
    nbValidIdentifiers: valid.length,
    nbInvalidIdentifiers: invalid.length,
    sampleInvalidIdentifiers: invalid.slice(0, samplesMost),
  }
}

function amend({ body }: Asked, list: RetailList, samplesMost: number): Reply {
  const attributes = objectOf(objectOf(body.data).attributes)
  const well =
    hasOnly(body, 'data') &&
    hasOnly(attributes, 'operation identifierType identifiers') &&
    attributes.identifierType === list.identifierType
  const taken = well && takeContacts(list, attributes, forms[list.identifierType] as RegExp, samplesMost)
  if (!taken) return criteoRefusal(400, 'validation', 'invalid-amendment')
  if ('status' in taken) return taken as Reply
  return { json: { type: 'AddRemoveContactlistResult', data: taken, errors: [], warnings: [] } }
}
