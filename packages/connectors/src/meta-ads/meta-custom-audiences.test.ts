import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, mock, test } from 'node:test'
import type { Batch, Delivery, ErrorAction } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sha256 } from '../../test/digest.ts'
import { type MetaServer, metaSecrets, problem, startMeta } from '../../test/meta-server.ts'
import { assertFailure, batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { metaCustomAudiences } from './meta-custom-audiences.ts'

/** The server is one of the tests, which follows what is known of Meta's Graph API, and not Meta. */
describe('Meta Custom Audiences, against a server that keeps to what is known of Meta', () => {
  const columns = ['segment_name', 'action', 'email_sha256', 'maid']
  const person = (n: number | string) => `EMAIL:${sha256(`${n}@example.com`)}`
  const row = (n: number | string, action = 'add', name: string | null = 'Loyal') => [
    name,
    action,
    sha256(`${n}@example.com`),
    '',
  ]
  const replaced = { advertiserId: '900', replaceExistingAudience: true }
  const { deliver: destination } = metaCustomAudiences.destination ?? {}
  let meta: MetaServer

  beforeEach(async () => {
    meta = await startMeta()
  })
  afterEach(async () => {
    mock.timers.reset()
    await meta.close()
  })

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets: metaSecrets,
      settings: { advertiserId: '900', audienceSource: 'CRM' },
      routes: { 'https://graph.facebook.com': meta.url },
      columns,
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    assert.ok(destination)
    return destination.open(contextOf(options))
  }
  async function deliverAll(batches: readonly Batch[], options: TestContextOptions = {}) {
    const writer = await openWriter(options)
    const deliveries: Delivery[] = []
    for (const batch of batches) deliveries.push(await writer.deliver(batch))
    await writer.flush?.()
    await writer.finish?.()
    await writer.close?.()
    return { deliveries }
  }
  const members = (at = 0) => [...(meta.audiences[at]?.members ?? [])].sort()

  test('makes an audience that rows name, adds and removes people, and delivers twice without harm', async () => {
    const batch = batchOf(columns, [row(1), row(2), row(3), row(2, 'remove'), row(3, 'delete'), row(3)])
    const { deliveries } = await deliverAll([batch])
    assert.deepEqual(deliveries[0]?.rejected, [])
    assert.deepEqual(deliveries[0]?.state, { account: 'act_900', audiences: { Loyal: '120000000000000001' } })
    assert.deepEqual(members(), [person(1), person(3)].sort())
    await deliverAll([batch], { columns })
    assert.deepEqual(
      meta.audiences.map(({ name }) => name),
      ['Loyal'],
    )
    assert.deepEqual(members(), [person(1), person(3)].sort())
  })

  test('makes no second audience where the answer to making it was lost', async () => {
    for (const name of ['A', 'B', 'C'])
      meta.audiences.push({ id: `1${meta.audiences.length}`, account: 'act_900', name, members: new Set() })
    meta.failure(/^POST .*\/customaudiences$/, 'reset after')
    const batch = batchOf(columns, [row(1)])
    const connectorError = await connectorErrorOf((await openWriter()).deliver(batch), contextOf())
    assert.equal(connectorError.action, 'retry')
    await deliverAll([batch])
    assert.deepEqual(
      meta.audiences.map(({ name }) => name),
      ['A', 'B', 'C', 'Loyal'],
    )
    assert.deepEqual(members(3), [person(1)])
  })

  test('keeps one audience for rows that name none, under whatever name it has later, and makes another if it is gone', async () => {
    const { deliveries } = await deliverAll([batchOf(columns, [row(1, 'add', null)])])
    assert.deepEqual(deliveries[0]?.state, { account: 'act_900', audienceId: '120000000000000001', audiences: {} })
    const [audience] = meta.audiences
    assert.ok(audience)
    audience.name = 'Renamed by hand'
    const state = deliveries[0]?.state ?? null
    await deliverAll([batchOf(columns, [row(2, 'add', null)])], { state, transferId: 'feedfacefeedface' })
    assert.equal(meta.audiences.length, 1)
    assert.deepEqual(members(), [person(1), person(2)].sort())
    audience.deleted = true
    await deliverAll([batchOf(columns, [row(3, 'add', null)])], { state, transferId: 'feedfacefeedface' })
    assert.equal(meta.audiences[1]?.name, 'Penstock feedfacefeedface')
  })

  test('forgets the audiences of another ad account than the one that is set', async () => {
    meta.audiences.push({ id: '12', account: 'act_777', name: 'Of another account', members: new Set() })
    const state = { account: 'act_777', audienceId: '12', audiences: { Loyal: '12' } }
    await deliverAll([batchOf(columns, [row(1), row(2, 'add', null)])], { state })
    assert.deepEqual(
      meta.audiences.map(({ members }) => members.size),
      [0, 1, 1],
    )
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = destination?.batch({}) ?? {}
    const batch = batchOf(
      columns,
      Array.from({ length: rowsMax }, (_, n) => row(n)),
    )
    assert.deepEqual((await deliverAll([batch])).deliveries[0]?.rejected, [])
    assert.deepEqual((await deliverAll([batch], { settings: replaced })).deliveries[0]?.rejected, [])
    assert.equal(meta.audiences[0]?.members.size, rowsMax)
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
    assert.equal(meta.audiences.length, 1)
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
    assert.equal(meta.audiences[0]?.members.size, 27_000)
    assert.deepEqual([...(meta.sessions[0]?.batches.keys() ?? [])], [1, 2, 3, 4])
  })

  test('resumes a replacement after a crash where it was, under the same numbers', async () => {
    const crashed = await openWriter({ settings: replaced })
    const first = await crashed.deliver(nine(1))
    await crashed.deliver(nine(2))
    const options = { settings: replaced, deliveryStates: statesOf([first]) }
    const { deliveries } = await deliverAll([nine(2), nine(3)], options)
    assert.equal(meta.sessions.length, 1)
    assert.deepEqual([...(meta.sessions[0]?.batches.keys() ?? [])], [1, 2, 3, 4])
    assert.equal(meta.audiences[0]?.members.size, 27_000)
    await deliverAll([], { settings: replaced, deliveryStates: statesOf([first, ...deliveries]) })
    assert.equal(meta.sessions.length, 1, 'finished again, it finds its work done')
    await deliverAll([batchOf(columns, [row(1)])], { settings: replaced, transferId: 'feedfacefeedface' })
    assert.equal(new Set(meta.sessions.map(({ id }) => id)).size, 2)
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
      meta.failure(/usersreplace$/, at === 2 ? 'reset after' : 'reset')
      await assert.rejects(writer.deliver(nine(at)))
      await writer.deliver(nine(at))
      await writer.deliver(nine(at))
    }
    meta.failure(/usersreplace$/, problem(80_003))
    await assert.rejects(async () => writer.finish?.())
    await writer.finish?.()
    assert.equal(meta.audiences[0]?.members.size, 27_000)
    assert.deepEqual(
      meta.sessions.map(({ batches }) => [...batches.keys()]),
      [[1, 2, 3, 4]],
    )
  })

  test('does not begin a second session where the answer to the last batch was lost', async () => {
    const writer = await openWriter({ settings: replaced })
    const deliveries = [await writer.deliver(nine(1)), await writer.deliver(nine(2))]
    meta.failure(/usersreplace$/, 'reset after')
    assert.equal((await connectorErrorOf(writer.finish?.(), contextOf())).action, 'retry')
    await writer.finish?.()
    await deliverAll([], { settings: replaced, deliveryStates: statesOf(deliveries) })
    assert.equal(meta.sessions.length, 1)
    assert.equal(meta.audiences[0]?.members.size, 18_000)
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
    const cases: [Parameters<typeof assertFailure>[3], ErrorAction, string, number?][] = [
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
    const setting = { server: meta, context: contextOf(), match: /\/users$/ }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    await writer.deliver(batch)
    assert.deepEqual(members(), [person(1)])
  })

  test('refuses an expired token and a flagged audience, and an advertiser that is not a number', async () => {
    const secrets = { ...metaSecrets, accessToken: 'expired-token' }
    const expired = await connectorErrorOf((await openWriter({ secrets })).deliver(batchOf(columns, [row(1)])), {
      secrets,
    })
    assert.deepEqual([expired.action, expired.code], ['reauthenticate', 'invalid_credentials'])
    meta.audiences.push({ id: '12', account: 'act_900', name: 'Loyal', members: new Set(), flagged: true })
    const writer = await openWriter({ state: { account: 'act_900', audiences: { Loyal: '12' } } })
    assert.equal(
      (await connectorErrorOf(writer.deliver(batchOf(columns, [row(1)])), contextOf())).code,
      'account_restricted',
    )
    const wrong = await connectorErrorOf(openWriter({ settings: { advertiserId: '12/../me' } }), contextOf())
    assert.deepEqual([wrong.action, wrong.code], ['reconfigure', 'invalid_setting'])
  })

  test('checks whether Meta is reached, the token accepted and the ad account seen', async () => {
    const { check } = metaCustomAudiences
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { advertiserId: '901' } }), denied)
    const secrets = { ...metaSecrets, accessToken: 'x' }
    assert.deepEqual(await run({ secrets }), ['connectivity true', 'authentication false'])
    meta.permissions.splice(0, 1, 'ads_read')
    assert.deepEqual(await run(), denied)
    assert.deepEqual(await run({ routes: { 'https://graph.facebook.com': 'http://127.0.0.1:9' } }), [
      'connectivity false',
    ])
  })
})

const testServer = await startMeta()
after(() => testServer.close())

for (const replaceExistingAudience of [false, true]) {
  const digest = (n: number) => createHash('sha256').update(`${n}@example.com`).digest('hex')
  const name = replaceExistingAudience ? 'replacing' : 'adding'
  const match = replaceExistingAudience ? /usersreplace$/ : /\/users$/
  acceptDestination({
    connector: metaCustomAudiences,
    testServer: `a server that keeps to what is known of Meta (${name})`,
    secrets: metaSecrets,
    wrongSecrets: { ...metaSecrets, accessToken: 'expired-token' },
    settings: { advertiserId: '900', replaceExistingAudience },
    missing: { advertiserId: '901', replaceExistingAudience },
    context: { routes: { 'https://graph.facebook.com': testServer.url } },
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', digest(n)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal', 'add', ''], reason: /no identifier/ },
      { row: ['Loyal', 'swap', digest(99)], reason: /must be/, field: 'action' },
    ],
    async readBack() {
      assert.ok(testServer.audiences.length < 2, 'a second audience was made')
      return [...(testServer.audiences[0]?.members ?? [])].map((member) => [
        'Loyal',
        'add',
        member.replace('EMAIL:', ''),
      ])
    },
    reset() {
      testServer.audiences.length = 0
      testServer.sessions.length = 0
    },
    deduplicates: true,
    visible: replaceExistingAudience ? 'when finished' : 'at once',
    ...(replaceExistingAudience ? { aborted: 'leaves what was there' as const } : {}),
    errors: [
      problemOf(testServer, match, problem(80_003), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
      problemOf(testServer, match, { status: 503, text: '<html>' }, { name: 'has an internal error', action: 'retry' }),
      problemOf(testServer, match, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
      problemOf(testServer, match, problem(190), { name: 'finds the token expired', action: 'reauthenticate' }),
    ],
    hang: hangOf(testServer, match),
  })
}
