import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type SignatureScheme, signatureSchemeIds } from '@penstock/connectors'
import { eventStreamConnectorId } from '@penstock/wire'
import { assertInvariants } from './harness/invariants.ts'
import { addStreamWithKey } from './harness/streams.ts'
import { type Fixture, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type SentMessage, webhookSenders } from './harness/webhook-senders.ts'

/** Senders of webhooks sign what they send to a stream. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
})
after(async () => {
  await assertInvariants(fixture.service.database.pool)
  await fixture.close()
})

type SignedStream = { readonly id: string; readonly accountId: string; readonly url: string }

/** A stream in a separate sub-account, whose requests a sender must sign. */
async function addSigned(settings: Record<string, string>): Promise<SignedStream> {
  const { caller } = fixture
  const { id: accountId } = await caller.addAccount()
  const { id, key } = await addStreamWithKey(caller, accountId, settings)
  return { id, accountId, url: `http://penstock.test/events/${id}?writeKey=${key}` }
}
const send = ({ method, url, headers, body }: SentMessage, change: Partial<SentMessage> = {}) => {
  const { origin } = new URL(url)
  return fixture.service.send({
    method,
    path: url.slice(origin.length),
    headers: Object.assign({}, headers, change.headers),
    body: change.body ?? body,
  })
}
const countsOf = async ({ id, accountId }: SignedStream) => {
  const { accepted, duplicates } = await fixture.caller.expect(fixture.caller.call('getStream', { accountId, id }))
  return [accepted, duplicates]
}
/** Senders that give their messages no ID. A repeated message of them is stored again. */
const withoutIds: readonly SignatureScheme[] = [
  'adyen-platforms',
  'attentive',
  'authorization',
  'dropbox',
  'klaviyo',
  'mandrill',
  'x',
  'zoom',
]

describe('a stream of signed webhooks', () => {
  for (const scheme of signatureSchemeIds) {
    test(`${scheme}: good ones are stored, once; altered and late ones are not`, async () => {
      const sender = webhookSenders[scheme]
      const [signingSecret, nextSigningSecret] = sender.secrets
      const stream = await addSigned({ sender: scheme, signingSecret, nextSigningSecret })
      const messageAt = (timeMs: number, which: 0 | 1 = 0, id = 'message-1') =>
        sender.send({ id, timeMs, url: stream.url }, which)
      const good = messageAt(Date.now())
      const stored = await send(good)
      assert.deepEqual([stored.status, stored.response], [200, { accepted: 1, duplicates: 0, refused: [] }])
      const again = await send(messageAt(Date.now(), 1))
      assert.equal(again.status, 200)
      const isStoredAgain = withoutIds.includes(scheme)
      assert.deepEqual(await countsOf(stream), isStoredAgain ? [2, 0] : [1, 1])

      const before = await countsOf(stream)
      const refused = async (message: SentMessage, change: Partial<SentMessage> = {}) => {
        const reply = await send(message, change)
        assert.deepEqual([reply.status, reply.error, reply.details[0]?.field], [401, 'unauthorized', 'signature'])
        for (const secret of sender.secrets) assert(!reply.text.includes(secret))
      }
      if (sender.coversBody)
        await refused(good, {
          body: good.body.replace('message-1', 'message-2').replace(':4}', ':5}').replace('":1.5', '":2.5'),
        })
      if (sender.header !== undefined) await refused(good, { headers: { [sender.header]: 'garbage' } })
      if (sender.lateMs !== undefined) await refused(messageAt(Date.now() - sender.lateMs - 60_000))
      await refused({ ...good, headers: { 'content-type': 'application/json' }, body: '{"a":1}' })
      assert.deepEqual(await countsOf(stream), before)
    })
  }

  test('all other addresses require the signature too', async () => {
    const [signingSecret] = webhookSenders.github.secrets
    const stream = await addSigned({ sender: 'github', signingSecret })
    const key = new URL(stream.url).searchParams.get('writeKey')
    const body = JSON.stringify({ event: 'A', userId: 'u', writeKey: key })
    for (const path of [
      `/v1/track?writeKey=${key}`,
      '/v1/track',
      `/beacon/v1/batch?writeKey=${key}`,
      `/v1/webhook?writeKey=${key}`,
    ]) {
      assert.equal(
        (await fixture.service.send({ method: 'POST', path, body, headers: { 'content-type': 'application/json' } }))
          .status,
        401,
      )
    }
    const pixel = `/v1/pixel/track?event=A&userId=u&writeKey=${key}`
    assert.equal((await fixture.service.send({ method: 'GET', path: pixel })).status, 401)
    assert.deepEqual(await countsOf(stream), [0, 0])
  })

  test('a stream without a secret accepts nothing, and a changed secret is used within seconds', async () => {
    const { secrets, send: signed } = webhookSenders.stripe
    const stream = await addSigned({ sender: 'stripe' })
    const message = (id: string) => signed({ id, timeMs: Date.now(), url: stream.url })
    const reply = await send(message('m1'))
    assert.deepEqual([reply.status, reply.details[0]?.message], [401, 'No secret is set for Stripe.'])
    const { accountId } = stream
    const body = { secretConfig: { sender: 'stripe', signingSecret: secrets[0] } }
    await fixture.caller.expect(
      fixture.caller.call('configureConnector', { accountId, id: eventStreamConnectorId, body }),
    )
    await until('the secret is used', async () => (await send(message('m2'))).status === 200 || undefined)
  })

  test('handshakes of senders are answered, and are no events', async () => {
    const [secret = ''] = webhookSenders.meta.secrets
    const meta = await addSigned({ sender: 'meta', signingSecret: secret, verifyToken: 'chosen-by-me' })
    const ask = (stream: SignedStream, query: string) => {
      const { pathname, search } = new URL(stream.url)
      return fixture.service.send({ method: 'GET', path: `${pathname}${search}&${query}` })
    }
    const query = 'hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token='
    const answer = await ask(meta, `${query}chosen-by-me`)
    assert.deepEqual(
      [answer.status, answer.text, answer.headers['content-type']],
      [200, '1158201444', 'text/plain; charset=utf-8'],
    )
    assert.equal((await ask(meta, `${query}wrong`)).status, 403)
    assert.equal((await ask(meta, 'a=1')).status, 404)

    const x = await addSigned({ sender: 'x', signingSecret: secret })
    const { text } = await ask(x, 'crc_token=abc')
    const token = createHmac('sha256', secret).update('abc').digest('base64')
    assert.deepEqual(JSON.parse(text), { response_token: `sha256=${token}` })

    const slack = await addSigned({ sender: 'slack', signingSecret: secret })
    const seconds = String(Math.floor(Date.now() / 1000))
    const body = '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRN"}'
    const signature = createHmac('sha256', secret).update(`v0:${seconds}:${body}`).digest('hex')
    const headers = {
      'content-type': 'application/json',
      'x-slack-request-timestamp': seconds,
      'x-slack-signature': `v0=${signature}`,
    }
    const verified = await send({ method: 'POST', url: slack.url, headers, body })
    assert.deepEqual([verified.status, verified.text], [200, '3eZbrw1aBm2rZgRN'])
    const unsigned = await send({ method: 'POST', url: slack.url, headers, body: `${body} ` })
    assert.equal(unsigned.status, 401)

    const mandrill = await addSigned({ sender: 'mandrill', signingSecret: secret })
    const { pathname, search } = new URL(mandrill.url)
    assert.equal((await fixture.service.send({ method: 'HEAD', path: pathname + search })).status, 200)
    for (const stream of [meta, x, slack, mandrill]) assert.deepEqual(await countsOf(stream), [0, 0])
  })
})
