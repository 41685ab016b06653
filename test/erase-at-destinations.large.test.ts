import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { BodyOf } from '@penstock/wire'
import { type Reply, startPlatform } from '../packages/connectors/test/platform-server.ts'
import { callerOf, connectorBySlug } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/** One person at the platforms of destinations: which can be asked, what they answer, and what the audit log keeps. */

const service = await startTests({ invariants: true })
const caller = callerOf(service, await service.addOrganization())
let answers: readonly Reply[] = []
const platform = await startPlatform(() => answers[Math.min(platform.received.length, answers.length) - 1] ?? {})
after(() => platform.close())
const httpApi = connectorBySlug('http-api')
const mailchimp = connectorBySlug('mailchimp')
const webhook = connectorBySlug('webhook')
const jane = 'jane.doe@example.com'
const definition = `erasure: {
  email: { path: /erase, body: { email: "{{ person }}" }, result: { reason: "{{ response.why }}" } },
  externalId: { path: "/people/{{ person }}", method: DELETE, missing: status == 404, outcome: deleted } }`

const { id: accountId } = await caller.addAccount()
await caller.addConnectors(accountId, httpApi, mailchimp, webhook)
const configure = (id: string, secretConfig: object) =>
  caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig: secretConfig as never } }))
await configure(httpApi.id, { url: platform.url, definition })
await configure(webhook.id, { url: platform.url, signingSecret: `whsec_${Buffer.alloc(32).toString('base64')}` })
await configure(mailchimp.id, { apiKey: 'canary0123456789-us21' })

const erase = (identifiers: BodyOf<'eraseAtDestination'>['identifiers'], id = httpApi.id, as = caller) =>
  as.call('eraseAtDestination', { accountId, id, body: { identifiers } })
const email = { kind: 'email', value: jane } as const
const externalId = { kind: 'externalId', value: ' u 1\n' } as const

describe('a person at destinations', () => {
  test('has the destinations that are configured, with what each platform deletes by which identifiers', async () => {
    const list = await caller.expect(caller.call('listErasureDestinations', { accountId }))
    assert.deepEqual(
      list.map(({ connectorId, kinds, deletes }) => [connectorId, kinds, deletes !== null]).toSorted(),
      [
        [httpApi.id, ['email', 'externalId'], true],
        [mailchimp.id, ['email'], true],
        [webhook.id, [], false],
      ].toSorted(),
    )
    const page = await caller.call('listErasureDestinations', { accountId, query: { size: 1, offset: 1 } })
    assert.deepEqual([page.response.length, page.headers['x-total-count']], [1, '3'])
  })

  test('is erased by each identifier, and the audit log has the beginning and the outcomes without the person', async () => {
    answers = [{ json: {} }, { status: 404, json: {} }, { status: 422, json: { why: `${jane} is locked` } }]
    const before = platform.received.length
    answers = [...Array<Reply>(before).fill({}), ...answers]
    const { results, error } = await caller.expect(erase([email, externalId, { ...email, value: 'j@example.com' }]))
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['requested', 'notFound', 'refused'],
    )
    assert.deepEqual([error, results[1]?.value, results[0]?.reason], [null, 'u 1', null])
    assert.match(String(results[2]?.reason), /is locked/)
    assert.deepEqual(
      platform.received.slice(before).map(({ method, path }) => `${method} ${path}`),
      ['POST /erase', 'DELETE /people/u%201', 'POST /erase'],
    )
    const events = await caller.expect(caller.call('listAudit', { query: { action: 'eraseAtDestination', size: 2 } }))
    const query = { connectorId: httpApi.id }
    const [saved] = await caller.expect(caller.call('listConnectorConfigurations', { accountId, query }))
    const { configurationId } = saved ?? {}
    assert.deepEqual(
      events.map(({ details, targetId }) => [targetId, details]),
      [
        [httpApi.id, { configurationId, outcomes: { requested: 1, notFound: 1, refused: 1 } }],
        [httpApi.id, { configurationId, asked: { email: 2, externalId: 1 } }],
      ],
    )
    await service.service.settleAudit()
    const { rows } = await service.database.pool.query('select * from audit_events')
    assert(!JSON.stringify(rows).includes('jane'))
  })

  test('is unknown where the platform does not answer, and the next identifiers are asked for', async () => {
    const before = platform.received.length
    platform.failure(/POST \/erase/, { status: 503, headers: { 'retry-after': '600' } })
    answers = [...Array<Reply>(before + 1).fill({}), { status: 204, text: '' }]
    const { results } = await caller.expect(erase([email, externalId]))
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['unknown', 'deleted'],
    )
    assert.match(String(results[0]?.reason), /internal error/)
  })

  test('is not asked for with credentials that the platform refused once', async () => {
    const before = platform.received.length
    answers = [...Array<Reply>(before).fill({}), { status: 401 }]
    const { results } = await caller.expect(erase([email, externalId]))
    assert.deepEqual(
      [results.map(({ outcome }) => outcome), platform.received.length],
      [['unknown', 'unknown'], before + 1],
    )
    assert.match(String(results[1]?.reason), /credentials/)
  })

  test('cannot be erased by other identifiers, where a platform cannot be asked, or by others', async () => {
    const codes = async (...calls: ReturnType<typeof erase>[]) =>
      (await Promise.all(calls)).map(({ status, error, details }) => [status, error, details[0]?.field])
    assert.deepEqual(
      await codes(
        erase([{ kind: 'phone', value: '+4930123456' }]),
        erase([]),
        erase([{ kind: 'email', value: ' ' }]),
        erase(Array(21).fill(email)),
        erase([email], webhook.id),
        erase([email], connectorBySlug('braze').id),
      ),
      [
        [400, 'invalid_request', 'body.identifiers.0.kind'],
        [400, 'invalid_request', 'body.identifiers'],
        [400, 'invalid_request', 'body.identifiers.0.value'],
        [400, 'invalid_request', 'body.identifiers'],
        [400, 'invalid_request', 'body.identifiers.0.kind'],
        [409, 'connector_not_added', undefined],
      ],
    )
    const stranger = callerOf(service, await service.addOrganization())
    assert.deepEqual(await codes(erase([email], httpApi.id, stranger)), [[404, 'not_found', undefined]])
    const reading = await caller.expect(
      caller.call('createClient', { body: { name: 'Reads', scopes: ['records:read', 'connectors:write'] } }),
    )
    const { accessToken: token } = await caller.expect(
      service.call('createToken', { body: { clientId: reading.id, clientSecret: reading.clientSecret } }),
    )
    const body = { identifiers: [email] }
    const refused = await service.call('eraseAtDestination', { token, accountId, id: httpApi.id, body })
    assert.deepEqual([refused.status, refused.error], [403, 'forbidden'])
    assert.equal((await service.call('listErasureDestinations', { token, accountId })).status, 403)
  })
})
