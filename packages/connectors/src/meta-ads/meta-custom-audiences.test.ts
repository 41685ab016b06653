import assert from 'node:assert/strict'
import { afterEach, mock, test } from 'node:test'
import type { Batch, Delivery } from '@penstock/connector'
import type { TestContextOptions } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { batchOf, connectorErrorOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { metaCustomAudiences } from './meta-custom-audiences.ts'

const columns = ['segment_name', 'action', 'email_sha256', 'maid']
const person = (n: number | string) => `EMAIL:${sha256(`${n}@example.com`)}`
const row = (n: number | string, action = 'add', name: string | null = 'Loyal') => [
  name,
  action,
  sha256(`${n}@example.com`),
  '',
]
const replaced = { advertiserId: '900', replaceExistingAudience: true }

/** The test server follows what is known of Meta's Graph API. It is not Meta. */
await testDestination<MetaServer>({
  connector: metaCustomAudiences,
  testServer: 'a server that keeps to what is known of Meta',
  start: startMeta,
  routes: (url) => ({ 'https://graph.facebook.com': url }),
  secrets: metaSecrets,
  wrongSecrets: { ...metaSecrets, accessToken: 'expired-token' },
  settings: { advertiserId: '900', audienceSource: 'CRM' },
  columns,
  posts: /\/users$/,
  check: {
    denied: [{ settings: { advertiserId: '901' } }],
    unknown: [{ ...metaSecrets, accessToken: 'x' }],
  },
  measures: {
    request: /GET \/v[\d.]+\/\d+$/,
    reply: (id) => ({
      id,
      approximate_count_lower_bound: 1000,
      approximate_count_upper_bound: 1200,
      operation_status: { code: 200, description: 'Normal' },
      delivery_status: { code: 200, description: 'This audience is ready for use.' },
    }),
    measure: { low: 1000, high: 1200, received: null, matched: null, status: 'This audience is ready for use.' },
  },
  accepts: [false, true].map((replaceExistingAudience) => ({
    name: replaceExistingAudience ? 'replacing' : 'adding',
    posts: replaceExistingAudience ? /usersreplace$/ : /\/users$/,
    settings: { advertiserId: '900', replaceExistingAudience },
    missing: { advertiserId: '901', replaceExistingAudience },
    columns: columns.slice(0, 3),
    rows: Array.from({ length: 12 }, (_, n) => row(n).slice(0, 3)),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal', 'add', ''], reason: /no identifier/ },
      { row: ['Loyal', 'swap', sha256('99')], reason: /must be/, field: 'action' },
    ],
    readBack({ audiences }) {
      assert.ok(audiences.length < 2, 'a second audience was made')
      return [...(audiences[0]?.members ?? [])].map((member) => ['Loyal', 'add', member.replace('EMAIL:', '')])
    },
    reset({ audiences, sessions }) {
      audiences.length = 0
      sessions.length = 0
    },
    visible: replaceExistingAudience ? ('when finished' as const) : ('at once' as const),
    ...(replaceExistingAudience && { aborted: 'leaves what was there' as const }),
    problems: [
      [problem(80_003), 'limits calls', 'retry', { code: 'rate_limited' }],
      [{ status: 503, text: '<html>' }, 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [problem(190), 'finds the token expired', 'reauthenticate'],
    ],
  })),
  tests(scene) {
    const { contextOf, openWriter } = scene
    afterEach(() => mock.timers.reset())
    async function deliverAll(batches: readonly Batch[], options: TestContextOptions = {}) {
      const writer = await openWriter(options)
      const deliveries: Delivery[] = []
      for (const batch of batches) deliveries.push(await writer.deliver(batch))
      await writer.flush?.()
      await writer.finish?.()
      await writer.close?.()
      return { deliveries }
    }
    const members = (at = 0) => [...(scene.server.audiences[at]?.members ?? [])].sort()

    test('makes an audience that rows name, adds and removes people, and delivers twice without harm', async () => {
      const batch = batchOf(columns, [row(1), row(2), row(3), row(2, 'remove'), row(3, 'delete'), row(3)])
      const { deliveries } = await deliverAll([batch])
      assert.deepEqual(deliveries[0]?.rejected, [])
      assert.deepEqual(deliveries[0]?.state, { account: 'act_900', audiences: { Loyal: '120000000000000001' } })
      assert.deepEqual(members(), [person(1), person(3)].sort())
      await deliverAll([batch], { columns })
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['Loyal'],
      )
      assert.deepEqual(members(), [person(1), person(3)].sort())
    })

    test('makes no second audience where the answer to making it was lost', async () => {
      for (const name of ['A', 'B', 'C'])
        scene.server.audiences.push({
          id: `1${scene.server.audiences.length}`,
          account: 'act_900',
          name,
          members: new Set(),
        })
      scene.server.failure(/^POST .*\/customaudiences$/, 'reset after')
      const batch = batchOf(columns, [row(1)])
      const connectorError = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
      assert.equal(connectorError.action, 'retry')
      await deliverAll([batch])
      assert.deepEqual(
        scene.server.audiences.map(({ name }) => name),
        ['A', 'B', 'C', 'Loyal'],
      )
      assert.deepEqual(members(3), [person(1)])
    })

    test('keeps one audience for rows that name none, under whatever name it has later, and makes another if it is gone', async () => {
      const { deliveries } = await deliverAll([batchOf(columns, [row(1, 'add', null)])])
      assert.deepEqual(deliveries[0]?.state, { account: 'act_900', audienceId: '120000000000000001', audiences: {} })
      const [audience] = scene.server.audiences
      assert.ok(audience)
      audience.name = 'Renamed by hand'
      const state = deliveries[0]?.state ?? null
      await deliverAll([batchOf(columns, [row(2, 'add', null)])], { state, transferId: 'feedfacefeedface' })
      assert.equal(scene.server.audiences.length, 1)
      assert.deepEqual(members(), [person(1), person(2)].sort())
      audience.deleted = true
      await deliverAll([batchOf(columns, [row(3, 'add', null)])], { state, transferId: 'feedfacefeedface' })
      assert.equal(scene.server.audiences[1]?.name, 'Penstock feedfacefeedface')
    })

    test('forgets the audiences of another ad account than the one that is set', async () => {
      scene.server.audiences.push({ id: '12', account: 'act_777', name: 'Of another account', members: new Set() })
      const state = { account: 'act_777', audienceId: '12', audiences: { Loyal: '12' } }
      await deliverAll([batchOf(columns, [row(1), row(2, 'add', null)])], { state })
      assert.deepEqual(
        scene.server.audiences.map(({ members }) => members.size),
        [0, 1, 1],
      )
    })

    test('takes a batch of the largest size', async () => {
      const { rowsMax = 0 } = metaCustomAudiences.destination?.deliver?.batch({}) ?? {}
      const batch = batchOf(
        columns,
        Array.from({ length: rowsMax }, (_, n) => row(n)),
      )
      assert.deepEqual((await deliverAll([batch])).deliveries[0]?.rejected, [])
      assert.deepEqual((await deliverAll([batch], { settings: replaced })).deliveries[0]?.rejected, [])
      assert.equal(scene.server.audiences[0]?.members.size, rowsMax)
    })

    test('names the rows that cannot be sent, and why, and sends the others', async () => {
      const wide = ['segment_id', ...columns, 'phone_sha256']
      const rows = [
        ['', ...row(1), null],
        [null, ...row(3, 'replace'), null],
        ['abc', ...row(6), null],
        [null, ...row(7, 'remove', 'Unknown audience'), null],
      ]
      const { deliveries } = await deliverAll([batchOf(wide, rows)], { columns: wide })
      const found = (deliveries[0]?.rejected ?? []).map(({ index, field }) => [index, field])
      assert.deepEqual(found, [
        [1, 'action'],
        [2, 'segment_id'],
        [3, 'segment_name'],
      ])
      assert.deepEqual(members(), [person(1)])
      assert.equal(scene.server.audiences.length, 1)
      for (const { reason } of deliveries[0]?.rejected ?? []) assert.match(reason, /^[A-Z].*\.$/)
    })

    test('takes over how many people Meta could not use', async () => {
      const odd = ['Loyal', 'add', '', 'no device at all']
      const { deliveries } = await deliverAll([batchOf(columns, [row(1), odd])])
      assert.deepEqual(
        deliveries[0]?.rejected?.map(({ index, count }) => [index, count]),
        [[undefined, 1]],
      )
    })

    const nine = (at: number) =>
      batchOf(
        columns,
        Array.from({ length: 9000 }, (_, n) => row(`${at}-${n}`)),
        at,
      )
    const statesOf = (deliveries: readonly Delivery[]) => deliveries.map(({ deliveryState }) => deliveryState ?? null)

    test('replaces the members of an audience at once, when all batches have come and the transfer is finished', async () => {
      await deliverAll([batchOf(columns, [row('old'), row(0)])])
      const writer = await openWriter({ settings: replaced })
      for (const batch of [nine(1), nine(2), nine(3)]) assert.deepEqual((await writer.deliver(batch)).rejected, [])
      assert.equal(await writer.flush?.(), undefined)
      assert.deepEqual(members(), [person('old'), person(0)].sort())
      await writer.finish?.()
      assert.equal(scene.server.audiences[0]?.members.size, 27_000)
      assert.deepEqual([...(scene.server.sessions[0]?.batches.keys() ?? [])], [1, 2, 3, 4])
    })

    test('resumes a replacement after a crash where it was, under the same numbers', async () => {
      const crashed = await openWriter({ settings: replaced })
      const first = await crashed.deliver(nine(1))
      await crashed.deliver(nine(2))
      const options = { settings: replaced, deliveryStates: statesOf([first]) }
      const { deliveries } = await deliverAll([nine(2), nine(3)], options)
      assert.equal(scene.server.sessions.length, 1)
      assert.deepEqual([...(scene.server.sessions[0]?.batches.keys() ?? [])], [1, 2, 3, 4])
      assert.equal(scene.server.audiences[0]?.members.size, 27_000)
      await deliverAll([], { settings: replaced, deliveryStates: statesOf([first, ...deliveries]) })
      assert.equal(scene.server.sessions.length, 1, 'finished again, it finds its work done')
      await deliverAll([batchOf(columns, [row(1)])], { settings: replaced, transferId: 'feedfacefeedface' })
      assert.equal(new Set(scene.server.sessions.map(({ id }) => id)).size, 2)
      assert.deepEqual(members(), [person(1)])
    })

    test('finishes a replacement in another process, from delivery states that name no member', async () => {
      const writer = await openWriter({ settings: replaced })
      const { deliveryState } = await writer.deliver(batchOf(columns, [row(1), row(2)]))
      assert.ok(deliveryState)
      assert.ok(!JSON.stringify(deliveryState).includes(sha256('1@example.com')))
      const renewed = { secrets: { ...metaSecrets, accessToken: 'another-token' } }
      const stranger = await openWriter({ settings: replaced, deliveryStates: [deliveryState], ...renewed })
      assert.equal((await connectorErrorOf(stranger.finish?.(), renewed)).action, 'reauthenticate')
      const sealed = JSON.parse(JSON.stringify(deliveryState).replace(/"closing":"./, '"closing":"!'))
      const strange = await openWriter({ settings: replaced, deliveryStates: [sealed] })
      const lost = await connectorErrorOf(strange.finish?.(), contextOf())
      assert.deepEqual([lost.action, lost.code], ['fail', 'upload_lost'])
      await deliverAll([], { settings: replaced, deliveryStates: [deliveryState] })
      assert.deepEqual(members(), [person(1), person(2)].sort())
    })

    test('replaces several audiences in one transfer', async () => {
      await deliverAll(
        [batchOf(columns, [row(1), row(2, 'add', 'New')]), batchOf(columns, [row(3, 'replace', 'New')], 2)],
        {
          settings: replaced,
        },
      )
      assert.deepEqual(members(0), [person(1)])
      assert.deepEqual(members(1), [person(2), person(3)].sort())
    })

    test('resumes a replacement after a transient error in it, and takes no batch twice', async () => {
      const writer = await openWriter({ settings: replaced })
      for (const at of [1, 2, 3]) {
        scene.server.failure(/usersreplace$/, at === 2 ? 'reset after' : 'reset')
        await assert.rejects(writer.deliver(nine(at)))
        await writer.deliver(nine(at))
        await writer.deliver(nine(at))
      }
      scene.server.failure(/usersreplace$/, problem(80_003))
      await assert.rejects(async () => writer.finish?.())
      await writer.finish?.()
      assert.equal(scene.server.audiences[0]?.members.size, 27_000)
      assert.deepEqual(
        scene.server.sessions.map(({ batches }) => [...batches.keys()]),
        [[1, 2, 3, 4]],
      )
    })

    test('does not begin a second session where the answer to the last batch was lost', async () => {
      const writer = await openWriter({ settings: replaced })
      const deliveries = [await writer.deliver(nine(1)), await writer.deliver(nine(2))]
      scene.server.failure(/usersreplace$/, 'reset after')
      assert.equal((await connectorErrorOf(writer.finish?.(), contextOf())).action, 'retry')
      await writer.finish?.()
      await deliverAll([], { settings: replaced, deliveryStates: statesOf(deliveries) })
      assert.equal(scene.server.sessions.length, 1)
      assert.equal(scene.server.audiences[0]?.members.size, 18_000)
    })

    test('gives a replacement up that takes longer than Meta keeps it, before it could empty the audience', async () => {
      await deliverAll([batchOf(columns, [row('old')])])
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const writer = await openWriter({ settings: replaced })
      const { deliveryState = null } = await writer.deliver(nine(1))
      mock.timers.setTime(Date.now() + 86 * 60_000)
      const resumed = await openWriter({ settings: replaced, deliveryStates: [deliveryState] })
      for (const work of [writer.deliver(nine(2)), writer.finish?.(), resumed.finish?.()]) {
        const { action, code } = await connectorErrorOf(work, contextOf())
        assert.deepEqual([action, code], ['fail', 'upload_lost'])
      }
      assert.deepEqual(members(), [person('old')])
    })

    test('rejects rows that remove in a transfer that replaces, and changes nothing where no other row is left', async () => {
      await deliverAll([batchOf(columns, [row('old')])])
      const { deliveries } = await deliverAll([batchOf(columns, [row('old', 'remove')])], { settings: replaced })
      assert.deepEqual(deliveries[0]?.rejected?.[0]?.index, 0)
      assert.deepEqual(members(), [person('old')])
    })

    test('maps each of Meta’s errors to a code', async () => {
      const usage = JSON.stringify({ 900: [{ type: 'custom_audience', estimated_time_to_regain_access: 7 }] })
      const cases: FailureCase[] = [
        [problem(1), 'retry', 'platform_error'],
        [problem(9999, { is_transient: true }), 'retry', 'platform_error'],
        [{ status: 502, text: '<html>bad gateway</html>' }, 'retry', 'platform_error'],
        [{ status: 200, text: '<html>login</html>' }, 'retry', 'malformed_response'],
        [{ ...problem(80_003), headers: { 'x-business-use-case-usage': usage } }, 'retry', 'rate_limited', 420_000],
        [problem(17, { is_transient: true }), 'retry', 'rate_limited'],
        [{ status: 429, headers: { 'retry-after': '3' }, json: {} }, 'retry', 'rate_limited', 3000],
        [problem(368), 'retry', 'rate_limited', 3_600_000],
        ['reset', 'retry', 'connection_lost'],
        [problem(190, { error_subcode: 460 }, 401), 'reauthenticate', 'invalid_credentials'],
        [problem(200), 'reconfigure', 'permission_denied'],
        [problem(275), 'reconfigure', 'permission_denied'],
        [problem(100, { error_subcode: 33 }), 'reconfigure', 'object_not_found'],
        [problem(100, { error_subcode: 1713230 }), 'reconfigure', 'account_restricted'],
        [problem(100, { error_subcode: 1487366 }), 'reconfigure', 'object_not_found'],
        [problem(2655), 'reconfigure', 'terms_not_accepted'],
        [problem(471), 'reconfigure', 'account_restricted'],
        [problem(100), 'fail', 'request_refused'],
        [problem(100, { message: "(#100) Param payload['data'][3] must be an array" }), 'split', 'invalid_batch'],
        [problem(100, { error_subcode: 1713231 }), 'reconfigure', 'account_restricted'],
        [problem(2635), 'fail', 'version_retired'],
        [{ status: 413, text: 'too large' }, 'split', 'batch_too_large'],
        [problem(2650), 'fail', 'request_refused'],
        [problem(12_345), 'fail', 'request_refused'],
      ]
      const { writer, batch } = await scene.fails(cases, [row(1)])
      await writer.deliver(batch)
      assert.deepEqual(members(), [person(1)])
    })

    test('refuses an expired token and a flagged audience, and an advertiser that is not a number', async () => {
      const secrets = { ...metaSecrets, accessToken: 'expired-token' }
      const expired = await connectorErrorOf((await openWriter({ secrets })).deliver(batchOf(columns, [row(1)])), {
        secrets,
      })
      assert.deepEqual([expired.action, expired.code], ['reauthenticate', 'invalid_credentials'])
      scene.server.audiences.push({ id: '12', account: 'act_900', name: 'Loyal', members: new Set(), flagged: true })
      const writer = await openWriter({ state: { account: 'act_900', audiences: { Loyal: '12' } } })
      assert.equal(
        (await connectorErrorOf(writer.deliver(batchOf(columns, [row(1)])), contextOf())).code,
        'account_restricted',
      )
      const wrong = await connectorErrorOf(openWriter({ settings: { advertiserId: '12/../me' } }), contextOf())
      assert.deepEqual([wrong.action, wrong.code], ['reconfigure', 'invalid_setting'])
    })

    test('checks the permissions of the token, and whether Meta is reached', async () => {
      const run = async (options: TestContextOptions = {}) =>
        (await metaCustomAudiences.check?.(contextOf(options)))?.map(({ name, ok }) => `${name} ${ok}`)
      scene.server.permissions.splice(0, 1, 'ads_read')
      assert.deepEqual(await run(), ['connectivity true', 'authentication true', 'permissions false'])
      const away = { routes: { 'https://graph.facebook.com': 'http://127.0.0.1:9' } }
      assert.deepEqual(await run(away), ['connectivity false'])
    })
  },
})
