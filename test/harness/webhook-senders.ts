import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { SignatureScheme } from '@penstock/connectors'

/**
 * Senders of webhooks, each of which signs by its own few lines. They use no facts of the service, so that a wrong fact
 * cannot be on both sides.
 */

export type SentMessage = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request to sign: the ID and the time of the message, and the address. */
type ToSign = { readonly id: string; readonly timeMs: number; readonly url: string }

export type WebhookSender = {
  /** The secret that the receiver is given, and another valid one. */
  readonly secrets: readonly [string, string]
  /** A signed request, with one of the two secrets. */
  readonly send: (message: ToSign, which?: 0 | 1) => SentMessage
  /** The header that contains the signature. `undefined` if the body contains it. */
  readonly header: string | undefined
  /** How long after its time a request is refused. `undefined` if the sender does not sign a time. */
  readonly lateMs?: number
  /** Whether the signature covers the body. */
  readonly coversBody: boolean
}

const hmac = (algorithm: string, key: string | Buffer, text: string) => createHmac(algorithm, key).update(text)
const hex256 = (key: string | Buffer, text: string) => hmac('sha256', key, text).digest('hex')
const base256 = (key: string | Buffer, text: string) => hmac('sha256', key, text).digest('base64')
const secondsOf = ({ timeMs }: ToSign) => String(Math.floor(timeMs / 1000))
const isJson = { 'content-type': 'application/json' }
const isForm = { 'content-type': 'application/x-www-form-urlencoded' }

const textSecrets = ['s3cret-of-the-sender', 's3cret-before-the-rotation'] as const
const hexSecrets = [
  '44782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba056',
  '11782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba0ff',
] as const
const whsecSecrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'] as const
const keyOfWhsec = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64')

const newP256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p256 = [newP256(), newP256()] as const
const ed25519 = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')] as const
const rawOf = (key: (typeof ed25519)[0]) => Buffer.from(key.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')

type Headers = Record<string, string>
type SignBody = (body: string, secret: string, message: ToSign) => Headers

/** A sender of JSON objects with text secrets. */
function sender(
  header: string,
  headersOf: SignBody,
  more: { lateMs?: number; secrets?: readonly [string, string]; event?: (message: ToSign) => unknown } = {},
): WebhookSender {
  const { lateMs, secrets = textSecrets, event = ({ id }) => ({ id, event_id: id, name: 'Zoë', amount: 1.5 }) } = more
  const made: WebhookSender = {
    secrets,
    header,
    coversBody: true,
    send: (message, which = 0) => {
      const body = JSON.stringify(event(message))
      return {
        method: 'POST',
        url: message.url,
        headers: Object.assign({}, isJson, headersOf(body, secrets[which], message)),
        body,
      }
    },
  }
  return lateMs === undefined ? made : Object.assign(made, { lateMs })
}

const standardWebhooks = (
  prefix: string,
  signOf: (text: string, secret: string) => string,
  secrets: readonly [string, string],
) =>
  sender(
    `${prefix}-signature`,
    (body, secret, message) => ({
      [`${prefix}-id`]: message.id,
      [`${prefix}-timestamp`]: secondsOf(message),
      [`${prefix}-signature`]: signOf(`${message.id}.${secondsOf(message)}.${body}`, secret),
    }),
    { lateMs: 300_000, secrets },
  )
const dayMs = 86_400_000

const hubspotEvent = ({ id }: ToSign) => ({ eventId: 1, subscriptionId: 2, objectId: 3, occurredAt: 4, note: id })

const adyenItem = (id: string, secret: string) => {
  const item = {
    pspReference: id,
    originalReference: '',
    merchantAccountCode: 'Shop',
    merchantReference: 'order 7',
    amount: { value: 1130, currency: 'EUR' },
    eventCode: 'AUTHORISATION',
    success: 'true',
  }
  const text = `${id}::Shop:order 7:1130:EUR:AUTHORISATION:true`
  return {
    NotificationRequestItem: {
      ...item,
      additionalData: { hmacSignature: base256(Buffer.from(secret, 'hex'), text) },
    },
  }
}

/** The sorted form parameters of Twilio and Mandrill, written out for the two bodies below. */
const twilioBody = (id: string) =>
  new URLSearchParams({ To: '+43 1', MessageSid: id, SmsStatus: 'sent', Body: 'a b&c' })
const twilioText = (url: string, id: string) => `${url}Bodya b&cMessageSid${id}SmsStatussentTo+43 1`

/** A sender for each scheme. */
export const webhookSenders: Readonly<Record<SignatureScheme, WebhookSender>> = {
  adyen: {
    secrets: hexSecrets,
    header: undefined,
    coversBody: true,
    send: ({ id, url }, which = 0) => ({
      method: 'POST',
      url,
      headers: isJson,
      body: JSON.stringify({ live: 'false', notificationItems: [adyenItem(id, hexSecrets[which])] }),
    }),
  },
  'adyen-platforms': sender(
    'hmacsignature',
    (body, secret) => ({ hmacsignature: base256(Buffer.from(secret, 'hex'), body) }),
    { secrets: hexSecrets },
  ),
  attentive: sender('x-attentive-hmac-sha256', (body, secret) => ({ 'x-attentive-hmac-sha256': hex256(secret, body) })),
  authorization: Object.assign(
    sender('authorization', (_, secret) => ({ authorization: secret })),
    {
      coversBody: false,
    },
  ),
  bigcommerce: standardWebhooks('webhook', (text, secret) => `v1,${base256(secret, text)}`, textSecrets),
  calendly: sender(
    'calendly-webhook-signature',
    (body, secret, message) => {
      const t = secondsOf(message)
      return { 'calendly-webhook-signature': `t=${t},v1=${hex256(secret, `${t}.${body}`)}` }
    },
    {
      lateMs: 300_000,
      event: ({ id }) => ({ event: 'invitee.created', created_at: '2026-01-01T00:00:00Z', payload: { uri: id } }),
    },
  ),
  'customer-io': sender(
    'x-cio-signature',
    (body, secret, message) => ({
      'x-cio-timestamp': secondsOf(message),
      'x-cio-signature': hex256(secret, `v0:${secondsOf(message)}:${body}`),
    }),
    { lateMs: dayMs },
  ),
  discord: sender(
    'x-signature-ed25519',
    (body, secret, message) => {
      const { privateKey } = ed25519[secret === rawOf(ed25519[0]).toString('hex') ? 0 : 1]
      const signature = sign(undefined, Buffer.from(secondsOf(message) + body), privateKey).toString('hex')
      return { 'x-signature-timestamp': secondsOf(message), 'x-signature-ed25519': signature }
    },
    { lateMs: 300_000, secrets: [rawOf(ed25519[0]).toString('hex'), rawOf(ed25519[1]).toString('hex')] },
  ),
  dropbox: sender('x-dropbox-signature', (body, secret) => ({ 'x-dropbox-signature': hex256(secret, body) })),
  github: sender('x-hub-signature-256', (body, secret, { id }) => ({
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${hex256(secret, body)}`,
  })),
  'google-ads-leads': {
    secrets: textSecrets,
    header: undefined,
    coversBody: false,
    send: ({ id, url }, which = 0) => ({
      method: 'POST',
      url,
      headers: isJson,
      body: JSON.stringify({ lead_id: id, user_column_data: [], google_key: textSecrets[which] }),
    }),
  },
  hubspot: sender(
    'x-hubspot-signature-v3',
    (body, secret, { url, timeMs }) => ({
      'x-hubspot-request-timestamp': String(timeMs),
      'x-hubspot-signature-v3': base256(secret, `POST${url.replaceAll('%3A', ':')}${body}${timeMs}`),
    }),
    { lateMs: 300_000, event: hubspotEvent },
  ),
  'hubspot-v1': sender(
    'x-hubspot-signature',
    (body, secret) => ({
      'x-hubspot-signature': createHash('sha256')
        .update(secret + body)
        .digest('hex'),
    }),
    { event: hubspotEvent },
  ),
  intercom: sender('x-hub-signature', (body, secret) => ({
    'x-hub-signature': `sha1=${hmac('sha1', secret, body).digest('hex')}`,
  })),
  klaviyo: sender(
    'klaviyo-signature',
    (body, secret, { timeMs }) => {
      const time = new Date(timeMs).toUTCString()
      return { 'klaviyo-timestamp': time, 'klaviyo-signature': hex256(secret, body + time) }
    },
    { lateMs: dayMs },
  ),
  linkedin: sender('x-li-signature', (body, secret) => ({ 'x-li-signature': hex256(secret, `hmacsha256=${body}`) }), {
    event: ({ id }) => ({ notificationId: id, type: 'LEAD_ACTION' }),
  }),
  mandrill: {
    secrets: textSecrets,
    header: 'x-mandrill-signature',
    coversBody: true,
    send: ({ id, url }, which = 0) => {
      const events = JSON.stringify([{ _id: id, event: 'open' }])
      const signature = hmac('sha1', textSecrets[which], `${url}mandrill_events${events}`).digest('base64')
      const body = String(new URLSearchParams({ mandrill_events: events }))
      return { method: 'POST', url, headers: { ...isForm, 'x-mandrill-signature': signature }, body }
    },
  },
  meta: sender('x-hub-signature-256', (body, secret) => ({ 'x-hub-signature-256': `sha256=${hex256(secret, body)}` }), {
    event: ({ id }) => ({
      object: 'page',
      entry: [{ id: '1', changes: [{ field: 'leadgen', value: { leadgen_id: id } }] }],
    }),
  }),
  mparticle: {
    secrets: textSecrets,
    header: undefined,
    coversBody: false,
    send: ({ id, url }, which = 0) => {
      const account = { account_id: 123456, account_settings: { apiKey: textSecrets[which] } }
      const body = JSON.stringify({ type: 'event_processing_request', id, account, events: [] })
      return { method: 'POST', url, headers: isJson, body }
    },
  },
  radar: Object.assign(
    sender('x-radar-signature', (_, secret, { id }) => ({
      'x-radar-signing-id': id,
      'x-radar-signature': hmac('sha1', secret, id).digest('hex'),
    })),
    { coversBody: false },
  ),
  segment: sender('x-signature', (body, secret) => ({ 'x-signature': hmac('sha1', secret, body).digest('hex') }), {
    event: ({ id }) => ({ type: 'track', event: 'Käse', messageId: id, properties: { 7: 1, a: 1.5 } }),
  }),
  sendgrid: sender(
    'x-twilio-email-event-webhook-signature',
    (body, secret, message) => {
      const { privateKey } = p256[secret === spkiOf(0) ? 0 : 1]
      return {
        'x-twilio-email-event-webhook-timestamp': secondsOf(message),
        'x-twilio-email-event-webhook-signature': sign(
          'sha256',
          Buffer.from(secondsOf(message) + body),
          privateKey,
        ).toString('base64'),
      }
    },
    {
      lateMs: dayMs,
      secrets: [spkiOf(0), spkiOf(1)],
      event: ({ id }) => [{ sg_event_id: id, event: 'open', email: 'zoë@example.com' }],
    },
  ),
  shopify: sender('x-shopify-hmac-sha256', (body, secret, { id }) => ({
    'x-shopify-event-id': id,
    'x-shopify-topic': 'orders/create',
    'x-shopify-shop-domain': 'shop.example',
    'x-shopify-api-version': '2026-10',
    'x-shopify-webhook-id': 'w1',
    'x-shopify-hmac-sha256': base256(secret, body),
  })),
  slack: sender(
    'x-slack-signature',
    (body, secret, message) => ({
      'x-slack-request-timestamp': secondsOf(message),
      'x-slack-signature': `v0=${hex256(secret, `v0:${secondsOf(message)}:${body}`)}`,
    }),
    { lateMs: 300_000 },
  ),
  'standard-webhooks': standardWebhooks(
    'webhook',
    (text, secret) => `v1,${base256(keyOfWhsec(secret), text)}`,
    whsecSecrets,
  ),
  'standard-webhooks-public-key': standardWebhooks(
    'webhook',
    (text, secret) => {
      const { privateKey } = ed25519[secret === whpkOf(0) ? 0 : 1]
      return `v1,bm9uZQ== v1a,${sign(undefined, Buffer.from(text), privateKey).toString('base64')}`
    },
    [whpkOf(0), whpkOf(1)],
  ),
  stripe: sender(
    'stripe-signature',
    (body, secret, message) => {
      const t = secondsOf(message)
      return { 'stripe-signature': `t=${t},v0=6ffbb59b2300aae63f272406069a9788,v1=${hex256(secret, `${t}.${body}`)}` }
    },
    { lateMs: 300_000 },
  ),
  svix: standardWebhooks('svix', (text, secret) => `v1,${base256(keyOfWhsec(secret), text)}`, whsecSecrets),
  tiktok: sender(
    'tiktok-signature',
    (body, secret, message) => {
      const t = secondsOf(message)
      return { 'tiktok-signature': `t=${t},s=${hex256(secret, `${t}.${body}`)}` }
    },
    { lateMs: 300_000, event: ({ id }) => ({ event: 'video.publish.complete', create_time: 1, user_openid: id }) },
  ),
  'tiktok-leads': sender(
    'x-open-signature',
    (body, secret) => ({ 'x-open-signature': hex256(secret, body.replaceAll('ë', String.raw`\u00eb`)) }),
    {
      event: ({ id }) => ({ object: 1, entry: [{ id, changes: [{ field: 'name', value: 'Zoë' }] }], time: 1614334356 }),
    },
  ),
  twilio: {
    secrets: textSecrets,
    header: 'x-twilio-signature',
    coversBody: true,
    send: ({ id, url }, which = 0) => {
      const signature = hmac('sha1', textSecrets[which], twilioText(url, id)).digest('base64')
      return {
        method: 'POST',
        url,
        headers: { ...isForm, 'x-twilio-signature': signature },
        body: String(twilioBody(id)),
      }
    },
  },
  typeform: sender('typeform-signature', (body, secret) => ({
    'typeform-signature': `sha256=${base256(secret, body)}`,
  })),
  woocommerce: sender('x-wc-webhook-signature', (body, secret, { id }) => ({
    'x-wc-webhook-delivery-id': id,
    'x-wc-webhook-signature': base256(secret, body),
  })),
  x: sender('x-twitter-webhooks-signature', (body, secret) => ({
    'x-twitter-webhooks-signature': `sha256=${base256(secret, body)}`,
  })),
  zendesk: sender(
    'x-zendesk-webhook-signature',
    (body, secret, { id, timeMs }) => {
      const time = new Date(timeMs).toISOString().replace(/\.\d+/, '')
      return {
        'x-zendesk-webhook-invocation-id': id,
        'x-zendesk-webhook-signature-timestamp': time,
        'x-zendesk-webhook-signature': base256(secret, time + body),
      }
    },
    { lateMs: dayMs },
  ),
  zoom: sender(
    'x-zm-signature',
    (body, secret, message) => ({
      'x-zm-request-timestamp': secondsOf(message),
      'x-zm-signature': `v0=${hex256(secret, `v0:${secondsOf(message)}:${body}`)}`,
    }),
    { lateMs: 300_000 },
  ),
}

function spkiOf(which: 0 | 1): string {
  return p256[which].publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

function whpkOf(which: 0 | 1): string {
  return `whpk_${rawOf(ed25519[which]).toString('base64')}`
}
