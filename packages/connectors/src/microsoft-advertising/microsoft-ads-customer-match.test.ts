import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell, Finding } from '@penstock/connector'
import { savedSecrets } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { sha256 } from '../../test/digest.ts'
import {
  fault,
  type MicrosoftServer,
  microsoftRoutes,
  microsoftSecrets,
  microsoftSettings,
  partial,
  startMicrosoft,
} from '../../test/microsoft-server.ts'
import { batchOf } from '../../test/platform-server.ts'
import { type FailureCase, testDestination } from '../../test/test-destination.ts'
import { microsoftAdsCustomerMatch } from './microsoft-ads-customer-match.ts'

const columns = ['segment_name', 'segment_id', 'action', 'email_sha256']
const apply = /CustomerListUserData\/Apply$/
const strange = `99999999${sha256('x').slice(8)}`

await testDestination<MicrosoftServer>({
  connector: microsoftAdsCustomerMatch,
  testServer: 'a server that keeps to what is known of Microsoft',
  start: startMicrosoft,
  routes: microsoftRoutes,
  secrets: microsoftSecrets,
  wrongSecrets: { ...microsoftSecrets, clientSecret: 'another-secret' },
  settings: microsoftSettings,
  missing: { customerId: '7001', accountId: '9002' },
  columns,
  posts: apply,
  check: {
    denied: [{ settings: { customerId: '7001', accountId: '9002' } }],
    unknown: [{ ...microsoftSecrets, refreshToken: 'revoked-token' }],
  },
  accepts: {
    columns: ['segment_name', 'action', 'email_sha256'],
    rows: Array.from({ length: 12 }, (_, n) => ['Loyal', 'add', sha256(`${n}@example.com`)]),
    badRows: [
      { row: ['Loyal', 'add', 'abc'], reason: /not a SHA-256/, field: 'email_sha256' },
      { row: ['Loyal', 'swap', sha256('98')], reason: /must be/, field: 'action' },
      { row: ['Loyal', 'add', strange], reason: /does not accept/, field: 'email_sha256' },
    ],
    readBack(server) {
      assert.ok(server.lists.length < 2, 'a second list was made')
      return [...(server.lists[0]?.members ?? [])].map((digest) => ['Loyal', 'add', digest])
    },
    reset(server) {
      server.lists.length = 0
    },
    problems: [
      [fault(400, 117), 'limits calls', 'retry', { code: 'rate_limited' }],
      [fault(500, 0), 'has an internal error', 'retry'],
      ['reset after', 'cuts the answer off', 'retry'],
      [fault(403, 106), 'denies access', 'reconfigure'],
    ],
  },
  tests(scene) {
    const { contextOf, openWriter, deliver, codeOf, fails, largest } = scene

    const person = (n: number | string) => sha256(`${n}@example.com`)
    const row = (
      n: number | string,
      action = 'add',
      name: string | null = 'Loyal',
      id: string | null = null,
    ): Cell[] => [name, id, action, person(n)]
    const members = (at = 0) => [...(scene.server.lists[at]?.members ?? [])].sort()
    const sentBodies = () =>
      scene.server.received
        .filter(({ path }) => apply.test(path))
        .map(({ json }) => (json as Record<string, unknown>).CustomerListUserData)

    test('makes a list that rows name, adds and removes people, and delivers twice without harm', async () => {
      const email = sha256('test@contoso.com')
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
      assert.deepEqual(scene.server.lists.length, 1)
      assert.deepEqual(members(), [email])
    })

    test('replaces a list with the first batch of a transfer and adds with the later ones, also after a crash', async () => {
      await deliver([row('old')])
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
      await deliver([row('old')])
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
      for (const id of ['1', '2']) scene.server.lists.push({ id, name: `List ${id}`, members: new Set() })
      const batch = batchOf(
        columns,
        ['1', '2'].map((id) => row(id, 'replace', null, id)),
      )
      const writer = await openWriter()
      scene.server.failure(apply, { json: { PartialErrors: null } })
      scene.server.failure(apply, fault(400, 117))
      assert.equal(await codeOf(writer.deliver(batch)), 'rate_limited')
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
      await deliver([row('old')])
      const settings = { ...microsoftSettings, replaceExistingAudience: true }
      const writer = await openWriter({ settings, transferId: 'feedfacefeedface' })
      const { rejected } = await writer.deliver(batchOf(columns, [row(1), row(2, 'remove')]))
      assertRejected(rejected, [[1, 'action']])
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
      const { rejected = [] } = await deliver([row(0), ...rows.map(([one]) => one), row(2)])
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
      const one = batchOf(columns, [row(1)])
      assert.equal(await codeOf(deliver([row(1, 'add', null, '404')])), 'object_not_found')
      scene.server.terms.accepted = false
      assert.equal(await codeOf((await openWriter()).deliver(one)), 'terms_not_accepted')
      scene.server.lists.push({ id: '7', name: 'Loyal', members: new Set() })
      assert.equal(await codeOf((await openWriter()).deliver(one)), 'terms_not_accepted')
      const accepts = await openWriter({ settings: { ...microsoftSettings, acceptTerms: true } })
      assert.deepEqual((await accepts.deliver(batchOf(columns, [row(1, 'add', null, '7')]))).rejected, [])
      assert.equal(scene.server.lists.at(-1)?.members.size, 1)
      scene.server.terms.accepted = true
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
      scene.server.rotation.oneUse = true
      const saveSecret = savedSecrets(microsoftSecrets)
      const writer = await openWriter({ saveSecret })
      await writer.deliver(batchOf(columns, [row(1)]))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row(2)], 2))
      await (await openWriter({ saveSecret })).deliver(batchOf(columns, [row(3)], 3))
      assert.deepEqual(members(), [1, 2, 3].map(person).sort())
      assert.deepEqual([...scene.server.refreshTokens], ['microsoft-refresh-3'])
    })

    test('begins with tokens that were entered, and renews the access token', async () => {
      const { appDeveloperToken: developerToken, ...others } = microsoftSecrets
      const secrets = { ...others, authType: 'api-token', accessToken: 'entered-token', developerToken }
      const writer = await openWriter({ secrets })
      await writer.deliver(batchOf(columns, [row(1)]))
      assert.ok(!scene.server.received.some(({ path }) => path.endsWith('/token')))
      scene.server.expireTokens()
      await writer.deliver(batchOf(columns, [row(2)], 2))
      assert.deepEqual(members(), [person(1), person(2)].sort())
    })

    test('takes a batch of the largest size', async () => {
      const rowsMax = await largest((n) => row(n, 'add', null))
      assert.equal(members().length, rowsMax)
    })

    test('maps Microsoft’s answers to codes', async () => {
      scene.server.lists.push({ id: '7', name: 'Loyal', members: new Set() })
      const cases: FailureCase[] = [
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
        [fault(500, 105), 'reauthenticate', 'expired_credentials'],
        [fault(500, 109), 'reauthenticate', 'expired_credentials'],
      ]
      const { writer, batch } = await fails(cases, [row(1)])
      await writer.deliver(batch)
      assert.deepEqual(members(), [person(1)])
    })
  },
})
