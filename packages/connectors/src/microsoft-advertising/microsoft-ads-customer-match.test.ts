import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { Cell, ErrorAction, Finding } from '@penstock/connector'
import { acceptDestination, savedSecrets, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import {
  fault,
  type MicrosoftServer,
  microsoftRoutes,
  microsoftSecrets,
  microsoftSettings,
  partial,
  startMicrosoft,
} from '../../test/microsoft-server.ts'
import {
  assertFailure,
  batchOf,
  connectorErrorOf,
  type Failure,
  hangOf,
  problemOf,
} from '../../test/platform-server.ts'
import { microsoftAdsCustomerMatch } from './microsoft-ads-customer-match.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256']
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const apply = /CustomerListUserData\/Apply$/
const strange = `99999999${sha('x').slice(8)}`

describe('Microsoft Customer Match, against a server that keeps to what is known of Microsoft', () => {
  let microsoft: MicrosoftServer

  beforeEach(async () => {
    microsoft = await startMicrosoft()
  })
  afterEach(() => microsoft.close())

  const contextOf = (options: TestContextOptions = {}) =>
    testContext({
      secrets: microsoftSecrets,
      settings: microsoftSettings,
      columns,
      routes: microsoftRoutes(microsoft.url),
      ...options,
    })
  async function openWriter(options: TestContextOptions = {}) {
    const { deliver } = microsoftAdsCustomerMatch.destination ?? {}
    assert.ok(deliver)
    return deliver.open(contextOf(options))
  }
  const person = (n: number | string) => sha(`${n}@example.com`)
  const row = (n: number | string, action = 'add', name: string | null = 'Loyal', id: string | null = null): Cell[] => [
    name,
    id,
    action,
    person(n),
  ]
  const members = (at = 0) => [...(microsoft.lists[at]?.members ?? [])].sort()
  const sentBodies = () =>
    microsoft.received
      .filter(({ path }) => apply.test(path))
      .map(({ json }) => (json as Record<string, unknown>).CustomerListUserData)

  test('makes a list that rows name, adds and removes people, and delivers twice without harm', async () => {
    const email = sha('test@contoso.com')
    assert.equal(email, 'f25ad364d33972379a7a4f4df33db142205f5c40eb19cfdb2fc5aaf117e10101')
    const batch = batchOf(columns, [['Loyal', null, 'create', email], row(2), row(2, 'remove')])
    const { rejected, state } = await (await openWriter()).deliver(batch)
    assert.deepEqual(rejected, [])
    assert.deepEqual(state, { account: '9001', audiences: { Loyal: '824000000000000' } })
    assert.deepEqual(sentBodies(), [
      ...[['Add', email] as const, ['Remove', person(2)] as const].map(([ActionType, item]) => ({
        ActionType,
        AudienceId: '824000000000000',
        CustomerListItemSubType: 'Email',
        CustomerListItems: [item],
      })),
    ])
    await (await openWriter()).deliver(batch)
    assert.deepEqual(microsoft.lists.length, 1)
    assert.deepEqual(members(), [email])
  })

  test('replaces a list with the first batch of a transfer and adds with the later ones, also after a crash', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row('old')]))
    const writer = await openWriter({ transferId: 'feedfacefeedface' })
    const first = batchOf(columns, [row(1, 'replace'), row(2, 'replace')])
    const { deliveryState = null } = await writer.deliver(first)
    assert.deepEqual(deliveryState, { replaced: ['824000000000000'] })
    assert.deepEqual(members(), [person(1), person(2)].sort())
    assert.deepEqual((await writer.deliver(batchOf(columns, [row(3, 'replace')], 2))).deliveryState, undefined)
    const resumed = await openWriter({ transferId: 'feedfacefeedface', deliveryStates: [deliveryState] })
    await resumed.deliver(batchOf(columns, [row(3, 'replace'), row(4, 'replace')], 2))
    assert.deepEqual(members(), [1, 2, 3, 4].map(person).sort())
  })

  test('replaces no list by the rows of a test', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row('old')]))
    const writer = await openWriter({ transferId: 'feedfacefeedface', test: true })
    const { rejected } = await writer.deliver(batchOf(columns, [row(1, 'replace'), row(2)]))
    assert.deepEqual(rejected, [
      {
        index: 0,
        field: 'action',
        reason: 'A test replaces no audience, because its few people would be the only members then.',
      },
    ])
    assert.deepEqual(members(), ['old', 2].map(person).sort())
  })

  test('keeps in mind which lists it has replaced if their batch comes again because of another list', async () => {
    for (const id of ['1', '2']) microsoft.lists.push({ id, name: `List ${id}`, members: new Set() })
    const batch = batchOf(
      columns,
      ['1', '2'].map((id) => row(id, 'replace', null, id)),
    )
    const writer = await openWriter()
    microsoft.failure(apply, { json: { PartialErrors: null } })
    microsoft.failure(apply, fault(400, 117))
    assert.equal((await connectorErrorOf(writer.deliver(batch), contextOf())).code, 'rate_limited')
    assert.deepEqual((await writer.deliver(batch)).deliveryState, { replaced: ['1', '2'] })
    assert.deepEqual(
      sentBodies().map((body) => Object(body).ActionType),
      ['Replace', 'Replace', 'Add', 'Replace'],
    )
  })

  test('lets the service look before lists are replaced, and warns of what a failure in between leaves', async () => {
    const { deliver } = microsoftAdsCustomerMatch.destination ?? {}
    assert.ok(deliver?.replaces && deliver.inspect)
    const replacing = [
      { replaceExistingAudience: true },
      { mapping: '{"action": {"value": "Replace"}, "email_sha256": "mail"}' },
    ]
    for (const more of replacing) {
      const settings = { ...microsoftSettings, ...more }
      assert.equal(deliver.replaces(settings), true)
      const found: readonly Finding[] = await deliver.inspect({
        ...contextOf({ settings }),
        rows: [row(1)],
      })
      assert.deepEqual(
        found.map(({ code, column }) => [code, column]),
        [['replaced_in_parts', undefined]],
      )
    }
    for (const mapping of [undefined, '', '{', '{"action": "what"}', '{"action": {"value": "add"}}', '[]']) {
      assert.equal(deliver.replaces({ ...microsoftSettings, ...(mapping === undefined ? {} : { mapping }) }), false)
    }
    const findings = await deliver.inspect({ ...contextOf(), rows: [row(1), row(2, 'replace')] })
    assert.deepEqual(
      findings.map(({ code, column }) => [code, column]),
      [['replaced_in_parts', 'action']],
    )
    assert.deepEqual(await deliver.inspect({ ...contextOf(), rows: [row(1), row(2, 'remove')] }), [])
  })

  test('replaces the lists of all rows by the setting, and accepts no one to remove', async () => {
    await (await openWriter()).deliver(batchOf(columns, [row('old')]))
    const settings = { ...microsoftSettings, replaceExistingAudience: true }
    const writer = await openWriter({ settings, transferId: 'feedfacefeedface' })
    const { rejected } = await writer.deliver(batchOf(columns, [row(1), row(2, 'remove')]))
    assert.deepEqual(
      rejected?.map(({ index, field }) => [index, field]),
      [[1, 'action']],
    )
    await writer.deliver(batchOf(columns, [row(3, 'create')], 2))
    assert.deepEqual(members(), [person(1), person(3)].sort())
  })

  test('names the rows that cannot be sent, and those that Microsoft does not accept', async () => {
    const rows: [Cell[], string | undefined][] = [
      [row(1, 'add', null, 'x1'), 'segment_id'],
      [['Loyal', null, 'add', 'jane@example.com'], 'email_sha256'],
      [['Loyal', null, 'add', null], 'email_sha256'],
      [row(1, 'remove', 'Unknown audience'), 'segment_name'],
      [['Loyal', null, 'add', strange], 'email_sha256'],
      [['Loyal', null, 'add', strange], 'email_sha256'],
    ]
    const { rejected = [] } = await (await openWriter()).deliver(
      batchOf(columns, [row(0), ...rows.map(([one]) => one), row(2)]),
    )
    const sorted = [...rejected].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
    assert.deepEqual(
      sorted.map(({ index, field }) => [index, field]),
      rows.map(([, field], index) => [index + 1, field]),
    )
    assert.match(sorted.at(-1)?.reason ?? '', /code 8010, InvalidItem/)
    for (const { reason } of rejected) assert.doesNotMatch(reason, /jane|example/)
    assert.deepEqual(members(), [person(0), person(2)].sort())
  })

  test('says what is wrong with the terms, a list, the settings and the developer token, and blames no row', async () => {
    const codeOf = async (work: Promise<unknown>) => (await connectorErrorOf(work, contextOf())).code
    const one = batchOf(columns, [row(1)])
    assert.equal(
      await codeOf((await openWriter()).deliver(batchOf(columns, [row(1, 'add', null, '404')]))),
      'object_not_found',
    )
    microsoft.terms.accepted = false
    assert.equal(await codeOf((await openWriter()).deliver(one)), 'terms_not_accepted')
    microsoft.lists.push({ id: '7', name: 'Loyal', members: new Set() })
    assert.equal(await codeOf((await openWriter()).deliver(one)), 'terms_not_accepted')
    const accepts = await openWriter({ settings: { ...microsoftSettings, acceptTerms: true } })
    assert.deepEqual((await accepts.deliver(batchOf(columns, [row(1, 'add', null, '7')]))).rejected, [])
    assert.equal(microsoft.lists.at(-1)?.members.size, 1)
    microsoft.terms.accepted = true
    const { appDeveloperToken: _, ...without } = microsoftSecrets
    assert.equal(await codeOf(openWriter({ secrets: without })), 'invalid_setting')
    assert.equal(await codeOf(openWriter({ settings: { customerId: '7001', accountId: 'F100' } })), 'invalid_setting')
    assert.equal(
      await codeOf((await openWriter({ settings: { customerId: '7001', accountId: '9002' } })).deliver(one)),
      'permission_denied',
    )
    const wrongToken = { secrets: { ...microsoftSecrets, appDeveloperToken: 'another-token' } }
    assert.equal(await codeOf((await openWriter(wrongToken)).deliver(one)), 'expired_credentials')
  })

  test('uses a refresh token once, saves the next one, and renews a token that ends between two batches', async () => {
    microsoft.rotation.oneUse = true
    const saveSecret = savedSecrets(microsoftSecrets)
    const writer = await openWriter({ saveSecret })
    await writer.deliver(batchOf(columns, [row(1)]))
    microsoft.expireTokens()
    await writer.deliver(batchOf(columns, [row(2)], 2))
    await (await openWriter({ saveSecret })).deliver(batchOf(columns, [row(3)], 3))
    assert.deepEqual(members(), [1, 2, 3].map(person).sort())
    assert.deepEqual([...microsoft.refreshTokens], ['microsoft-refresh-3'])
  })

  test('begins with tokens that were entered, and renews the access token', async () => {
    const { appDeveloperToken: developerToken, ...others } = microsoftSecrets
    const secrets = { ...others, authType: 'api-token', accessToken: 'entered-token', developerToken }
    const writer = await openWriter({ secrets })
    await writer.deliver(batchOf(columns, [row(1)]))
    assert.ok(!microsoft.received.some(({ path }) => path.endsWith('/token')))
    microsoft.expireTokens()
    await writer.deliver(batchOf(columns, [row(2)], 2))
    assert.deepEqual(members(), [person(1), person(2)].sort())
  })

  test('takes a batch of the largest size', async () => {
    const { rowsMax = 0 } = microsoftAdsCustomerMatch.destination?.deliver?.batch({}) ?? {}
    const rows = Array.from({ length: rowsMax }, (_, n) => row(n, 'add', null))
    assert.deepEqual((await (await openWriter()).deliver(batchOf(columns, rows))).rejected, [])
    assert.equal(members().length, rowsMax)
  })

  test('maps Microsoft’s answers to codes', async () => {
    microsoft.lists.push({ id: '7', name: 'Loyal', members: new Set() })
    const cases: [Failure, ErrorAction, string, number?][] = [
      [fault(400, 117), 'retry', 'rate_limited', 60_000],
      [fault(500, 207, 'OperationErrors'), 'retry', 'rate_limited', 60_000],
      [{ status: 429, headers: { 'retry-after': '7' }, json: {} }, 'retry', 'rate_limited', 7000],
      [{ status: 429, text: '' }, 'retry', 'rate_limited'],
      [fault(400, 0), 'retry', 'platform_error'],
      [fault(500, 99), 'retry', 'platform_error'],
      [{ status: 502, text: '<html>' }, 'retry', 'platform_error'],
      [{ status: 200, text: '<html>' }, 'retry', 'malformed_response'],
      [{ json: { PartialErrors: 'none' } }, 'retry', 'malformed_response'],
      ['reset', 'retry', 'connection_lost'],
      ['reset after', 'retry', 'connection_lost'],
      [{ json: partial([null, 4711, 'Strange']) }, 'split', 'invalid_batch'],
      [{ json: partial([5, 4711, 'Strange']) }, 'split', 'invalid_batch'],
      [{ json: { PartialErrors: [{}] } }, 'split', 'invalid_batch'],
      [fault(403, 106), 'reconfigure', 'permission_denied'],
      [fault(400, 1234), 'fail', 'request_refused'],
    ]
    const setting = { server: microsoft, context: contextOf(), match: apply }
    const writer = await openWriter()
    const batch = batchOf(columns, [row(1)])
    for (const [failure, action, code, afterMs] of cases) {
      const wanted = { action, code, ...(afterMs === undefined ? {} : { afterMs }) }
      await assertFailure(setting, writer, batch, failure, wanted)
    }
    for (const code of [105, 109]) {
      microsoft.failure(apply, fault(500, code))
      const wanted = { action: 'reauthenticate', code: 'expired_credentials' } as const
      await assertFailure(setting, writer, batch, fault(500, code), wanted)
    }
    await writer.deliver(batch)
    assert.deepEqual(members(), [person(1)])
  })

  test('checks whether Microsoft is reached, signs in and lets the ad account be asked', async () => {
    const { check } = microsoftAdsCustomerMatch
    assert.ok(check)
    const run = async (options: TestContextOptions = {}) =>
      (await check(contextOf(options))).map(({ name, ok }) => `${name} ${ok}`)
    const well = ['connectivity true', 'authentication true', 'permissions true']
    assert.deepEqual(await run(), well)
    assert.deepEqual(await run({ settings: {} }), well)
    const denied = ['connectivity true', 'authentication true', 'permissions false']
    assert.deepEqual(await run({ settings: { customerId: '7001', accountId: '9002' } }), denied)
    const revoked = { secrets: { ...microsoftSecrets, refreshToken: 'revoked-token' } }
    assert.deepEqual(await run(revoked), ['connectivity true', 'authentication false'])
  })
})

const testServer = await startMicrosoft()
after(() => testServer.close())

acceptDestination({
  connector: microsoftAdsCustomerMatch,
  testServer: 'a server that keeps to what is known of Microsoft',
  secrets: microsoftSecrets,
  wrongSecrets: { ...microsoftSecrets, clientSecret: 'another-secret' },
  settings: microsoftSettings,
  missing: { customerId: '7001', accountId: '9002' },
  context: { routes: microsoftRoutes(testServer.url) },
  columns: ['segment_name', 'action', 'email_sha256'],
  rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha(`${n}@example.com`)]),
  badRows: [
    { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
    { row: ['Loyal', 'swap', sha('98')], reason: /must be/, field: 'action' },
    { row: ['Loyal', 'add', strange], reason: /does not accept/, field: 'email_sha256' },
  ],
  async readBack() {
    assert.ok(testServer.lists.length < 2, 'a second list was made')
    return [...(testServer.lists[0]?.members ?? [])].map((digest) => ['Loyal', 'add', digest])
  },
  reset() {
    testServer.lists.length = 0
  },
  deduplicates: true,
  visible: 'at once',
  errors: [
    problemOf(testServer, apply, fault(400, 117), { name: 'limits calls', action: 'retry', code: 'rate_limited' }),
    problemOf(testServer, apply, fault(500, 0), { name: 'has an internal error', action: 'retry' }),
    problemOf(testServer, apply, 'reset after', { name: 'cuts the answer off', action: 'retry' }),
    problemOf(testServer, apply, fault(403, 106), { name: 'denies access', action: 'reconfigure' }),
  ],
  hang: hangOf(testServer, apply),
})
