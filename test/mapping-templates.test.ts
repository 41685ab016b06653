import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { callerOf, connectorBySlug, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/** Mappings that are saved to be used again. */

const audiences = connectorBySlug('meta-custom-audiences')
const mapping = '{"email_sha256": "E-Mail", "city_sha256": null, "action": {"value": "add"}}'

const service = await startTests()
const caller = callerOf(service, await service.addOrganization())

const bodyOf = (accountId: string | null, more: object = {}) => ({
  name: 'People',
  accountId,
  destConnectorId: audiences.id,
  mapping,
  ...more,
})
const create = (accountId: string | null, more: object = {}) =>
  caller.call('createMappingTemplate', { body: bodyOf(accountId, more) })
const made = async (accountId: string | null, more: object = {}) => (await caller.expect(create(accountId, more))).id
type Answered = { status: number; error?: string | undefined; details?: readonly { field: string }[] | undefined }
const refusalOf = ({ status, error, details = [] }: Answered) => [status, error, ...details.map(({ field }) => field)]

describe('mapping templates', () => {
  test('are saved from a mapping or from a connection, changed by version, and deleted', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    await caller.addConnectors(accountId, audiences)
    const connection = await caller.expect(
      caller.call('createConnection', {
        accountId,
        body: {
          name: 'Mapped',
          srcConnectorId: source.id,
          destConnectorId: audiences.id,
          destConnectionConfig: { advertiserId: '1', mapping },
        },
      }),
    )
    const { id, ...of } = await caller.expect(
      caller.call('createMappingTemplate', { body: { name: ' Saved ', accountId, connectionId: connection.id } }),
    )
    assert.deepEqual(
      [of.name, of.destConnectorId, of.srcConnectorId, of.mapping, of.fields],
      ['Saved', audiences.id, source.id, mapping, 2],
    )
    assert.equal(of.createdBy?.kind, 'client')
    const { etag } = (await caller.call('getMappingTemplate', { id })).headers
    const change = { id, body: { mapping: '{"phone_sha256": "Mobile"}' }, headers: { 'if-match': String(etag) } }
    assert.equal((await caller.expect(caller.call('updateMappingTemplate', change))).fields, 1)
    assert.equal((await caller.call('updateMappingTemplate', change)).error, 'precondition_failed')
    // The connection keeps its own.
    const kept = await caller.expect(caller.call('getConnection', { accountId, id: connection.id }))
    assert.equal(kept.destConnectionConfig.mapping, mapping)
    await caller.expect(caller.call('deleteMappingTemplate', { id }))
    assert.equal((await caller.call('getMappingTemplate', { id })).status, 404)
    await service.service.settleAudit()
    const { rows } = await service.database.pool.query(
      'select action, account_id from audit_events where target_id = $1 order by number',
      [id],
    )
    assert.deepEqual(
      rows.map(({ action, account_id }) => [action, account_id]),
      ['create', 'update', 'delete'].map((verb) => [`${verb}MappingTemplate`, accountId]),
    )
  })

  test('refuse what the destination does not take, and what is not there', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const { id: connectionId } = await caller.createConnection(accountId)
    const { id: other } = await caller.addAccount()
    const refused = async (more: object, of: string | null = accountId) => refusalOf(await create(of, more))
    assert.deepEqual(await refused({ mapping: 'no' }), [400, 'invalid_request', 'body.mapping'])
    assert.deepEqual(await refused({ mapping: '{"nothing": "E-Mail"}' }), [
      400,
      'invalid_request',
      'body.mapping.nothing',
    ])
    assert.deepEqual(await refused({ mapping: '{"email_sha256": null}' }), [400, 'invalid_request', 'body.mapping'])
    assert.deepEqual(await refused({ mapping: undefined }), [400, 'invalid_request', 'body.mapping'])
    assert.deepEqual(await refused({ destConnectorId: 'f'.repeat(16) }), [404, 'not_found', 'body.destConnectorId'])
    assert.deepEqual(await refused({ srcConnectorId: 'f'.repeat(16) }), [404, 'not_found', 'body.srcConnectorId'])
    assert.deepEqual(await refused({ destConnectorId: source.id }), [400, 'invalid_request', 'body.destConnectorId'])
    const bare = { destConnectorId: undefined, mapping: undefined, connectionId }
    assert.deepEqual(await refused(bare), [400, 'invalid_request', 'body.connectionId'])
    assert.deepEqual(await refused(bare, other), [400, 'invalid_request', 'body.connectionId'])
    const both = [400, 'invalid_request', 'body.destConnectorId', 'body.mapping']
    assert.deepEqual(await refused({ connectionId }), both)
    assert.deepEqual(await refused({}, 'f'.repeat(16)), [400, 'invalid_request', 'body.accountId'])
    const stranger = callerOf(service, await service.addOrganization())
    assert.equal((await stranger.call('getMappingTemplate', { id: await made(accountId) })).status, 404)
    assert.equal(
      (await stranger.call('applyMappingTemplate', { id: await made(null), body: { columns: [] } })).status,
      404,
    )
  })

  test('of a sub-account are seen there alone; shared ones are seen everywhere, and changed by no limited key', async () => {
    const party = callerOf(service, await service.addOrganization())
    const [one, other] = [(await party.addAccount()).id, (await party.addAccount()).id]
    const add = async (accountId: string | null, name: string) =>
      (await party.expect(party.call('createMappingTemplate', { body: bodyOf(accountId, { name }) }))).id
    const [ofOne, ofOther, shared] = [await add(one, 'b one'), await add(other, 'C other'), await add(null, 'A shared')]
    const body = { name: 'Limited', accountIds: [one] }
    const { id: clientId, clientSecret } = await party.expect(party.call('createClient', { body }))
    const token = (await service.call('createToken', { body: { clientId, clientSecret } })).response.accessToken
    const names = async (call: object) =>
      (await service.call('listMappingTemplates', call)).response.map(({ name }) => name)
    const whole = async (call: object) =>
      (await party.call('listMappingTemplates', call)).response.map(({ name }) => name)
    assert.deepEqual(await whole({}), ['A shared', 'b one', 'C other'])
    assert.deepEqual(await whole({ accountId: other }), ['A shared', 'C other'])
    assert.deepEqual(await whole({ query: { destConnectorId: source.id } }), [])
    assert.deepEqual(await whole({ query: { destConnectorId: audiences.id, q: 'SHARED' } }), ['A shared'])
    assert.deepEqual(await names({ token }), ['A shared', 'b one'])
    const read = async (id: string) => service.call('getMappingTemplate', { token, id })
    assert.deepEqual([(await read(ofOne)).status, (await read(ofOther)).status], [200, 404])
    assert.deepEqual(
      [(await read(ofOne)).response.createdBy?.kind, (await read(shared)).response.createdBy],
      ['client', null],
    )
    const apply = { token, id: shared, body: { columns: ['e_mail'] } }
    assert.equal((await service.call('applyMappingTemplate', apply)).status, 200)
    const rename = (id: string) => service.call('updateMappingTemplate', { token, id, body: { name: 'Mine' } })
    assert.deepEqual(refusalOf(await rename(shared)), [403, 'forbidden', 'accountId'])
    assert.deepEqual(refusalOf(await service.call('deleteMappingTemplate', { token, id: shared })), [
      403,
      'forbidden',
      'accountId',
    ])
    assert.deepEqual([(await rename(ofOther)).status, (await rename(ofOne)).status], [404, 200])
    const share = { token, body: bodyOf(null) }
    assert.deepEqual(refusalOf(await service.call('createMappingTemplate', share)), [
      403,
      'forbidden',
      'body.accountId',
    ])
    // They go with their sub-account.
    await party.expect(party.call('deleteAccount', { id: other }))
    assert.equal((await party.call('getMappingTemplate', { id: ofOther })).status, 404)
    assert.deepEqual(await whole({}), ['A shared', 'Mine'])
  })

  test('apply to other columns: names are matched, and what is missing is said', async () => {
    const id = await made(null, {
      mapping: JSON.stringify({
        email_sha256: { column: 'E-Mail-Adresse', default: 'a@example.com' },
        city_sha256: 'Filiale',
        action: { value: 'add' },
      }),
    })
    const columns = ['customer_email', 'store']
    const applied = await caller.expect(caller.call('applyMappingTemplate', { id, body: { columns } }))
    assert.deepEqual(JSON.parse(applied.mapping), {
      email_sha256: { column: 'customer_email', default: 'a@example.com' },
      city_sha256: null,
      action: { value: 'add' },
    })
    assert.deepEqual(applied.findings, [
      { field: 'city_sha256', message: 'the template maps "Filiale", which this source does not have' },
    ])
    assert.deepEqual(
      applied.columns.map(({ field, column }) => [field, column]),
      [
        ['email_sha256', 'customer_email'],
        ['city_sha256', null],
      ],
    )
    const many = Array.from({ length: limits.templateColumnsMax + 1 }, (_, n) => `c${n}`)
    const refused = await caller.call('applyMappingTemplate', { id, body: { columns: many } })
    assert.deepEqual(refusalOf(refused), [400, 'invalid_request', 'body.columns'])
  })

  test('the template of a standard belongs to a destination of conversions, and nobody changes it', async () => {
    const conversions = connectorBySlug('meta-conversions')
    const own = { name: 'A mapping', mapping: '{"event_name": "Event"}', destConnectorId: conversions.id }
    const saved = await made(null, own)
    const list = async (query: object) => {
      const page = await caller.call('listMappingTemplates', { query: { destConnectorId: conversions.id, ...query } })
      const ids = page.response?.map(({ id, builtIn }) => (builtIn ? 'ECAPI' : id))
      return [ids, Number(page.headers['x-total-count'])]
    }
    assert.deepEqual(await list({}), [['ECAPI', saved], 2])
    assert.deepEqual(await list({ size: 1 }), [['ECAPI'], 2])
    assert.deepEqual(await list({ size: 1, offset: 1 }), [[saved], 2])
    assert.deepEqual(await list({ q: 'ecapi' }), [['ECAPI'], 1])
    assert.deepEqual(await list({ q: 'mapping' }), [[saved], 1])
    const none = { query: { destConnectorId: audiences.id, q: 'ECAPI' } }
    assert.deepEqual(await caller.expect(caller.call('listMappingTemplates', none)), [])

    const [standard] = await caller.expect(
      caller.call('listMappingTemplates', { query: { destConnectorId: conversions.id } }),
    )
    const id = standard?.id ?? assert.fail()
    const whole = await caller.expect(caller.call('getMappingTemplate', { id }))
    assert.equal(JSON.parse(whole.mapping).event_time, 'timestamp')
    const columns = ['timestamp', 'event_type', 'user_data.phone_numbers', 'properties', 'user_data', 'other']
    const applied = await caller.expect(caller.call('applyMappingTemplate', { id, body: { columns } }))
    const mapping = JSON.parse(applied.mapping)
    assert.equal(mapping.event_time, 'timestamp')
    // A transfer would fill it with the object of the standard.
    assert.equal(mapping.user_data, null)
    assert.deepEqual(mapping.order_id, { expression: 'json(row["properties"], "transaction_id")' })
    assert.deepEqual(applied.findings, [])
    assert.match(
      applied.losses.find(({ column }) => column === 'user_data.phone_numbers')?.message ?? '',
      /without “\+”/,
    )
    assert.ok(applied.losses.every(({ column }) => columns.includes(column)))
    const bare = await caller.expect(caller.call('applyMappingTemplate', { id, body: { columns: ['email'] } }))
    assert.deepEqual(
      bare.findings.map(({ field }) => field),
      ['event_name', 'event_time'],
    )
    for (const refused of [
      caller.call('updateMappingTemplate', { id, body: { name: 'Ours' } }),
      caller.call('deleteMappingTemplate', { id }),
    ]) {
      assert.deepEqual(refusalOf(await refused), [403, 'forbidden', 'id'])
    }
  })
})
