import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Json } from '@penstock/connector'
import { sha256 } from '../../test/digest.ts'
import { batchOf, connectorErrorOf, deliverHalving, type Failure } from '../../test/platform-server.ts'
import { adAccount, refusedDigest, type SnapchatAdsServer, startSnapchatAds } from '../../test/snapchat-ads-server.ts'
import { snapchatRoutes, snapchatSecrets } from '../../test/snapchat-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { snapchatCustomerLists } from './snapchat-customer-lists.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256', 'phone_sha256', 'maid_sha256']
const settings = { advertiserId: adAccount }
const row = (n: number, action = 'add', name: string | null = 'Loyal'): Cell[] => [
  name,
  null,
  action,
  sha256(`jane${n}@example.com`),
  null,
  null,
]

await testDestination<SnapchatAdsServer>({
  connector: snapchatCustomerLists,
  testServer: 'a server that keeps to what is known of Snapchat',
  start: startSnapchatAds,
  routes: snapchatRoutes,
  secrets: snapchatSecrets,
  wrongSecrets: { ...snapchatSecrets, clientSecret: 'secret-of-another' },
  settings,
  missing: { advertiserId: 'another-account' },
  columns,
  posts: /users$/,
  hangs: /users$|adaccounts/,
  check: {
    denied: [{ settings: { advertiserId: 'another' } }],
    unknown: [{ ...snapchatSecrets, refreshToken: 'revoked' }],
    left: ({ segments }) => segments,
  },
  measures: {
    request: /GET .*segments\/[\w-]+$/,
    reply: (id) => ({
      request_status: 'SUCCESS',
      segments: [
        {
          sub_request_status: 'SUCCESS',
          segment: {
            id,
            name: 'Loyal',
            approximate_number_users: 4500,
            upload_status: 'COMPLETE',
            targetable_status: 'READY',
          },
        },
      ],
    }),
    measure: { low: 4500, high: 4500, received: null, matched: null, status: 'READY' },
  },
  accepts: {
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`acceptance ${n}`)]),
    badRows: [
      { row: ['Loyal', 'add', 'not hashed'], reason: /not a SHA-256 digest/, field: 'email_sha256' },
      { row: ['Loyal', 'purge', sha256('x')], reason: /must be add or remove/, field: 'action' },
    ],
    readBack: (server) => [...server.members].map((member) => ['Loyal', 'add', member.split(' ')[2] ?? '']),
    reset: (server) => server.members.clear(),
    problems: [
      [{ status: 429, headers: { 'retry-after': '7' } }, 'limits calls', 'retry', { afterMs: 7000 }],
      [{ status: 500 }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [{ status: 403 }, 'takes the role away', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, rejects, fails } = scene

    const changes = () =>
      scene.server.received.filter(({ path }) => path.endsWith('/users')).map(({ method, json }) => ({ method, json }))

    test('makes an audience by name and sends identifiers of each kind in a request, exactly', async () => {
      // Digests of Segment's tests: person@email.com, 17067675127 and a device.
      const email = 'b375b7bbddb3de3298fbc7641063d9f03a38e118aa4480c8ab9f58740982e8bd'
      const phone = '2fd199db6d3fa9fe754886ff1822f2867fcb104a6639495eca25c2978efe4ed4'
      const device = '30a5154b77ab8b2ddbe19f5e7af72f33cc2a4a41f22940d965102650a1c72863'
      const batch = batchOf(columns, [
        ['Loyal', null, 'add', email, phone.toUpperCase(), null],
        ['Loyal', null, 'add', null, null, device],
        ['Loyal', null, 'add', email, null, null],
        ['Loyal', null, 'remove', null, phone, null],
      ])
      const lifespan = { settings: { ...settings, lifespanDays: 180 } }
      for (let times = 0; times < 2; times++) {
        assert.deepEqual((await (await openWriter(lifespan)).deliver(batch)).rejected, [])
      }
      const users = (schema: string, ...digests: string[]) => ({
        users: [{ schema: [schema], data: digests.map((digest) => [digest]) }],
      })
      assert.deepEqual(changes().slice(0, 3), [
        { method: 'POST', json: users('EMAIL_SHA256', email) },
        { method: 'POST', json: users('MOBILE_AD_ID_SHA256', device) },
        { method: 'DELETE', json: users('PHONE_SHA256', phone) },
      ])
      const [segment] = scene.server.segments
      assert.deepEqual([scene.server.segments.length, segment?.name, segment?.retention_in_days], [1, 'Loyal', 180])
      assert.deepEqual(
        [...scene.server.members].sort(),
        [`${segment?.id} EMAIL_SHA256 ${email}`, `${segment?.id} MOBILE_AD_ID_SHA256 ${device}`].sort(),
      )
      const made = scene.server.received.find(({ method, path }) => method === 'POST' && path.endsWith('/segments'))
      assert.deepEqual(made?.json, {
        segments: [
          {
            name: 'Loyal',
            description: 'Kept by Penstock',
            source_type: 'FIRST_PARTY',
            retention_in_days: 180,
            ad_account_id: adAccount,
          },
        ],
      })
    })

    test('finds the oldest audience of a name on any page, and stores what it created', async () => {
      for (const name of ['Other', 'Loyal', 'Loyal']) {
        await deliver([row(1, 'add', name)])
        if (scene.server.segments.length === 2)
          scene.server.segments.push({ ...scene.server.segments[1], id: '999', created_at: '2027' } as never)
      }
      scene.server.behaviour.pageSize = 1
      const { state } = await deliver([row(2), row(3, 'add', null)])
      const [, loyal, , own] = scene.server.segments
      assert.ok([...scene.server.members].includes(`${loyal?.id} EMAIL_SHA256 ${sha256('jane2@example.com')}`))
      assert.deepEqual(state, { account: adAccount, audienceId: own?.id, audiences: { Loyal: loyal?.id } })
      assert.equal(own?.name, 'Penstock 0f1e2d3c4b5a6978')
      if (own) own.name = 'Renamed at Snapchat'
      await deliver([row(4, 'add', null)], { state: state as Json })
      assert.equal(scene.server.segments.length, 4)
    })

    test('waits until a new audience is there', async () => {
      scene.server.behaviour.hiddenFor = 2
      assert.deepEqual((await deliver([row(1)])).rejected, [])
      assert.equal(scene.server.members.size, 1)
    })

    test('rejects before sending what cannot be taken', async () => {
      const rows: [Cell[], string | undefined][] = [
        [['x'.repeat(376), null, 'add', sha256('a'), null, null], 'segment_name'],
        [['Loyal', '../me', 'add', sha256('a'), null, null], 'segment_id'],
        [['Loyal', null, 'add', null, '12025550100', null], 'phone_sha256'],
      ]
      await rejects(rows, [row(9)])
      assert.equal(scene.server.members.size, 1)
    })

    test('takes a batch of the largest size', async () => {
      const { rowsMax = 0 } = snapchatCustomerLists.destination?.deliver?.batch({}) ?? {}
      const rows = Array.from({ length: rowsMax }, (_, n): Cell[] => {
        const digest = n.toString(16).padStart(64, '0')
        return ['Loyal', null, 'add', digest, digest, null]
      })
      assert.deepEqual((await deliver(rows)).rejected, [])
      assert.equal(scene.server.members.size, 2 * rowsMax)
    })

    test('has the engine find the identifier that Snapchat refuses, and counts what it does not count', async () => {
      const bad: Cell[] = ['Loyal', null, 'add', refusedDigest, null, null]
      await deliverHalving(await openWriter(), columns, [row(1), row(2), bad, row(3)])
      assert.equal(scene.server.members.size, 3)
      const error = await connectorErrorOf(deliver([bad]), contextOf())
      assert.deepEqual([error.code, error.action], ['invalid_batch', 'split'])
      assert.match(error.message, /E1008/)
      assert.doesNotMatch(error.message, /jane/)
      scene.server.behaviour.uncounted = 1
      const both: Cell[] = ['Loyal', null, 'add', sha256('x'), sha256('y'), null]
      const { rejected } = await deliver([row(1), row(2), both])
      assert.deepEqual(
        rejected?.map(({ index, count }) => [index, count]),
        [[undefined, 1]],
      )
      assert.deepEqual((await deliver([both])).rejected, [])
    })

    test('reports to the engine what each of Snapchat’s answers asks for', async () => {
      const ok = (users: unknown): Failure => ({ json: { request_status: 'SUCCESS', users } })
      const cases: FailureCase[] = [
        [{ status: 429 }, 'retry', 'rate_limited'],
        [{ status: 429, headers: { 'retry-after': '5' } }, 'retry', 'rate_limited', 5000],
        [{ status: 500, text: 'oops' }, 'retry', 'platform_error'],
        ['reset', 'retry', 'connection_lost'],
        [{ text: '<html>' }, 'retry', 'malformed_response'],
        [{ json: {} }, 'retry', 'malformed_response'],
        [ok([]), 'retry', 'malformed_response'],
        [ok([7]), 'retry', 'malformed_response'],
        [ok([{ sub_request_status: 'ERROR', sub_request_error_reason: 'jane' }]), 'split', 'invalid_batch'],
        [{ json: { request_status: 'error', error_code: 'E1' } }, 'split', 'invalid_batch'],
        [{ status: 403, json: { request_status: 'ERROR', error_code: 'E3002' } }, 'reconfigure', 'permission_denied'],
        [{ status: 404, json: { request_status: 'ERROR' } }, 'reconfigure', 'object_not_found'],
        [{ status: 413, text: '' }, 'split', 'batch_too_large'],
        [{ status: 302, text: '' }, 'fail', 'unexpected_response'],
      ]
      await deliver([row(1)])
      await fails(cases, [row(2)], /users/)
      assert.equal(scene.server.members.size, 1)
    })

    test('follows no list to another host, nor for ever', async () => {
      for (const next_link of ['https://evil.example/v1?cursor=1', `https://adsapi.snapchat.com/v1?cursor=0`]) {
        const page: Failure = { json: { request_status: 'SUCCESS', segments: [], paging: { next_link } } }
        for (let times = 0; times < 2; times++) scene.server.failure(/segments$/, page)
        const error = await connectorErrorOf(deliver([row(1)]), contextOf())
        assert.equal(error.code, 'malformed_response')
        scene.server.calm()
      }
    })
  },
})
