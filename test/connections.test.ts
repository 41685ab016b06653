import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { BodyOf, Connection } from '@penstock/wire'
import { contentOf } from './harness/content.ts'
import {
  callerOf,
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSettings,
} from './harness/fixtures.ts'
import { badNames, goodNames } from './harness/names.ts'
import { startTests } from './harness/started.ts'

/** The rules of connections, except their lifecycle and lists (specification, sections 2.8 and 4.4). */

const service = await startTests({ invariants: true })
const caller = callerOf(service, await service.addOrganization())
const accountId = (await caller.addAccountWithSides()).id
await caller.configureSides(accountId)

const unknownId = '0123456789abcdef'
const sides = { srcConnectorId: source.id, destConnectorId: destination.id }
const fieldsOf = ({ details }: { details: { field: string }[] }) => details.map(({ field }) => field).sort()
const create = (body: Partial<BodyOf<'createConnection'>>, inAccount = accountId) =>
  caller.call('createConnection', { accountId: inAccount, body: { name: 'C', ...sides, ...body } })
const read = (id: string) => caller.expect(caller.call('getConnection', { accountId, id }))
const update = (id: string, body: BodyOf<'updateConnection'>) =>
  caller.call('updateConnection', { accountId, id, body })
const configurationIdOf = async (connectorId: string, inAccount = accountId) => {
  const call = caller.call('getConnectorConfiguration', { accountId: inAccount, id: connectorId })
  return (await caller.expect(call)).secretConfig[0]?.configurationId ?? ''
}

/** Fails unless the call is refused so, and changes nothing. */
async function refused(
  call: () => ReturnType<typeof create | typeof update>,
  status: number,
  error: string,
  fields?: string[],
) {
  const content = await contentOf(service)
  const reply = await call()
  assert.deepEqual([reply.status, reply.error], [status, error], reply.text)
  if (fields) assert.deepEqual(fieldsOf(reply), fields.sort())
  assert.equal(await contentOf(service), content)
}

describe('a connection', () => {
  test('begins In-progress, with its sides as they are, and nothing moved', async () => {
    const beforeSeconds = Math.floor(Date.now() / 1000)
    const { status, response } = await create({ name: ' Orders ', srcConnectionConfig: sourceSettings })
    assert.equal(status, 201)
    const { id, createdTime, updatedTime, src, dest, ...rest } = response
    assert.deepEqual(rest, {
      accountId,
      name: 'Orders',
      deleted: false,
      editable: true,
      enabled: true,
      env: 'production',
      status: 'In-progress',
      monthlyVolume: 0,
      totalVolume: 0,
      usedVolume: 0,
    })
    assert(createdTime >= beforeSeconds - 5 && createdTime <= Date.now() / 1000 + 5)
    assert.equal(updatedTime, createdTime)
    assert.deepEqual(src, {
      configured: true,
      connectorId: source.id,
      connectorLogo: 'http://penstock.test/logos/amazon-s3.svg',
      connectorName: 'Amazon S3 Source',
    })
    assert.deepEqual([dest.connectorId, dest.connectorName], [destination.id, 'Snowflake Data Store'])
    assert.deepEqual(await read(id), {
      ...response,
      srcConfigurationId: await configurationIdOf(source.id),
      destConfigurationId: await configurationIdOf(destination.id),
      srcConnectionConfig: sourceSettings,
      destConnectionConfig: {},
    })
    const [listed] = await caller.expect(caller.call('listConnections', { accountId, query: { size: 1 } }))
    assert.deepEqual(listed, response)
  })

  test('shows whether its sides are configured, and follows their changes', async () => {
    const { id: account } = await caller.addAccountWithSides()
    const made = await caller.createConnection(account)
    assert.deepEqual([made.src.configured, made.dest.configured], [false, false])
    await caller.configureSides(account)
    const [now] = await caller.expect(caller.call('listConnections', { accountId: account }))
    assert.deepEqual([now?.src.configured, now?.dest.configured], [true, true])
  })

  test('takes the configurations of its own sides, and no others', async () => {
    const srcConfigurationId = await configurationIdOf(source.id)
    const destConfigurationId = await configurationIdOf(destination.id)
    const { id } = await caller.expect(create({ srcConfigurationId, destConfigurationId }))
    const made = await read(id)
    assert.deepEqual([made.srcConfigurationId, made.destConfigurationId], [srcConfigurationId, destConfigurationId])
    const elsewhere = (await caller.addAccountWithSides()).id
    const foreign = await configurationIdOf(source.id, elsewhere)
    for (const [body, fields] of [
      [{ srcConfigurationId: destConfigurationId }, ['body.srcConfigurationId']],
      [{ srcConfigurationId: foreign }, ['body.srcConfigurationId']],
      [{ destConfigurationId: unknownId }, ['body.destConfigurationId']],
      [
        { srcConfigurationId: destConfigurationId, destConfigurationId: srcConfigurationId },
        ['body.destConfigurationId', 'body.srcConfigurationId'],
      ],
    ] as const) {
      await refused(() => create(body), 404, 'not_found', [...fields])
    }
  })

  test('needs both its sides to be added', async () => {
    const { id: empty } = await caller.addAccount()
    const both = ['body.destConnectorId', 'body.srcConnectorId']
    await refused(() => create({}, empty), 409, 'connector_not_added', both)
    await caller.addConnectors(empty, destination)
    await refused(() => create({}, empty), 409, 'connector_not_added', ['body.srcConnectorId'])
    await refused(() => create({ srcConnectorId: unknownId }), 404, 'not_found', ['body.srcConnectorId'])
    await refused(() => create({ destConnectorId: unknownId }), 404, 'not_found', ['body.destConnectorId'])
  })

  test('takes settings that its connectors know, and lists all that are wrong at once', async () => {
    const { id } = await caller.expect(create({}))
    const wrong = {
      srcConnectionConfig: { bucketUri: 7, accessKeyId: 'A', unheardOf: 'x' },
      destConnectionConfig: { writeMode: 'append', table: ' ', database: ['D'], schema: 'S' },
    }
    const fields = [
      'body.destConnectionConfig.database',
      'body.destConnectionConfig.table',
      'body.destConnectionConfig.writeMode',
      'body.srcConnectionConfig.accessKeyId',
      'body.srcConnectionConfig.bucketUri',
      'body.srcConnectionConfig.unheardOf',
    ]
    await refused(() => create(wrong), 400, 'invalid_request', fields)
    await refused(() => update(id, wrong), 400, 'invalid_request', fields)
    const { id: partial } = await caller.expect(create({ destConnectionConfig: { table: 'T', writeMode: null } }))
    assert.deepEqual((await read(partial)).destConnectionConfig, { table: 'T' })
  })

  test('refuses an invalid mapping when it is created or updated, and names the place', async () => {
    const [folder, audiences] = [connectorBySlug('local-folder'), connectorBySlug('meta-custom-audiences')]
    await caller.addConnectors(accountId, folder, audiences)
    const field = 'body.destConnectionConfig.mapping'
    const wrong: [text: string, ofRecords: boolean, at: string, message: RegExp][] = [
      ['{"a": "b",}', false, field, /^is not JSON at line 1, column 11: write an object/],
      ['["a"]', false, field, /^must be a JSON object/],
      ['{"a": ["b"]}', false, `${field}.a`, /^must be the name of a column, null/],
      ['{"a": {"value": 1}}', false, `${field}.a`, /^value must be a text/],
      ['{"a": {"column": "b", "normalise": "shout"}}', false, `${field}.a`, /^normalise must be one of email/],
      ['{"a": {"column": "b", "hash": "rot13"}}', false, `${field}.a`, /^hash must be one of sha256/],
      ['{"a": {"column": "b", "case": "upper"}}', false, `${field}.a`, /^case is unknown/],
      ['{"a": "b", "c": "d", "a": "e"}', false, `${field}.a`, /^is mapped twice/],
      ['{"unknown": "b"}', true, `${field}.unknown`, /^is not a field of the destination; its fields are /],
      ['{"maid": {"column": "b", "hash": "sha256"}}', true, `${field}.maid`, /^defines its own format/],
    ]
    const made = {
      any: await caller.expect(create({ srcConnectorId: folder.id, destConnectorId: folder.id })),
      records: await caller.expect(create({ srcConnectorId: folder.id, destConnectorId: audiences.id })),
    }
    for (const [mapping, ofRecords, at, message] of wrong) {
      const { id, dest } = made[ofRecords ? 'records' : 'any']
      const body = { destConnectionConfig: { mapping } }
      for (const call of [
        () => create({ ...body, srcConnectorId: folder.id, destConnectorId: dest.connectorId }),
        () => update(id, body),
      ]) {
        await refused(call, 400, 'invalid_request', [at])
        assert.match((await call()).details[0]?.message ?? '', message)
      }
    }
    const mapping =
      '{"unknown": {"column": "b", "normalise": "email", "hash": "sha256"}, "c": null, "d": {"value": ""}}'
    await caller.expect(update(made.any.id, { destConnectionConfig: { mapping } }))
    await caller.expect(update(made.records.id, { destConnectionConfig: { mapping: '{"maid": "Device"}' } }))
  })

  test('refuses a default country that is none', async () => {
    const [folder, audiences] = [connectorBySlug('local-folder'), connectorBySlug('meta-custom-audiences')]
    await caller.addConnectors(accountId, folder, audiences)
    const ids = { srcConnectorId: folder.id, destConnectorId: audiences.id }
    const field = 'body.destConnectionConfig.defaultCountry'
    const made = await caller.expect(create(ids))
    for (const defaultCountry of ['Atlantis', 'XX', '1']) {
      const body = { destConnectionConfig: { defaultCountry } }
      await refused(() => create({ ...ids, ...body }), 400, 'invalid_request', [field])
      await refused(() => update(made.id, body), 400, 'invalid_request', [field])
    }
    for (const defaultCountry of ['US', 'deu', 'Brazil', '']) {
      await caller.expect(update(made.id, { destConnectionConfig: { defaultCountry } }))
    }
  })

  test('keeps settings of every kind as they are meant', async () => {
    const snowflake = connectorBySlug('snowflake-source')
    const meta = connectorBySlug('meta-custom-audiences')
    await caller.addConnectors(accountId, snowflake, meta)
    const { id } = await caller.expect(
      create({
        srcConnectorId: snowflake.id,
        destConnectorId: meta.id,
        srcConnectionConfig: { dataSourceType: 'SQL Query', sqlQuery: "select 'ü😀'\n  -- kept", syncFrequency: '15' },
        destConnectionConfig: { advertiserId: ' 42 ', replaceExistingAudience: 'false' },
      }),
    )
    const { srcConnectionConfig, destConnectionConfig } = await read(id)
    assert.deepEqual(srcConnectionConfig, {
      dataSourceType: 'SQL Query',
      sqlQuery: "select 'ü😀'\n  -- kept",
      syncFrequency: 15,
    })
    assert.deepEqual(destConnectionConfig, { advertiserId: ' 42 ', replaceExistingAudience: false })
    const readonly = { markerPosition: '7' }
    await refused(() => update(id, { srcConnectionConfig: readonly }), 400, 'invalid_request', [
      'body.srcConnectionConfig.markerPosition',
    ])
  })

  test('takes names of 1 to 200 characters, trimmed, without control characters', async () => {
    const { id } = await caller.expect(create({}))
    for (const { sent, kept, why } of goodNames) {
      assert.equal((await caller.expect(create({ name: sent }))).name, kept, why)
      assert.equal((await caller.expect(update(id, { name: sent }))).name, kept, why)
    }
    for (const { sent, why } of badNames) {
      for (const reply of [await create({ name: sent as string }), await update(id, { name: sent as string })]) {
        assert.deepEqual([reply.status, reply.error, fieldsOf(reply)], [400, 'invalid_request', ['body.name']], why)
      }
    }
  })

  test('is refused with all errors at once', async () => {
    const body = {
      name: '',
      srcConnectorId: 'x',
      destConfigurationId: 7,
      srcConnectionConfig: [],
      status: 'active',
    } as never
    const reply = await caller.call('createConnection', { accountId, body })
    assert.deepEqual(
      [reply.status, fieldsOf(reply)],
      [
        400,
        [
          'body.destConfigurationId',
          'body.destConnectorId',
          'body.name',
          'body.srcConnectionConfig',
          'body.srcConnectorId',
          'body.status',
        ],
      ],
    )
    const without = await caller.call('createConnection', { body })
    assert.deepEqual(
      [without.error, fieldsOf(without)],
      ['account_required', [...fieldsOf(reply), 'query.accountId'].sort()],
    )
    const action = { action: 'Activate', force: true } as never
    const status = await caller.call('updateConnectionStatus', { accountId, id: unknownId, body: action })
    assert.deepEqual([status.status, fieldsOf(status)], [400, ['body.action', 'body.force']])
  })
})

describe('an update', () => {
  let connection: Connection
  before(async () => {
    connection = await caller.createConnection(accountId)
  })

  test('changes what it names, replaces settings as a whole, and answers the connection’s four fields', async () => {
    const { id } = await caller.createConnection(accountId, 'Old')
    const name = 'New'
    const all = { id, srcConnectionConfig: sourceSettings, destConnectionConfig: destinationSettings }
    assert.deepEqual(await caller.expect(update(id, { id, name })), { ...all, name })
    const destConnectionConfig = { table: 'Other', writeMode: 'Replace' }
    assert.deepEqual(await caller.expect(update(id, { destConnectionConfig })), { ...all, name, destConnectionConfig })
    assert.deepEqual(await caller.expect(update(id, { srcConnectionConfig: {} })), {
      ...all,
      name,
      srcConnectionConfig: {},
      destConnectionConfig,
    })
    const { srcConnectionConfig, destConnectionConfig: dest, status } = await read(id)
    assert.deepEqual([srcConnectionConfig, dest, status], [{}, destConnectionConfig, 'In-progress'])
  })

  test('that says nothing new changes nothing', async () => {
    const { id } = connection
    const age = `update connections set updated_time = now() - interval '1 hour' where id = $1`
    await service.database.pool.query(age, [id])
    const was = await caller.call('getConnection', { accountId, id })
    const { name, srcConnectionConfig, destConnectionConfig } = was.response
    for (const body of [{}, { id, name, srcConnectionConfig, destConnectionConfig, ...sides }]) {
      const reply = await update(id, body)
      assert.deepEqual([reply.status, reply.headers.etag], [200, was.headers.etag])
    }
    assert.equal((await caller.call('getConnection', { accountId, id })).text, was.text)
    await caller.expect(update(id, { name: `${name}!` }))
    assert((await read(id)).updatedTime > was.response.updatedTime)
  })

  test('never changes a side', async () => {
    const { id } = connection
    const other = connectorBySlug('snowflake-source').id
    for (const [body, fields] of [
      [{ srcConnectorId: other }, ['body.srcConnectorId']],
      [{ destConnectorId: unknownId, name: 'N' }, ['body.destConnectorId']],
      [{ srcConnectorId: destination.id, destConnectorId: source.id }, ['body.destConnectorId', 'body.srcConnectorId']],
    ] as const) {
      await refused(() => update(id, body), 422, 'connector_immutable', [...fields])
    }
  })

  test('names no other connection in its body', async () => {
    await refused(() => update(connection.id, { id: unknownId, name: 'N' }), 400, 'invalid_request', ['body.id'])
  })

  test('leaves an active connection complete, and lists all that it would lack', async () => {
    const { id } = await caller.createConnection(accountId)
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    const body = { name: 'N', srcConnectionConfig: {}, destConnectionConfig: { table: 'T', writeMode: 'Append' } }
    await refused(() => update(id, body), 409, 'connection_not_ready', [
      'destConnectionConfig.database',
      'destConnectionConfig.schema',
      'destConnectionConfig.warehouse',
      'srcConnectionConfig.bucketUri',
    ])
    assert.equal((await caller.expect(update(id, { name: 'N' }))).name, 'N')
  })
})
