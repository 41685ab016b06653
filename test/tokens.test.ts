import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@penstock/wire'
import { addClient, endClient } from '../packages/server/src/organizations/credentials.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { failuresMax } from '../packages/server/src/tokens/attempts.ts'
import { untilRefused } from './harness/credentials.ts'
import { probabilityOfMore } from './harness/probability.ts'
import { type Reply, startServiceOn, startTestService, type TestService } from './harness/service.ts'
import { startTests } from './harness/started.ts'

/** Access tokens and the limits on asking (specification, sections 2.2, 4.1 and 5). */

const service = await startTests()
const organization = await service.addOrganization()

/** Runs work on a separate service, since each process counts separately. */
async function withService(env: Record<string, string>, work: (own: TestService) => Promise<void>): Promise<void> {
  const own = await startTestService(env)
  try {
    await work(own)
  } finally {
    await own.close()
  }
}

type Credentials = { clientId: string; clientSecret: string }
const ask = (on: TestService, { clientId, clientSecret }: Credentials, headers: Record<string, string> = {}) =>
  on.call('createToken', { body: { clientId, clientSecret }, headers })
const statusOf = async (on: TestService, token: string) => (await on.call('listAccounts', { token })).status

function assertLimited({ status, error, headers }: Reply<unknown>): void {
  assert.deepEqual([status, error], [429, 'rate_limited'])
  assert.match(headers['retry-after'] ?? '', /^\d+$/)
  const seconds = Number(headers['retry-after'])
  assert(seconds >= 1 && seconds <= 60, `Retry-After is ${seconds}`)
}

describe('a token', { concurrency: true }, () => {
  test('is given for credentials, bare, with its lifetime', async () => {
    const { json, headers } = await ask(service, organization)
    const { accessToken, ...rest } = json as unknown as Record<string, unknown>
    assert.deepEqual(rest, { tokenType: 'Bearer', expiry: 86_400 })
    assert.match(String(accessToken), /^pst_[A-Za-z0-9_-]{43}$/)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(await statusOf(service, String(accessToken)), 200)
  })

  test('is another one each time, and earlier ones stay good', async () => {
    const tokens = [await ask(service, organization), await ask(service, organization)].map(
      (reply) => reply.response.accessToken,
    )
    assert.equal(new Set([...tokens, organization.token]).size, 3)
    for (const token of [...tokens, organization.token]) assert.equal(await statusOf(service, token), 200)
  })

  test('is sent under its scheme in any letter case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${organization.token}` }
      assert.equal((await service.send({ method: 'GET', path: '/es/v2/accounts', headers })).status, 200)
    }
  })

  test('is refused alike for a wrong secret, an unknown client and another client’s secret', async () => {
    const other = await service.addOrganization()
    const wrong = [
      { ...organization, clientSecret: 'wrong' },
      { ...organization, clientId: '0123456789abcdef' },
      { ...organization, clientSecret: other.clientSecret },
      { ...organization, clientSecret: ` ${organization.clientSecret}` },
      { ...organization, clientId: organization.clientId.toUpperCase().replace(/^\w/, 'X') },
    ]
    const said = new Set<string>()
    for (const credentials of wrong) {
      const { status, error, text, headers } = await ask(service, credentials)
      assert.deepEqual([status, error, headers['www-authenticate']], [401, 'invalid_client', 'Bearer'])
      said.add(text.replace(headers['x-request-id'] ?? '', ''))
    }
    assert.equal(said.size, 1)
  })

  test('is asked for with both credentials, in 1 to 500 characters each', async () => {
    for (const [body, fields] of [
      [{}, ['body.clientId', 'body.clientSecret']],
      [{ clientId: '', clientSecret: 's'.repeat(501) }, ['body.clientId', 'body.clientSecret']],
      [{ clientId: 7, clientSecret: null, grant_type: 'x' }, ['body.clientId', 'body.clientSecret', 'body.grant_type']],
      [{ clientId: organization.clientId }, ['body.clientSecret']],
    ] as const) {
      const { status, error, details } = await service.call('createToken', { body: body as never })
      assert.deepEqual([status, error, details.map(({ field }) => field).sort()], [400, 'invalid_request', fields])
    }
    const longest = { clientId: 'c'.repeat(500), clientSecret: 's'.repeat(500) }
    assert.equal((await ask(service, longest)).error, 'invalid_client')
  })

  test('lives as long as the operator chose, and no longer', () =>
    withService({ PENSTOCK_TOKEN_LIFETIME_SECONDS: '2' }, async (own) => {
      const { response } = await ask(own, await own.addOrganization())
      assert.equal(response.expiry, 2)
      assert.equal(await statusOf(own, response.accessToken), 200)
      await untilRefused(own, response.accessToken)
    }))
})

test('a revoked client is refused by every process on the database, and others are not', async () => {
  const masterKey = { PENSTOCK_MASTER_KEY: generateMasterKey() }
  await withService(masterKey, async (one) => {
    const two = await startServiceOn(one.databaseUrl, masterKey)
    try {
      const revoked = await one.addOrganization()
      const kept = await one.database.transaction((tx) => addClient(tx, revoked.organizationId))
      const { accessToken } = (await ask(two, kept)).response
      for (const process of [one, two]) {
        for (const token of [revoked.token, accessToken]) assert.equal(await statusOf(process, token), 200)
      }
      await one.database.transaction((tx) => endClient(tx, revoked.clientId))
      for (const process of [one, two]) {
        await untilRefused(process, revoked.token)
        assert.equal((await ask(process, revoked)).error, 'invalid_client')
        assert.equal(await statusOf(process, accessToken), 200)
      }
    } finally {
      await two.close()
    }
  })
})

describe('token requests that fail', { concurrency: true }, () => {
  test('are limited for each client from an address, even once it finds the right secret', () =>
    withService({}, async (own) => {
      const [guessed, other] = [await own.addOrganization(), await own.addOrganization()]
      for (let i = 0; i < 10; i++) {
        assert.equal((await ask(own, { ...guessed, clientSecret: `guess ${i}` })).error, 'invalid_client')
      }
      assertLimited(await ask(own, { ...guessed, clientSecret: 'guess' }))
      assertLimited(await ask(own, guessed))
      assert.equal((await ask(own, other)).status, 200)
      assert.equal(await statusOf(own, guessed.token), 200)
    }))

  test('limit the guesser, and not the rightful client from elsewhere', () =>
    withService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
      const guessed = await own.addOrganization()
      const from = (address: string) => ({ 'x-forwarded-for': address })
      for (let guesser = 0; guesser < failuresMax.name / failuresMax.clientFromAddress; guesser++) {
        for (let i = 0; i < 10; i++) {
          const guess = await ask(own, { ...guessed, clientSecret: `guess ${i}` }, from(`192.0.2.${guesser}`))
          assert.equal(guess.error, 'invalid_client')
        }
        assertLimited(await ask(own, { ...guessed, clientSecret: 'guess' }, from(`192.0.2.${guesser}`)))
        assertLimited(await ask(own, guessed, from(`192.0.2.${guesser}`)))
      }
      assert.equal((await ask(own, guessed, from('198.51.100.1'))).status, 200)
      assert.equal((await ask(own, await own.addOrganization(), from('192.0.2.1'))).status, 200)
    }))

  test('count addresses of IPv6 by the network of 64 bits that one household or machine is given', () =>
    withService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
      const guessed = await own.addOrganization()
      const from = (address: string) => ({ 'x-forwarded-for': address })
      for (let i = 0; i < 10; i++) {
        const address = i % 2 === 0 ? `2001:db8:0:1::${i}` : `2001:DB8::1:${i}:0:0:0`
        assert.equal((await ask(own, { ...guessed, clientSecret: 'guess' }, from(address))).error, 'invalid_client')
      }
      assertLimited(await ask(own, guessed, from('2001:db8:0:1:ffff:ffff:ffff:ffff')))
      assert.equal((await ask(own, guessed, from('2001:db8:0:2::1'))).status, 200)
      assert.equal((await ask(own, guessed, from('::ffff:192.0.2.9'))).status, 200)
    }))

  test('are limited for each address, over all clients', () =>
    withService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
      const honest = await own.addOrganization()
      const from = (address: string) => ({ 'x-forwarded-for': address })
      for (let i = 0; i < 30; i++) {
        const guess = { clientId: `client-${i}`, clientSecret: 'guess' }
        assert.equal((await ask(own, guess, from('192.0.2.1'))).error, 'invalid_client')
      }
      assertLimited(await ask(own, { clientId: 'client-30', clientSecret: 'guess' }, from('192.0.2.1')))
      assertLimited(await ask(own, honest, from('192.0.2.1')))
      assert.equal((await ask(own, honest, from('192.0.2.2'))).status, 200)
    }))

  test('are not hidden by an address that any client can claim', () =>
    withService({}, async (own) => {
      const replies = []
      for (let i = 0; i < 31; i++) {
        const guess = { clientId: `client-${i}`, clientSecret: 'guess' }
        replies.push(await ask(own, guess, { 'x-forwarded-for': `192.0.2.${i}` }))
      }
      assert.deepEqual(new Set(replies.slice(0, 30).map(({ status }) => status)), new Set([401]))
      assertLimited(replies[30] as Reply<unknown>)
    }))

  test('are limited although they all come at once', () =>
    withService({}, async (own) => {
      const { clientId } = await own.addOrganization()
      const guesses = Array.from({ length: 40 }, (_, i) => ask(own, { clientId, clientSecret: `guess ${i}` }))
      const judged = (await Promise.all(guesses)).filter(({ status }) => status === 401)
      assert(judged.length <= 10, `${judged.length} guesses were judged`)
    }))

  test('are counted, those that succeed are not', () =>
    withService({}, async (own) => {
      const busy = await own.addOrganization()
      for (let i = 0; i < 40; i++) assert.equal((await ask(own, busy)).status, 200)
    }))
})

describe('an unknown client and a wrong secret', () => {
  /** One failure each from an address that was not used before, so that only the failures of the name are limited. */
  const prepared = async (
    work: (fail: Record<'unknown' | 'wrong', () => Promise<void>>, own: TestService) => Promise<void>,
  ) =>
    withService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
      const known = await own.addOrganization()
      // The known client signs in as usual, so that it is in the cache.
      assert.equal((await ask(own, known)).status, 200)
      let requests = 0
      const failing = async (clientId: string) => {
        const address = `10.0.${Math.floor(++requests / 250)}.${requests % 250}`
        const reply = await ask(own, { clientId, clientSecret: 'guess' }, { 'x-forwarded-for': address })
        assert(reply.error === 'invalid_client' || (reply.error === 'rate_limited' && requests > 2 * failuresMax.name))
      }
      const unknownId = known.clientId.replace(/^./, (first) => (first === '0' ? '1' : '0'))
      await work({ unknown: () => failing(unknownId), wrong: () => failing(known.clientId) }, own)
    })

  test('ask the database alike', () =>
    prepared(async (fail, { database }) => {
      let acquired = 0
      database.pool.on('acquire', () => acquired++)
      const countOf = async (work: () => Promise<void>) => {
        const before = acquired
        await work()
        return acquired - before
      }
      for (let round = 0; round < 3; round++) {
        assert.deepEqual([await countOf(fail.unknown), await countOf(fail.wrong)], [1, 1])
      }
    }))

  test('take the same time', () =>
    prepared(async (fail) => {
      const measure = async () => {
        const took: Record<'unknown' | 'wrong', number[]> = { unknown: [], wrong: [] }
        for (let round = 0; round < 300; round++) {
          // In turn first and second, so that whatever slows the machine slows both.
          const order = round % 2 === 0 ? (['unknown', 'wrong'] as const) : (['wrong', 'unknown'] as const)
          for (const kind of order) {
            const begun = performance.now()
            await fail[kind]()
            took[kind].push(performance.now() - begun)
          }
        }
        return probabilityOfMore(took.unknown, took.wrong)
      }
      // A machine can be so busy that one series proves little. A defect of the service would show in each series.
      const seen: number[] = []
      const isEven = (probability: number) => Math.abs(probability - 0.5) < 0.1
      while (seen.length < 3 && !seen.some(isEven)) seen.push(await measure())
      assert(seen.some(isEven), `a wrong secret takes longer with a probability of ${seen.join(', ')}`)
    }))
})

test('PENSTOCK_RATE_LIMIT limits the requests of each client in a minute', () =>
  // The first request of an organization requests its token.
  withService({ PENSTOCK_RATE_LIMIT: '4' }, async (own) => {
    const limited = await own.addOrganization()
    const second = await own.database.transaction((tx) => addClient(tx, limited.organizationId))
    const { token } = limited
    const served = [
      await own.call('listAccounts', { token }),
      await own.call('addAccount', { token, body: { name: '' } }),
      await own.call('getAccount', { token, id: '0123456789abcdef' }),
    ]
    assert.deepEqual(
      served.map(({ status }) => status),
      [200, 400, 404],
    )
    assertLimited(await own.call('listAccounts', { token }))
    assertLimited(await own.call('addAccount', { token, body: { name: 'Never' } }))
    const tokens = async () => (await own.database.pool.query('select from tokens')).rows.length
    const before = await tokens()
    assertLimited(await ask(own, limited))
    assert.equal(await tokens(), before)
    const { accessToken } = (await ask(own, second)).response
    assert.deepEqual((await own.call('listAccounts', { token: accessToken })).response, [])
  }))

test('a client is limited unless the operator turns it off', () =>
  withService({ PENSTOCK_RATE_LIMIT: '' }, async (own) => {
    const client = await own.addOrganization()
    const other = await own.addOrganization()
    const { token } = client
    const statuses = new Map<number, number>()
    // The minute can start over between two of the parts, at most once.
    for (let sent = 0; sent < 2 * limits.requestsPerMinuteDefault && !statuses.has(429); sent += 500) {
      const part = await Promise.all(Array.from({ length: 500 }, () => own.call('getAccount', { token, id: 'x' })))
      for (const { status } of part) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    assert((statuses.get(404) ?? 0) >= limits.requestsPerMinuteDefault - 1, JSON.stringify([...statuses]))
    assert(statuses.has(429), JSON.stringify([...statuses]))
    assert.equal((await own.call('listAccounts', { token: other.token })).status, 200)
  }))

describe('browsers of other origins', { concurrency: true }, () => {
  const origin = 'https://console.example'
  const preflight = (on: TestService, from: string) =>
    on.send({
      method: 'OPTIONS',
      path: '/es/v2/accounts/0123456789abcdef',
      headers: {
        origin: from,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,if-match,idempotency-key',
      },
    })
  const read = (on: TestService, from: string, token: string) =>
    on.send({ method: 'GET', path: '/es/v2/accounts', headers: { origin: from, authorization: `Bearer ${token}` } })
  const corsHeaders = ({ headers }: Reply) => Object.keys(headers).filter((name) => name.startsWith('access-control-'))
  const words = (header: string | undefined) => header?.toLowerCase().split(/, */).sort()

  test('are allowed nothing unless the operator names them', async () => {
    const asked = await preflight(service, origin)
    assert.deepEqual([asked.status, corsHeaders(asked)], [405, []])
    assert.deepEqual(corsHeaders(await read(service, origin, organization.token)), [])
  })

  test('are allowed what the interface needs once they are named', () =>
    withService({ PENSTOCK_CORS_ORIGINS: `https://other.example, ${origin}` }, async (own) => {
      const { token } = await own.addOrganization()
      const asked = await preflight(own, origin)
      assert.equal(asked.status, 204)
      assert.equal(asked.headers['access-control-allow-origin'], origin)
      assert.deepEqual(words(asked.headers['access-control-allow-methods']), ['delete', 'get', 'post', 'put'])
      const allowed = words(asked.headers['access-control-allow-headers'])
      assert.deepEqual(allowed, ['authorization', 'content-type', 'idempotency-key', 'if-match'])
      const got = await read(own, origin, token)
      assert.deepEqual([got.status, got.headers['access-control-allow-origin']], [200, origin])
      const exposed = words(got.headers['access-control-expose-headers'])
      assert.deepEqual(exposed, ['etag', 'link', 'retry-after', 'x-connection-states', 'x-request-id', 'x-total-count'])
      assert.match(got.headers.vary ?? '', /origin/i)
      const refused = await read(own, origin, 'garbage')
      assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, origin])
      const elsewhere = 'https://evil.example'
      for (const reply of [await preflight(own, elsewhere), await read(own, elsewhere, token)]) {
        assert.equal(reply.headers['access-control-allow-origin'], undefined)
      }
    }))
})

test('guesses from many addresses at one client are bounded, and its secret is accepted from everywhere', async () => {
  await withService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' }, async (own) => {
    const { clientId, clientSecret } = await own.addOrganization()
    const answered = { known: 0, unknown: 0 }
    for (const [kind, id] of Object.entries({ known: clientId, unknown: '0123456789abcdef' }) as ['known', string][]) {
      for (let i = 0; i < 40; i++) {
        const guess = { clientId: id, clientSecret: `guess${i}` }
        const { error } = await ask(own, guess, { 'x-forwarded-for': `198.51.100.${i}` })
        if (error === 'invalid_client') answered[kind]++
        else assert.equal(error, 'rate_limited')
      }
    }
    assert.deepEqual(answered, { known: failuresMax.name, unknown: failuresMax.name })
    const right = await ask(own, { clientId, clientSecret }, { 'x-forwarded-for': '203.0.113.9' })
    assert.equal(right.status, 200)
  })
})
