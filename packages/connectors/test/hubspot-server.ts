import { tokensOf } from './oauth-tokens.ts'
import {
  type Asked,
  changeMembers,
  entityRoute,
  jsonBodies,
  pageOf,
  type Route,
  startRoutes,
} from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * HubSpot’s CRM as far as records, properties and static lists go, written from its reference of the version 2026-03: batches of at
 * most 100 without duplicates, results in any order, errors beside them with the status 207.
 */

export type HubSpotRecord = {
  id: string
  properties: Record<string, string>
  modifiedMs: number
  archivedMs?: number
}
type HubSpotProperty = { name: string; type: string; label: string; unique?: boolean; readOnly?: boolean }
export type HubSpotLabel = { category: string; typeId: number; label: string | null }
export type HubSpotList = { id: string; name: string; type: string; processing: string; members: Set<string> }

export type HubSpotServer = PlatformServer & {
  readonly objects: Readonly<Record<string, { readonly properties: HubSpotProperty[]; records: HubSpotRecord[] }>>
  readonly lists: HubSpotList[]
  /** Values of the identifying property whose records are neither stored nor named, so many times. */
  readonly silent: Map<string, number>
  /** The associations, as the IDs of the one and the other record, and the ID of the type of those with a label. */
  readonly associations: Set<string>
  /** Labels of associations from contacts to companies. Those without a name are the unlabelled ones. */
  readonly labels: HubSpotLabel[]
  /** Adds a record that is there. */
  add(type: string, properties: Record<string, string>, modifiedMs?: number): HubSpotRecord
  expireTokens(): void
}

export const hubspotToken = 'pat-eu1-11111111-2222-3333-4444-555555555555'
export const hubspotSecrets = { authType: 'token', accessToken: hubspotToken }
export const hubspotAppSecrets = {
  authType: 'oauth2',
  clientId: 'app-1',
  clientSecret: 'app-secret-1234567890',
  refreshToken: 'refresh-1234567890',
}
export const hubspotRoutes = (url: string) => ({ 'https://api.hubapi.com': url })

const version = '2026-03'
const refusal = (status: number, category: string, more: object = {}): Reply => ({
  status,
  json: { status: 'error', message: 'may quote jane@example.com', correlationId: 'c-1', category, ...more },
})
const notValid = (name: string, error: string): Reply =>
  refusal(400, 'VALIDATION_ERROR', {
    message: `Property values were not valid: [{"isValid":false,"message":"jane@example.com is not","error":"${error}","name":"${name}"}]`,
  })

export async function startHubSpot(): Promise<HubSpotServer> {
  const property = (name: string, more: Partial<HubSpotProperty> = {}): HubSpotProperty => ({
    name,
    type: 'string',
    label: `The ${name}`,
    ...more,
  })
  const own = ['hs_object_id', 'hs_lastmodifieddate', 'createdate'].map((name) => property(name, { readOnly: true }))
  const objects: HubSpotServer['objects'] = {
    contacts: {
      properties: [
        ...own,
        ...['email', 'firstname', 'hs_additional_emails'].map((name) => property(name)),
        property('age', { type: 'number' }),
        property('lastmodifieddate', { readOnly: true }),
        property('customer_no', { unique: true }),
      ],
      records: [],
    },
    companies: { properties: [...own, property('name'), property('customer_no', { unique: true })], records: [] },
    '2-77': { properties: [...own, property('plate', { unique: true })], records: [] },
  }
  const lists: HubSpotList[] = []
  const silent = new Map<string, number>()
  const associations = new Set<string>()
  const labels: HubSpotLabel[] = [
    { category: 'HUBSPOT_DEFINED', typeId: 279, label: null },
    { category: 'HUBSPOT_DEFINED', typeId: 1, label: 'Primary' },
    { category: 'USER_DEFINED', typeId: 36, label: 'Decision maker' },
  ]
  const teams = [{ id: '1', name: 'Sales', primary: true }]
  const owner = { id: '11', email: 'a@example.com', firstName: 'Ann', userId: 7, archived: false, teams }
  let nextId = 1_000
  const tokens = tokensOf({
    path: `/oauth/${version}/token`,
    secrets: hubspotAppSecrets,
    prefix: 'access-of-an-app-',
    expiresIn: 1800,
    more: () => ({ refresh_token: hubspotAppSecrets.refreshToken }),
    refuses: { token: { status: 400, json: { error: 'invalid_grant', status: 'BAD_REFRESH_TOKEN' } } },
  })

  const recordsOf = (type: string) => objects[type]?.records ?? []
  const names = (type: string) => objects[type]?.properties.map(({ name }) => name) ?? []
  const isUnique = (type: string, name: string) =>
    (type === 'contacts' && name === 'email') ||
    objects[type]?.properties.some((one) => one.name === name && one.unique)
  const propertiesOf = (type: string) => ({
    results: objects[type]?.properties.map(({ name, label, type: kind, unique = false, readOnly = false }) => ({
      name,
      label,
      type: kind,
      hasUniqueValue: unique,
      modificationMetadata: { readOnlyValue: readOnly },
    })),
  })

  function shown({ id, properties, modifiedMs, archivedMs }: HubSpotRecord, wanted: readonly unknown[]): object {
    const all: Record<string, string> = {
      ...properties,
      hs_object_id: id,
      lastmodifieddate: new Date(modifiedMs).toISOString(),
    }
    const values = Object.fromEntries(wanted.map((name) => [name, all[String(name)] ?? null]))
    const archived = archivedMs !== undefined
    return { id, properties: values, archived, ...(archived && { archivedAt: new Date(archivedMs).toISOString() }) }
  }

  function list(type: string, { query }: Asked): Reply {
    const limit = Number(query.get('limit'))
    if (!(limit >= 1 && limit <= 100)) return refusal(400, 'VALIDATION_ERROR')
    const archived = query.get('archived') === 'true'
    const all = recordsOf(type).filter(({ archivedMs }) => (archivedMs !== undefined) === archived)
    const { page, next: after } = pageOf(all, query.get('after'), limit)
    const wanted = (query.get('properties') ?? '').split(',').filter((name) => names(type).includes(name))
    const next = after === undefined ? {} : { paging: { next: { after: String(after), link: 'x' } } }
    return { json: { results: page.map((record) => shown(record, wanted)), ...next } }
  }

  function search(type: string, json: unknown): Reply {
    type Search = {
      filterGroups: { filters: Record<string, string>[] }[]
      sorts: unknown
      properties: string[]
      limit: number
    }
    const { filterGroups, sorts, properties, limit, ...others } = json as Search
    const filters = filterGroups[0]?.filters ?? []
    const order = JSON.stringify(sorts)
    if (order !== '[{"propertyName":"hs_object_id","direction":"ASCENDING"}]' || Object.keys(others).length > 0) {
      return refusal(400, 'VALIDATION_ERROR')
    }
    if (!(limit >= 1 && limit <= 200) || filterGroups.length !== 1) return refusal(400, 'VALIDATION_ERROR')
    const modified = type === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate'
    const fits = (record: HubSpotRecord) =>
      filters.every(({ propertyName, operator, value = '', highValue = '' }) => {
        if (propertyName === 'hs_object_id' && operator === 'GT') return Number(record.id) > Number(value)
        if (propertyName !== modified || operator !== 'BETWEEN')
          throw new Error(`an unknown filter ${propertyName} ${operator}`)
        return record.modifiedMs >= Number(value) && record.modifiedMs <= Number(highValue)
      })
    const found = recordsOf(type)
      .filter(({ archivedMs }) => archivedMs === undefined)
      .filter(fits)
      .sort((a, b) => Number(a.id) - Number(b.id))
    const page = found.slice(0, limit)
    const rest = found.length > page.length
    const next = rest ? { paging: { next: { after: String(page.length) } } } : {}
    return { json: { total: found.length, results: page.map((record) => shown(record, properties)), ...next } }
  }

  type Input = { id: string; idProperty?: string; properties?: Record<string, string>; objectWriteTraceId?: string }

  function read(type: string, json: unknown): Reply {
    const { inputs, idProperty, properties } = json as { inputs: Input[]; idProperty: string; properties: string[] }
    if (inputs.length === 0 || inputs.length > 100 || !isUnique(type, idProperty))
      return refusal(400, 'VALIDATION_ERROR')
    const find = (id: string) =>
      recordsOf(type).find(
        (one) =>
          one.properties[idProperty]?.toLowerCase() === id.toLowerCase() ||
          (idProperty === 'email' && one.properties.hs_additional_emails?.split(';').includes(id)),
      )
    const results = inputs.flatMap(({ id }) => find(id) ?? [])
    const ids = inputs.map(({ id }) => id).filter((id) => !find(id))
    const found = results.map((record) => shown(record, properties)).reverse()
    if (ids.length === 0) return { json: { status: 'COMPLETE', results: found } }
    const errors = [{ status: 'error', category: 'OBJECT_NOT_FOUND', message: 'Could not get', context: { ids } }]
    return { status: 207, json: { status: 'COMPLETE', results: found, numErrors: 1, errors } }
  }

  function write(type: string, updates: boolean, json: unknown): Reply {
    const { inputs } = json as { inputs: Input[] }
    if (!Array.isArray(inputs) || inputs.length === 0 || inputs.length > 100) return refusal(400, 'VALIDATION_ERROR')
    const results: object[] = []
    const errors: object[] = []
    const writable = objects[type]?.properties.filter(({ readOnly }) => !readOnly).map(({ name }) => name) ?? []
    if (new Set(inputs.map(({ id }) => id.toLowerCase())).size < inputs.length) return refusal(400, 'VALIDATION_ERROR')
    for (const { idProperty, properties = {} } of inputs) {
      if (updates ? idProperty !== undefined : !isUnique(type, idProperty ?? ''))
        return refusal(400, 'VALIDATION_ERROR')
      const strange = Object.keys(properties).find((name) => !writable.includes(name))
      if (strange !== undefined) return notValid(strange, 'PROPERTY_DOESNT_EXIST')
      if (!Object.values(properties).every((value) => typeof value === 'string'))
        return refusal(400, 'VALIDATION_ERROR')
      // One such value sinks the whole request.
      if (properties.firstname === 'sinks') return notValid('firstname', 'INVALID_OPTION')
    }
    for (const { id, idProperty = '', properties = {}, objectWriteTraceId } of inputs) {
      const times = silent.get(id) ?? 0
      if (times > 0) {
        silent.set(id, times - 1)
        continue
      }
      if (properties.age !== undefined && Number.isNaN(Number(properties.age))) {
        const details = [
          { message: `${properties.age} is no number`, code: 'INVALID_INTEGER', context: { propertyName: ['age'] } },
        ]
        const context = { objectWriteTraceId: [objectWriteTraceId] }
        errors.push({ status: 'error', category: 'VALIDATION_ERROR', message: 'may quote', context, errors: details })
        continue
      }
      const found = recordsOf(type).find((one) =>
        updates ? one.id === id : one.properties[idProperty]?.toLowerCase() === id.toLowerCase(),
      )
      if (updates && !found) {
        errors.push({ status: 'error', category: 'OBJECT_NOT_FOUND', message: 'no', context: { ids: [id] } })
        continue
      }
      const record = found ?? server.add(type, { [idProperty]: id })
      Object.assign(record.properties, properties)
      record.modifiedMs = Date.now()
      results.push({ ...shown(record, names(type)), new: !found, objectWriteTraceId })
    }
    const json207 = {
      status: 'COMPLETE',
      results: results.reverse(),
      ...(errors.length > 0 && { numErrors: errors.length, errors }),
    }
    return { status: errors.length > 0 ? 207 : 200, json: json207 }
  }

  type Link = { from: { id: string }; to: { id: string }; types?: Record<string, unknown>[] }

  /** Lists what it made in the other direction, or with its labels. Names the record that is not there in an error. */
  function associate({ params: { from = '', to = '' }, json }: Asked, labelled: boolean): Reply {
    const { inputs, ...rest } = json as { inputs: Link[] }
    if (inputs.length === 0 || inputs.length > 100 || Object.keys(rest).length > 0) {
      return refusal(400, 'VALIDATION_ERROR')
    }
    const isKnown = ({ associationCategory, associationTypeId }: Record<string, unknown>) =>
      labels.some(({ category, typeId }) => category === associationCategory && typeId === associationTypeId)
    const areKnown = inputs.every(({ types }) =>
      labelled ? types !== undefined && types.length > 0 && types.every(isKnown) : types === undefined,
    )
    if (!areKnown) return refusal(400, 'VALIDATION_ERROR')
    const has = (type: string, id: string) => recordsOf(type).some((one) => one.id === id)
    const isThere = ({ from: one, to: other }: Link) => has(from, one.id) && has(to, other.id)
    const made = inputs.filter(isThere)
    for (const { from: one, to: other, types = [] } of made) {
      associations.add(`${one.id} ${other.id}`)
      for (const { associationTypeId } of types) associations.add(`${one.id} ${other.id} ${associationTypeId}`)
    }
    const errors = inputs
      .filter((input) => !isThere(input))
      .map(({ to: { id } }) => ({ status: 'error', category: 'OBJECT_NOT_FOUND', context: { toObjectId: [id] } }))
    const results = made.map(({ from: one, to: other }) =>
      labelled
        ? { fromObjectTypeId: '0-1', fromObjectId: one.id, toObjectTypeId: '0-2', toObjectId: other.id, labels: [] }
        : {
            from: other,
            to: one,
            associationSpec: { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 280 },
          },
    )
    const more = errors.length > 0 && { numErrors: errors.length, errors }
    return { status: more ? 207 : labelled ? 201 : 200, json: { status: 'COMPLETE', results, ...more } }
  }

  /** The associations of records, two at a time; the error of a record without any. */
  function associated({ params: { to = '' }, json }: Asked): Reply {
    const { inputs } = json as { inputs: { id: string; after?: string }[] }
    if (inputs.length === 0 || inputs.length > 1000) return refusal(400, 'VALIDATION_ERROR')
    const typesOf = (pair: string) =>
      labels.filter(({ typeId }) => typeId === 279 || associations.has(`${pair} ${typeId}`))
    const linksOf = (one: string) =>
      recordsOf(to)
        .filter(({ id }) => associations.has(`${one} ${id}`))
        .map(({ id }) => ({ toObjectId: Number(id), associationTypes: typesOf(`${one} ${id}`) }))
    const without = inputs.filter(({ id }) => linksOf(id).length === 0)
    const results = inputs
      .filter((input) => !without.includes(input))
      .map(({ id, after = '0' }) => {
        const [from, all] = [Number(after), linksOf(id)]
        const next = from + 2 < all.length ? { paging: { next: { after: String(from + 2) } } } : {}
        return { from: { id }, to: all.slice(from, from + 2), ...next }
      })
    const subCategory = 'crm.associations.NO_ASSOCIATIONS_FOUND'
    const errors = without.map(({ id }) => ({
      category: 'OBJECT_NOT_FOUND',
      subCategory,
      context: { fromObjectId: [id] },
    }))
    const more = errors.length > 0 && { numErrors: errors.length, errors }
    return { status: more ? 207 : 200, json: { status: 'COMPLETE', results, ...more } }
  }

  function searchLists({ json }: Asked): Reply {
    const { offset, count, processingTypes } = json as { offset: number; count: number; processingTypes: string[] }
    const all = lists.filter(({ processing }) => processingTypes.includes(processing))
    const found = all.slice(offset, offset + count).map(({ id, name }) => ({ listId: id, name }))
    const end = offset + found.length
    return { json: { lists: found, offset: end, hasMore: all.length > end, total: all.length } }
  }

  function changeList({ processing, members }: HubSpotList, { params, json }: Asked): Reply {
    if (!Array.isArray(json)) return refusal(405, 'METHOD_NOT_ALLOWED')
    if (processing === 'DYNAMIC') return refusal(400, 'VALIDATION_ERROR')
    const there = new Set(Object.values(objects).flatMap(({ records }) => records.map((record) => record.id)))
    const ids = json.map(String)
    const recordIdsMissing = ids.filter((one) => !there.has(one))
    const adds = params.change === 'add'
    const changed = ids.filter((one) => there.has(one) && members.has(one) !== adds)
    changeMembers(members, adds, changed)
    return { json: { recordIdsMissing, [adds ? 'recordsIdsAdded' : 'recordIdsRemoved']: changed } }
  }

  /** A route of a type of objects. */
  const ofType =
    (answer: (type: string, asked: Asked) => Reply): Route =>
    (asked) => {
      const { type = '' } = asked.params
      const message = `Unable to infer object type from: ${type}`
      return Object.hasOwn(objects, type) ? answer(type, asked) : refusal(400, 'VALIDATION_ERROR', { message })
    }
  const ofList = (answer: (list: HubSpotList, asked: Asked) => Reply) =>
    entityRoute(lists, refusal(404, 'OBJECT_NOT_FOUND'), answer)
  const between = `/crm/associations/${version}/{from}/{to}`
  const typed = `/crm/objects/${version}/{type}`
  const platform = await startRoutes(
    {
      open: { 'GET /': { status: 404, text: '' }, ...tokens.routes },
      demands: [
        (asked) =>
          tokens.isGood(asked) || asked.headers.authorization === `Bearer ${hubspotToken}`
            ? undefined
            : refusal(401, 'EXPIRED_AUTHENTICATION'),
        jsonBodies(refusal(415, 'VALIDATION_ERROR')),
      ],
      routes: {
        [`GET /account-info/${version}/details`]: { json: { portalId: 7, timeZone: 'Europe/Berlin' } },
        [`GET /crm-object-schemas/${version}/schemas`]: {
          json: {
            results: [{ objectTypeId: '2-77', name: 'cars', labels: { plural: 'Cars' } }, { objectTypeId: '../x' }],
          },
        },
        [`GET ${between}/labels`]: ({ params: { from, to } }) => ({
          json: { results: from === 'contacts' && to === 'companies' ? labels : labels.slice(0, 1) },
        }),
        [`GET /crm/owners/${version}`]: ({ query }) => ({
          json: {
            results: query.get('after') === '1' ? [{ id: '12', email: 'b@example.com', userId: null }] : [owner],
            ...(query.get('after') === null && { paging: { next: { after: '1' } } }),
          },
        }),
        [`POST ${between}/batch/read`]: associated,
        [`POST ${between}/batch/create`]: (asked) => associate(asked, true),
        [`POST ${between}/batch/associate/default`]: (asked) => associate(asked, false),
        [`POST /crm/lists/${version}/search`]: searchLists,
        [`GET /crm/lists/${version}/{id}`]: ofList(({ id, name, processing, type }) => ({
          json: { list: { listId: id, name, processingType: processing, objectTypeId: type } },
        })),
        [`PUT /crm/lists/${version}/{id}/memberships/{change}`]: ofList(changeList),
        [`GET /crm/properties/${version}/{type}`]: ofType((type) => ({
          headers: { date: new Date().toUTCString() },
          json: propertiesOf(type),
        })),
        [`GET ${typed}`]: ofType(list),
        [`POST ${typed}/search`]: ofType((type, { json }) => search(type, json)),
        [`POST ${typed}/batch/read`]: ofType((type, { json }) => read(type, json)),
        [`POST ${typed}/batch/{verb:upsert|update}`]: ofType((type, { params, json }) =>
          write(type, params.verb === 'update', json),
        ),
      },
      unknown: refusal(404, 'OBJECT_NOT_FOUND'),
    },
    { objects, lists, silent, associations, labels, expireTokens: tokens.expire },
  )
  const server: HubSpotServer = Object.assign(platform, {
    add(type: string, properties: Record<string, string>, modifiedMs = Date.now()): HubSpotRecord {
      const record = { id: String(nextId++), properties: { ...properties }, modifiedMs }
      recordsOf(type).push(record)
      return record
    },
  })
  return server
}
