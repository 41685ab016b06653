/** The schemes by which senders of webhooks sign, as facts. The receiver of events applies them. */

/** How a secret is written: as plain text (the default), or as an encoded key. */
type SecretEncoding = 'hex' | 'whsec' | 'spki' | 'ed25519-hex' | 'ed25519-whpk'

/**
 * How a signature is made. `sha256` is a digest of the secret followed by the text. `equal` means that the sender
 * repeats the secret itself.
 */
type SignatureAlgorithm = 'hmac-sha256' | 'hmac-sha1' | 'sha256' | 'ecdsa-p256' | 'ed25519' | 'equal'

/** The place of the signature in a request. */
type SignaturePlace =
  /** The first of these headers, after `prefix`. */
  | { readonly headers: readonly string[]; readonly prefix?: string }
  /** Every item with this name in a header, such as the two items `v1` of `t=1,v1=ab,v1=cd`. */
  | { readonly headers: readonly string[]; readonly item: string; readonly between: string; readonly separator: string }
  /** A member of the JSON object in the body: keys joined by dots. */
  | { readonly member: string }
  /** Adyen signs every entry of `notificationItems` separately. The entry contains its signature. */
  | { readonly each: 'adyen-item' }

/** The time of a request: a header, or an item of the signature header. */
type SignedTime = {
  readonly header?: string
  readonly item?: string
  readonly unit: 'seconds' | 'milliseconds' | 'date'
  /** Limit for the difference from the current time, in both directions, in ms. */
  readonly toleranceMs: number
}

/** The ID that stays the same if the sender repeats a message. */
type MessageIdPlace =
  | { readonly header: string }
  /** Paths in the body, joined by a slash. The first list with a value for each path is used. */
  | { readonly members: readonly (readonly string[])[] }

export type SchemeFacts = {
  /** The sender, as users know it. */
  readonly label: string
  /** The sender's name of the secret. */
  readonly secret: string
  readonly secretEncoding?: SecretEncoding
  /** HMAC-SHA256 if omitted. */
  readonly algorithms?: readonly SignatureAlgorithm[]
  readonly encoding: 'hex' | 'base64' | 'text'
  readonly place: SignaturePlace
  /** The signed text. See `signedTexts` of the server for its variables. The body if omitted. */
  readonly signed?: string
  readonly time?: SignedTime
  readonly id?: MessageIdPlace
}

const minutes = (count: number) => count * 60_000
/**
 * The tolerance for senders that name none. They may repeat a message for a day with the same signature. Its ID
 * detects that for longer.
 */
const day = minutes(24 * 60)

const inHeader = (...headers: string[]) => ({ headers })
const afterPrefix = (header: string, prefix: string) => ({ headers: [header], prefix })
/** Like `t=1700000000,v1=…`, which Stripe began. */
const inItem = (header: string, item: string) => ({ headers: [header], item, between: '=', separator: ',' })
const timeIn = (header: string, toleranceMs: number, unit: SignedTime['unit'] = 'seconds'): SignedTime => ({
  header,
  unit,
  toleranceMs,
})
const timeInItem = (item: string, toleranceMs: number): SignedTime => ({ item, unit: 'seconds', toleranceMs })
const member = (...paths: string[]): MessageIdPlace => ({ members: [paths] })

/** Standard Webhooks, with the prefix of its headers. */
const standardWebhooks = (prefix: string, item: string) => ({
  encoding: 'base64' as const,
  place: { headers: [`${prefix}-signature`], item, between: ',', separator: ' ' },
  signed: '{id}.{timestamp}.{body}',
  time: timeIn(`${prefix}-timestamp`, minutes(5)),
  id: { header: `${prefix}-id` },
})

const adyenItem = 'notificationItems.NotificationRequestItem'

/** Every scheme, by its ID. */
const table = {
  adyen: {
    label: 'Adyen payments',
    secret: 'HMAC key',
    secretEncoding: 'hex',
    encoding: 'base64',
    place: { each: 'adyen-item' },
    id: member(`${adyenItem}.pspReference`, `${adyenItem}.eventCode`, `${adyenItem}.success`),
  },
  'adyen-platforms': {
    label: 'Adyen platforms',
    secret: 'HMAC key',
    secretEncoding: 'hex',
    encoding: 'base64',
    place: inHeader('hmacsignature'),
  },
  attentive: {
    label: 'Attentive',
    secret: 'Signing key',
    encoding: 'hex',
    place: inHeader('x-attentive-hmac-sha256'),
  },
  /** For senders with a fixed header, such as mParticle, Braze and RudderStack. */
  authorization: {
    label: 'Authorization header',
    secret: 'Header value',
    algorithms: ['equal'],
    encoding: 'text',
    place: inHeader('authorization'),
  },
  /** The key is the unchanged client secret. Its page encodes it with Base64 only for the library. */
  bigcommerce: {
    ...standardWebhooks('webhook', 'v1'),
    label: 'BigCommerce',
    secret: 'Client secret',
  },
  calendly: {
    label: 'Calendly',
    secret: 'Signing key',
    encoding: 'hex',
    place: inItem('calendly-webhook-signature', 'v1'),
    signed: '{timestamp}.{body}',
    time: timeInItem('t', minutes(5)),
    id: member('event', 'payload.uri', 'created_at'),
  },
  'customer-io': {
    label: 'Customer.io',
    secret: 'Webhook signing key',
    encoding: 'hex',
    place: inHeader('x-cio-signature'),
    signed: 'v0:{timestamp}:{body}',
    time: timeIn('x-cio-timestamp', day),
    id: member('event_id'),
  },
  discord: {
    label: 'Discord',
    secret: 'Public key',
    secretEncoding: 'ed25519-hex',
    algorithms: ['ed25519'],
    encoding: 'hex',
    place: inHeader('x-signature-ed25519'),
    signed: '{timestamp}{body}',
    time: timeIn('x-signature-timestamp', minutes(5)),
    id: member('id'),
  },
  dropbox: {
    label: 'Dropbox',
    secret: 'App secret',
    encoding: 'hex',
    place: inHeader('x-dropbox-signature'),
  },
  github: {
    label: 'GitHub',
    secret: 'Webhook secret',
    encoding: 'hex',
    place: afterPrefix('x-hub-signature-256', 'sha256='),
    id: { header: 'x-github-delivery' },
  },
  'google-ads-leads': {
    label: 'Google Ads lead forms',
    secret: 'Webhook key',
    algorithms: ['equal'],
    encoding: 'text',
    place: { member: 'google_key' },
    id: member('lead_id'),
  },
  hubspot: {
    label: 'HubSpot',
    secret: 'Client secret',
    encoding: 'base64',
    place: inHeader('x-hubspot-signature-v3'),
    signed: '{method}{hubspot-url}{body}{timestamp}',
    time: timeIn('x-hubspot-request-timestamp', minutes(5), 'milliseconds'),
    id: member('eventId', 'subscriptionId', 'objectId', 'occurredAt'),
  },
  'hubspot-v1': {
    label: 'HubSpot, version 1',
    secret: 'Client secret',
    algorithms: ['sha256'],
    encoding: 'hex',
    place: inHeader('x-hubspot-signature'),
    id: member('eventId', 'subscriptionId', 'objectId', 'occurredAt'),
  },
  intercom: {
    label: 'Intercom',
    secret: 'Client secret',
    algorithms: ['hmac-sha1'],
    encoding: 'hex',
    place: afterPrefix('x-hub-signature', 'sha1='),
    id: member('id'),
  },
  klaviyo: {
    label: 'Klaviyo',
    secret: 'Secret key',
    encoding: 'hex',
    place: inHeader('klaviyo-signature'),
    signed: '{body}{timestamp}',
    time: timeIn('klaviyo-timestamp', day, 'date'),
  },
  linkedin: {
    label: 'LinkedIn',
    secret: 'Client secret',
    encoding: 'hex',
    place: inHeader('x-li-signature'),
    signed: 'hmacsha256={body}',
    // Notifications of leads have no ID.
    id: { members: [['notificationId'], ['leadGenFormResponse', 'leadAction', 'occurredAt']] },
  },
  mandrill: {
    label: 'Mailchimp Transactional',
    secret: 'Webhook key',
    algorithms: ['hmac-sha1'],
    encoding: 'base64',
    place: inHeader('x-mandrill-signature'),
    signed: '{url}{form}',
  },
  meta: {
    label: 'Meta',
    secret: 'App secret',
    encoding: 'hex',
    place: afterPrefix('x-hub-signature-256', 'sha256='),
    id: member('entry.changes.value.leadgen_id'),
  },
  /** The customer enters the key at mParticle, which sends it with each message for this customer. */
  mparticle: {
    label: 'Partner of mParticle',
    secret: 'API key',
    algorithms: ['equal'],
    encoding: 'text',
    place: { member: 'account.account_settings.apiKey' },
    id: member('id'),
  },
  /** It signs the ID of the delivery only: the content is as trustworthy as the secrecy of the address. */
  radar: {
    label: 'Radar',
    secret: 'Webhook token',
    algorithms: ['hmac-sha1'],
    encoding: 'hex',
    place: inHeader('x-radar-signature'),
    signed: '{id}',
    id: { header: 'x-radar-signing-id' },
  },
  /** It signs only the first event of a batch. */
  segment: {
    label: 'Segment webhooks',
    secret: 'Shared secret',
    algorithms: ['hmac-sha1'],
    encoding: 'hex',
    place: inHeader('x-signature'),
    signed: '{first-event}',
    id: member('messageId'),
  },
  sendgrid: {
    label: 'SendGrid',
    secret: 'Verification key',
    secretEncoding: 'spki',
    algorithms: ['ecdsa-p256'],
    encoding: 'base64',
    place: inHeader('x-twilio-email-event-webhook-signature'),
    signed: '{timestamp}{body}',
    time: timeIn('x-twilio-email-event-webhook-timestamp', day),
    id: member('sg_event_id'),
  },
  shopify: {
    label: 'Shopify',
    secret: 'Client secret',
    encoding: 'base64',
    place: inHeader('x-shopify-hmac-sha256', 'shopify-hmac-sha256'),
    id: { header: 'x-shopify-event-id' },
  },
  slack: {
    label: 'Slack',
    secret: 'Signing secret',
    encoding: 'hex',
    place: afterPrefix('x-slack-signature', 'v0='),
    signed: 'v0:{timestamp}:{body}',
    time: timeIn('x-slack-request-timestamp', minutes(5)),
    id: member('event_id'),
  },
  'standard-webhooks': {
    ...standardWebhooks('webhook', 'v1'),
    label: 'Standard Webhooks',
    secret: 'Signing secret',
    secretEncoding: 'whsec',
  },
  'standard-webhooks-public-key': {
    ...standardWebhooks('webhook', 'v1a'),
    label: 'Standard Webhooks, public key',
    secret: 'Public key',
    secretEncoding: 'ed25519-whpk',
    algorithms: ['ed25519'],
  },
  stripe: {
    label: 'Stripe',
    secret: 'Signing secret',
    encoding: 'hex',
    place: inItem('stripe-signature', 'v1'),
    signed: '{timestamp}.{body}',
    time: timeInItem('t', minutes(5)),
    id: member('id'),
  },
  svix: {
    ...standardWebhooks('svix', 'v1'),
    label: 'Svix',
    secret: 'Signing secret',
    secretEncoding: 'whsec',
  },
  tiktok: {
    label: 'TikTok for Developers',
    secret: 'Client secret',
    encoding: 'hex',
    place: inItem('tiktok-signature', 's'),
    signed: '{timestamp}.{body}',
    time: timeInItem('t', minutes(5)),
    id: member('event', 'create_time', 'user_openid'),
  },
  /** It signs the body with its letters outside ASCII escaped, however they are in the body. */
  'tiktok-leads': {
    label: 'TikTok lead forms',
    secret: 'App secret',
    encoding: 'hex',
    place: inHeader('x-open-signature'),
    signed: '{escaped-body}',
    id: member('entry.id'),
  },
  twilio: {
    label: 'Twilio',
    secret: 'Auth token',
    algorithms: ['hmac-sha1', 'hmac-sha256'],
    encoding: 'base64',
    place: inHeader('x-twilio-signature'),
    signed: '{twilio-url}{form}',
    id: { members: [['MessageSid', 'SmsStatus'], ['EventSid'], ['MessageSid']] },
  },
  typeform: {
    label: 'Typeform',
    secret: 'Webhook secret',
    encoding: 'base64',
    place: afterPrefix('typeform-signature', 'sha256='),
    id: member('event_id'),
  },
  woocommerce: {
    label: 'WooCommerce',
    secret: 'Webhook secret',
    encoding: 'base64',
    place: inHeader('x-wc-webhook-signature'),
    id: { header: 'x-wc-webhook-delivery-id' },
  },
  x: {
    label: 'X',
    secret: 'Consumer secret',
    encoding: 'base64',
    place: afterPrefix('x-twitter-webhooks-signature', 'sha256='),
  },
  zendesk: {
    label: 'Zendesk',
    secret: 'Signing secret',
    encoding: 'base64',
    place: inHeader('x-zendesk-webhook-signature'),
    signed: '{timestamp}{body}',
    time: timeIn('x-zendesk-webhook-signature-timestamp', day, 'date'),
    id: { header: 'x-zendesk-webhook-invocation-id' },
  },
  zoom: {
    label: 'Zoom',
    secret: 'Secret token',
    encoding: 'hex',
    place: afterPrefix('x-zm-signature', 'v0='),
    signed: 'v0:{timestamp}:{body}',
    time: timeIn('x-zm-request-timestamp', minutes(5)),
  },
} satisfies Record<string, SchemeFacts>

/** The ID of a scheme. */
export type SignatureScheme = keyof typeof table

export const signatureSchemes: Readonly<Record<SignatureScheme, SchemeFacts>> = table
export const signatureSchemeIds = Object.keys(table) as readonly SignatureScheme[]
