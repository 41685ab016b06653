import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyWebhook, WebhookError } from '@penstock/client'
import { Webhook } from 'standardwebhooks'

/** Receivers verify events with the client. Here, the library of Standard Webhooks signs them. */

const secret = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`
const other = `whsec_${Buffer.from('o'.repeat(32)).toString('base64')}`
const id = '4be09a7c15d2f836'
const body = JSON.stringify({
  type: 'account.created',
  timestamp: 1,
  organizationId: id,
  accountId: id,
  connectionId: null,
  data: { name: 'Ä', enabled: true },
})
const time = new Date(1_789_776_000_000)
const now = () => time.getTime()
const headersOf = (by: string, sent = body, at = time) => ({
  'webhook-id': id,
  'webhook-timestamp': String(at.getTime() / 1000),
  'webhook-signature': new Webhook(by).sign(id, at, sent),
})

test('an event that is signed is returned, with its identifier and its type', async () => {
  const event = await verifyWebhook(body, headersOf(secret), secret, { now })
  assert(event.type === 'account.created')
  assert.deepEqual([event.id, event.data.name], [id, 'Ä'])
  const bytes = new TextEncoder().encode(body)
  assert.deepEqual(await verifyWebhook(bytes, new Headers(headersOf(secret)), secret, { now }), event)
  const upper = Object.fromEntries(
    Object.entries(headersOf(secret)).map(([name, value]) => [name.toUpperCase(), [value]]),
  )
  assert.deepEqual(await verifyWebhook(body, upper, secret, { now }), event)
})

test('during a rotation either secret is enough, at both sides', async () => {
  const both = {
    ...headersOf(secret),
    'webhook-signature': `v1a,xyz ${headersOf(other)['webhook-signature']} ${headersOf(secret)['webhook-signature']}`,
  }
  for (const one of [secret, other]) assert.equal((await verifyWebhook(body, both, one, { now })).id, id)
  assert.equal((await verifyWebhook(body, headersOf(secret), [other, secret], { now })).id, id)
})

test('what is altered, signed by another secret, old or not signed is refused', async () => {
  const good = headersOf(secret)
  const refused: [string, string, Record<string, string | undefined>, RegExp][] = [
    ['another body', `${body} `, good, /does not match/],
    ['another identifier', body, { ...good, 'webhook-id': 'ffffffffffffffff' }, /does not match/],
    [
      'another time',
      body,
      { ...good, 'webhook-timestamp': String(Number(good['webhook-timestamp']) + 1) },
      /does not match/,
    ],
    ['another secret', body, headersOf(other), /does not match/],
    [
      'another version',
      body,
      { ...good, 'webhook-signature': good['webhook-signature'].replace('v1', 'v2') },
      /does not match/,
    ],
    [
      'a part of the signature',
      body,
      { ...good, 'webhook-signature': good['webhook-signature'].slice(0, 20) },
      /does not match/,
    ],
    ['an old request', body, headersOf(secret, body, new Date(now() - 301_000)), /too old/],
    ['one of the future', body, headersOf(secret, body, new Date(now() + 301_000)), /too old/],
    ['a time that is none', body, { ...good, 'webhook-timestamp': 'NaN' }, /time/],
    ['no signature', body, { ...good, 'webhook-signature': undefined }, /no signature/],
    ['something else that is signed', '[]', headersOf(secret, '[]'), /not an event/],
  ]
  for (const [what, sent, headers, message] of refused) {
    await assert.rejects(
      verifyWebhook(sent, headers, secret, { now }),
      (error) => error instanceof WebhookError && message.test(error.message),
      what,
    )
  }
  await assert.rejects(verifyWebhook(body, good, 'no secret', { now }), TypeError)
})
