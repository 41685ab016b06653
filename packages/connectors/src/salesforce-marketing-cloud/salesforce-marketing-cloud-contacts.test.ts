import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import {
  type MarketingCloudServer,
  marketingCloudRoutes,
  marketingCloudSecrets as secrets,
  startMarketingCloud,
} from '../../test/marketing-cloud-server.ts'
import { assertFailure, assertPreviewed, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { salesforceMarketingCloudContacts } from './salesforce-marketing-cloud-contacts.ts'

const columns = ['contact_key', 'email', 'html_enabled', 'attributes']
const establishes = /^POST .*\/establish$/
const changes = /^PATCH .*\/contacts$/

await testDestination<MarketingCloudServer>({
  connector: salesforceMarketingCloudContacts,
  testServer: 'a server that keeps to Salesforce’s published documentation',
  start: startMarketingCloud,
  routes: marketingCloudRoutes,
  secrets,
  wrongSecrets: { ...secrets, clientSecret: 'another-secret' },
  settings: {},
  columns,
  posts: changes,
  accepts: {
    columns: ['contact_key', 'email'],
    rows: Array.from({ length: 12 }, (_, n) => [`c-${n}`, `${n}@example.com`]),
    badRows: [
      { row: [null, 'jane@example.com'], reason: /missing/, field: 'contact_key' },
      { row: ['bad-1', 'jane@example.com'], reason: /did not create/, field: 'contact_key' },
    ],
    readBack: ({ contacts }) => [...contacts].map(([key, { 'Email Address': email }]) => [key, String(email)]),
    reset: ({ contacts }) => contacts.clear(),
    problems: [
      [{ status: 429, headers: { 'retry-after': '30' }, json: {} }, 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 403, json: {} }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const sent = (match: RegExp) => scene.server.received.filter(({ method, path }) => match.test(`${method} ${path}`))
    const names = (more: object) => JSON.stringify({ 'Email Demographics': more })

    test('creates contacts in one request, and sets the attributes of each', async () => {
      const rows: Cell[][] = [
        ['0042', 'jane@example.com', 'yes', names({ 'First Name': 'Jane', Points: 5 })],
        ['0043', null, null, null],
        ['0042', 'jane@example.org', null, null],
      ]
      assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
      assert.deepEqual(
        sent(establishes).map(({ json }) => json),
        [{ contactKeys: ['0042', '0043'], returnResults: true, correlateResponseItem: true }],
      )
      assert.deepEqual(sent(changes)[0]?.json, {
        contactKey: '0042',
        attributeSets: [
          {
            name: 'Email Demographics',
            items: [
              {
                values: [
                  { name: 'First Name', value: 'Jane' },
                  { name: 'Points', value: 5 },
                ],
              },
            ],
          },
          {
            name: 'Email Addresses',
            items: [
              {
                values: [
                  { name: 'Email Address', value: 'jane@example.com' },
                  { name: 'HTML Enabled', value: true },
                ],
              },
            ],
          },
        ],
      })
      assert.deepEqual(
        [...scene.server.contacts],
        [
          ['0042', { 'First Name': 'Jane', Points: 5, 'Email Address': 'jane@example.org', 'HTML Enabled': true }],
          ['0043', {}],
        ],
      )
    })

    test('rejects the rows that Marketing Cloud does not take, with its codes', async () => {
      const rows: Cell[][] = [
        ['bad-1', 'a@example.com', null, null],
        ['c-2', null, null, JSON.stringify({ Unknown: { a: 1 } })],
        ['c-3', 'c@example.com', null, null],
      ]
      const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(
        rejected?.map(({ index, field, reason }) => [index, field, /UnknownSchema|did not create/.test(reason)]),
        [
          [0, 'contact_key', true],
          [1, 'attributes', true],
        ],
      )
      scene.server.failure(changes, { status: 400, json: { errorcode: 10001, message: 'may quote' } })
      const refused = await (await openWriter()).deliver(batchOf(columns, [rows[2] ?? []]))
      assert.match(refused.rejected?.[0]?.reason ?? '', /\(10001\)/)
    })

    test('rejects before sending what cannot be taken, as a preview does', async () => {
      const rows: Cell[][] = [
        [null, 'a@example.com', null, null],
        ['c-1', null, 'perhaps', null],
        ['c-1', null, null, 'Gold'],
        ['c-1', null, null, '{"Email Demographics":"Jane"}'],
        ['c-1', null, null, '{"Email Demographics":[{"a":{}}]}'],
      ]
      const { rejected } = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        ['contact_key', 'html_enabled', 'attributes', 'attributes', 'attributes'],
      )
      await assertPreviewed(salesforceMarketingCloudContacts, contextOf(), batchOf(columns, rows), rejected)
      assert.deepEqual(sent(establishes), [])
    })

    test('has contacts deleted by their keys in one request', async () => {
      const deleting = { settings: { operation: 'delete' } }
      for (const key of ['c-1', 'c-2', 'c-3']) scene.server.contacts.set(key, {})
      const writer = await openWriter(deleting)
      const rows: Cell[][] = ['c-1', 'c-2', 'c-1', null].map((key) => [key, null, null, null])
      const { rejected } = await writer.deliver(batchOf(columns, rows))
      assertRejected(rejected, [3])
      assert.deepEqual([...scene.server.contacts.keys()], ['c-3'])
      const deletes = /actions\/delete$/
      assert.deepEqual(sent(deletes)[0]?.json, {
        values: ['c-1', 'c-2'],
        deleteOperationType: 'ContactAndAttributes',
      })
      scene.server.failure(deletes, { json: { operationInitiated: false, hasErrors: true } })
      const error = await connectorErrorOf(writer.deliver(batchOf(columns, rows)), contextOf())
      assert.match(`${error.code} ${error.message}`, /^request_refused .*Contact Delete/)
    })

    test('maps the answers of Marketing Cloud to codes, and renews a token that ended', async () => {
      const cases: [RegExp, Failure, ErrorAction, string, number?][] = [
        [establishes, { status: 429, headers: { 'retry-after': '70' }, json: {} }, 'retry', 'rate_limited', 70_000],
        [establishes, { status: 400, json: { errorcode: 10001 } }, 'split', 'invalid_batch'],
        [establishes, { status: 403, json: {} }, 'reconfigure', 'permission_denied'],
        [establishes, { json: {} }, 'retry', 'malformed_response'],
        [changes, { json: {} }, 'retry', 'malformed_response'],
        [changes, { status: 403, json: {} }, 'reconfigure', 'permission_denied'],
      ]
      const writer = await openWriter()
      const batch = batchOf(columns, [['c-1', 'a@example.com', null, null]])
      for (const [match, failure, action, code, afterMs] of cases) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        await assertFailure({ server: scene.server, context: contextOf(), match }, writer, batch, failure, wanted)
      }
      for (const failure of [{ status: 429 }, { status: 500 }, 'reset', 'reset after'] as const) {
        scene.server.failure(changes, failure)
        assert.deepEqual((await writer.deliver(batch)).rejected, [])
      }
      scene.server.expireTokens()
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
    })
  },
})
