import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Cell, ErrorAction } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { assertFailure, batchOf, connectorErrorOf, type Failure } from '../../test/platform-server.ts'
import { testDestination } from '../../test/test-destination.ts'
import {
  startYahooAudiences,
  type YahooAudiencesServer,
  yahooAudienceRoutes,
} from '../../test/yahoo-audiences-server.ts'
import { yahooSecrets } from '../../test/yahoo-events-server.ts'
import { yahooDspAudiences } from './yahoo-dsp-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'phone_sha256']
const sha = (text: number | string) => createHash('sha256').update(`${text}`).digest('hex')
const settings = { advertiserId: '1356341' }
const change = /PUT .*customsegments/
const creation = /POST .*customsegments$/
const row = (n: number | string, name: string | null = 'Loyal', id: string | null = null): Cell[] => [
  name,
  id,
  'add',
  sha(n),
  null,
]

await testDestination<YahooAudiencesServer>({
  connector: yahooDspAudiences,
  testServer: 'a server that keeps to Yahoo’s documentation',
  start: startYahooAudiences,
  routes: yahooAudienceRoutes,
  secrets: yahooSecrets,
  wrongSecrets: { ...yahooSecrets, clientId: 'another-client' },
  settings,
  missing: { advertiserId: '2' },
  columns,
  posts: change,
  check: { denied: [{ settings: { advertiserId: '2' } }], needsSettings: true },
  accepts: {
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(n)]),
    badRows: [
      { row: ['Loyal', 'add', ''], reason: /no identifier/ },
      { row: ['Loyal', 'remove', sha(98)], reason: /must be add\.$/, field: 'action' },
    ],
    readBack(server) {
      assert.ok(server.audiences.length < 2, 'a second audience was made')
      return [...(server.audiences[0]?.members ?? [])].map((seed) => ['Loyal', 'add', seed])
    },
    reset(server) {
      server.audiences.length = 0
    },
    problems: [
      [{ status: 429, text: '' }, 'limits calls', 'retry'],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      [{ status: 403, text: '' }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf } = scene

    const members = (at = 0) => [...(scene.server.audiences[at]?.members ?? [])].sort()

    test('makes an audience of its first people, and adds the next ones, as Yahoo documents it', async () => {
      const writer = await openWriter({ settings: { ...settings, retentionDays: '90' } })
      const { state, rejected } = await writer.deliver(batchOf(columns, [row('a'), row('b')]))
      assert.deepEqual(rejected, [])
      assert.deepEqual(state, { account: '1356341', audiences: { Loyal: '50351924' } })
      await writer.deliver(batchOf(columns, [row('c')], 2))
      const sent = scene.server.received.filter(({ method, path }) => method !== 'GET' && path.startsWith('/traffic'))
      const kind = { seedListType: 'EMAIL', seedList: [sha('a'), sha('b')] }
      assert.deepEqual(
        sent.map(({ method, path, json }) => [`${method} ${path}`, json]),
        [
          [
            'POST /traffic/audiences/customsegments',
            { accountId: 1356341, name: 'Loyal', retentionDays: 90, subType: 'EMAIL', ...kind },
          ],
          [
            'PUT /traffic/audiences/customsegments/50351924',
            { accountId: 1356341, seedListType: 'EMAIL', seedList: [sha('c')] },
          ],
        ],
      )
    })

    test('sends the kind of identifiers that the connection chose, or else the first one of the row', async () => {
      const rows: Cell[][] = [
        ['Phones', null, 'add', sha('a'), sha('+1')],
        ['Phones', null, 'add', sha('b'), null],
      ]
      const chosen = await openWriter({ settings: { ...settings, identifierType: 'PHONE_NUMBER' } })
      const { rejected } = await chosen.deliver(batchOf(columns, rows))
      assertRejected(rejected, [[1, 'phone_sha256']])
      assert.deepEqual([scene.server.audiences[0]?.kind, members()], ['PHONE_NUMBER', [sha('+1')]])
      const narrow = ['segment_name', 'action', 'phone_sha256']
      await deliver([['Others', 'add', sha('+2')]], { columns: narrow })
      assert.equal(scene.server.audiences[1]?.kind, 'PHONE_NUMBER')
      const mixed: Cell[][] = [row('a', 'Mixed'), ['Mixed', null, 'add', null, sha('+3')]]
      assert.equal(await codeOf(deliver(mixed)), 'invalid_setting')
      assert.equal(scene.server.audiences.length, 2)
    })

    test('makes no second audience where the answer to making it was lost, and finds one on a later page', async () => {
      scene.server.failure(creation, 'reset after')
      const batch = batchOf(columns, [row(1), row(2)])
      assert.equal((await connectorErrorOf((await openWriter()).deliver(batch), contextOf())).action, 'retry')
      for (let times = 0; times < 2; times++) await (await openWriter()).deliver(batch)
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['Loyal'],
      )
      assert.deepEqual(members(), [sha(1), sha(2)].sort())
      scene.server.audiences[0] = {
        ...(scene.server.audiences[0] as (typeof scene.server.audiences)[0]),
        name: 'Loyal 0',
      }
      for (let n = 1; n <= 120; n++) {
        const name = n === 120 ? 'Loyal' : `Loyal ${n}`
        scene.server.audiences.push({ id: String(n), name, kind: 'EMAIL', retentionDays: 180, members: new Set() })
      }
      await (await openWriter()).deliver(batch)
      assert.equal(scene.server.audiences.length, 121)
      assert.equal(members(120).length, 2)
    })

    test('rejects what cannot be sent, and says what is wrong with the settings', async () => {
      const rows: [Cell[], string][] = [
        [['Loyal', null, 'remove', sha(1), null], 'action'],
        [['Loyal', null, 'add', 'no digest', null], 'email_sha256'],
        [row(1, 'Loyal', 'x1'), 'segment_id'],
      ]
      const writer = await openWriter()
      const { rejected } = await writer.deliver(batchOf(columns, [...rows.map(([one]) => one), row(2)]))
      assert.deepEqual(
        rejected?.map(({ field }) => field),
        rows.map(([, field]) => field),
      )
      assert.equal(await codeOf(openWriter({ settings: { advertiserId: '../1' } })), 'invalid_setting')
      assert.equal(await codeOf(writer.deliver(batchOf(columns, [row(1, null, '404')]))), 'object_not_found')
      const other = await openWriter({ settings: { ...settings, identifierType: 'PHONE_NUMBER' } })
      const phone: Cell[] = ['Loyal', null, 'add', null, sha('+1')]
      assert.equal(await codeOf(other.deliver(batchOf(columns, [phone]))), 'request_refused')
    })

    test('maps Yahoo’s answers to codes, and renews a token that ends between two batches', async () => {
      await deliver([row(0)])
      const cases: [RegExp, Failure, ErrorAction, string, number?][] = [
        [change, { status: 429, headers: { 'retry-after': '7' }, text: '' }, 'retry', 'rate_limited', 7000],
        [change, { status: 429, text: '' }, 'retry', 'rate_limited'],
        [change, { status: 500, text: '' }, 'retry', 'platform_error'],
        [change, { status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        [change, { status: 413, text: '' }, 'split', 'batch_too_large'],
        [change, { status: 403, json: { errors: {} } }, 'reconfigure', 'permission_denied'],
        [change, { status: 200, json: { response: null, errors: { message: 'x' } } }, 'fail', 'request_refused'],
      ]
      const writer = await openWriter()
      const batch = batchOf(columns, [row(1)])
      for (const [match, failure, action, code, afterMs] of cases) {
        const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
        await assertFailure({ server: scene.server, context: contextOf(), match }, writer, batch, failure, wanted)
      }
      const creating = batchOf(columns, [row(1, 'New')])
      const lost = { action: 'retry', code: 'connection_lost' } as const
      await assertFailure(
        { server: scene.server, context: contextOf(), match: creation },
        writer,
        creating,
        'reset',
        lost,
      )
      const unnamed: Failure = { json: { response: {}, errors: null } }
      const malformed = { action: 'retry', code: 'malformed_response' } as const
      await assertFailure(
        { server: scene.server, context: contextOf(), match: creation },
        writer,
        creating,
        unnamed,
        malformed,
      )
      scene.server.expireTokens()
      await writer.deliver(batch)
      assert.deepEqual(members(), [sha(0), sha(1)].sort())
    })
  },
})
