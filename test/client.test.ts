import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import {
  type Client,
  createClient,
  everyEntry,
  everyPage,
  type Fetch,
  NoAnswerError,
  PenstockError,
} from '@penstock/client'
import { operations } from '@penstock/wire'
import {
  destination,
  destinationSecrets,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './harness/fixtures.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'

let service: TestService
let baseUrl: string
let organization: Organization
before(async () => {
  service = await startTestService()
  baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
  organization = await service.addOrganization()
})
after(() => service.close())

/** The real `fetch`, with what passed through it; `meddle` may answer in the service's place, or act before its answer. */
function recorder(
  meddle: (address: string, nth: number, init: RequestInit) => Promise<Response | undefined> | undefined = () =>
    undefined,
) {
  const calls: string[] = []
  const record: Fetch = async (address, init) => {
    const line = `${init.method} ${address.slice(address.indexOf('/es/v2') + 6)}`
    const nth = calls.filter((call) => call.startsWith(line)).length
    calls.push(line)
    const reply = (await meddle(address, nth, init)) ?? (await fetch(address, init))
    calls[calls.lastIndexOf(line)] = `${line} ${reply.status}`
    return reply
  }
  return { calls, fetch: record }
}

const withCredentials = (fetch: Fetch, { clientId, clientSecret }: Organization = organization): Client =>
  createClient({ baseUrl, clientId, clientSecret, fetch })

const tokenRequests = (calls: string[]) => calls.filter((call) => call.startsWith('POST /oauth/client-token'))

/** A service of its own organization, so that lists hold what the test made and nothing else. */
async function freshClient(fetch: Fetch = globalThis.fetch): Promise<Client> {
  return withCredentials(fetch, await service.addOrganization())
}

async function refusal(call: Promise<unknown>): Promise<PenstockError> {
  const error = await call.then(
    () => assert.fail('expected a refusal'),
    (thrown: unknown) => thrown,
  )
  assert(error instanceof PenstockError, String(error))
  return error
}

describe('the client', { concurrency: true }, () => {
  test('has one method for each operation of the contract', () => {
    assert.deepEqual(Object.keys(withCredentials(fetch)).sort(), Object.keys(operations).sort())
  })

  test('lays a pipe from account to active connection', async () => {
    const client = await freshClient()
    const { reply: account } = await client.addAccount({ body: { name: 'Piped' } })
    const accountId = account.id
    await client.addConnectors({ accountId, body: { connectorIds: [source.id, destination.id] } })
    await client.configureConnector({ accountId, id: source.id, body: { secretConfig: sourceSecrets } })
    await client.configureConnector({ accountId, id: destination.id, body: { secretConfig: destinationSecrets } })
    const { reply: made } = await client.createConnection({
      accountId,
      body: {
        ...{ name: 'Pipe', srcConnectorId: source.id, destConnectorId: destination.id },
        ...{ srcConnectionConfig: sourceSettings, destConnectionConfig: destinationSettings },
      },
    })
    const { reply: moved } = await client.updateConnectionStatus({
      accountId,
      id: made.id,
      body: { action: 'activate' },
    })
    assert.equal(moved.status, 'active')
    const { reply: listed, total } = await client.listConnections({ accountId, query: { status: 'active', q: 'pipe' } })
    assert.deepEqual([listed, total], [[moved], 1])
    const { reply: fits } = await client.listSupportedConnectors({
      accountId,
      query: { srcConnectorId: source.id, added: true },
    })
    assert.deepEqual(
      fits.map((entry) => entry.connectorId),
      [destination.id],
    )
  })

  test('gives the etag that ifMatch takes, and the request’s identifier', async () => {
    const client = await freshClient()
    const { reply: account } = await client.addAccount({ body: { name: 'Before' } })
    const { etag, requestId } = await client.getAccount({ id: account.id })
    assert.match(etag ?? '', /^".+"$/)
    assert.match(requestId ?? '', /^[0-9a-f]{16}$/)
    const edited = await client.editAccount({ id: account.id, body: { name: 'After' }, ifMatch: etag })
    assert.equal(edited.reply.name, 'After')
    const stale = await refusal(client.editAccount({ id: account.id, body: { name: 'Never' }, ifMatch: etag }))
    assert.deepEqual([stale.status, stale.code], [412, 'precondition_failed'])
    assert.equal((await client.getAccount({ id: account.id })).reply.name, 'After')
  })

  test('turns a refusal into an error with all that the service said', async () => {
    const client = await freshClient()
    const error = await refusal(client.addAccount({ body: { name: '', enabled: 'yes' as unknown as boolean } }))
    assert.deepEqual([error.status, error.code], [400, 'invalid_request'])
    assert.deepEqual(error.details.map(({ field }) => field).sort(), ['body.enabled', 'body.name'])
    assert.match(error.message, /^The request is not valid/)
    assert.match(error.requestId, /^[0-9a-f]{16}$/)
    assert.equal(error.retryAfterSeconds, undefined)
    const missing = await refusal(client.getAccount({ id: '0000000000000000' }))
    assert.deepEqual([missing.status, missing.code, missing.details], [404, 'not_found', []])
  })

  test('sends parameters as they are, whatever characters they hold', async () => {
    const client = await freshClient()
    const name = 'a&b=c %2F/?# ü😀'
    await client.addAccount({ body: { name } })
    assert.equal((await client.listAccounts({ query: { q: name, size: undefined } })).total, 1)
    assert.equal((await refusal(client.getAccount({ id: '../accounts' }))).code, 'not_found')
    for (const id of ['', '.', '..']) await assert.rejects(client.getAccount({ id }), TypeError)
  })
})

describe('tokens of the client', { concurrency: true }, () => {
  test('are requested once for many calls at once, and then kept', async () => {
    const { calls, fetch } = recorder()
    const client = withCredentials(fetch)
    await Promise.all(Array.from({ length: 20 }, () => client.listAccounts()))
    await client.listAccounts()
    assert.equal(tokenRequests(calls).length, 1)
    assert.equal(calls.length, 22)
  })

  test('are renewed before they expire', async () => {
    const { calls, fetch } = recorder(async (address, nth, init) => {
      if (!address.endsWith('/client-token') || nth > 0) return undefined
      const token = (await (await globalThis.fetch(address, init)).json()) as object
      return Response.json({ ...token, expiry: 1 })
    })
    const client = withCredentials(fetch)
    const deadline = Date.now() + 10_000
    while (tokenRequests(calls).length < 2 && Date.now() < deadline) await client.listAccounts()
    assert.equal(tokenRequests(calls).length, 2)
    assert.deepEqual(
      calls.filter((call) => call.endsWith('401')),
      [],
    )
  })

  test('are renewed once when the service refuses one, by many calls together', async () => {
    const fresh = await service.addOrganization()
    const { calls, fetch } = recorder(async (address, nth, init) => {
      if (!address.endsWith('/client-token') || nth > 0) return undefined
      const reply = await globalThis.fetch(address, init)
      await service.database.pool.query('delete from tokens where client_id = $1', [fresh.clientId])
      return reply
    })
    const client = withCredentials(fetch, fresh)
    await Promise.all(Array.from({ length: 5 }, () => client.addAccount({ body: { name: 'Made once' } })))
    assert.equal(tokenRequests(calls).length, 2)
    assert.equal((await client.listAccounts()).total, 5)
  })

  test('are not asked for again and again with wrong credentials', async () => {
    const { calls, fetch } = recorder()
    const error = await refusal(withCredentials(fetch, { ...organization, clientSecret: 'wrong' }).listAccounts())
    assert.deepEqual([error.status, error.code, calls], [401, 'invalid_client', ['POST /oauth/client-token 401']])
  })

  test('can be given, and a refused one is then the caller’s affair', async () => {
    const { calls, fetch } = recorder()
    assert.equal((await createClient({ baseUrl, token: organization.token, fetch }).listAccounts()).reply.length, 0)
    const error = await refusal(createClient({ baseUrl, token: 'pst_stale', fetch }).listAccounts())
    assert.equal(error.code, 'unauthorized')
    assert.deepEqual(calls, ['GET /accounts 200', 'GET /accounts 401'])
  })

  test('can come from a function, which hears which one was refused', async () => {
    const heard: (string | undefined)[] = []
    const getToken = (refused?: string) => {
      heard.push(refused)
      return refused === undefined ? 'pst_stale' : organization.token
    }
    await createClient({ baseUrl: `${baseUrl}/`, getToken }).listAccounts()
    assert.deepEqual(heard, [undefined, 'pst_stale'])
  })

  test('on their way for one caller arrive although another one aborts', async () => {
    const aborting = new AbortController()
    const { calls, fetch } = recorder(async (address) => {
      if (address.endsWith('/client-token')) aborting.abort(new Error('changed my mind'))
      return undefined
    })
    const client = withCredentials(fetch)
    const [one, two] = await Promise.allSettled([
      client.listAccounts({ signal: aborting.signal }),
      client.listAccounts(),
    ])
    assert.equal(one.status === 'rejected' && one.reason.message, 'changed my mind')
    assert.equal(two.status, 'fulfilled')
    await assert.rejects(client.listAccounts({ signal: aborting.signal }), /changed my mind/)
    assert.equal(calls.length, 2)
  })
})

describe('trouble on the way to the service', { concurrency: true }, () => {
  const busy = () => {
    const refused = { error: 'unavailable', requestId: 'f00d', details: [] }
    const body = { statusCode: 503, statusMessage: 'Busy', response: refused }
    return Response.json(body, { status: 503, headers: { 'retry-after': '0' } })
  }
  const busyOn = (line: string, times: number) =>
    recorder(async (address, nth, { method }) =>
      `${method} ${new URL(address).pathname}` === line && nth < times ? busy() : undefined,
    )

  test('is a NoAnswerError with its cause where nothing listens', async () => {
    const port = await freePort()
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 't' })
    await assert.rejects(client.listAccounts(), (error: unknown) => {
      assert(error instanceof NoAnswerError)
      assert.match(error.message, new RegExp(`http://127.0.0.1:${port}/es/v2 cannot be reached`))
      assert.equal((error.cause as { cause: { code: string } }).cause.code, 'ECONNREFUSED')
      return error.status === undefined
    })
  })

  test('is a NoAnswerError where something else answers', async () => {
    for (const [body, status] of [
      ['<h1>Bad gateway</h1>', 502],
      ['<h1>Hello</h1>', 200],
      ['null', 200],
      ['{"ok":false}', 404],
    ] as const) {
      const client = createClient({ baseUrl, token: 't', fetch: async () => new Response(body, { status }) })
      await assert.rejects(client.listAccounts(), { name: 'NoAnswerError', status, message: /is not Penstock/ })
    }
  })

  test('is a NoAnswerError where the answer takes longer than timeoutMs', async () => {
    const fetch: Fetch = (_, { signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    const client = createClient({ baseUrl, token: 't', fetch, timeoutMs: 20 })
    await assert.rejects(client.listAccounts(), { name: 'NoAnswerError', message: /did not answer within 20 ms/ })
  })

  test('makes a read wait as long as it is asked to, and try again', async () => {
    const { calls, fetch } = busyOn('GET /es/v2/accounts', 2)
    await createClient({ baseUrl, token: organization.token, fetch }).listAccounts()
    assert.deepEqual(calls, ['GET /accounts 503', 'GET /accounts 503', 'GET /accounts 200'])
  })

  test('makes it try again within bounds only', async () => {
    const { calls, fetch } = busyOn('GET /es/v2/accounts', 9)
    const error = await refusal(createClient({ baseUrl, token: organization.token, fetch }).listAccounts())
    assert.deepEqual([error.code, error.retryAfterSeconds, calls.length], ['unavailable', 0, 3])
  })

  test('makes a write try again only where its idempotency key makes that safe', async () => {
    const { calls, fetch } = busyOn('POST /es/v2/accounts', 1)
    const { token } = await service.addOrganization()
    const client = createClient({ baseUrl, token, fetch })
    const body = { name: 'Once' }
    assert.equal((await refusal(client.addAccount({ body }))).code, 'unavailable')
    const again = createClient({ baseUrl, token, fetch: busyOn('POST /es/v2/accounts', 1).fetch })
    const { reply } = await again.addAccount({ body, idempotencyKey: 'key' })
    assert.deepEqual(calls, ['POST /accounts 503'])
    assert.deepEqual((await client.addAccount({ body, idempotencyKey: 'key' })).reply, reply)
    assert.equal((await client.listAccounts()).total, 1)
  })

  test('that asks for more patience than the caller has is told at once', async () => {
    const limited = await startTestService({ PENSTOCK_RATE_LIMIT: '1' })
    try {
      const address = await limited.service.app.listen({ host: '127.0.0.1', port: 0 })
      const { token } = await limited.addOrganization()
      const client = createClient({ baseUrl: address, token, retryWaitMaxSeconds: 0 })
      await client.listAccounts()
      const error = await refusal(client.listAccounts())
      assert.deepEqual([error.status, error.code], [429, 'rate_limited'])
      assert(Number(error.retryAfterSeconds) >= 1 && Number(error.retryAfterSeconds) <= 60)
    } finally {
      await limited.close()
    }
  })
})

test('walks all pages of a list, newest first', async () => {
  const client = await freshClient()
  for (const name of ['one', 'two', 'three', 'four', 'five', 'other'])
    await client.addAccount({ body: { name: `${name} in line`.replace('other in line', 'other') } })
  const sizes: number[] = []
  for await (const { reply, total } of everyPage(client, 'listAccounts', { query: { q: 'in line', size: 2 } })) {
    assert.equal(total, 5)
    sizes.push(reply.length)
  }
  assert.deepEqual(sizes, [2, 2, 1])
  const names: string[] = []
  for await (const { name } of everyEntry(client, 'listAccounts', { query: { size: 4, offset: 1 } })) names.push(name)
  assert.deepEqual(names, ['five in line', 'four in line', 'three in line', 'two in line', 'one in line'])
  const none = everyEntry(client, 'listAccounts', { query: { q: 'nobody' } })
  assert.equal((await none.next()).done, true)
})

test('imports nothing that a browser lacks', () => {
  const root = new URL('..', import.meta.url)
  const files = globSync('packages/{client,wire}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  assert(files.length > 10)
  for (const file of files) {
    const text = readFileSync(new URL(file, root), 'utf8')
    for (const [, imported] of text.matchAll(/(?:from|import) ?\(?'([^']+)'/g)) {
      assert.match(imported ?? '', /^(\.{1,2}\/.+|@penstock\/wire|typebox)$/, file)
    }
  }
})

/** What the compiler must refuse; `npm run check` reads it, nobody runs it. */
export const compilerRefuses = (client: Client) => [
  // @ts-expect-error accountId is required
  client.getConnection({ id: 'x' }),
  // @ts-expect-error id is required
  client.getConnection({ accountId: 'x' }),
  // @ts-expect-error the operation has no id
  client.listConnections({ id: 'x' }),
  // @ts-expect-error the operation acts in the organization
  client.getAccount({ id: 'x', accountId: 'x' }),
  // @ts-expect-error the body is required
  client.addAccount({}),
  // @ts-expect-error the operation takes no body
  client.deleteAccount({ id: 'x', body: {} }),
  // @ts-expect-error the body has no such field
  client.addAccount({ body: { name: 'x', volume: 1 } }),
  // @ts-expect-error there is no such action
  client.updateConnectionStatus({ accountId: 'x', id: 'x', body: { action: 'restore' } }),
  // @ts-expect-error reads take no If-Match
  client.getAccount({ id: 'x', ifMatch: '"1"' }),
  // @ts-expect-error only what is posted takes an idempotency key
  client.editAccount({ id: 'x', body: {}, idempotencyKey: 'x' }),
  // @ts-expect-error the token operation takes none either
  client.createToken({ body: { clientId: 'x', clientSecret: 'x' }, idempotencyKey: 'x' }),
  // @ts-expect-error there is no such filter
  client.listConnections({ query: { name: 'x' } }),
  // @ts-expect-error size is a number
  client.listAccounts({ query: { size: '2' } }),
  // @ts-expect-error one of srcConnectorId and destConnectorId is required
  client.listSupportedConnectors({ accountId: 'x', query: {} }),
  // @ts-expect-error and not both
  client.listSupportedConnectors({ accountId: 'x', query: { srcConnectorId: 'x', destConnectorId: 'x' } }),
  // @ts-expect-error only pages have a total
  client.listSupportedConnectors({ accountId: 'x', query: { srcConnectorId: 'x' } }).then(({ total }) => total),
  // @ts-expect-error entries of the list have no userEmail
  client.listAccounts().then(({ reply }) => reply[0]?.userEmail),
  // @ts-expect-error only lists that have pages can be walked
  everyPage(client, 'getAccount', { id: 'x' }),
  // @ts-expect-error credentials or a token, not both
  createClient({ baseUrl, token: 'x', clientId: 'x', clientSecret: 'x' }),
  // @ts-expect-error some proof of who asks is required
  createClient({ baseUrl }),
]

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
