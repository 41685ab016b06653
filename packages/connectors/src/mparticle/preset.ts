import type { MessageAnswers, StreamPreset } from '../event-stream/preset-facts.ts'
import { mparticle } from './platform.ts'

const optional = (types: readonly string[]) => types.map((type) => ({ type, encoding: 'raw', required: false }))

/** Settings that the customer enters at mParticle. The scheme `mparticle` compares the key. */
const accountSettings = [
  {
    type: 'text',
    id: 'apiKey',
    name: 'API key',
    description: 'The API key in the configuration of the connector mParticle Audience',
    visible: true,
    required: true,
    confidential: true,
  },
]

const registration = {
  type: 'module_registration_response',
  sdk_version: '3.2.0',
  name: 'Penstock',
  description: 'Moves audiences and events to databases, warehouses and advertising platforms.',
  version: '1.0',
  permissions: {
    user_identities: optional(['customer', 'email', 'mobile_number', 'facebook', 'google', 'other']),
    device_identities: optional(['ios_advertising_id', 'ios_vendor_id', 'google_advertising_id', 'android_id']),
    allow_access_location: true,
    allow_access_ip_address: true,
    allow_device_info: true,
    allow_user_attributes: true,
    allow_audience_user_attributes: true,
    allow_consent_state: true,
    allow_access_http_user_agent: true,
    allow_access_mpid: true,
  },
  event_processing_registration: {
    account_settings: accountSettings,
    supported_event_types: [
      'session_start',
      'session_end',
      'custom_event',
      'screen_view',
      'user_attribute_change',
      'user_identity_change',
      'application_state_transition',
      'product_action',
      'promotion_action',
      'impression',
      'attribution',
    ],
    supported_runtime_environments: ['unknown', 'android', 'ios', 'tvos', 'mobileweb', 'roku', 'firetv'],
  },
  audience_processing_registration: { account_settings: accountSettings },
}

const answers: MessageAnswers = {
  by: 'type',
  repeats: ['id', 'firehose_version'],
  time: 'timestamp_ms',
  types: {
    module_registration_request: { isOpen: true, body: registration },
    event_processing_request: { holds: 'events', body: { type: 'event_processing_response' } },
    audience_subscription_request: { body: { type: 'audience_subscription_response' } },
    audience_membership_change_request: {
      holds: 'user_profiles',
      body: { type: 'audience_membership_change_response', suspend_subscription: false },
    },
  },
}

const byType = { name: 'type' }

/** Messages of mParticle's Firehose, which partners receive by HTTP (github.com/mParticle/mparticle-firehose-java-sdk). */
export const mparticlePreset: StreamPreset = {
  slug: 'mparticle-audience',
  name: 'mParticle Audience',
  platform: mparticle,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Receives the audiences that mParticle forwards, with the identities of each member, and events.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. mParticle forwards to partners: agree with mParticle on an integration by Firehose over HTTPS with the address `https://…/events/{stream}?writeKey=…`. mParticle asks the address for its registration, which is answered: events of apps and websites, raw identities, and an account setting for an API key. Enter the same key here and at mParticle, when you connect an audience or an input. It is checked in each message and not kept. The content is not signed, so keep the address secret. Each audience of a person becomes an event with the action add, delete or attribute_update; map it to the action of a destination. Other events have their own type. Identities have a column for each type, such as `user_identities.email.value`. A message that mParticle repeats is stored once, within 76 hours. Requests of data subjects are not registered.',
  tested:
    'The sample messages of mParticle’s SDK for partners, version 3.2, sent by our own code; the registration by its JSON schemas; not mParticle itself.',
  api: { version: 'Firehose 3.2.0', ends: 'no end is announced' },
  sender: 'mparticle',
  messageIdAt: '/id',
  unwrap: [['user_profiles', 'events'], ['audiences']],
  // Several rows share the ID of a message.
  omitted: ['id'],
  named: { user_identities: byType, device_identities: byType, partner_identities: byType },
  answers,
  columns: {
    type: { description: 'Type of the message, or of an event', type: 'text' },
    timestamp_ms: { description: 'Time of the message or the event, in milliseconds since 1970', type: 'integer' },
    audience_id: { description: 'ID of the audience', type: 'integer' },
    audience_name: { description: 'Name of the audience', type: 'text' },
    action: { description: 'add, delete or attribute_update; of an event, its own action', type: 'text' },
    mpid: { description: 'ID of the person at mParticle', type: 'text' },
    'user_identities.customer.value': { description: 'Your ID of the person', type: 'text' },
    'user_identities.email.value': { description: 'E-mail address of the person', type: 'text' },
    'user_identities.email.encoding': { description: 'raw, or the digest of the e-mail address', type: 'text' },
    'user_identities.mobile_number.value': { description: 'Phone number of the person', type: 'text' },
    'device_identities.ios_advertising_id.value': { description: 'Advertising ID of an Apple device', type: 'text' },
    'device_identities.google_advertising_id.value': {
      description: 'Advertising ID of an Android device',
      type: 'text',
    },
    'account.account_id': { description: 'ID of the account at mParticle', type: 'integer' },
    id: { description: 'ID of an event', type: 'text' },
    name: { description: 'Name of an event', type: 'text' },
  },
}
