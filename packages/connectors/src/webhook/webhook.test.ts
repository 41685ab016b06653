import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { acceptDestination, type PeerFault, testContext } from '@penstock/connector/acceptance'
import { startWebhookServer, type Trouble } from '../../test/webhook-server.ts'
import { objectMaker, signatureOf } from './message.ts'
import { rejectionsOf } from './rejections.ts'
import { webhook } from './webhook.ts'

const secretOf = (letter: string) => `whsec_${Buffer.from(letter.repeat(24)).toString('base64')}`
const signingSecret = secretOf('s')
const authorizationHeader = 'Bearer canary-of-the-webhook'

const server = await startWebhookServer({
  signingSecret,
  authorization: authorizationHeader,
  bodyBytesMax: 20_000,
  judge: ({ email }) =>
    String(email).includes('@') ? undefined : { reason: `${email} is no e-mail address`, field: 'email' },
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

const trouble = (name: string, what: Trouble, expected: Omit<PeerFault, 'name' | 'start' | 'stop'>): PeerFault => ({
  name,
  start: () => {
    server.trouble = what
  },
  stop: () => {
    server.trouble = undefined
  },
  ...expected,
})
let reached: Promise<unknown> = Promise.resolve()
const again = { instruction: 'retry' } as const
const secrets = { url: server.url, signingSecret, authorizationHeader }

acceptDestination({
  ...{ connector: webhook, peer: 'an endpoint that verifies messages as Standard Webhooks says', secrets },
  wrongSecrets: { ...secrets, signingSecret: secretOf('w') },
  settings: { rowsPerRequest: 30 },
  ...{ columns, rows },
  badRows: [
    { row: ['nobody-at-all', 'Bad', 1, true, ''], reason: /^… is no e-mail address$/, field: 'email' },
    { row: ['large@example.com', 'Large', 1, true, 'x'.repeat(20_000)], reason: /answered 413.*too large/ },
  ],
  readBack: async () =>
    server.rows.map((row) => columns.map((column) => row[column] as string | number | boolean | null)),
  reset: () => server.reset(),
  ...{ deduplicates: true, visible: 'at once' },
  faults: [
    trouble(
      'answers 429 and asks to wait 7 seconds',
      { status: 429, headers: { 'retry-after': '7' } },
      {
        ...{ ...again, code: 'too_many_requests', afterMs: 7000 },
      },
    ),
    trouble('answers 500', { status: 500 }, again),
    trouble('answers 503', { status: 503 }, { ...again, code: 'endpoint_failed' }),
    trouble('breaks off before it takes the rows', { breaks: 'before it takes the rows' }, again),
    trouble('breaks off after it took the rows', { breaks: 'after it took the rows' }, again),
    trouble('answers 401', { status: 401 }, { instruction: 'refused', code: 'invalid_credentials' }),
    trouble('answers 410', { status: 410 }, { instruction: 'refused', code: 'endpoint_not_found' }),
    trouble(
      'redirects',
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      {
        ...{ instruction: 'refused', code: 'endpoint_moved' },
      },
    ),
    trouble('answers 418', { status: 418 }, { instruction: 'failed', code: 'strange_answer' }),
  ],
  hang: {
    start: () => {
      server.trouble = { hangs: true }
      reached = server.hanging()
    },
    reached: () => reached,
    stop: () => {
      server.trouble = undefined
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
        ...{ name: 'Outcome', instruction: 'refused', code: 'invalid_signing_secret' },
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
  const read = (body: string) => rejectionsOf(new Response(body), sent, ['email'])

  test('is nothing where the answer does not say so', async () => {
    for (const body of ['', 'ok', '<html>', '[]', 'null', '{}', '{"rejected": []}'])
      assert.deepEqual(await read(body), [])
  })

  test('is told by index or by count, with the column where it is one', async () => {
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
      [{ count: 0 }],
    ]) {
      await assert.rejects(read(JSON.stringify({ rejected })), { name: 'Outcome', instruction: 'failed' })
    }
  })
})
