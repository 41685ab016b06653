import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type AskSource, limits } from '@penstock/wire'
import { localFolder } from './harness/connections.ts'
import { contentOf } from './harness/content.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'

/** One request of a source, through the API. */

const httpApi = connectorBySlug('http-api')
const token = 'canary-token-of-the-api'
const definition = `
streams:
  orders: { path: /orders, records: data, columns: [id, total], pages: { by: cursor, parameter: at, at: next } }
  echo: { path: /echo }
  page: { path: /page }
  moved: { path: /moved }
  busy: { path: /busy }
  broken: { path: /broken }
  large: { path: /large }
  elsewhere: { path: /orders, records: items }
`

let service: TestService
let organization: Organization
let caller: Caller
let accountId: string
let origin: string
let requests: string[]
const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  requests.push(request.url ?? '')
  const json = (value: unknown, status = 200, headers = {}) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  const { authorization } = request.headers
  switch (pathname) {
    case '/echo':
      return json({ authorization, again: [`you sent ${authorization}`], [token]: 1 }, 200, { 'set-cookie': 'a=b' })
    case '/page':
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(`<html>${authorization}</html>`)
    case '/moved':
      return void response.writeHead(302, { location: '/orders' }).end()
    case '/busy':
      return json({}, 429, { 'retry-after': '20' })
    case '/broken':
      return void request.socket.destroy()
    case '/large':
      return json(Array.from({ length: 20_000 }, (_, id) => ({ id, note: 'x'.repeat(60) })))
    default:
      if (authorization !== `Bearer ${token}`) return json({ message: 'no' }, 401)
      return searchParams.has('at')
        ? json({ data: [{ id: 3, total: '3.00' }], next: null })
        : json({ data: [{ id: 1, total: '1.00', email: 'ada@example.com' }, { id: 2 }], next: 'second' })
  }
})
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  requests = []
  service = await startTestService()
  organization = await service.addOrganization()
  caller = callerOf(service, organization)
  accountId = (await caller.addAccount()).id
})
after(async () => {
  server.closeAllConnections()
  server.close()
  await service.close()
})

const call = (body: AskSource, id = httpApi.id, as?: string) =>
  service.call('askSource', { accountId, id, token: as ?? organization.token, body })
const ask = async (stream: string, more: Omit<AskSource, 'settings'> = {}) => {
  const reply = await call({ settings: { stream }, ...more })
  assert.equal(reply.status, 200, reply.text)
  assert.doesNotMatch(reply.text, /canary/)
  return reply.response
}
const secretConfig = () => ({ url: origin, definition, authentication: 'bearer token', apiToken: token })

describe('one request of a source', () => {
  test('is refused if the connector is not added, and of a connector that has none', async () => {
    const refused = async (id: string) => {
      const { status, error } = await call({}, id)
      return [status, error]
    }
    assert.deepEqual(await refused(httpApi.id), [409, 'connector_not_added'])
    await caller.addConnectors(accountId, httpApi, localFolder)
    assert.deepEqual(await refused(localFolder.id), [422, 'asking_not_supported'])
    assert.deepEqual(await refused('0123456789abcdef'), [404, 'not_found'])
  })

  test('is sent with values that are not saved, and shows the answer and the rows', async () => {
    const content = await contentOf(service)
    const { request, answer, error, columns, rows, next } = await ask('orders', { secretConfig: secretConfig() })
    assert.deepEqual(request, { method: 'GET', url: `${origin}/orders` })
    assert.deepEqual([answer?.status, answer?.json, answer?.entriesMax, error], [200, true, null, null])
    assert.deepEqual(JSON.parse(answer?.text ?? '').data[0].email, 'ada@example.com')
    assert.deepEqual(
      [columns, rows, next],
      [
        ['id', 'total'],
        [
          ['1', '1.00'],
          ['2', null],
        ],
        'second',
      ],
    )
    assert.equal(await contentOf(service), content)
  })

  test('needs the values that a saved configuration needs, and names the place of an error in the definition', async () => {
    const { status, details } = await call({
      secretConfig: { ...secretConfig(), definition: 'streams:\n  a:\n    pth: /a\n' },
    })
    assert.deepEqual(
      [status, details],
      [
        400,
        [
          {
            field: 'body.secretConfig.definition',
            message: 'is wrong at line 3, column 10: pth is not known here. Did you mean path?',
          },
        ],
      ],
    )
    const missing = await call({ secretConfig: { definition } })
    assert.deepEqual(missing.details, [{ field: 'body.secretConfig.url', message: 'is required: Base URL' }])
  })

  test('uses the saved configuration, page by page', async () => {
    const body = { secretConfig: secretConfig() }
    await caller.expect(caller.call('configureConnector', { accountId, id: httpApi.id, body }))
    const first = await ask('orders')
    assert.deepEqual(first.rows.length, 2)
    const second = await ask('orders', { page: first.next ?? '' })
    assert.deepEqual([second.rows, second.next], [[['3', '3.00']], null])
    assert.equal(requests.at(-1), '/orders?at=second')
  })

  test('does not send a saved secret to another server', async () => {
    const before = requests.length
    const { status, details } = await call({
      settings: { stream: 'orders' },
      secretConfig: { url: origin.replace('127.0.0.1', 'localhost') },
    })
    assert.deepEqual([status, details.map(({ field }) => field)], [400, ['body.secretConfig.apiToken']])
    assert.equal(requests.length, before)
  })

  test('shows answers that a transfer could not use, without secrets', async () => {
    const echo = await ask('echo')
    assert.deepEqual(JSON.parse(echo.answer?.text ?? ''), {
      authorization: 'Bearer [redacted]',
      again: ['you sent Bearer [redacted]'],
      '[redacted]': 1,
    })
    assert.deepEqual(echo.answer?.headers.find(({ name }) => name === 'set-cookie')?.value, '[redacted]')
    const outcome = async (stream: string) => {
      const before = requests.length
      const { answer, error, rows } = await ask(stream)
      assert.deepEqual(rows, [])
      assert.equal(error?.side, 'source')
      assert.equal(requests.length, before + 1, 'it is sent once')
      return [answer?.status, answer?.json, error?.code]
    }
    assert.deepEqual(await outcome('page'), [200, false, 'malformed_response'])
    assert.deepEqual(await outcome('moved'), [302, false, 'unexpected_response'])
    assert.deepEqual(await outcome('busy'), [429, true, 'rate_limited'])
    assert.deepEqual(await outcome('broken'), [undefined, undefined, 'connection_lost'])
    assert.deepEqual(await outcome('elsewhere'), [200, true, 'unexpected_response'])
    assert.equal((await ask('nothing').catch(() => undefined))?.error?.code, 'invalid_setting')
    const denied = await ask('orders', { secretConfig: { apiToken: 'canary-token-that-is-wrong' } })
    assert.deepEqual([denied.answer?.status, denied.error?.code], [401, 'invalid_credentials'])
  })

  test('is bounded', async () => {
    const { answer, rows } = await ask('large')
    assert.ok(Buffer.byteLength(answer?.text ?? '') <= limits.answerBytesMax)
    assert.deepEqual([answer?.entriesMax, rows.length], [200, limits.previewRowsMax])
    assert.ok((answer?.bytes ?? 0) > 1_000_000)
  })

  test('needs the rights to edit the configuration and to read records, and is recorded', async () => {
    const of = async (scopes: ('connectors:write' | 'records:read' | 'secrets:write')[], body: AskSource = {}) => {
      const { id: clientId, clientSecret } = await caller.expect(
        caller.call('createClient', { body: { name: 'Limited', scopes } }),
      )
      const { response } = await service.call('createToken', { body: { clientId, clientSecret } })
      return (await call({ settings: { stream: 'orders' }, ...body }, httpApi.id, response.accessToken)).status
    }
    const secret = { secretConfig: { apiToken: 'another' } }
    assert.equal(await of(['connectors:write']), 403)
    assert.equal(await of(['records:read']), 403)
    assert.equal(await of(['connectors:write', 'records:read'], secret), 403)
    assert.equal(await of(['connectors:write', 'records:read']), 200)
    assert.equal(await of(['connectors:write', 'records:read', 'secrets:write'], secret), 200)
    const { response, text } = await caller.call('listAudit', { query: { action: 'askSource' } })
    assert.ok(response.some(({ details }) => (details as { records?: number } | null)?.records === 2))
    assert.doesNotMatch(text, /canary|ada@/)
  })
})
