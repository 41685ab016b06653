import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { type Client, createClient, type Fetch, NoAnswerError } from '@penstock/client'
import { recorder, refusal } from './harness/recorder.ts'
import { type Organization, startTestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'
import { until } from './harness/until.ts'

/** The client and its tokens, and what it does when something is in the way. */

const service = await startTests()
const baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
const organization = await service.addOrganization()

const withCredentials = (fetch: Fetch, { clientId, clientSecret }: Organization = organization): Client =>
  createClient({ baseUrl, clientId, clientSecret, fetch })

const tokenRequests = (calls: string[]) => calls.filter((call) => call.startsWith('POST /oauth/client-token'))

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
    await until('a second token is asked for', async () => {
      await client.listAccounts()
      return tokenRequests(calls).length === 2
    })
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

  test('can come from a function, which gets the one that was refused', async () => {
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

describe('a transient error on the way to the service', { concurrency: true }, () => {
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
    const { token } = await service.addOrganization()
    const body = { name: 'Once' }
    const without = busyOn('POST /es/v2/accounts', 1)
    const error = await refusal(createClient({ baseUrl, token, fetch: without.fetch }).addAccount({ body }))
    assert.deepEqual([error.code, without.calls], ['unavailable', ['POST /accounts 503']])
    const within = busyOn('POST /es/v2/accounts', 1)
    const client = createClient({ baseUrl, token, fetch: within.fetch })
    const { reply } = await client.addAccount({ body, idempotencyKey: 'key' })
    assert.deepEqual(within.calls, ['POST /accounts 503', 'POST /accounts 201'])
    assert.deepEqual((await client.addAccount({ body, idempotencyKey: 'key' })).reply, reply)
    assert.equal((await client.listAccounts()).total, 1)
  })

  test('is thrown at once where Retry-After is longer than the caller waits', async () => {
    const limited = await startTestService({ PENSTOCK_RATE_LIMIT: '2' })
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
