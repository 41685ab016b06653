import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Cell } from '@penstock/connector'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import {
  type LinkedInServer,
  linkedinRoutes,
  linkedinSecrets,
  refusal,
  startLinkedIn,
} from '../../test/linkedin-server.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { linkedinDmpSegments } from './linkedin-dmp-segments.ts'

const columns = ['segment_id', 'segment_name', 'action', 'email', 'userIds']
const users = /\/users$/
const settings = { adAccountId: '500', sourcePlatform: 'PENSTOCK_TEST' }

await testDestination<LinkedInServer>({
  connector: linkedinDmpSegments,
  testServer: 'a server that keeps to what is known of LinkedIn',
  start: startLinkedIn,
  routes: linkedinRoutes,
  secrets: linkedinSecrets,
  wrongSecrets: { ...linkedinSecrets, clientSecret: 'another-secret' },
  settings,
  missing: { ...settings, adAccountId: '501' },
  columns,
  posts: users,
  measures: {
    request: /GET .*dmpSegments\/\d+$/,
    reply: (id) => ({
      id: Number(id),
      inputCount: 5000,
      destinations: [{ destination: 'LINKEDIN', status: 'READY', audienceSize: 2900, matchedCount: 310 }],
    }),
    measure: { low: 2900, high: 2900, received: 5000, matched: null, status: 'READY' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', `99999999${sha256('x').slice(8)}`], reason: /did not accept/ },
    ],
    readBack(server) {
      assert.ok(server.segments.length < 2, 'a second segment was made')
      return [...(server.segments[0]?.members.values() ?? [])].map(({ userIds }) => [
        'Loyal',
        'add',
        String((userIds as { idValue: string }[])[0]?.idValue),
      ])
    },
    reset: (server) => {
      server.segments.length = 0
    },
    problems: [
      [{ status: 429, json: {} }, 'limits calls', 'retry'],
      [{ status: 500, text: '<html>' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [refusal(403, 'ACCESS_DENIED'), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, rejects, fails } = scene

    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [id, name, action, sha256(`${n}@example.com`), null]
    function addSegment(id: string, name: string) {
      const segment = { id, name, account: 'urn:li:sponsoredAccount:500', members: new Map(), unreadyRequests: 0 }
      scene.server.segments.push(segment)
      return segment
    }
    const emailsOf = (at = 0) =>
      [...(scene.server.segments[at]?.members.values() ?? [])].map(({ userIds }) => JSON.stringify(userIds)).sort()
    const email = (n: number | string) =>
      JSON.stringify([{ idType: 'SHA256_EMAIL', idValue: sha256(`${n}@example.com`) }])

    test('sends a row as LinkedIn documents it', async () => {
      const wide = [...columns, 'google_aid', 'first_name', 'last_name', 'title', 'company', 'country']
      addSegment('10804', 'Loyal')
      const device = '50ff32f8-fd4f-4dbe-8c3c-a4c8d9c2e8ab'
      const sha512 = createHash('sha512').update('b@example.com').digest('hex')
      const person: Cell[] = ['10804', null, 'add', sha256('a@example.com'), null, device]
      const about: Cell[] = ['John', 'Smith', 'Software Engineer', 'Microsoft', 'us']
      const list = JSON.stringify([sha512.toUpperCase(), { idType: 'GOOGLE_AID', idValue: device }])
      const noDetails: Cell[] = [null, null, null, null, null]
      const leaving: Cell[] = ['10804', null, 'remove', null, list, null]
      const batch = batchOf(wide, [
        [...person, ...about],
        [...leaving, ...noDetails],
      ])
      assert.deepEqual((await (await openWriter({ columns: wide })).deliver(batch)).rejected, [])
      const sent = scene.server.received.filter(({ path }) => path === '/rest/dmpSegments/10804/users')
      assert.deepEqual(
        sent.map(({ json }) => json),
        [
          {
            elements: [
              {
                action: 'ADD',
                userIds: [
                  { idType: 'SHA256_EMAIL', idValue: sha256('a@example.com') },
                  { idType: 'GOOGLE_AID', idValue: device },
                ],
                firstName: 'John',
                lastName: 'Smith',
                title: 'Software Engineer',
                company: 'Microsoft',
                country: 'US',
              },
            ],
          },
          {
            elements: [
              {
                action: 'REMOVE',
                userIds: [
                  { idType: 'SHA512_EMAIL', idValue: sha512 },
                  { idType: 'GOOGLE_AID', idValue: device },
                ],
              },
            ],
          },
        ],
      )
    })

    test('takes people with both names and no identifier, and refuses those with one name', async () => {
      const wide = [...columns, 'first_name', 'last_name', 'company', 'country']
      addSegment('77', 'Loyal')
      const person = (action: string, ...about: Cell[]): Cell[] => ['77', null, action, null, null, ...about]
      const batch = batchOf(wide, [
        person('add', 'John', 'Smith', 'Microsoft', null),
        person('add', 'Jane', 'Smith', null, 'us'),
        person('add', 'John', 'Smith', 'Example', null),
        person('remove', 'John', 'Smith', 'Microsoft', null),
        person('add', 'John', null, 'Microsoft', 'us'),
        person('add', null, 'Smith', 'Microsoft', 'us'),
      ])
      const { rejected } = await (await openWriter({ columns: wide })).deliver(batch)
      assertRejected(rejected, [
        [4, 'email'],
        [5, 'email'],
      ])
      assert.deepEqual(
        [...(scene.server.segments[0]?.members.values() ?? [])],
        [
          { action: 'ADD', userIds: [], firstName: 'Jane', lastName: 'Smith', country: 'US' },
          { action: 'ADD', userIds: [], firstName: 'John', lastName: 'Smith', company: 'Example' },
        ],
      )
    })

    test('makes a segment that rows name, waits until it takes members, and delivers twice without harm', async () => {
      scene.server.newSegments.unreadyRequests = 1
      for (const id of ['1', '2', '3']) addSegment(id, `Other ${id}`)
      const batch = batchOf(columns, [row(1), row(2), row(3), row(2, 'remove')])
      const { rejected, state } = await (await openWriter()).deliver(batch)
      assert.deepEqual(rejected, [])
      assert.deepEqual(state, { account: 'urn:li:sponsoredAccount:500', audiences: { Loyal: '10003' } })
      assert.deepEqual(emailsOf(3), [email(1), email(3)].sort())
      await (await openWriter()).deliver(batch)
      assert.equal(scene.server.segments.length, 4)
      assert.deepEqual(emailsOf(3), [email(1), email(3)].sort())
    })

    test('waits for a segment that has just been made by hand, and refuses one that is not there', async () => {
      addSegment('77', 'By hand').unreadyRequests = 1
      scene.server.failure(users, refusal(409, 'CONFLICT'))
      await deliver([row(1, 'add', null, '77')])
      assert.deepEqual(emailsOf(), [email(1)])
      const error = await connectorErrorOf(deliver([row(1, 'add', null, '78')]), contextOf())
      assert.deepEqual([error.action, error.code], ['reconfigure', 'object_not_found'])
    })

    test('needs the account to find segments by name, and the source platform to make them', async () => {
      for (const short of [{}, { adAccountId: '500' }, { adAccountId: 'x' }]) {
        const work = openWriter({ settings: short }).then((writer) => writer.deliver(batchOf(columns, [row(1)])))
        assert.equal(await codeOf(work), 'invalid_setting')
      }
      addSegment('77', 'Loyal')
      const writer = await openWriter({ settings: { adAccountId: 'urn:li:sponsoredAccount:500' } })
      assert.deepEqual((await writer.deliver(batchOf(columns, [row(1)]))).rejected, [])
    })

    test('names the rows that cannot be sent, and those that LinkedIn does not accept', async () => {
      addSegment('77', 'Loyal')
      const strange = `99999999${sha256('x').slice(8)}`
      const rows: [Cell[], string | undefined][] = [
        [row(1, 'add', null), 'segment_id'],
        [row(1, 'add', null, 'x1'), 'segment_id'],
        [['77', null, 'add', null, '["jane@example.com"]'], 'userIds'],
        [['77', null, 'add', null, `[{"idType":"GOOGLE_AID","idValue":"${sha256('a')}"}]`], 'userIds'],
        [['77', null, 'add', null, '[[]]'], 'userIds'],
        [['77', null, 'add', null, null], 'email'],
        [['77', null, 'add', strange, null], undefined],
      ]
      const { rejected = [] } = await rejects(rows, [row(2)])
      assert.match(rejected.at(-1)?.reason ?? '', /status 400, code INVALID_VALUE/)
      assert.deepEqual(emailsOf(), [email(2)])
      scene.server.failure(users, { json: { elements: [] } })
      const none = await deliver([row(4), row(5)])
      assert.equal(none.rejected?.length, 2)
    })

    test('takes a batch of the largest size, and renews a token that ends between two batches', async () => {
      const { rowsMax = 0 } = linkedinDmpSegments.destination?.deliver?.batch({}) ?? {}
      const rows = Array.from({ length: rowsMax }, (_, n) => row(n))
      const writer = await openWriter()
      assert.deepEqual((await writer.deliver(batchOf(columns, rows))).rejected, [])
      scene.server.expireTokens()
      assert.deepEqual((await writer.deliver(batchOf(columns, [row('later')], 2))).rejected, [])
      assert.equal(scene.server.segments[0]?.members.size, rowsMax + 1)
    })

    test('maps LinkedIn’s answers to codes', async () => {
      addSegment('77', 'Loyal')
      const cases: FailureCase[] = [
        [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
        [{ status: 429, json: {} }, 'retry', 'rate_limited'],
        [{ status: 500, text: '<html>' }, 'retry', 'platform_error'],
        [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
        [{ status: 200, json: { elements: [{ status: 503 }] } }, 'retry', 'platform_error'],
        ['reset', 'retry', 'connection_lost'],
        [refusal(400, 'BAD'), 'split', 'invalid_batch'],
        [refusal(403, 'ACCESS_DENIED', 100), 'reconfigure', 'permission_denied'],
        [refusal(426, 'NONEXISTENT_VERSION'), 'fail', 'version_retired'],
      ]
      await fails(cases, [row(1)])
      assert.equal(scene.server.segments[0]?.members.size, 0)
    })
  },
})
