import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Connector } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { contentOf } from './harness/content.ts'
import { callerOf, connectorBySlug, destination, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'
import { addsWithdrawn } from './harness/withdrawn.ts'

/** The catalogue, and the connectors of a sub-account (specification, sections 2.3 to 2.5 and 4.2). */

const service = await startTests({ invariants: true })
const caller = callerOf(service, await service.addOrganization())
const accountId = (await caller.addAccount()).id

const fieldsOf = ({ details }: { details: { field: string }[] }) => details.map(({ field }) => field).sort()
const unknownId = '0123456789abcdef'
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)
const reporting = connectorBySlug('google-ads-reporting')
const audiences = connectorBySlug('meta-custom-audiences')
const crm = connectorBySlug('salesforce-crm')
const events = connectorBySlug('meta-conversions')

describe('the catalogue', () => {
  const list = (query: Record<string, string | number> = {}) =>
    caller.expect(caller.call('listConnectors', { accountId, query: { size: 500, ...query } }))

  test('names each connector by the same identifiers everywhere', async () => {
    const entry = (await list()).find(({ name }) => name === 'Amazon S3 Source')
    assert.deepEqual(entry, {
      connectorId: digest('connector:amazon-s3-source'),
      platformId: digest('platform:amazon-s3'),
      name: 'Amazon S3 Source',
      dataType: 'data store',
      dataTypeCategory: 'data store',
      platformType: 'Cloud Storage Provider',
      supportedType: 'Source',
      transfer: entry?.transfer,
    })
    const read = await caller.expect(caller.call('getConnector', { accountId, id: source.id }))
    const { integrated, logo, docUrl, overviewUrl, status, ...identity } = read
    assert.deepEqual({ ...identity, transfer: entry?.transfer }, entry)
    for (const address of [logo, docUrl, overviewUrl]) assert.match(address, /^http:\/\/penstock\.test\/.*amazon-s3/)
    assert.equal(status, 1)
    assert(integrated || !entry?.transfer, 'what is not integrated takes no part in a transfer')
    const preview = connectors.find(({ status }) => status === 'preview')
    assert(preview)
    assert.equal((await caller.expect(caller.call('getConnector', { accountId, id: preview.id }))).status, 2)
  })

  test('is filtered by each of its values, and by all of them together', async () => {
    const all = await list()
    for (const [filter, value] of [
      ['dataType', 'customer match'],
      ['dataTypeCategory', 'events'],
      ['platformType', 'CRM Platform'],
    ] as const) {
      const kept = await list({ [filter]: value })
      assert(kept.length > 0 && kept.length < all.length, filter)
      assert.deepEqual(
        kept,
        all.filter((entry) => entry[filter] === value),
      )
    }
    for (const role of ['Source', 'Destination']) {
      const kept = await list({ supportedType: role })
      assert.deepEqual(
        kept,
        all.filter((entry) => entry.supportedType.split(', ').includes(role)),
      )
      assert(kept.some(({ supportedType }) => supportedType === 'Source, Destination'))
    }
    const together = await list({ q: 'CRITEO', dataTypeCategory: 'audience activation', supportedType: 'Destination' })
    assert.deepEqual(
      together.map(({ name }) => name),
      ['Criteo Commerce Growth Audiences', 'Criteo Retail Media Audiences'],
    )
    assert.deepEqual(await list({ q: 'criteo', dataTypeCategory: 'data store' }), [])
    assert.deepEqual(await list({ q: 's3_source' }), [])
  })

  test('finds a platform by what people also call it, if no name has the word', async () => {
    const names = async (q: string) => (await list({ q })).map(({ name }) => name)
    assert.ok((await names('Facebook')).includes('Meta Conversions'))
    assert.deepEqual(await names('postgr'), ['PostgreSQL'], 'a name has it')
    assert.ok((await names('csv')).includes('Amazon S3 Source'))
    assert.deepEqual(await names('a_word'), [])
    assert.deepEqual(await list({ q: 'facebook', supportedType: 'Source', dataType: 'Conversions' }), [])
  })

  test('refuses values that are not in the specification, all at once', async () => {
    const query = {
      dataType: 'x',
      dataTypeCategory: 'Events',
      platformType: '',
      supportedType: 'Source, Destination',
      size: 0,
    }
    const reply = await caller.call('listConnectors', { accountId, query })
    assert.equal(reply.status, 400)
    assert.deepEqual(fieldsOf(reply), [
      'query.dataType',
      'query.dataTypeCategory',
      'query.platformType',
      'query.size',
      'query.supportedType',
    ])
  })
})

describe('adding connectors', () => {
  test('adds all or none', async () => {
    const { id } = await caller.addAccount()
    const content = await contentOf(service)
    const connectorIds = [source.id, unknownId, destination.id, 'f'.repeat(16)]
    const reply = await caller.call('addConnectors', { accountId: id, body: { connectorIds } })
    assert.deepEqual([reply.status, reply.error], [404, 'not_found'])
    assert.deepEqual(fieldsOf(reply), ['body.connectorIds.1', 'body.connectorIds.3'])
    assert.equal(await contentOf(service), content)
  })

  test('twice changes nothing, and answers in the order that was asked', async () => {
    const { id } = await caller.addAccountWithSides()
    await caller.configureSides(id)
    const content = await contentOf(service)
    const again = await caller.addConnectors(id, destination, source, destination)
    assert.deepEqual(
      again.map(({ connectorId, configured }) => [connectorId, configured]),
      [
        [destination.id, true],
        [source.id, true],
      ],
    )
    assert.equal(await contentOf(service), content)
  })

  test('takes 1 to 500 identifiers', async () => {
    const add = (connectorIds: unknown) => caller.call('addConnectors', { accountId, body: { connectorIds } as never })
    const many = (length: number) => Array.from({ length }, () => source.id)
    assert.equal((await add(many(500))).response.length, 1)
    for (const [bad, field] of [
      [[], 'body.connectorIds'],
      [many(501), 'body.connectorIds'],
      [source.id, 'body.connectorIds'],
      [[source.id, 7, 'x'], 'body.connectorIds.1'],
    ] as const) {
      const reply = await add(bad)
      assert.equal(reply.status, 400)
      assert.equal(fieldsOf(reply)[0], field)
    }
  })

  test('adds a connector without fields to fill in as configured', async () => {
    const { id } = await caller.addAccount()
    const added = await caller.addConnectors(id, connectorBySlug('file-upload'), crm)
    assert.deepEqual(
      added.map(({ configured }) => configured),
      [true, false],
    )
  })
})

describe('a connector that was added before it was withdrawn', () => {
  const withdrawn = connectorBySlug('outfront-inventory')
  /** As 0.1.0 added it, when the catalogue still listed it. */
  const addedEarlier = async () => {
    const { id } = await caller.addAccount()
    await service.database.pool.query(addsWithdrawn(id, withdrawn))
    return id
  }

  test('is not listed and cannot be added, while its read says that it is withdrawn', async () => {
    const listed = await caller.expect(caller.call('listConnectors', { accountId, query: { size: 500 } }))
    assert.ok(!listed.some(({ connectorId }) => connectorId === withdrawn.id))
    const added = await caller.call('addConnectors', { accountId, body: { connectorIds: [withdrawn.id] } })
    assert.equal(added.status, 404)
    const read = await caller.expect(caller.call('getConnector', { accountId, id: withdrawn.id }))
    assert.deepEqual([read.status, read.integrated], [0, false])
  })

  test('stays listed where it was added, by its name, too; it can be configured, paired and removed', async () => {
    const id = await addedEarlier()
    const names = async (query = {}) =>
      (await caller.expect(caller.call('listAddedConnectors', { accountId: id, query }))).map(({ name }) => name)
    assert.deepEqual(await names(), [withdrawn.name])
    assert.deepEqual(await names({ q: 'outfront' }), [withdrawn.name])
    const body = { secretConfig: {} }
    await caller.expect(caller.call('configureConnector', { accountId: id, id: withdrawn.id, body }))
    const one = { accountId: id, id: withdrawn.id }
    assert.equal((await caller.expect(caller.call('getConnectorConfiguration', one))).configured, true)
    await caller.addConnectors(id, destination)
    const pair = { name: 'Inventory', srcConnectorId: withdrawn.id, destConnectorId: destination.id }
    const connection = await caller.expect(caller.call('createConnection', { accountId: id, body: pair }))
    assert.equal((await caller.call('removeConnector', one)).status, 409)
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: connection.id }))
    await caller.expect(caller.call('removeConnector', one))
    assert.deepEqual(await names(), [destination.name])
  })
})

describe('added connectors', () => {
  test('are filtered by name and by whether they are configured', async () => {
    const { id } = await caller.addAccountWithSides()
    await caller.addConnectors(id, crm)
    await caller.expect(
      caller.call('configureConnector', {
        accountId: id,
        id: source.id,
        body: { secretConfig: { accessKeyId: 'A', secretAccessKey: 'canary' } },
      }),
    )
    for (const [query, names] of [
      [{}, ['Amazon S3 Source', 'Salesforce CRM', 'Snowflake Data Store']],
      [{ q: 'S3 s' }, ['Amazon S3 Source']],
      [{ q: '%' }, []],
      [{ configured: true }, ['Amazon S3 Source']],
      [{ configured: false }, ['Salesforce CRM', 'Snowflake Data Store']],
      [{ configured: false, q: 'snow' }, ['Snowflake Data Store']],
    ] as const) {
      const reply = await caller.call('listAddedConnectors', { accountId: id, query })
      assert.deepEqual(reply.response.map(({ name }) => name).sort(), names)
      assert.equal(reply.headers['x-total-count'], String(names.length))
    }
    const wrong = await caller.call('listAddedConnectors', { accountId: id, query: { configured: 'maybe' } })
    assert.deepEqual([wrong.status, fieldsOf(wrong)], [400, ['query.configured']])
  })

  test('are sorted by time, name, configuration and use, both ways, in the same order on every page', async () => {
    const { id } = await caller.addAccount()
    for (const connector of [source, crm, destination, reporting]) await caller.addConnectors(id, connector)
    const body = { secretConfig: { accessKeyId: 'A', secretAccessKey: 'canary' } }
    await caller.expect(caller.call('configureConnector', { accountId: id, id: source.id, body }))
    await caller.createConnection(id)
    const list = async (query: Record<string, string | number>) =>
      (await caller.expect(caller.call('listAddedConnectors', { accountId: id, query }))).map(({ name }) => name)
    const [s3, sales, snow, ads] = [source.name, crm.name, destination.name, reporting.name]
    for (const [sort, names] of [
      ['-added', [ads, snow, sales, s3]],
      ['added', [s3, sales, snow, ads]],
      ['name', [s3, ads, sales, snow]],
      ['-name', [snow, sales, ads, s3]],
      ['configured', [ads, snow, sales, s3]],
      ['-configured', [s3, ads, snow, sales]],
      ['-connections', [snow, s3, ads, sales]],
      ['connections', [ads, sales, snow, s3]],
    ] as const) {
      assert.deepEqual(await list({ sort }), names, sort)
      const paged = [await list({ sort, size: 2 }), await list({ sort, size: 2, offset: 2 })].flat()
      assert.deepEqual(paged, names, sort)
    }
    assert.deepEqual(await list({ sort: 'name', configured: 'false', q: 's' }), [ads, sales, snow])
    const wrong = await caller.call('listAddedConnectors', { accountId: id, query: { sort: 'used' as never } })
    assert.deepEqual([wrong.status, fieldsOf(wrong)], [400, ['query.sort']])
    assert.match(wrong.details[0]?.message ?? '', /-added/)
  })

  test('count the connections that use them, by role, deleted ones aside', async () => {
    const { id } = await caller.addAccount()
    await caller.addConnectors(id, crm, source, destination)
    const connect = async (src: Connector, dest: Connector) =>
      (
        await caller.expect(
          caller.call('createConnection', {
            accountId: id,
            body: { name: 'C', srcConnectorId: src.id, destConnectorId: dest.id },
          }),
        )
      ).id
    const itself = await connect(crm, crm)
    for (const [src, dest] of [
      [crm, destination],
      [source, crm],
      [source, destination],
    ] as const)
      await connect(src, dest)
    const counts = async (entries: { connectorId: string; srcConnections: number; destConnections: number }[]) =>
      Object.fromEntries(
        [crm, source, destination].map(({ id: wanted, slug }) => {
          const entry = entries.find(({ connectorId }) => connectorId === wanted)
          return [slug, entry && [entry.srcConnections, entry.destConnections]]
        }),
      )
    const added = () => caller.expect(caller.call('listAddedConnectors', { accountId: id })).then(counts)
    const used = { 'salesforce-crm': [2, 2], 'amazon-s3-source': [2, 0], 'snowflake-destination': [0, 2] }
    assert.deepEqual(await added(), used)
    const supported = await caller.expect(
      caller.call('listSupportedConnectors', { accountId: id, query: { srcConnectorId: source.id } }),
    )
    assert.deepEqual(await counts(supported), { ...used, 'amazon-s3-source': undefined })
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: itself }))
    assert.deepEqual(await added(), { ...used, 'salesforce-crm': [1, 1] })
  })
})

describe('removing a connector', () => {
  test('is refused while a connection that is not deleted uses it, by name', async () => {
    const { id } = await caller.addAccountWithSides()
    await caller.configureSides(id)
    const [one, two] = [await caller.createConnection(id, 'One'), await caller.createConnection(id, 'Two')]
    await caller.expect(
      caller.call('updateConnectionStatus', { accountId: id, id: two.id, body: { action: 'disable' } }),
    )
    const remove = (connector = source) => caller.call('removeConnector', { accountId: id, id: connector.id })
    const content = await contentOf(service)
    for (const side of [source, destination]) {
      const used = await remove(side)
      assert.deepEqual([used.status, used.error], [409, 'connector_in_use'])
      const named = used.details
        .map(({ field, message }) => `${field} ${message}`)
        .sort()
        .join()
      for (const { id: connection, name } of [one, two]) assert(named.includes(connection) && named.includes(name))
    }
    assert.equal(await contentOf(service), content)
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: one.id }))
    assert.equal((await remove()).error, 'connector_in_use')
    await caller.expect(caller.call('deleteConnection', { accountId: id, id: two.id }))
    const removed = await caller.expect(remove())
    assert.deepEqual([removed.connectorId, removed.srcConnections], [source.id, 0])
    assert.equal((await remove()).error, 'connector_not_added')
  })

  test('destroys its secrets with it', async () => {
    const { id } = await caller.addAccountWithSides()
    const group = async () =>
      (await caller.expect(caller.call('getConnectorConfiguration', { accountId: id, id: source.id }))).secretConfig[0]
    const unconfigured = await group()
    await caller.configureSides(id)
    const before = await group()
    assert.notDeepEqual(before?.configuration, unconfigured?.configuration)
    await caller.expect(caller.call('removeConnector', { accountId: id, id: source.id }))
    const sql = 'select 1 from secrets where account_id = $1 and connector_id = $2'
    assert.equal((await service.database.pool.query(sql, [id, source.id])).rowCount, 0)
    await caller.addConnectors(id, source)
    const after = await group()
    assert.deepEqual([after?.configured, after?.lastUpdated], [false, 0])
    assert.notEqual(after?.configurationId, before?.configurationId)
    assert.deepEqual(after?.configuration, unconfigured?.configuration)
  })

  test('takes the version of its configuration in If-Match: one that was saved since is not removed', async () => {
    const { id } = await caller.addAccountWithSides()
    const connector = { accountId: id, id: source.id }
    const version = async () => (await caller.call('getConnectorConfiguration', connector)).headers.etag ?? ''
    const remove = (etag = '') => caller.call('removeConnector', { ...connector, headers: { 'if-match': etag } })
    const before = await version()
    await caller.configureSides(id)
    const catalogue = await caller.call('getConnector', connector)
    for (const stale of [before, catalogue.headers.etag]) {
      const { status, error } = await remove(stale)
      assert.deepEqual([status, error], [412, 'precondition_failed'])
    }
    assert.equal((await remove(await version())).status, 200)
    // Added again, it is another one.
    await caller.addConnectors(id, source)
    assert.equal((await remove(before)).error, 'precondition_failed')
  })
})

test('a connector that is not added is distinguished from one that does not exist', async () => {
  const { id: inAccount } = await caller.addAccount()
  const body = { secretConfig: {} }
  for (const [id, status, error] of [
    [reporting.id, 409, 'connector_not_added'],
    [unknownId, 404, 'not_found'],
  ] as const) {
    for (const reply of [
      await caller.call('getConnectorConfiguration', { accountId: inAccount, id }),
      await caller.call('configureConnector', { accountId: inAccount, id, body }),
      await caller.call('removeConnector', { accountId: inAccount, id }),
    ]) {
      assert.deepEqual([reply.status, reply.error], [status, error])
    }
  }
  for (const connector of [audiences, events]) {
    assert.equal((await caller.call('getConnector', { accountId: inAccount, id: connector.id })).status, 200)
  }
})
