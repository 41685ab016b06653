import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { metaAds } from './platform.ts'

/** Webhooks of Meta about leads of instant forms. */
export const metaLeadPreset: StreamPreset = {
  slug: 'meta-lead-forms',
  name: 'Meta Lead Forms',
  platform: metaAds,
  dataType: 'events',
  description:
    'Receives a message for each lead of an instant form on Facebook and Instagram, with the IDs of the lead, its form and its ad.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. In the app at Meta, subscribe the object Page and the field leadgen with the address `https://…/events/{stream}?writeKey=…` and the verify token, and install the app on the page. Enter the app secret here. The handshake of Meta is answered. Meta can send several leads in one message; each becomes an event. A lead is stored once for its ID, within 76 hours. Messages contain IDs only: the answers of a person are read from Meta with the lead ID and a token with the permission leads_retrieval.',
  tested: 'Messages as Meta’s documentation shows them, signed by our own code; not Meta itself.',
  api: { version: 'webhooks of the Graph API', ends: 'no end is announced' },
  sender: 'meta',
  messageIdAt: '/value/leadgen_id',
  unwrap: [['entry'], ['changes']],
  columns: {
    'value.leadgen_id': { description: 'ID of the lead', type: 'text' },
    'value.form_id': { description: 'ID of the form', type: 'text' },
    'value.page_id': { description: 'ID of the page', type: 'text' },
    'value.ad_id': { description: 'ID of the ad', type: 'text' },
    'value.adgroup_id': { description: 'ID of the ad, by its older name', type: 'text' },
    'value.created_time': { description: 'Time of the lead, in seconds since 1970', type: 'integer' },
    field: { description: 'Kind of change: leadgen', type: 'text' },
    time: { description: 'Time of the message, in seconds since 1970', type: 'integer' },
  },
}
