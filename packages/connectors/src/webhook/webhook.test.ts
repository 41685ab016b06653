import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createRedact, type Row } from '@penstock/connector'
import { acceptDestination, type ServerError, testContext } from '@penstock/connector/acceptance'
import { type Failure, startWebhookServer } from '../../test/webhook-server.ts'
import { objectMaker, signatureOf } from './message.ts'
import { answerOf } from './rejections.ts'
import { webhook } from './webhook.ts'

const secretOf = (letter: string) => `whsec_${Buffer.from(letter.repeat(24)).toString('base64')}`
const signingSecret = secretOf('s')
const authorizationHeader = 'Bearer canary-of-the-webhook'

const server = await startWebhookServer({
  signingSecret,
  authorization: authorizationHeader,
  bodyBytesMax: 20_000,
  judge: ({ email }) =>
    String(email).includes('@') ? undefined : { reason: `${email} is not an e-mail address`, field: 'email' },
})
after(() => server.close())

const columns = ['email', 'name', 'amount', 'member', 'note']
const rows = Array.from({ length: 100 }, (_, index) => [
  `person${index}@example.com`,
  index % 7 === 0 ? null : `Zoë "${index}"\n`,
  index * 1.5,
  index % 2 === 0,
  '',
])

const failure = (name: string, what: Failure, expected: Omit<ServerError, 'name' | 'start' | 'stop'>): ServerError => ({
  name,
  start: () => {
    server.failure = what
  },
  stop: () => {
    server.failure = undefined
  },
  ...expected,
})
let reached: Promise<unknown> = Promise.resolve()
const again = { action: 'retry' } as const
const secrets = { url: server.url, signingSecret, authorizationHeader }

acceptDestination({
  connector: webhook,
  testServer: 'an endpoint that verifies messages according to Standard Webhooks',
  secrets,
  wrongSecrets: { ...secrets, signingSecret: secretOf('w') },
  settings: { rowsPerRequest: 30 },
  columns,
  rows,
  badRows: [
    { row: ['nobody-at-all', 'Bad', 1, true, ''], reason: /^… is not an e-mail address$/, field: 'email' },
    { row: ['large@example.com', 'Large', 1, true, 'x'.repeat(20_000)], reason: /answered 413.*too large/ },
  ],
  readBack: async () =>
    server.rows.map((row) => columns.map((column) => row[column] as string | number | boolean | null)),
  reset: () => server.reset(),
  deduplicates: true,
  visible: 'at once',
  errors: [
    failure(
      'answers 429 and asks to wait 7 seconds',
      { status: 429, headers: { 'retry-after': '7' } },
      { ...again, code: 'rate_limited', afterMs: 7000 },
    ),
    failure('answers 500', { status: 500 }, again),
    failure('answers 503', { status: 503 }, { ...again, code: 'platform_error' }),
    failure('breaks off before it takes the rows', { breaks: 'before it takes the rows' }, again),
    failure('breaks off after it took the rows', { breaks: 'after it took the rows' }, again),
    failure('answers 401', { status: 401 }, { action: 'reauthenticate', code: 'invalid_credentials' }),
    failure('answers 410', { status: 410 }, { action: 'reconfigure', code: 'object_not_found' }),
    failure(
      'redirects',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { action: 'reconfigure', code: 'invalid_address' },
    ),
    failure('answers 418', { status: 418 }, { action: 'fail', code: 'unexpected_response' }),
  ],
  hang: {
    start: () => {
      server.failure = { hangs: true }
      reached = server.hanging()
    },
    reached: () => reached,
    stop: () => {
      server.failure = undefined
    },
  },
})
describe('the webhook', () => {
  test('signs as the published example of Standard Webhooks does', () => {
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
    const signature = signatureOf(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}')
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('checks with a message that holds no rows', async () => {
    server.reset()
    await webhook.check?.(testContext({ secrets }))
    assert.deepEqual(server.types, ['transfer.check'])
    assert.deepEqual(server.rows, [])
  })

  test('refuses a signing secret that is none, before anything is sent', async () => {
    for (const wrong of ['canary', `whsec_${Buffer.from('short').toString('base64')}`, 'whsec_###']) {
      const context = testContext({ secrets: { ...secrets, signingSecret: wrong } })
      await assert.rejects(async () => webhook.destination?.deliver?.open(context), {
        name: 'ConnectorError',
        action: 'reauthenticate',
        code: 'invalid_credentials',
      })
    }
  })

  test('takes any column for a key, even one that objects treat in their own way', () => {
    const row = objectMaker(['__proto__', 'constructor'])(['a', 'b'])
    assert.equal(JSON.stringify(row), '{"__proto__":"a","constructor":"b"}')
  })
})

describe('what an endpoint rejects', () => {
  const sent = [['abc'], ['def'], ['ghi']]
  const known = ['whsec_canary-of-the-signing-secret', 'Bearer canary-of-the-header']
  const answer = (body: string, headers: Record<string, string> = {}, rows: Row[] = sent) =>
    answerOf(new Response(body, { headers }), rows, ['email'], createRedact(known))
  const read = async (...given: Parameters<typeof answer>) => (await answer(...given)).rejected

  test('comes with a value for each row, if the endpoint answers them', async () => {
    assert.deepEqual((await answer('{"answers":["u1",null,{"id":7}]}')).answers, ['u1', null, { id: 7 }])
    assert.equal((await answer('{"ok":true}')).answers, undefined)
    for (const answers of ['["u1"]', '"u1"', '{}', 'null', '["a","b","c","d"]']) {
      await assert.rejects(answer(`{"answers":${answers}}`), { code: 'unexpected_response' })
    }
  })

  test('is nothing where the answer does not say so', async () => {
    for (const body of ['', 'ok', '<html>', '[]', 'null', '{}', '{"rejected": []}'])
      assert.deepEqual(await read(body), [])
  })

  test('is unknown where the answer is meant as JSON and is not whole: no row is accepted', async () => {
    const whole = '{"rejected":[{"index":0,"reason":"bad"}]}'
    for (let end = 1; end < whole.length; end++) {
      await assert.rejects(read(whole.slice(0, end)), {
        name: 'ConnectorError',
        action: 'retry',
        code: 'malformed_response',
      })
    }
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/problem+json']) {
      for (const body of ['ok', '"ok', 'nul']) {
        await assert.rejects(read(body, { 'content-type': type }), { action: 'retry', code: 'malformed_response' })
      }
      assert.deepEqual(await read('', { 'content-type': type }), [])
      assert.deepEqual(await read(' "ok" ', { 'content-type': type }), [])
    }
    const endless = new Response(new Blob([' '.repeat(1024 * 1024 + 1)]).stream())
    await assert.rejects(answerOf(endless, sent, [], createRedact([])), { code: 'response_too_large' })
  })

  test('is reported without values of rows and without secrets, in whatever form the endpoint repeats them', async () => {
    const values: Row = ['grace@example.com', 'Zoë "of" Münster', 1234567]
    const rows: Row[] = [values, ['other', 'row', 0]]
    const base64 = (text: unknown) => Buffer.from(String(text)).toString('base64')
    const forms = [...values, ...known].flatMap((text) => [
      String(text),
      String(text).toUpperCase(),
      base64(text),
      base64(`x${text}`),
      base64(`xx${text}yy`),
      Buffer.from(String(text)).toString('hex'),
      encodeURIComponent(String(text)),
      JSON.stringify(text),
    ])
    for (const form of forms) {
      const entries = [
        { index: 0, reason: `so: ${form}.` },
        { count: 1, reason: `so: ${form}.` },
      ]
      for (const { reason } of await read(JSON.stringify({ rejected: entries }), {}, rows)) {
        assert.match(reason, /^so: /)
        assert.doesNotMatch(reason, /grace|example|of|ster|123456|canary/i, form)
        for (let at = 0; at + 8 <= form.length; at += 8) assert.ok(!reason.includes(form.slice(at, at + 8)), form)
      }
    }
    const [long] = await read(JSON.stringify({ rejected: [{ index: 0, reason: 'x'.repeat(500_000) }] }))
    assert.equal(long?.reason.length, 300)
  })

  test('is reported by index or by count, with the column where it is one', async () => {
    const body = {
      rejected: [
        { index: 2, reason: 'ghi is bad', field: 'email' },
        { count: 2, reason: 'abc', field: 'x' },
      ],
    }
    assert.deepEqual(await read(JSON.stringify(body)), [
      { index: 2, reason: '… is bad', field: 'email' },
      { count: 2, reason: '…' },
    ])
    assert.equal((await read('{"rejected": [{"index": 0}]}'))[0]?.reason, 'The endpoint gave no reason.')
  })

  test('fails the transfer where it cannot be understood, for those rows would be lost', async () => {
    for (const rejected of [
      'all',
      [null],
      [{ index: 3 }],
      [{ index: -1 }],
      [{ index: '0' }],
      [{ index: 0 }, { index: 0 }],
      [{ count: 4 }],
      Array(50_000).fill({ count: 1 }),
      [{ count: 0 }],
    ]) {
      await assert.rejects(read(JSON.stringify({ rejected })), { name: 'ConnectorError', action: 'fail' })
    }
  })
})
