import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { type ActiveCampaignServer, activecampaignKey, startActiveCampaign } from '../../test/activecampaign-server.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { assertPreviewed, batchOf, connectorErrorOf, deliverHalving } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { activecampaign } from './activecampaign.ts'

const columns = ['email', 'first_name', 'tags', 'list_ids', 'action', 'fields']
const imports = /bulk_import$/
const address = 'https://acme.api-us1.com/'

await testDestination<ActiveCampaignServer>({
  connector: activecampaign,
  testServer: 'a server that keeps to what is known of ActiveCampaign',
  start: startActiveCampaign,
  routes: (url) => ({ 'https://acme.api-us1.com': url }),
  secrets: { apiUrl: address, apiKey: activecampaignKey },
  wrongSecrets: { apiUrl: address, apiKey: 'another-key' },
  settings: {},
  columns,
  posts: imports,
  accepts: {
    settings: { listId: '2' },
    columns: ['email', 'first_name'],
    rows: Array.from({ length: 12 }, (_, n) => [`${n}@example.com`, `Name ${n}`]),
    badRows: [
      { row: ['', 'Nobody'], reason: /missing/, field: 'email' },
      { row: ['jane@bounced.example', 'Jane'], reason: /did not accept/, field: 'email' },
    ],
    readBack: ({ contacts }) =>
      [...contacts.values()].map(({ email, first_name }) => [String(email), String(first_name)]),
    reset: ({ contacts }) => contacts.clear(),
    problems: [
      [{ status: 429, json: {} }, 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [{ status: 403, json: {} }, 'finds the key revoked', 'reauthenticate'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const row = (email: string): Cell[] => [email, null, null, null, null, null]
    const person = (n: number | string) => row(`${n}@example.com`)

    test('sends a row as ActiveCampaign documents it', async () => {
      const wide = [...columns, 'last_name', 'phone', 'account_name']
      const rows: Cell[][] = [
        ['jane@example.com', 'Jane', 'EU Lead, Spring', '3', 'add', '{"1":"Premium","5":7}', 'Doe', '+353 87', 'Acme'],
        ['joe@example.com', null, '["A, B"]', '3;4', 'remove', '[{"id":9,"value":"x"}]', null, null, null],
        ['ann@example.com', null, null, null, null, null, null, null, null],
      ]
      const settings = { listId: '2', excludeAutomations: true }
      assert.deepEqual(
        (await (await openWriter({ settings, columns: wide })).deliver(batchOf(wide, rows))).rejected,
        [],
      )
      const sent = scene.server.received.find(({ path }) => imports.test(path))
      assert.equal(sent?.path, '/api/3/import/bulk_import')
      assert.deepEqual(sent?.json, {
        contacts: [
          {
            email: 'jane@example.com',
            first_name: 'Jane',
            last_name: 'Doe',
            phone: '+353 87',
            customer_acct_name: 'Acme',
            tags: ['EU Lead', 'Spring'],
            fields: [
              { id: 1, value: 'Premium' },
              { id: 5, value: '7' },
            ],
            subscribe: [{ listid: 3 }],
          },
          {
            email: 'joe@example.com',
            tags: ['A, B'],
            fields: [{ id: 9, value: 'x' }],
            unsubscribe: [{ listid: 3 }, { listid: 4 }],
          },
          { email: 'ann@example.com', subscribe: [{ listid: 2 }] },
        ],
        exclude_automations: true,
      })
    })

    test('rejects before sending what would sink the import', async () => {
      const rows: [Cell[], string][] = [
        [['', null, null, null, null, null], 'email'],
        [['jane@example.com', null, null, 'abc', null, null], 'list_ids'],
        [['jane@example.com', null, null, null, 'remove', null], 'list_ids'],
        [['jane@example.com', null, null, null, 'swap', null], 'action'],
        [['jane@example.com', null, null, null, null, '{"COLOR":"red"}'], 'fields'],
        [['jane@example.com', null, null, null, null, '[7]'], 'fields'],
        [['jane@example.com', null, null, null, null, 'red'], 'fields'],
      ]
      const batch = batchOf(columns, [...rows.map(([one]) => one), person(1)])
      const { rejected = [] } = await (await openWriter()).deliver(batch)
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      await assertPreviewed(activecampaign, contextOf(), batch, rejected)
      for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|red/)
      assert.equal(scene.server.contacts.size, 1)
      // If a row names no list, it leaves the list of the connection.
      const settings = { listId: '2' }
      const left = await (await openWriter({ settings })).deliver(batch)
      assert.equal(left.rejected?.length, rows.length - 1)
      await assertPreviewed(activecampaign, contextOf({ settings }), batch, left.rejected)
      const wrong = await connectorErrorOf(openWriter({ settings: { listId: 'x' } }), contextOf())
      assert.equal(wrong.code, 'invalid_setting')
    })

    test('waits for the result, names the contacts that were not taken, and counts those that were left out', async () => {
      scene.server.importing.asksBeforeDone = 1
      const rows = [
        person(1),
        row('ann@bounced.example'),
        person(2),
        row('joe@excluded.example'),
        row('ann@bounced.example'),
      ]
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
      assert.deepEqual(
        rejected.map(({ index, count, field }) => [index, count, field]),
        [
          [1, undefined, 'email'],
          [4, undefined, 'email'],
          [undefined, 1, undefined],
        ],
      )
      for (const { reason } of rejected) assert.doesNotMatch(reason, /@/)
    })

    test('does not wait longer than the connection says, and tries an import again that failed', async () => {
      scene.server.importing.asksBeforeDone = 1_000
      const settings = { resultWaitSeconds: 0 }
      const writer = await openWriter({ settings })
      assert.deepEqual((await writer.deliver(batchOf(columns, [row('ann@bounced.example')]))).rejected, [])
      scene.server.importing.asksBeforeDone = 0
      scene.server.importing.end = 'failed'
      const error = await connectorErrorOf(writer.deliver(batchOf(columns, [person(1)])), contextOf())
      assert.deepEqual([error.action, error.code], ['retry', 'platform_error'])
    })

    test('finds contacts that sink an import, and an import that is too large, by halving', async () => {
      const rows = [person(1), person(2), row('no address'), person(3)]
      await deliverHalving(await openWriter(), columns, rows)
      assert.equal(scene.server.contacts.size, 3)
      const long = Array.from({ length: 200 }, (_, n): Cell[] => [
        `l${n}@example.com`,
        'x'.repeat(3_000),
        null,
        null,
        null,
        null,
      ])
      await deliverHalving(await openWriter(), columns, long)
      assert.equal(scene.server.contacts.size, 203)
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await scene.largest(person)
      assert.equal(scene.server.contacts.size, rowsMax)
    })

    test('maps ActiveCampaign’s answers to codes', async () => {
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
        [{ status: 429, json: {} }, 'retry', 'rate_limited'],
        [{ status: 400, json: { failureReasons: ['Rate limit exceeded.'] } }, 'retry', 'rate_limited', 60_000],
        [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
        [{ status: 200, text: '<html>Sign in</html>' }, 'retry', 'malformed_response'],
        [{ status: 200, json: { success: 0, batchId: 'b' } }, 'retry', 'malformed_response'],
        [{ status: 200, json: { success: 1, batchId: {} } }, 'retry', 'malformed_response'],
        ['reset', 'retry', 'connection_lost'],
        ['reset after', 'retry', 'connection_lost'],
        [{ status: 400, json: { failureReasons: [{ contact: 1 }] } }, 'split', 'invalid_batch'],
        [{ status: 422, json: { errors: [] } }, 'split', 'invalid_batch'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [{ status: 402, json: {} }, 'reconfigure', 'account_restricted'],
        [{ status: 403, json: {} }, 'reauthenticate', 'invalid_credentials'],
        [{ status: 404, json: {} }, 'reconfigure', 'invalid_address'],
      ]
      const { writer, batch } = await scene.fails(cases, [person(1)])
      scene.server.failure(/info$/, { json: { status: 'completed', success: {}, failure: [[], 7, { a: 1 }] } })
      assert.deepEqual((await writer.deliver(batch)).rejected, [])
      for (const apiUrl of ['activecampaign', `${address}admin`, 'ftp://127.0.0.1/', `${address}?a=b`]) {
        const odd = openWriter({ secrets: { apiUrl, apiKey: activecampaignKey } })
        assert.equal((await connectorErrorOf(odd, { secrets: {} })).code, 'invalid_address')
      }
    })
  },
})
