import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { sha256 } from '../../digest.ts'
import { deliverHalving } from '../../platform-server.ts'
import { testDestination } from '../../test-destination.ts'
import { exampleConnector } from './example-connector.ts'
import { type ExampleConnectorServer, startExampleConnector } from './example-connector-server.ts'

const columns = ['segment_name', 'action', 'email_sha256', 'phone_sha256']
const row = (n: number | string, action = 'add', name = 'Loyal'): Cell[] => [
  name,
  action,
  sha256(`${n}@example.com`),
  null,
]
const refused = `99999999${sha256('x').slice(8)}`

await testDestination<ExampleConnectorServer>({
  connector: exampleConnector,
  testServer: 'a server that keeps to the published documentation',
  start: startExampleConnector,
  routes: (url) => ({ 'https://api.example.com': url }),
  secrets: { accessToken: 'the-access-token' },
  wrongSecrets: { accessToken: 'expired' },
  settings: { accountId: '12345' },
  missing: { accountId: '1' },
  columns,
  posts: /members$/,
  check: {
    denied: [{ settings: { accountId: '1' } }],
    unknown: [{ accessToken: 'expired' }],
    left: ({ audiences }) => audiences,
  },
  accepts: {
    columns: columns.slice(0, 3),
    rows: Array.from({ length: 12 }, (_, n) => row(n).slice(0, 3)),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
    ],
    readBack({ audiences }) {
      assert.ok(audiences.length < 2, 'a second audience was made')
      return [...(audiences[0]?.members ?? [])].map((member) => ['Loyal', 'add', JSON.parse(member).email])
    },
    reset({ audiences }) {
      audiences.length = 0
    },
    problems: [
      [{ status: 429, text: '' }, 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 500, text: '' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [{ status: 403, json: {} }, 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { deliver, rejects, fails, largest, openWriter } = scene
    const members = () => scene.server.audiences.map(({ members }) => [...members].sort())
    const person = (n: number | string) => JSON.stringify({ email: sha256(`${n}@example.com`) })

    test('sends rows as the documentation says', async () => {
      await deliver([row(1), ['Loyal', 'add', null, sha256('+1')], row(2, 'add', 'New'), row(3), row(3, 'remove')])
      assert.deepEqual(members(), [[person(1), JSON.stringify({ phone: sha256('+1') })].sort(), [person(2)]])
    })

    test('rejects before sending what cannot be taken', async () => {
      await rejects(
        [
          [row(1, 'swap'), 'action'],
          [['Loyal', 'add', 'jane@example.com', null], 'email_sha256'],
          [['Loyal', 'add', null, null], 'email_sha256'],
        ],
        [row(2)],
      )
    })

    test('finds rows that the platform refuses by halving', async () => {
      await deliverHalving(await openWriter(), columns, [row(1), ['Loyal', 'add', refused, null], row(2)])
      assert.deepEqual(members(), [[person(1), person(2)].sort()])
    })

    test('takes a batch of the largest size', async () => {
      const count = await largest(row)
      assert.equal(members()[0]?.length, count)
    })

    test('maps the answers of the platform to codes', async () => {
      await fails(
        [
          [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
          [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
          ['reset', 'retry', 'connection_lost'],
          [{ status: 400, json: {} }, 'split', 'invalid_batch'],
          [{ status: 401, json: {} }, 'reauthenticate', 'invalid_credentials'],
          [{ status: 404, json: {} }, 'reconfigure', 'object_not_found'],
        ],
        [row(1)],
      )
    })
  },
})
