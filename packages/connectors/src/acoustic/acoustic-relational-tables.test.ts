import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from '@penstock/connector'
import {
  type AcousticServer,
  acousticRoutes,
  refusal,
  acousticSecrets as secrets,
  startAcoustic,
  tableId,
} from '../../test/acoustic-server.ts'
import { assertRejected } from '../../test/assert-rejected.ts'
import { discover } from '../../test/discover.ts'
import { assertFailure, assertPreviewed, batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import { acousticRelationalTables as connector } from './acoustic-relational-tables.ts'

const columns = ['Record Id', 'Purchase Date', 'Price', 'Opted <in> & "out"']
const settings = { tableId }
const api = /POST \/XMLAPI/

await testDestination<AcousticServer>({
  connector,
  testServer: 'a server that follows the published documentation of Acoustic',
  start: startAcoustic,
  routes: acousticRoutes,
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'another' },
  settings,
  missing: { tableId: '1' },
  columns,
  posts: api,
  accepts: {
    columns: ['Record Id', 'Price'],
    rows: Array.from({ length: 400 }, (_, n): Row => [`r${n}`, String(n)]),
    badRows: [
      { row: ['bad', 'dear'], reason: /Invalid Number/, field: 'Price' },
      { row: ['a\u0001', null], reason: /XML/, field: 'Record Id' },
    ],
    readBack: ({ rows }) => [...rows.values()].map((row): Row => [row['Record Id'] ?? null, row.Price ?? null]),
    reset: ({ rows }) => rows.clear(),
    problems: [[{ status: 403, text: '' }, 'denies access', 'reconfigure']],
  },
  tests(scene) {
    const { contextOf, openWriter } = scene
    const purchase = (id: string, date: string | null = null, price: string | number | null = null): Row => [
      id,
      date,
      price,
      null,
    ]

    test('sends rows as Acoustic documents them, with what is special in XML, in its forms', async () => {
      const rows: Row[] = [
        ['<a & "b">]]>', '2026-01-31', 12.5, true],
        ['c\td', '01/09/1975', null, false],
      ]
      assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
      assert.deepEqual(
        [...scene.server.rows.values()],
        [
          {
            'Record Id': '<a & "b">]]>',
            'Purchase Date': '01/31/2026',
            Price: '12.5',
            'Opted <in> & "out"': 'Yes',
          },
          { 'Record Id': 'c\td', 'Purchase Date': '01/09/1975', 'Opted <in> & "out"': 'No' },
        ],
      )
      const [token, , sent] = scene.server.received
      assert.deepEqual([token?.path, sent?.path], ['/oauth/token', '/XMLAPI'])
      assert.match(
        sent?.text ?? '',
        /^<Envelope><Body><InsertUpdateRelationalTable><TABLE_ID>86767<\/TABLE_ID><ROWS><ROW>/,
      )
    })

    test('rejects the rows that Acoustic names, without its words, and rows that XML cannot have', async () => {
      const rows = Array.from({ length: 250 }, (_, n) => purchase(`r${n}`, null, n))
      rows[3] = [null, null, null, null]
      rows[7] = purchase('r7', 'yesterday')
      rows[120] = purchase('r120', null, 'dear')
      rows[200] = purchase('a\u0000b')
      rows[210] = ['', '2026-01-02', null, null]
      const batch = batchOf(columns, rows)
      const { rejected = [] } = await (await openWriter()).deliver(batch)
      assert.deepEqual(
        rejected.map(({ index, reason, field }) => [index, reason, field]),
        [
          [3, 'The row has no value.', undefined],
          [200, 'The value has characters that XML cannot have.', 'Record Id'],
          [7, 'Acoustic does not accept the value: Invalid Date Value.', 'Purchase Date'],
          [120, 'Acoustic does not accept the value: Invalid Number.', 'Price'],
          [210, 'Acoustic does not accept the row. Check the types of its values, and its key.', undefined],
        ],
      )
      await assertPreviewed(connector, contextOf(), batch, rejected.slice(0, 2))
      assert.deepEqual(scene.server.requests, [100, 100, 48])
      assert.equal(scene.server.rows.size, 245)
    })

    test('sends no key twice in a request, and the last row of a key last, also after a deadlock', async () => {
      scene.server.deadlocks.set('a', 1)
      const rows = [purchase('a', null, 1), purchase('b', null, 2), purchase('a', null, 3)]
      assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
      assert.equal(scene.server.rows.get('a')?.Price, '3')
      assert.deepEqual(scene.server.requests, [2, 1, 1])
      scene.server.deadlocks.set('b', 3)
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, [purchase('b'), purchase('c')], 2))
      assertRejected(rejected, [0])
      assert.match(rejected[0]?.reason ?? '', /3 times, for a temporary reason/)
      assert.ok(scene.server.rows.has('c'))
    })

    test('finds the rows by what Acoustic names of them if the table does not show its key', async () => {
      scene.server.showsKeys = false
      const rows = [purchase('a', null, 'dear'), purchase('b', null, 2)]
      const { rejected = [] } = await (await openWriter()).deliver(batchOf(columns, rows))
      assertRejected(rejected, [[0, 'Price']])
    })

    test('counts a failure that names no row that was sent', async () => {
      const failures = `<FAILURES><FAILURE failure_type="permanent" description="?"><COLUMN name="Record Id">z</COLUMN></FAILURE></FAILURES>`
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [purchase('a')]))
      scene.server.failure(api, {
        text: `<Envelope><Body><RESULT><SUCCESS>false</SUCCESS>${failures}</RESULT></Body></Envelope>`,
      })
      const { rejected = [] } = await writer.deliver(batchOf(columns, [purchase('b')], 2))
      assert.deepEqual(
        rejected.map(({ count }) => count),
        [1],
      )
    })

    test('renews a token that is not accepted any more, whatever way Acoustic says so', async () => {
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [purchase('a')]))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [purchase('b')], 2))
      scene.server.failure(api, refusal('145', 'Session has expired or is invalid'))
      await writer.deliver(batchOf(columns, [purchase('c')], 3))
      assert.deepEqual([...scene.server.rows.keys()], ['a', 'b', 'c'])
    })

    test('means by each answer what the engine has to do', async () => {
      const writer = await openWriter()
      await writer.deliver(batchOf(columns, [purchase('a')]))
      const setting = { server: scene.server, context: contextOf(), match: api }
      const batch = batchOf(columns, [purchase('b')], 2)
      for (const [failure, action, code] of [
        [refusal('160', 'may quote b'), 'split', 'invalid_batch'],
        [{ status: 403, text: '' }, 'reconfigure', 'permission_denied'],
      ] as const) {
        await assertFailure(setting, writer, batch, failure, { action, code })
      }
      for (const [text, code] of [
        ['<html><body>Sorry', 'malformed_response'],
        [refusal('9', 'Max number of concurrent authenticated requests is 10').text ?? '', 'rate_limited'],
      ] as const) {
        for (let time = 0; time < 3; time++) scene.server.failure(api, { text })
        const error = await connectorErrorOf(writer.deliver(batch), contextOf())
        assert.deepEqual([error.action, error.code], ['retry', code])
        scene.server.calm()
      }
    })

    test('says before a transfer which columns are invalid, and refuses them in one', async () => {
      const wrong = { columns: ['record id', 'Price'] }
      const findings = await connector.destination?.deliver?.inspect?.(contextOf(wrong))
      assert.deepEqual(
        findings?.map(({ code, column }) => [code, column]),
        [
          ['columns_do_not_fit', 'record id'],
          ['columns_do_not_fit', undefined],
        ],
      )
      for (const own of [['Record Id', 'price'], ['Price']]) {
        const writer = await openWriter({ columns: own })
        const error = await connectorErrorOf(writer.deliver(batchOf(own, [own.map(() => '1')])), contextOf())
        assert.equal(error.code, 'columns_do_not_fit')
      }
      assert.deepEqual(scene.server.requests, [])
    })

    test('lists the tables of the user, and the columns of one', async () => {
      const asked = { role: 'destination', settings, routes: acousticRoutes(scene.server.url) } as const
      const found = async (key: string) => (await discover(connector, secrets, key, asked)).items
      assert.deepEqual(await found('tableId'), [
        { value: '12', kind: 'table', label: 'Mine' },
        { value: tableId, kind: 'table', label: 'Shop' },
      ])
      assert.deepEqual((await found('columns'))[0], { value: 'Record Id', kind: 'column', key: true, required: true })
    })

    test('takes the number of a pod, and no other place', async () => {
      const check = async (pod: string) => {
        const steps = await connector.check?.(contextOf({ secrets: { ...secrets, pod } }))
        return steps?.map(({ code }) => code ?? 'ok')
      }
      assert.deepEqual(await check(' 1 '), ['ok', 'ok', 'ok'])
      for (const pod of ['us-1.example.com/', 'evil', '']) assert.deepEqual(await check(pod), ['invalid_setting'])
      const writer = openWriter({ settings: { tableId: '1</LIST_ID>' } })
      assert.equal((await connectorErrorOf(writer, contextOf())).code, 'invalid_setting')
    })
  },
})
