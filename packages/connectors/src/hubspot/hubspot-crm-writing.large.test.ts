import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import {
  type HubSpotServer,
  hubspotAppSecrets,
  hubspotRoutes,
  hubspotSecrets as secrets,
  startHubSpot,
} from '../../test/hubspot-server.ts'
import { assertFailure, assertPreviewed, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { hubspotCrm as connector } from './hubspot-crm.ts'

const columns = ['email', 'firstname', 'age']
const settings = { objectType: 'contacts', idProperty: 'email', operation: 'upsert' }
const upserts = /batch\/upsert$/

let server: HubSpotServer

beforeEach(async () => {
  server = await startHubSpot()
})
afterEach(() => server.close())

const contextOf = (options: TestContextOptions = {}) =>
  testContext({ secrets, settings, columns, routes: hubspotRoutes(server.url), ...options })
const sent = (match = upserts) => server.received.filter(({ path }) => match.test(path))
const recordsOf = (type = 'contacts') => server.objects[type]?.records ?? []

describe('HubSpot as a destination, against a server that follows its published reference', () => {
  const person = (n: number | string, name: Cell = null, age: Cell = null): Cell[] => [`${n}@example.com`, name, age]
  async function openWriter(options: TestContextOptions = {}) {
    assert.ok(connector.destination?.deliver)
    return connector.destination.deliver.open(contextOf(options))
  }
  const deliver = async (rows: Cell[][], options: TestContextOptions = {}) => {
    const { rejected = [] } = await (await openWriter(options)).deliver(batchOf(options.columns ?? columns, rows))
    return rejected
  }

  test('sends rows as HubSpot documents them, and leaves what is empty', async () => {
    server.add('contacts', { email: 'joe@example.com', firstname: 'Joe' })
    assert.deepEqual(await deliver([person('jane', 'Jane', 31), person('JOE', null, 7)]), [])
    const input = (id: string, properties: object, at: number) => ({
      idProperty: 'email',
      id,
      properties,
      objectWriteTraceId: `r${at}`,
    })
    assert.deepEqual(sent()[0]?.json, {
      inputs: [
        input('jane@example.com', { firstname: 'Jane', age: '31' }, 0),
        input('JOE@example.com', { age: '7' }, 1),
      ],
    })
    assert.equal(sent()[0]?.path, '/crm/objects/2026-03/contacts/batch/upsert')
    await deliver([person('joe')], { settings: { ...settings, emptyCells: 'clear' } })
    assert.deepEqual(recordsOf()[0]?.properties, { email: 'joe@example.com', firstname: '', age: '' })
  })

  test('sends a row once more that is named nowhere, and rejects it then', async () => {
    server.silent.set('1@example.com', 1).set('2@example.com', 2)
    const rejected = await deliver([person(0), person(1), person(2), person(3, null, 'antique')])
    assertRejected(rejected, [3, 2])
    assert.match(rejected[1]?.reason ?? '', /neither as stored nor as refused/)
    assert.equal(sent().length, 2)
    assert.deepEqual(
      recordsOf()
        .map(({ properties }) => properties.email)
        .sort(),
      ['0@example.com', '1@example.com'],
    )
  })

  test('stores nothing if HubSpot says success and names an error without a row', async () => {
    const nothing = {
      status: 207,
      json: { status: 'COMPLETE', results: [], errors: [{ category: 'VALIDATION_ERROR' }] },
    }
    server.failure(upserts, nothing)
    server.failure(upserts, nothing)
    const rejected = await deliver([person(1), person(2)])
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /VALIDATION_ERROR/.test(reason)]),
      [
        [0, true],
        [1, true],
      ],
    )
    assert.deepEqual(recordsOf(), [])
  })

  test('sends a record twice in two requests, in the order of the rows', async () => {
    assert.deepEqual(await deliver([person('a', 'first'), person('b'), person('A', 'last')]), [])
    assert.equal(sent().length, 2)
    assert.equal(
      recordsOf().find(({ properties }) => properties.email === 'a@example.com')?.properties.firstname,
      'last',
    )
  })

  test('finds the rows that sink a request', async () => {
    const rows = [person(1), person(2, 'sinks'), person(3, 'sinks'), person(4)]
    const rejected = await deliver(rows)
    assertRejected(rejected, [1, 2])
    await assertPreviewed(connector, contextOf(), batchOf(columns, rows), [])
    assert.equal(recordsOf().length, 2)
  })

  test('changes records by their IDs, and creates none', async () => {
    const { id } = server.add('companies', { name: 'Old' })
    const options = {
      columns: ['hs_object_id', 'name'],
      settings: { objectType: 'companies', idProperty: 'hs_object_id' },
    }
    const rejected = await deliver(
      [
        [id, 'New'],
        ['99', 'Other'],
        ['x', 'Strange'],
      ],
      options,
    )
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /OBJECT_NOT_FOUND|not a number/.test(reason)]),
      [
        [2, true],
        [1, true],
      ],
    )
    assert.deepEqual(
      recordsOf('companies').map(({ properties }) => properties),
      [{ name: 'New' }],
    )
  })

  test('adds records to a static list, and removes them', async () => {
    const members = new Set<string>()
    server.lists.push({ id: '5', name: 'Buyers', type: '0-1', processing: 'MANUAL', members })
    server.add('contacts', { email: 'main@example.com', hs_additional_emails: '2@example.com;x@example.com' })
    const adding = { settings: { ...settings, operation: 'addToList', listId: '5' } }
    assert.deepEqual(await deliver([person(1), person('main')], adding), [])
    assert.equal(members.size, 2)
    const removing = { settings: { ...settings, operation: 'removeFromList', listId: '5' } }
    const rejected = await deliver([person(2), person(1), person(9)], removing)
    assertRejected(rejected, [[2, 'email']])
    assert.equal(members.size, 0)
    server.failure(/add$/, { json: { recordIdsMissing: [recordsOf()[1]?.id], recordsIdsAdded: [] } })
    const [missing] = await deliver([person('main'), person(1)], adding)
    assert.match(`${missing?.index} ${missing?.reason}`, /^1 .*does not have the record any more/)
  })

  test('associates records with the ones that rows name, and accounts for each row', async () => {
    const acme = server.add('companies', { name: 'Acme', customer_no: 'A-1' })
    const umbrella = server.add('companies', { name: 'Umbrella', customer_no: 'U-2' })
    const wide = ['email', 'firstname', 'company']
    const by = { associateWith: 'companies', associatedProperty: 'customer_no', associationColumn: 'company' }
    const options = { columns: wide, settings: { ...settings, ...by } }
    const person = (n: number, company: string | null): Cell[] => [`${n}@example.com`, 'Jane', company]
    const rows = [person(1, 'a-1'), person(2, 'A-1; U-2'), person(3, null), person(4, 'X-9; U-2')]
    const rejected = await deliver(rows, options)
    assertRejected(rejected, [[3, 'company']])
    assert.match(rejected[0]?.reason ?? '', /was stored, but HubSpot has no record/)
    const idOf = (n: number) => recordsOf().find(({ properties }) => properties.email === `${n}@example.com`)?.id
    const pair = (n: number, { id }: { id: string }) => `${idOf(n)} ${id}`
    const wanted = [pair(1, acme), pair(2, acme), pair(2, umbrella), pair(4, umbrella)]
    assert.deepEqual([...server.associations].sort(), wanted.sort())
    assert.deepEqual(recordsOf()[0]?.properties, { email: '1@example.com', firstname: 'Jane' })
    assert.deepEqual((await deliver(rows, options)).length, 1)
    assert.equal(server.associations.size, 4)
    const byId = { ...options, settings: { ...settings, ...by, associatedProperty: '' } }
    const other = await deliver([person(3, acme.id), person(5, '77'), person(6, 'x')], byId)
    assert.deepEqual(other.map(({ index, reason }) => [index, /OBJECT_NOT_FOUND|has no record/.test(reason)]).sort(), [
      [1, true],
      [2, true],
    ])
  })

  test('gives associations the labels of the settings, and refuses unknown ones before the first row', async () => {
    const acme = server.add('companies', { name: 'Acme' })
    const wide = ['email', 'company']
    const by = { associateWith: 'companies', associationColumn: 'company' }
    const labelled = (associationLabels: string) => ({
      columns: wide,
      settings: { ...settings, ...by, associationLabels },
    })
    const row: Cell[] = ['1@example.com', acme.id]
    assert.deepEqual(await deliver([row, ['2@example.com', '77']], labelled('primary; Decision maker; ')), [
      {
        index: 1,
        reason:
          'The record was stored, but HubSpot did not associate it (OBJECT_NOT_FOUND); check that the other record exists, and that HubSpot allows another such association of the two.',
        field: 'company',
      },
    ])
    const [{ id = '' } = {}] = recordsOf()
    assert.deepEqual([...server.associations].sort(), ['', ' 1', ' 36'].map((type) => `${id} ${acme.id}${type}`).sort())
    const [{ json } = {}] = sent(/associations.*batch\/create$/)
    const { inputs } = json as { inputs: { from: { id: string } }[] }
    assert.deepEqual(
      inputs.find(({ from }) => from.id === id),
      {
        from: { id },
        to: { id: acme.id },
        types: [
          { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 1 },
          { associationCategory: 'USER_DEFINED', associationTypeId: 36 },
        ],
      },
    )

    const before = sent().length
    const { inspect } = connector.destination?.deliver ?? {}
    const refusalOf = async (names: string) => {
      const [finding, ...others] = (await inspect?.(contextOf(labelled(names)))) ?? []
      const error = await connectorErrorOf(deliver([row], labelled(names)), contextOf())
      assert.deepEqual([finding, others], [{ code: error.code, message: error.message }, []])
      return [error.code, error.message]
    }
    assert.deepEqual(await refusalOf('Employer'), [
      'invalid_setting',
      'HubSpot has no label “Employer” for associations from contacts to companies. It has “Primary”, “Decision maker”. Choose one of these, make the label in HubSpot, or leave “Association labels” empty.',
    ])
    server.labels.push({ category: 'USER_DEFINED', typeId: 37, label: 'DECISION MAKER' })
    assert.match((await refusalOf('decision Maker'))[1] ?? '', /^Several labels of HubSpot .* Rename one/)
    assert.equal(sent().length, before)
    assert.deepEqual(await deliver([row], labelled('DECISION MAKER')), [])
    assert.equal(server.associations.has(`${id} ${acme.id} 37`), true)
    server.failure(/labels$/, { status: 403, json: { category: 'MISSING_SCOPES' } })
    const { accessToken } = secrets
    const denied = await connectorErrorOf(deliver([row], labelled('Primary')), { secrets: { accessToken } })
    assert.equal(denied.code, 'permission_denied')
    const odd = [null, 7, { category: {}, typeId: 'x' }, { category: '../', typeId: 1, label: 'Primary' }]
    server.failure(/labels$/, { json: { results: odd } })
    assert.match((await connectorErrorOf(deliver([row], labelled('Primary')), contextOf())).message, /It has none/)
  })

  test('sends associations once more that HubSpot names nowhere, halves refused requests, and waits if it is busy', async () => {
    const acme = server.add('companies', { name: 'Acme' })
    const wide = ['email', 'company']
    const by = { associateWith: 'companies', associationColumn: 'company' }
    const options = { columns: wide, settings: { ...settings, ...by } }
    const rows: Cell[][] = [1, 2, 3].map((n) => [`${n}@example.com`, acme.id])
    const path = /associate\/default$/
    server.failure(path, { json: { status: 'COMPLETE', results: [] } })
    assert.deepEqual(await deliver(rows, options), [])
    for (let times = 0; times < 2; times++) server.failure(path, { json: { results: [] } })
    assert.deepEqual(
      (await deliver(rows, options)).map(({ index, field }) => [index, field]).sort(),
      [0, 1, 2].map((index) => [index, 'company']),
    )
    server.failure(path, { status: 400, json: { category: 'VALIDATION_ERROR' } })
    assert.deepEqual(await deliver(rows, options), [])
    server.failure(path, { status: 429, headers: { 'retry-after': '30' }, json: {} })
    assert.equal((await connectorErrorOf(deliver(rows, options), contextOf())).code, 'rate_limited')
    server.failure(path, 'reset after')
    assert.deepEqual(await deliver(rows, options), [])
    const { inspect } = connector.destination?.deliver ?? {}
    const codes = async (more: object) =>
      (await inspect?.(contextOf({ ...options, settings: { ...settings, ...by, ...more } })))?.map(({ code }) => code)
    assert.deepEqual(await codes({}), [])
    assert.deepEqual(await codes({ associatedProperty: 'name' }), ['invalid_setting'])
    assert.deepEqual(await codes({ associationColumn: 'firm' }), ['columns_do_not_fit', 'columns_do_not_fit'])
    const incomplete = openWriter({ ...options, settings: { ...settings, associateWith: 'companies' } })
    assert.equal((await connectorErrorOf(incomplete, contextOf())).code, 'invalid_setting')
  })

  test('renews a token that ends in the middle', async () => {
    const writer = await openWriter({ secrets: hubspotAppSecrets })
    await writer.deliver(batchOf(columns, [person(1)]))
    server.expireTokens()
    await writer.deliver(batchOf(columns, [person(2)], 2))
    assert.equal(recordsOf().length, 2)
    const tokens = server.received.filter(({ path }) => path === '/oauth/2026-03/token')
    assert.equal(tokens.length, 2)
    const old = { ...hubspotAppSecrets, refreshToken: '' }
    const error = await connectorErrorOf((await openWriter({ secrets: old })).deliver(batchOf(columns, [person(3)])), {
      secrets: { clientSecret: old.clientSecret },
    })
    assert.deepEqual([error.code, /no refresh token/.test(error.message)], ['invalid_credentials', true])
  })

  test('finds what is wrong before anything is sent', async () => {
    server.lists.push({ id: '6', name: 'Active', type: '0-1', processing: 'DYNAMIC', members: new Set() })
    server.lists.push({ id: '7', name: 'Firms', type: '0-2', processing: 'MANUAL', members: new Set() })
    const { inspect } = connector.destination?.deliver ?? {}
    assert.ok(inspect)
    const found = async (options: TestContextOptions) =>
      (await inspect(contextOf(options))).map(({ code, column = '' }) => `${code} ${column}`)
    const strange = ['email', 'createdate', 'shoe_size']
    assert.deepEqual(await found({ columns: strange }), [
      'columns_do_not_fit createdate',
      'columns_do_not_fit shoe_size',
    ])
    assert.deepEqual(await found({ settings: { ...settings, idProperty: 'age' } }), ['invalid_setting '])
    assert.deepEqual(await found({ columns: ['firstname'] }), ['columns_do_not_fit '])
    for (const listId of ['6', '7']) {
      assert.deepEqual(await found({ settings: { ...settings, operation: 'addToList', listId } }), ['invalid_setting '])
    }
    const misfit = await connectorErrorOf(deliver([['1@example.com', 1, 2]], { columns: strange }), contextOf())
    assert.equal(misfit.code, 'columns_do_not_fit')
    assert.deepEqual(sent(), [])
    for (const wrong of [
      { objectType: '../x' },
      { objectType: 'companies' },
      { operation: 'addToList', listId: '1/2' },
    ]) {
      const refused = openWriter({ settings: { ...settings, idProperty: '', ...wrong } })
      assert.equal((await connectorErrorOf(refused, contextOf())).code, 'invalid_setting')
    }
  })

  test('maps the answers of HubSpot to codes, and believes none of them', async () => {
    const busy = { results: [], errors: [{ category: 'RATE_LIMITS', message: 'x' }] }
    const internal = { results: [], errors: [{ category: 'INTERNAL_ERROR', message: 'x' }] }
    const policy = (policyName: string) => ({ status: 429, json: { policyName } })
    const cases: [Failure, ErrorAction, string, number?][] = [
      [policy('TEN_SECONDLY_ROLLING'), 'retry', 'rate_limited', 10_000],
      [policy('SECONDLY'), 'retry', 'rate_limited', 1_000],
      [policy('DAILY'), 'retry', 'rate_limited', 3_600_000],
      [policy('constructor'), 'retry', 'rate_limited'],
      [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7_000],
      [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 423, json: {} }, 'retry', 'conflict'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ status: 200, json: { status: 'COMPLETE' } }, 'retry', 'malformed_response'],
      [{ status: 207, json: busy }, 'retry', 'rate_limited'],
      [{ status: 207, json: internal }, 'retry', 'platform_error'],
      [{ status: 401, json: {} }, 'reauthenticate', 'expired_credentials'],
      [{ status: 403, json: { category: 'MISSING_SCOPES' } }, 'reconfigure', 'permission_denied'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
    ]
    const { accessToken } = secrets
    const setting = { server, context: { ...contextOf(), secrets: { accessToken } }, match: upserts }
    const writer = await openWriter()
    const batch = batchOf(columns, [person(1), person(2)])
    for (const [failure, action, code, afterMs] of cases) {
      await assertFailure(setting, writer, batch, failure, { action, code, ...(afterMs !== undefined && { afterMs }) })
    }
    const odd: object[] = [
      { results: [null, 7, { id: {}, objectWriteTraceId: 'r0' }, { id: '5', objectWriteTraceId: 'r77' }] },
      { errors: [{ context: { ids: ['__proto__', 'person@example.com'], propertyName: [{}] }, errors: 'x' }, null] },
      { results: [{ id: '../7', objectWriteTraceId: 'r0' }], errors: { length: 3 } },
    ]
    for (const json of odd) {
      server.failure(upserts, { status: 200, json })
      // The rows are sent again, and taken.
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
    }
    const error = { category: 'jane@example.com', message: 'jane@example.com', context: { ids: ['1@example.com'] } }
    server.failure(upserts, { status: 207, json: { results: [], errors: [error] } })
    const { rejected = [] } = await writer.deliver(batch)
    assert.deepEqual(
      rejected.map(({ index, reason }) => [index, /jane/.test(reason)]),
      [[0, false]],
    )
    assert.equal(recordsOf().length, 2)
  })
})
