import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { loadPackage } from '../../../../test/harness/downloads.ts'
import { hubspotToken, startHubSpot } from '../../test/hubspot-server.ts'

/**
 * HubSpot's own client, @hubspot/api-client, makes the calls of the connector, and understands the answers of the test server.
 * The client calls versions 3 and 4 of the interface, so a proxy replaces the version in its paths by the version that the
 * connector calls. Bodies and answers do not change.
 */

type Call = (...parameters: unknown[]) => Promise<Record<string, unknown>>
type Calls<Name extends string> = Readonly<Record<Name, Call>>
/** The part of the client that is used here. */
type Client = {
  readonly crm: {
    readonly objects: {
      readonly batchApi: Calls<'upsert' | 'read' | 'update'>
      readonly searchApi: Calls<'doSearch'>
      readonly basicApi: Calls<'getPage'>
    }
    readonly properties: { readonly coreApi: Calls<'getAll'> }
    readonly lists: {
      readonly listsApi: Calls<'doSearch' | 'getById'>
      readonly membershipsApi: Calls<'add' | 'remove'>
    }
    readonly associations: {
      readonly v4: {
        readonly batchApi: Calls<'create' | 'createDefault'>
        readonly schema: { readonly definitionsApi: Calls<'getAll'> }
      }
    }
  }
}

const hubspot = await startHubSpot()
const version = '2026-03'
const front = http.createServer((request, response) => {
  const path = (request.url ?? '').replace(/^\/crm\/v[34]\/(\w+)/, `/crm/$1/${version}`)
  const { method, headers } = request
  const passed = http.request(hubspot.url + path, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers)
    answer.pipe(response)
  })
  request.pipe(passed)
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
after(async () => {
  front.closeAllConnections()
  front.close()
  await hubspot.close()
})

const hub = await loadPackage<{
  readonly Client: new (settings: { accessToken: string; basePath: string; numberOfApiCallRetries: number }) => Client
}>('@hubspot/api-client', '14.0.1')
const basePath = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
const clientOf = (accessToken: string) => new hub.Client({ accessToken, basePath, numberOfApiCallRetries: 0 })
const { crm } = clientOf(hubspotToken)

/** The status and the category with which a call is refused. */
const refusalOf = (call: Promise<unknown>): Promise<unknown[]> =>
  call.then(
    () => assert.fail('not refused'),
    ({ code, body }: { code: number; body: { category: string } }) => [code, body.category],
  )
type Result = Record<string, unknown> & { readonly properties?: Readonly<Record<string, unknown>> }
const listOf = (answer: Record<string, unknown>) => answer.results as Result[]

test('writes contacts by e-mail, and is told which are new and which are refused', async () => {
  const inputs = [
    { id: 'a@example.com', idProperty: 'email', properties: { firstname: 'Zoë', age: '7' }, objectWriteTraceId: 'one' },
    { id: 'b@example.com', idProperty: 'email', properties: { age: 'many' }, objectWriteTraceId: 'two' },
  ]
  const answer = await crm.objects.batchApi.upsert('contacts', { inputs })
  assert.equal(answer.status, 'COMPLETE')
  assert.deepEqual(
    listOf(answer).map(({ properties, _new, objectWriteTraceId }) => [properties?.firstname, _new, objectWriteTraceId]),
    [['Zoë', true, 'one']],
  )
  const errors = answer.errors as { context: Record<string, string[]>; category: string }[]
  assert.deepEqual(
    errors.map(({ context, category }) => [context.objectWriteTraceId, category]),
    [[['two'], 'VALIDATION_ERROR']],
  )
  const strange = { inputs: [{ id: 'c@example.com', idProperty: 'email', properties: { nothing: '1' } }] }
  assert.deepEqual(await refusalOf(crm.objects.batchApi.upsert('contacts', strange)), [400, 'VALIDATION_ERROR'])
  const other = clientOf('another').crm.objects.batchApi.upsert('contacts', { inputs })
  assert.deepEqual(await refusalOf(other), [401, 'EXPIRED_AUTHENTICATION'])
})

test('finds contacts by e-mail, by pages and by the time of their change', async () => {
  const found = await crm.objects.batchApi.read('contacts', {
    inputs: [{ id: 'A@example.com' }, { id: 'nobody@example.com' }],
    idProperty: 'email',
    properties: ['email', 'age'],
    propertiesWithHistory: [],
  })
  assert.deepEqual(
    listOf(found).map(({ properties }) => properties),
    [{ email: 'a@example.com', age: '7' }],
  )
  assert.equal(found.numErrors, 1)
  const { id } = listOf(found)[0] ?? {}
  for (let number = 0; number < 3; number++) hubspot.add('contacts', { email: `more${number}@example.com` })
  const first = await crm.objects.basicApi.getPage('contacts', 2, undefined, ['email'], undefined, undefined, false)
  const { next } = first.paging as { next: { after: string } }
  const second = await crm.objects.basicApi.getPage('contacts', 2, next.after, ['email'], undefined, undefined, false)
  assert.deepEqual([listOf(first).length, listOf(second).length, second.paging], [2, 2, undefined])
  const changed = await crm.objects.searchApi.doSearch('contacts', {
    filterGroups: [
      {
        filters: [
          { propertyName: 'lastmodifieddate', operator: 'BETWEEN', value: '0', highValue: String(Date.now()) },
          { propertyName: 'hs_object_id', operator: 'GT', value: String(id) },
        ],
      },
    ],
    sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
    properties: ['email'],
    limit: 2,
  })
  assert.equal(changed.total, 3)
  assert.deepEqual(
    listOf(changed).map(({ properties }) => properties?.email),
    ['more0@example.com', 'more1@example.com'],
  )
})

test('lists the properties of contacts, with those that identify one', async () => {
  const all = listOf(await crm.properties.coreApi.getAll('contacts'))
  assert.deepEqual(
    all.filter(({ hasUniqueValue }) => hasUniqueValue).map(({ name, type }) => [name, type]),
    [['customer_no', 'string']],
  )
})

test('finds a list, and changes its members', async () => {
  const { id } = hubspot.add('contacts', { email: 'member@example.com' })
  hubspot.lists.push({ id: '9', name: 'Buyers', type: '0-1', processing: 'MANUAL', members: new Set() })
  const found = await crm.lists.listsApi.doSearch({ offset: 0, count: 20, processingTypes: ['MANUAL'], query: '' })
  assert.deepEqual(
    (found.lists as Record<string, unknown>[]).map(({ listId, name }) => [listId, name]),
    [['9', 'Buyers']],
  )
  const { list } = (await crm.lists.listsApi.getById('9')) as { list: Record<string, unknown> }
  assert.deepEqual([list.name, list.processingType], ['Buyers', 'MANUAL'])
  const added = await crm.lists.membershipsApi.add('9', [id, '424242'])
  assert.deepEqual([added.recordsIdsAdded, added.recordIdsMissing], [[id], ['424242']])
  assert.deepEqual((await crm.lists.membershipsApi.remove('9', [id])).recordIdsRemoved, [id])
})

test('associates a contact with a company, with a label or without one', async () => {
  const [person, company] = [hubspot.add('contacts', {}), hubspot.add('companies', {})]
  const labels = listOf(await crm.associations.v4.schema.definitionsApi.getAll('contacts', 'companies'))
  assert.deepEqual(
    labels.map(({ label, typeId, category }) => [label, typeId, category]),
    hubspot.labels.map(({ label, typeId, category }) => [label, typeId, category]),
  )
  const types = [{ associationCategory: 'USER_DEFINED', associationTypeId: 36 }]
  const pair = { _from: { id: person.id }, to: { id: company.id } }
  const absent = { _from: { id: person.id }, to: { id: '424242' } }
  const inputs = [pair, absent].map((one) => ({ ...one, types }))
  const labelled = await crm.associations.v4.batchApi.create('contacts', 'companies', { inputs })
  assert.deepEqual([listOf(labelled).length, labelled.numErrors], [1, 1])
  const all = { inputs: inputs.slice(0, 1) }
  assert.equal(listOf(await crm.associations.v4.batchApi.create('contacts', 'companies', all)).length, 1)
  const plain = await crm.associations.v4.batchApi.createDefault('contacts', 'companies', { inputs: [pair] })
  assert.equal(listOf(plain).length, 1)
  assert.deepEqual([...hubspot.associations], [`${person.id} ${company.id}`, `${person.id} ${company.id} 36`])
})
