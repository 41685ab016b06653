import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { ConnectorError } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, type Failure, type Reply, startPlatform } from '../../test/platform-server.ts'
import type { Answer } from './call.ts'
import { type Credentials, openPlatform, type Platform, type PlatformCall } from './client.ts'
import { isObject } from './json.ts'

let reply: Reply = {}
const server = await startPlatform(() => reply)
after(() => server.close())
const platform: Platform = { name: 'Acme Ads', baseUrl: `${server.url}/v1`, headers: { 'acme-version': '7' } }
const context = testContext({ secrets: { accessToken: 'token-of-the-test' } })
const open = (more: Partial<Platform> = {}) => openPlatform(context, { ...platform, ...more })
const refusal = (promise: Promise<unknown>) => connectorErrorOf(promise, context)

beforeEach(() => {
  reply = { json: { ok: true } }
  server.calm()
})
/** How many requests came in while this ran. */
async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  const before = server.received.length
  await work()
  return server.received.length - before
}
/** Lets the next requests fail, one after the other. */
const fail = (...failures: Failure[]) => {
  for (const failure of failures) server.failure(/./, failure)
}
const at = (path = '/x'): PlatformCall => ({ path })
/** A transient error, with a minimal wait. */
const busy = (status = 500) => ({ status, headers: { 'retry-after': '0.001' } })

describe('a request', () => {
  test('carries the headers of the platform, of who signs in and its own, and its query', async () => {
    const credentials: Credentials = { headers: async () => ({ authorization: 'Bearer a' }), renews: false }
    await open({ credentials }).ask({
      ...at('/things?page=1'),
      query: { q: 'a b&c', none: undefined },
      headers: { z: '1' },
    })
    const { path, query, headers } = server.received.at(-1) ?? assert.fail()
    assert.equal(path, '/v1/things')
    assert.deepEqual([...query], [...Object.entries({ page: '1', q: 'a b&c' })])
    assert.deepEqual([headers['acme-version'], headers.authorization, headers.z], ['7', 'Bearer a', '1'])
  })

  test('an answer that must be an object is one, or an error', async () => {
    assert.deepEqual((await open().askObject(at())).json, { ok: true })
    for (const wrong of [{ json: [] }, { json: null }, { json: 'text' }, { text: '<html>' }, { text: '{"cut":' }, {}]) {
      reply = wrong
      const { code, message } = await refusal(open().askObject(at()))
      assert.deepEqual([code, message], ['malformed_response', 'Acme Ads did not answer with the expected JSON.'])
    }
  })
})

describe('errors that pass', () => {
  test('what can be repeated is, twice at most', async () => {
    fail(busy(), busy(429))
    assert.equal(await requestsOf(() => open().ask(at())), 3)
    fail(busy(503), busy(429), busy(502), busy(500))
    assert.equal(await requestsOf(() => refusal(open().ask(at()))), 3)
  })

  test('a connection that breaks off is such an error, and needs no wait that is asked for', async () => {
    fail('reset')
    const call: PlatformCall = { ...at(), method: 'POST', repeatable: true, body: {} }
    assert.equal(await requestsOf(() => open().ask(call)), 2)
    fail('reset')
    assert.equal((await refusal(open().ask({ ...call, repeatable: false }))).code, 'connection_lost')
  })

  test('only what reads or sets is repeated', async () => {
    const repeats: [PlatformCall, number][] = [
      [at(), 2],
      [{ ...at(), method: 'PUT', body: {} }, 2],
      [{ ...at(), method: 'POST', body: {} }, 1],
      [{ ...at(), method: 'PATCH', body: {} }, 1],
      [{ ...at(), method: 'DELETE' }, 1],
      [{ ...at(), method: 'POST', repeatable: true, body: {} }, 2],
      [{ ...at(), repeatable: false }, 1],
    ]
    for (const [call, wanted] of repeats) {
      server.calm()
      fail(busy())
      const came = await requestsOf(() =>
        open()
          .ask(call)
          .catch(() => {}),
      )
      assert.equal(came, wanted, JSON.stringify(call))
    }
  })

  test('what is final is not repeated', async () => {
    for (const status of [301, 400, 401, 403, 404, 413, 422]) {
      fail({ status })
      assert.equal(await requestsOf(() => refusal(open().ask(at()))), 1, String(status))
    }
  })

  test('a short wait that is asked for is kept, and a long one is left to the engine', async () => {
    fail({ status: 429, headers: { 'retry-after': '0.001' } })
    assert.equal(await requestsOf(() => open().ask(at())), 2)
    fail({ status: 429, headers: { 'retry-after': '11' } })
    const { code, afterMs } = await refusal(open().ask(at()))
    assert.deepEqual([code, afterMs], ['rate_limited', 11_000])
    fail({ status: 503, headers: { 'x-ratelimit-reset': '3600' } })
    assert.equal((await refusal(open().ask(at()))).afterMs, 3_600_000)
    // A request that must not be repeated passes on any wait.
    fail({ status: 429, headers: { 'retry-after': '1' } })
    assert.equal((await refusal(open().ask({ ...at(), method: 'POST', body: {} }))).afterMs, 1_000)
  })

  test('a job that ends ends the wait for the next try', async () => {
    const ending = new AbortController()
    const errorOf = () => {
      ending.abort(new Error('the job ends'))
      return new ConnectorError('rate_limited', 'wait', { afterMs: 9_000 })
    }
    const asking = openPlatform(testContext({ signal: ending.signal }), { ...platform, errorOf }).ask(at())
    await assert.rejects(asking, /the job ends/)
  })
})

describe("the platform's own codes", () => {
  const errorOf = ({ status, json }: Answer) => {
    if (!isObject(json)) return undefined
    if (json.code === 'busy') return new ConnectorError('platform_error', 'Acme Ads is busy.', { afterMs: 1 })
    if (json.code === 'account') return new ConnectorError('account_restricted', 'The account is locked.')
    return status === 404 ? null : undefined
  }

  test('mean what they mean whatever the status is', async () => {
    reply = { json: { code: 'account' } }
    assert.equal((await refusal(open({ errorOf }).ask(at()))).code, 'account_restricted')
    fail({ json: { code: 'busy' } })
    assert.equal(await requestsOf(() => refusal(open({ errorOf }).ask(at()))), 2)
    reply = { status: 404, json: { any: 'thing' } }
    assert.equal((await open({ errorOf }).ask(at())).status, 404)
    reply = { status: 418, json: {} }
    assert.equal((await refusal(open({ errorOf }).ask(at()))).code, 'unexpected_response')
  })

  test('an answer that the caller expects is none of them', async () => {
    reply = { status: 409, json: { code: 'account' } }
    const answer = await open({ errorOf }).ask({ ...at(), expects: ({ status }) => status === 409 })
    assert.equal(answer.status, 409)
  })
})

describe('credentials', () => {
  /** Returns a new token each time that a token was refused. */
  function counting(): Credentials & { given: string[] } {
    const given = ['t1']
    return {
      given,
      renews: true,
      headers: async (refused) => {
        if (refused?.authorization === given.at(-1)) given.push(`t${given.length + 1}`)
        return { authorization: given.at(-1) ?? '' }
      },
    }
  }

  test('are renewed once where they are not accepted, whatever the request does', async () => {
    const credentials = counting()
    fail({ status: 401 })
    assert.equal(await requestsOf(() => open({ credentials }).ask({ ...at(), method: 'POST', body: {} })), 2)
    assert.deepEqual(credentials.given, ['t1', 't2'])
    assert.equal(server.received.at(-1)?.headers.authorization, 't2')
    fail({ status: 401 }, { status: 401 }, { status: 401 })
    const came = await requestsOf(async () => {
      assert.equal((await refusal(open({ credentials }).ask(at()))).code, 'invalid_credentials')
    })
    assert.equal(came, 2)
  })

  test('that are all there is are not tried again', async () => {
    const credentials: Credentials = { headers: async () => ({ authorization: 'a' }), renews: false }
    fail({ status: 401 })
    assert.equal(await requestsOf(() => refusal(open({ credentials }).ask(at()))), 1)
  })
})

describe("the platform's identifier of the request", () => {
  const messageWith = async (headers: Record<string, string>, status = 400) => {
    fail({ status, headers })
    return (await refusal(open().ask({ ...at(), repeatable: false }))).message
  }
  const plain = 'Acme Ads answered with the unexpected status 400.'

  test('is in the message, whichever header it comes in', async () => {
    assert.equal(
      await messageWith({ 'x-request-id': 'req_12-ab:c/d=' }),
      `${plain} Request ID of the platform: req_12-ab:c/d=.`,
    )
    assert.match(await messageWith({ 'x-fb-trace-id': 'AbCdEf123' }), /AbCdEf123/)
    assert.match(await messageWith({ 'x-request-id': 'not safe!', 'x-li-uuid': 'AAYbcd==' }), /platform: AAYbcd==\.$/)
    assert.match(await messageWith({ 'x-request-id': '0123456789' }, 429), /0123456789/)
    reply = { headers: { 'x-request-id': 'abcdef0123' }, json: [] }
    assert.match((await refusal(open().askObject(at()))).message, /abcdef0123/)
  })

  test('stays out where it is none', async () => {
    for (const id of [
      'short',
      'a@example.com',
      '<script>alert(1)</script>',
      'x'.repeat(101),
      'two words',
      'a;b=cdef',
    ]) {
      assert.equal(await messageWith({ 'x-request-id': id }), plain, id)
    }
  })

  test('takes nothing from the error', async () => {
    fail({ status: 429, headers: { 'retry-after': '60', 'x-request-id': 'abcdef0123' } })
    const { code, afterMs, message } = await refusal(open().ask(at()))
    assert.deepEqual([code, afterMs], ['rate_limited', 60_000])
    assert.match(message, /abcdef0123/)
  })
})
