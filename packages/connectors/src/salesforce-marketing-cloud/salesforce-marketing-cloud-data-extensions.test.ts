import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import {
  type MarketingCloudServer,
  marketingCloudRoutes,
  people,
  marketingCloudSecrets as secrets,
  startMarketingCloud,
  subdomain,
} from '../../test/marketing-cloud-server.ts'
import { assertPreviewed, batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { salesforceMarketingCloudDataExtensions as connector } from './salesforce-marketing-cloud-data-extensions.ts'

const columns = ['Email', 'First Name', 'Age']
const settings = { operationType: 'Add Data', apiType: 'Upsert', subdomain, dataExtensionKey: 'People 1' }
const rowsPath = /dataextensions\/key:[^/]+\/rows$/
const extensionOf = (key = 'People 1') => ({
  id: 'id-p',
  key,
  name: `${key} of ours`,
  categoryId: 7,
  columns: people,
  rows: [],
})

await testDestination<MarketingCloudServer>({
  connector,
  testServer: 'a server that follows the published documentation of Marketing Cloud',
  start: async () => {
    const server = await startMarketingCloud()
    server.extensions.push({ ...extensionOf('People 12'), id: 'id-o' }, extensionOf())
    return server
  },
  routes: marketingCloudRoutes,
  secrets,
  wrongSecrets: { ...secrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, dataExtensionKey: 'Nobody' },
  columns,
  posts: rowsPath,
  accepts: {
    columns: ['Email', 'First Name'],
    rows: Array.from({ length: 12 }, (_, n) => [`${n}@example.com`, `Name ${n}`]),
    badRows: [
      { row: [null, 'Nobody'], reason: /did not accept/ },
      { row: [null, null], reason: /no value/ },
    ],
    readBack: ({ extensions }) =>
      (extensions.find(({ key }) => key === 'People 1')?.rows ?? []).map((row) => [
        String(row.Email),
        String(row['First Name']),
      ]),
    reset: ({ extensions }) => extensions.splice(0, extensions.length, extensionOf()),
    problems: [
      [{ status: 429, json: {} }, 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      [{ status: 403, json: {} }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const person = (n: number | string, name: Cell = null, age: Cell = null): Cell[] => [`${n}@example.com`, name, age]
    const stored = (key = 'People 1') => scene.server.extensions.find((one) => one.key === key)?.rows ?? []
    const sent = () => scene.server.received.filter(({ path }) => rowsPath.test(path))

    test('sends rows as Marketing Cloud documents them', async () => {
      const rows = [person('jane', 'Jane', 31), person('joe', '', null)]
      assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
      const inserting = await openWriter({ settings: { ...settings, apiType: 'Insert' } })
      assert.deepEqual((await inserting.deliver(batchOf(columns, [person('ann', true)], 2))).rejected, [])
      assert.deepEqual(
        sent().map(({ method, path, json }) => [`${method} ${path}`, json]),
        [
          [
            'PUT /data/v1/async/dataextensions/key:People%201/rows',
            {
              items: [
                { Email: 'jane@example.com', 'First Name': 'Jane', Age: 31 },
                { Email: 'joe@example.com', 'First Name': '' },
              ],
            },
          ],
          [
            'POST /data/v1/async/dataextensions/key:People%201/rows',
            { items: [{ Email: 'ann@example.com', 'First Name': true }] },
          ],
        ],
      )
      const [token] = scene.server.received
      assert.equal(token?.path, '/v2/token')
      assert.deepEqual(Object.fromEntries(new URLSearchParams(token.text)), {
        grant_type: 'client_credentials',
        client_id: 'mc-client',
        client_secret: 'mc-client-secret',
      })
    })

    test('names the rows that were not taken, by their places, over several pages', async () => {
      const rows = Array.from({ length: 6_000 }, (_, n) => person(n, null, n % 1_999 === 7 ? 'antique' : n))
      rows[3] = [null, null, null]
      const batch = batchOf(columns, rows)
      const { rejected = [] } = await (await openWriter()).deliver(batch)
      assertRejected(rejected, [3, 7, 2_006, 4_005])
      // Only Marketing Cloud knows the types of its columns.
      await assertPreviewed(connector, contextOf(), batch, rejected.slice(0, 1))
      for (const { reason } of rejected) assert.doesNotMatch(reason, /antique|example/)
      assert.match(rejected[1]?.reason ?? '', /UnexpectedError/)
      assert.equal(stored().length, 5_996)
    })

    test('says only how many where it is not said which', async () => {
      scene.server.processing.shows = 'errors'
      const rows = [person(1), person(2, null, 'antique'), person(3)]
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(
        rejected.map(({ index, count }) => [index, count]),
        [[undefined, 1]],
      )
    })

    test('refuses keys that are there where rows are inserted', async () => {
      const writer = await openWriter({ settings: { ...settings, apiType: 'Insert' } })
      await writer.deliver(batchOf(columns, [person(1)]))
      const { rejected = [] } = await writer.deliver(batchOf(columns, [person(1), person(2)], 2))
      assertRejected(rejected, [0])
      assert.match(rejected[0]?.reason ?? '', /choose Upsert/)
    })

    test('sends rows again that met others, and names those that always do', async () => {
      scene.server.processing.locks = 1
      const writer = await openWriter()
      assert.deepEqual((await writer.deliver(batchOf(columns, [person(1), person(2, 'Locked')]))).rejected, [])
      assert.deepEqual(sent()[1]?.json, { items: [{ Email: '2@example.com', 'First Name': 'Locked' }] })
      scene.server.processing.locks = 9
      const { rejected = [] } = await writer.deliver(batchOf(columns, [person(3), person(4, 'Locked')], 2))
      assertRejected(rejected, [1])
    })

    test('waits for results within a bound, and does not send rows again that are being processed', async () => {
      scene.server.processing.asksBeforeDone = 1
      const writer = await openWriter({ settings: { ...settings, resultWaitSeconds: 0 } })
      const batch = batchOf(columns, [person(1), person(2, null, 'antique')])
      const error = await connectorErrorOf(writer.deliver(batch), contextOf())
      assert.deepEqual([error.action, error.code], ['retry', 'timeout'])
      const { rejected = [] } = await writer.deliver(batch)
      assertRejected(rejected, [1])
      assert.equal(sent().length, 1)
      scene.server.processing.end = 'Error'
      scene.server.processing.asksBeforeDone = 0
      const failed = writer.deliver(batchOf(columns, [person(3), person(4, null, 'antique')], 2))
      assert.equal((await connectorErrorOf(failed, contextOf())).code, 'platform_error')
    })

    test('finds rows that sink a request by halving', async () => {
      const rows = [person(1), person('sinks'), person(2), person(3)]
      await deliverHalving(await openWriter(), columns, rows)
      assert.equal(stored().length, 3)
    })

    test('leaves no row twice where the connection breaks off', async () => {
      for (const apiType of ['Upsert', 'Insert']) {
        const writer = await openWriter({ settings: { ...settings, apiType } })
        const batch = batchOf(columns, [person(apiType)])
        scene.server.failure(rowsPath, 'reset after')
        const first = await writer.deliver(batch).catch(({ code }) => code)
        // The client repeats requests that change nothing when they arrive twice.
        if (apiType === 'Insert') assert.equal(first, 'connection_lost')
        await writer.deliver(batch)
      }
      assert.deepEqual(
        stored().map(({ Email }) => Email),
        ['Upsert@example.com', 'Insert@example.com'],
      )
    })

    test('renews a token that ends between two batches', async () => {
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [person(1)]))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [person(2)], 2))
      assert.equal(stored().length, 2)
    })

    test('makes a data extension once, changes it, and deletes it', async () => {
      const schemaJson = '[{"name":"Email","type":"EmailAddress","isPrimaryKey":true,"isNullable":false}]'
      const create = { operationType: 'Create', subdomain, dataExtensionName: 'New', categoryId: '7', schemaJson }
      const made = /POST .*customobjects$/
      scene.server.failure(made, 'reset after')
      const error = await connectorErrorOf(
        (await openWriter({ settings: create })).deliver(batchOf(['Email'], [['a@example.com']])),
        { secrets: { clientSecret: secrets.clientSecret } },
      )
      assert.equal(error.action, 'retry')
      for (const email of ['a@example.com', 'b@example.com']) {
        await (await openWriter({ settings: create })).deliver(batchOf(['Email'], [[email]]))
      }
      assert.deepEqual(stored('KEY-3'), [{ Email: 'a@example.com' }, { Email: 'b@example.com' }])
      const requests = scene.server.received.filter(({ method, path }) => made.test(`${method} ${path}`))
      assert.deepEqual(
        requests.map(({ json }) => json),
        [
          {
            name: 'New',
            categoryId: 7,
            isSendable: false,
            fields: [
              {
                name: 'Email',
                type: 'EmailAddress',
                isPrimaryKey: true,
                isNullable: false,
                ordinal: 0,
                isTemplateField: false,
                isHidden: false,
                isReadOnly: false,
                isInheritable: false,
                isOverridable: false,
                mustOverride: false,
              },
            ],
          },
        ],
      )
      const update = { ...settings, operationType: 'Update', dataExtensionName: 'Renamed', categoryId: '7' }
      await (await openWriter({ settings: update })).deliver(batchOf(columns, [person(1)]))
      assert.deepEqual([scene.server.extensions[1]?.name, stored().length], ['Renamed', 1])
      const remove = { ...settings, operationType: 'Delete' }
      const batch = batchOf(columns, [person(1), [null, null, null]])
      for (let times = 0; times < 2; times++) {
        const { rejected = [] } = await (await openWriter({ settings: remove })).deliver(batch)
        await assertPreviewed(connector, contextOf({ settings: remove }), batch, rejected)
      }
      assert.deepEqual(
        scene.server.extensions.map(({ key }) => key),
        ['People 12', 'KEY-3'],
      )
      assert.ok(connector.destination?.deliver?.inspect)
      assert.deepEqual(await connector.destination.deliver.inspect(contextOf({ settings: create })), [])
      for (const wrong of [
        { ...create, schemaJson: '[]' },
        { ...create, categoryId: 'x' },
        { ...update, schemaJson },
        { ...settings, dataExtensionKey: '' },
        { ...settings, subdomain: 'evil.example.com/x' },
      ]) {
        assert.equal((await connectorErrorOf(openWriter({ settings: wrong }), contextOf())).code, 'invalid_setting')
      }
      // The client secret goes to the tenant that the connector names, and to no other one.
      const bound = contextOf({ secrets: { ...contextOf().secrets, subdomain }, settings })
      await assert.doesNotReject(async () => connector.destination?.deliver?.open(bound))
      const moved = contextOf({ secrets: { ...contextOf().secrets, subdomain: 'another-tenant' }, settings })
      const refused = await connectorErrorOf(Promise.resolve(connector.destination.deliver.open(moved)), moved)
      assert.deepEqual([refused.code, /the client secret goes/.test(refused.message)], ['invalid_setting', true])
      const elsewhere = (
        await openWriter({ settings: { ...create, dataExtensionName: 'Other', categoryId: '8' } })
      ).deliver(batchOf(['Email'], [['a@example.com']]))
      assert.equal((await connectorErrorOf(elsewhere, contextOf())).code, 'invalid_setting')
    })

    test('finds columns that the data extension does not have, and those that it needs', async () => {
      const { inspect } = connector.destination?.deliver ?? {}
      assert.ok(inspect)
      const findings = await inspect(contextOf({ columns: ['email', 'Age'] }))
      assert.deepEqual(
        findings.map(({ code, column }) => [code, column]),
        [
          ['columns_do_not_fit', 'email'],
          ['columns_do_not_fit', undefined],
        ],
      )
    })

    test('maps Marketing Cloud’s answers to codes', async () => {
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '7' }, json: { errorcode: 50100 } }, 'retry', 'rate_limited', 7000],
        [{ status: 429, json: { errorcode: 50200 } }, 'retry', 'rate_limited'],
        [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
        [{ status: 400, json: { message: 'Unable to save rows', errorcode: 10006 } }, 'retry', 'platform_error'],
        [{ status: 202, text: '<html>' }, 'retry', 'malformed_response'],
        [{ status: 202, json: { requestId: '../x' } }, 'retry', 'malformed_response'],
        [{ status: 400, json: { errorcode: 10006, additionalErrors: [{}] } }, 'split', 'invalid_batch'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [{ status: 403, json: {} }, 'reconfigure', 'permission_denied'],
      ]
      const { batch } = await scene.fails(cases, [person(1)])
      const missing = (await openWriter({ settings: { ...settings, dataExtensionKey: 'Nobody' } })).deliver(batch)
      assert.equal((await connectorErrorOf(missing, contextOf())).code, 'object_not_found')
      for (const json of [[], { status: 'Complete' }, { status: { requestStatus: 'Complete', resultStatus: 7 } }]) {
        scene.server.failure(/status$/, { json })
        scene.server.failure(/results$/, { json: { items: [{}, {}, { status: 'OK' }], count: 'x' } })
        const odd = await openWriter({ settings: { ...settings, resultWaitSeconds: 0 } })
        await odd.deliver(batch).catch((error) => assert.match(String(error.code), /timeout|malformed_response/))
        scene.server.calm()
      }
    })
  },
})
