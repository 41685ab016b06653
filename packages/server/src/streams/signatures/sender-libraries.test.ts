import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { sign, verify } from '@octokit/webhooks-methods'
import type { SignatureScheme } from '@penstock/connectors'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { verifyKey } from 'discord-interactions'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { type SentMessage, webhookSenders } from '../../../../../test/harness/webhook-senders.ts'
import { checkSignature } from './check-signature.ts'

/** The libraries of the senders themselves sign or verify the same requests. */

const nowMs = Date.now()
const url = 'https://hooks.example.com/in/abc?key=1&to=a%3Ab'
const body = '{"id":"message-1","name":"Zoë"}'
const seconds = String(Math.floor(nowMs / 1000))
/** These files are not exported, and loading the whole library takes seconds. */
const load = createRequire(import.meta.url)

const sentBy = (scheme: SignatureScheme): SentMessage =>
  webhookSenders[scheme].send({ id: 'message-1', timeMs: nowMs, url })
const header = (message: SentMessage, name: string) => message.headers[name] ?? ''

/** Whether our check accepts a request that a library has signed. */
const accepts = (scheme: SignatureScheme, headers: Record<string, string>, signed = body, secret = secretOf(scheme)) =>
  checkSignature(scheme, {
    method: 'POST',
    url,
    headers,
    body: Buffer.from(signed),
    secrets: [secret],
    nowMs,
  }).isValid
const secretOf = (scheme: SignatureScheme) => webhookSenders[scheme].secrets[0]

test('Stripe: stripe', () => {
  const { webhooks } = new Stripe('sk_test_unused')
  const signature = webhooks.generateTestHeaderString({ payload: body, secret: secretOf('stripe') })
  assert(accepts('stripe', { 'stripe-signature': signature }))
  assert(!accepts('stripe', { 'stripe-signature': signature }, `${body} `))
  const sent = sentBy('stripe')
  assert(webhooks.constructEvent(sent.body, header(sent, 'stripe-signature'), secretOf('stripe')))
})

for (const scheme of ['standard-webhooks', 'svix', 'bigcommerce'] as const) {
  test(`${scheme}: standardwebhooks`, () => {
    // BigCommerce encodes its client secret for this library.
    const secret = scheme === 'bigcommerce' ? Buffer.from(secretOf(scheme)).toString('base64') : secretOf(scheme)
    const library = new Webhook(secret)
    const prefix = scheme === 'svix' ? 'svix' : 'webhook'
    const headers = {
      [`${prefix}-id`]: 'm1',
      [`${prefix}-timestamp`]: seconds,
      [`${prefix}-signature`]: library.sign('m1', new Date(nowMs), body),
    }
    assert(accepts(scheme, headers))
    assert(!accepts(scheme, headers, `${body} `))
    const sent = sentBy(scheme)
    const asStandard = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name.replace('svix-', 'webhook-'), value]),
    )
    assert(library.verify(sent.body, asStandard))
  })
}

for (const scheme of ['github', 'meta'] as const) {
  test(`${scheme}: @octokit/webhooks-methods`, async () => {
    const signature = await sign(secretOf(scheme), body)
    assert(accepts(scheme, { 'x-hub-signature-256': signature }))
    assert(!accepts(scheme, { 'x-hub-signature-256': signature }, `${body} `))
    const sent = sentBy(scheme)
    assert(await verify(secretOf(scheme), sent.body, header(sent, 'x-hub-signature-256')))
  })
}

test('Twilio: twilio', () => {
  const library = load('twilio/lib/webhooks/webhooks')
  const parameters = { To: '+43 1', Body: 'a&b', Tag: ['z', 'a', 'z'], Empty: '' }
  const form = 'To=%2B43+1&Tag=z&Tag=a&Tag=z&Body=a%26b&Empty='
  for (const algorithm of ['HMAC_SHA1', 'HMAC_SHA256']) {
    const signature = library.getExpectedTwilioSignature(secretOf('twilio'), url, parameters, algorithm)
    assert(accepts('twilio', { 'x-twilio-signature': signature }, form))
    assert(!accepts('twilio', { 'x-twilio-signature': signature }, form.replace('43', '44')))
  }
  const sent = sentBy('twilio')
  const sentParameters = Object.fromEntries(new URLSearchParams(sent.body))
  assert(library.validateRequest(secretOf('twilio'), header(sent, 'x-twilio-signature'), url, sentParameters))
  const withDigest = `${url}&bodySHA256=${library.getExpectedBodyHash(body)}`
  const signature = library.getExpectedTwilioSignature(secretOf('twilio'), withDigest, null)
  const request = {
    method: 'POST',
    url: withDigest,
    headers: { 'x-twilio-signature': signature },
    secrets: [secretOf('twilio')],
    nowMs,
  }
  assert(checkSignature('twilio', { ...request, body: Buffer.from(body) }).isValid)
  assert(!checkSignature('twilio', { ...request, body: Buffer.from(`${body} `) }).isValid)
})

test('SendGrid: @sendgrid/eventwebhook', () => {
  const library = new EventWebhook()
  const key = library.convertPublicKeyToECDSA(secretOf('sendgrid'))
  const sent = sentBy('sendgrid')
  const prefix = 'x-twilio-email-event-webhook'
  const [signature, timestamp] = [header(sent, `${prefix}-signature`), header(sent, `${prefix}-timestamp`)]
  assert(library.verifySignature(key, sent.body, signature, timestamp))
  assert(!library.verifySignature(key, `${sent.body} `, signature, timestamp))
  assert(accepts('sendgrid', { ...sent.headers }, sent.body))
})

test('Slack: @slack/bolt', () => {
  const { isValidSlackRequest } = load('@slack/bolt/dist/receivers/verify-request')
  const sent = sentBy('slack')
  const headers = {
    'x-slack-signature': header(sent, 'x-slack-signature'),
    'x-slack-request-timestamp': Number(header(sent, 'x-slack-request-timestamp')),
  }
  const signingSecret = secretOf('slack')
  assert(isValidSlackRequest({ signingSecret, body: sent.body, headers }))
  assert(!isValidSlackRequest({ signingSecret, body: `${sent.body} `, headers }))
  assert(accepts('slack', { ...sent.headers }, sent.body))
})

test('HubSpot: @hubspot/api-client', () => {
  const { Signature } = load('@hubspot/api-client/lib/src/utils/signature')
  const plainUrl = 'https://hooks.example.com/in/abc?key=1&to=a:b'
  const options = { clientSecret: secretOf('hubspot'), requestBody: body, url: plainUrl, timestamp: nowMs }
  const signed = (version: string) => Signature.getSignature('POST', version, options)
  const headers = { 'x-hubspot-request-timestamp': String(nowMs), 'x-hubspot-signature-v3': signed('v3') }
  assert(accepts('hubspot', headers))
  assert(!accepts('hubspot', headers, `${body} `))
  assert(accepts('hubspot-v1', { 'x-hubspot-signature': signed('v1') }))
  assert(!accepts('hubspot-v1', { 'x-hubspot-signature': signed('v1') }, `${body} `))
})

test('Adyen: @adyen/api-library', () => {
  const { default: Validator } = load('@adyen/api-library/lib/src/utils/hmacValidator')
  const library = new Validator()
  const sent = sentBy('adyen')
  const [{ NotificationRequestItem: item }] = JSON.parse(sent.body).notificationItems
  assert(library.validateHMAC(item, secretOf('adyen')))
  item.amount.value = 5
  item.additionalData.hmacSignature = library.calculateHmac(item, secretOf('adyen'))
  const resigned = { notificationItems: [{ NotificationRequestItem: item }] }
  assert(accepts('adyen', {}, JSON.stringify(resigned)))
  const ofPlatforms = sentBy('adyen-platforms')
  const signature = header(ofPlatforms, 'hmacsignature')
  assert(library.validateHMACSignature(secretOf('adyen-platforms'), signature, ofPlatforms.body))
  assert(accepts('adyen-platforms', { hmacsignature: library.calculateHmac(body, secretOf('adyen-platforms')) }))
})

test('Discord: discord-interactions', async () => {
  const sent = sentBy('discord')
  const [signature, timestamp] = [header(sent, 'x-signature-ed25519'), header(sent, 'x-signature-timestamp')]
  assert(await verifyKey(sent.body, signature, timestamp, secretOf('discord')))
  assert(!(await verifyKey(`${sent.body} `, signature, timestamp, secretOf('discord'))))
  assert(accepts('discord', { ...sent.headers }, sent.body))
})

test('Shopify: @shopify/shopify-api', async () => {
  await import('@shopify/shopify-api/adapters/web-api')
  const { ApiVersion, shopifyApi, LogSeverity } = await import('@shopify/shopify-api')
  const library = shopifyApi({
    apiKey: 'unused',
    apiSecretKey: secretOf('shopify'),
    apiVersion: ApiVersion.October25,
    hostName: 'hooks.example.com',
    isEmbeddedApp: false,
    logger: { level: LogSeverity.Error },
  })
  const sent = sentBy('shopify')
  const validate = (rawBody: string) =>
    library.webhooks.validate({ rawBody, rawRequest: new Request(url, { method: 'POST', headers: sent.headers }) })
  assert((await validate(sent.body)).valid)
  assert(!(await validate(`${sent.body} `)).valid)
  assert(accepts('shopify', { ...sent.headers }, sent.body))
})
