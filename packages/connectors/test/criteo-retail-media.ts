import type { Received, Reply } from './platform-server.ts'

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
  traceId: 't',
  type,
  code,
  instance: '/x',
  detail: 'jane@example.com',
})
const refused = (status: number, type: string, code: string): Reply => ({
  status,
  json: { errors: [problem(type, code)], warnings: [] },
})
type Json = Record<string, unknown>
const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const hasOnly = (object: object, keys: readonly string[]): boolean =>
  Object.keys(object).every((key) => keys.includes(key))

/** Answers requests to Retail Media of a client that is signed in. The account 9001 has consented, 9002 has not. */
export function retailMedia(received: Received, lists: RetailList[], samplesMost: number): Reply {
  const { method, path, headers, query } = received
  const route = `${method} ${path.slice('/2026-07/retail-media'.length)}`
  if (route === 'GET /accounts') {
    const [index, size] = [Number(query.get('pageIndex') ?? 0), Number(query.get('pageSize') ?? 25)]
    const all = ['9001', '9002'].map((id) => ({ id, type: 'RetailMediaAccount', attributes: { name: `Brand ${id}` } }))
    // Pages are small, so that there are some.
    const metadata = { currentPageIndex: index, currentPageSize: size, totalPages: 2, totalItemsAcrossAllPages: 2 }
    return { json: { data: all.slice(index, index + 1), metadata, errors: [], warnings: [] } }
  }
  if (headers['content-type'] !== 'application/json') return { status: 415, text: '' }
  const list = /^POST \/audience-segments\/(\d+)\/contact-list\/add-remove$/.exec(route)?.[1]
  if (list !== undefined) {
    const known = lists.find(({ id }) => id === list)
    return known ? amend(received, known, samplesMost) : refused(404, 'authorization', 'audience-invalid')
  }
  const [, account, action] = /^POST \/accounts\/(\d+)\/audience-segments\/(search|create)$/.exec(route) ?? []
  if (account === undefined) return refused(404, 'validation', 'not-found')
  if (account !== '9001') return refused(403, 'authorization', 'missing-consent')
  return action === 'search' ? search(received, lists) : make(received, lists)
}

function search({ json, query }: Received, lists: readonly RetailList[]): Reply {
  const filter = objectOf(objectOf(objectOf(json).data).attributes)
  const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
  if (!hasOnly(filter, ['audienceSegmentTypes', 'retailerIds', 'audienceSegmentIds']) || limit > 500) {
    return refused(400, 'validation', 'invalid-filter')
  }
  const { retailerIds, audienceSegmentIds: ids } = filter as Record<string, string[] | undefined>
  const all = lists.filter(
    ({ id, retailerId }) => (ids ?? [id]).includes(id) && (retailerIds ?? [retailerId]).includes(retailerId),
  )
  const data = all.slice(offset, offset + Math.min(limit, 2)).map(({ id, name, retailerId, createdAt, ...one }) => ({
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

function make({ json }: Received, lists: RetailList[]): Reply {
  const [resource, ...more] = objectOf(json).data as unknown[]
  const { name, description, retailerId, contactList, ...others } = objectOf(objectOf(resource).attributes)
  const { identifierType = 'Email', ...strange } = objectOf(contactList)
  const well = typeof name === 'string' && typeof description === 'string' && typeof retailerId === 'string'
  const known = Object.hasOwn(forms, String(identifierType))
  if (!well || !known || more.length + Object.keys({ ...others, ...strange }).length > 0) {
    return refused(400, 'validation', 'invalid-segment')
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

function amend({ json }: Received, list: RetailList, samplesMost: number): Reply {
  const { data, ...others } = objectOf(json)
  const { operation, identifierType: type, identifiers, ...strange } = objectOf(objectOf(data).attributes)
  const well =
    Object.keys({ ...others, ...strange }).length === 0 &&
    (operation === 'add' || operation === 'remove') &&
    type === list.identifierType &&
    Array.isArray(identifiers) &&
    identifiers.length > 0
  if (!well) return refused(400, 'validation', 'invalid-amendment')
  const all = identifiers as string[]
  if (all.length > 50_000) return { status: 413, text: '' }
  const form = forms[list.identifierType] as RegExp
  const invalid = all.filter((one) => !form.test(one))
  for (const one of all.filter((each) => form.test(each))) {
    if (operation === 'add') list.members.add(one)
    else list.members.delete(one)
  }
  const result = {
    contactListId: Number(list.id),
    operation,
    requestDate: '2026-11-22T10:00:50Z',
    identifierType: type,
    nbValidIdentifiers: all.length - invalid.length,
    nbInvalidIdentifiers: invalid.length,
    sampleInvalidIdentifiers: invalid.slice(0, samplesMost),
  }
  return { json: { type: 'AddRemoveContactlistResult', data: result, errors: [], warnings: [] } }
}
