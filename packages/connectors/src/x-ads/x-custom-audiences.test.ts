import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import { batchOf, deliverHalving } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { refusal, startX, type XServer, xRoutes, xSecrets } from '../../test/x-server.ts'
import { signatureOf } from './oauth1.ts'
import { xCustomAudiences } from './x-custom-audiences.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email', 'handle', 'partner_user_id', 'expires_at']
const settings = { accountId: 'acc1', audienceName: 'Loyal (people) & more!' }
const users = /POST .*\/users$/

test('signs as X and the RFC publish it', () => {
  const parameters = {
    status: 'Hello Ladies + Gentlemen, a signed OAuth request!',
    include_entities: 'true',
    oauth_consumer_key: 'xvz1evFS4wEEPTGEFPHBog',
    oauth_nonce: 'kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: '1318622958',
    oauth_token: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
    oauth_version: '1.0',
  }
  const secrets = {
    consumerSecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
    tokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
  }
  const sign = (url: string) => signatureOf('POST', url, parameters, secrets)
  assert.equal(sign('https://api.twitter.com/1/statuses/update.json'), 'tnnArxj06cWHq44gCs1OSKk/jLY=')
  assert.equal(sign('https://api.twitter.com/1.1/statuses/update.json'), 'hCtSmYh+iHYCEqBWrE7C7hYmtUk=')
})

await testDestination<XServer>({
  connector: xCustomAudiences,
  testServer: 'a server that follows the published documentation of X',
  start: startX,
  routes: xRoutes,
  secrets: xSecrets,
  wrongSecrets: { ...xSecrets, accessTokenSecret: 'another-secret' },
  settings,
  missing: { ...settings, accountId: 'acc2' },
  columns,
  posts: users,
  measures: {
    request: /GET .*custom_audiences\/\w+$/,
    reply: (id) => ({ data: { id, audience_size: 70, targetable: false, reasons_not_targetable: ['TOO_SMALL'] } }),
    measure: { low: 70, high: 70, received: null, matched: null, status: 'TOO_SMALL' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', `00000000${sha256('x').slice(8)}`], reason: /did not accept/ },
    ],
    readBack(server) {
      assert.ok(server.audiences.length < 2, 'a second audience was made')
      return [...(server.audiences[0]?.members ?? [])].map((user) => ['Loyal', 'add', JSON.parse(user).email[0]])
    },
    reset(server) {
      server.audiences.length = 0
    },
    problems: [
      [refusal(429, 'TOO_MANY_REQUESTS'), 'limits calls', 'retry'],
      [refusal(500, 'INTERNAL_ERROR'), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'NO'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { openWriter, deliver, codeOf, fails, largest } = scene

    const person = (n: number | string) => sha256(`${n}@example.com`)
    const row = (n: number | string, action = 'add', name: Cell = null, id: Cell = null): Cell[] => [
      name,
      id,
      action,
      person(n),
      null,
      null,
      null,
    ]
    const members = (at = 0) => [...(scene.server.audiences[at]?.members ?? [])].sort()
    const kept = (...people: (number | string)[]) => people.map((n) => JSON.stringify({ email: [person(n)] })).sort()

    test('sends people as X documents them, and makes the audience once', async () => {
      const rows: Cell[][] = [
        [null, null, 'add', sha256('abc@xyz.com'), '@ABC', 'puid1', '2027-05-15T02:00:00+02:00'],
        [null, null, 'add', null, sha256('xyz'), null, null],
        [null, null, 'remove', sha256('a+1@xyz.com').toUpperCase(), null, null, null],
      ]
      assert.deepEqual((await deliver(rows)).rejected, [])
      const sent = scene.server.received.filter(({ method, path }) => users.test(`${method} ${path}`))
      assert.equal(sent[0]?.path, '/12/accounts/acc1/custom_audiences/aud1/users')
      assert.deepEqual(
        sent.map(({ json }) => json),
        [
          [
            {
              operation_type: 'Update',
              params: {
                expires_at: '2027-05-15T00:00:00Z',
                users: [
                  {
                    email: ['ee278943de84e5d6243578ee1a1057bcce0e50daad9755f45dfa64b60b13bc5d'],
                    handle: [sha256('abc')],
                    partner_user_id: ['puid1'],
                  },
                ],
              },
            },
            { operation_type: 'Update', params: { users: [{ handle: [sha256('xyz')] }] } },
          ],
          [
            {
              operation_type: 'Delete',
              params: { users: [{ email: ['27a1b87036e9b0f43235026e7cb1493f1838b6fe41965ea04486d82e499f8401'] }] },
            },
          ],
        ],
      )
      await deliver([row(1), row(2, 'add', 'B'), row(3, 'add', 'C')])
      await deliver([row(3, 'remove', 'C'), row(4, 'add', 'C')])
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['Loyal (people) & more!', 'B', 'C'],
      )
      assert.deepEqual(members(2), kept(4))
    })

    test('leaves out the people that X names, and sends the rest again', async () => {
      const bad = (digits: string): Cell[] => [
        null,
        null,
        'add',
        `00000000${person(digits).slice(8)}`,
        null,
        null,
        null,
      ]
      const rows = [row(1), bad('a'), row(2), row(1), bad('b'), bad('b')]
      const { rejected = [] } = await deliver(rows)
      assertRejected(rejected, [1, 4, 5])
      assert.match(rejected[0]?.reason ?? '', /INVALID_PARAMETER/)
      assert.deepEqual(members(), kept(1, 2))
    })

    test('names the rows that cannot be sent', async () => {
      scene.server.audiences.push({ id: 'aud9', name: 'Own', created_at: '', members: new Set() })
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'add', null, '../x'), 'segment_id'],
        [[null, null, 'add', 'jane@example.com', null, null, null], 'email'],
        [[null, null, 'add', null, '@x', null, 'tomorrow'], 'expires_at'],
      ]
      const writer = await openWriter({ settings: { ...settings, audienceId: 'aud9' } })
      const { rejected = [] } = await writer.deliver(batchOf(columns, [...rows.map(([one]) => one), row(2)]))
      assertRejected(
        rejected,
        rows.map(([, field], index) => [index, field]),
      )
      assert.deepEqual(members(), kept(2))
      for (const wrong of [{}, { accountId: '1/..' }, { ...settings, audienceId: 'x/y' }]) {
        assert.equal(await codeOf(openWriter({ settings: wrong })), 'invalid_setting')
      }
      const { accessTokenSecret: _, ...three } = xSecrets
      assert.equal(await codeOf(openWriter({ secrets: three })), 'invalid_credentials')
    })

    test('rejects identifiers that cannot exist', async () => {
      const impossible: Readonly<Record<string, readonly string[]>> = {
        handle: ['@', 'jane.doe', 'a_name_of_16_cha', 'jane doe', 'ünal'],
        twitter_id: ['0', '007', '-1', '12.5', 'jane', '9300000000000000000', '99999999999999999999'],
        device_id: ['6d92078a-8246-4ba4-ae5b-76104861e7d', 'unknown-device'],
      }
      const possible: Readonly<Record<string, readonly string[]>> = {
        handle: ['@Jack', 'a', 'a_name_of_15_ch'],
        twitter_id: ['12', '783214', '9223372036854775807'],
        device_id: ['6D92078A-8246-4BA4-AE5B-76104861E7DC', '9774d56d682e549c'],
      }
      for (const column of Object.keys(impossible)) {
        const wrong = impossible[column] ?? []
        const rows = [...wrong, ...(possible[column] ?? [])].map((value): Cell[] => ['Buyers', 'add', value])
        const { rejected = [] } = await (await openWriter()).deliver(batchOf(['segment_name', 'action', column], rows))
        assertRejected(
          rejected,
          wrong.map((_, index) => [index, column]),
        )
      }
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await largest((n) => row(n))
      assert.deepEqual([scene.server.audiences.length, members().length], [1, rowsMax])
    })

    test('maps X’s answers to codes', async () => {
      await deliver([row(0)])
      const cases: FailureCase[] = [
        [{ ...refusal(429, 'TOO_MANY_REQUESTS'), headers: { 'retry-after': '7' } }, 'retry', 'rate_limited', 7000],
        [
          { ...refusal(429, 'TOO_MANY_REQUESTS'), headers: { 'x-rate-limit-reset': '5' } },
          'retry',
          'rate_limited',
          5000,
        ],
        [refusal(429, 'TOO_MANY_REQUESTS'), 'retry', 'rate_limited'],
        [refusal(500, 'INTERNAL_ERROR'), 'retry', 'platform_error'],
        [refusal(503, 'OVER_CAPACITY'), 'retry', 'platform_error'],
        [refusal(423, 'LOCK_ACQUISITION_TIMEOUT'), 'retry', 'conflict'],
        [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        [{ status: 200, json: { data: { success_count: 0, total_count: 1 } } }, 'retry', 'platform_error'],
        [{ status: 200, json: { data: [] } }, 'retry', 'platform_error'],
        ['reset', 'retry', 'connection_lost'],
        ['reset after', 'retry', 'connection_lost'],
        [refusal(400, 'INVALID'), 'split', 'invalid_batch'],
        [{ status: 400, json: { operation_errors: { 0: [] } } }, 'split', 'invalid_batch'],
        [{ status: 400, json: { operation_errors: [[], [{ code: 'A' }]] } }, 'split', 'invalid_batch'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [refusal(403, 'UNAUTHORIZED_CLIENT_APPLICATION'), 'reconfigure', 'permission_denied'],
        [refusal(404, 'ACCOUNT_NOT_FOUND'), 'reconfigure', 'object_not_found'],
        [{ status: 410, text: '' }, 'fail', 'version_retired'],
        [refusal(401, 'UNAUTHORIZED_ACCESS'), 'reauthenticate', 'invalid_credentials'],
      ]
      const { writer } = await fails(cases, [row(1)])
      scene.server.failure(users, refusal(400, 'INVALID'))
      await deliverHalving(writer, columns, [row(1), row(2)])
      assert.deepEqual(members(), kept(0, 1, 2))
    })
  },
})
