import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { googleAds } from './platform.ts'

/** Webhooks of Google Ads with leads of lead forms. */
export const googleAdsLeadPreset: StreamPreset = {
  slug: 'google-ads-lead-forms',
  name: 'Google Ads Lead Forms',
  platform: googleAds,
  dataType: 'events',
  description: 'Receives the leads of lead forms of Google Ads by webhook, with the answers of people.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. In the lead form at Google Ads, enter the address `https://…/events/{stream}?writeKey=…` and a key of your choice, and the same key here. Google sends the key in each message; it is checked and not kept. The content is not signed, so keep the address secret. A lead is stored once for its ID, within 76 hours. Answers are a list in user_column_data. Test leads have is_test.',
  tested: 'Messages as Google’s documentation shows them; not Google itself.',
  api: { version: 'webhook of lead forms, api_version 1.0', ends: 'no end is announced' },
  sender: 'google-ads-leads',
  messageIdAt: '/lead_id',
  unwrap: [],
  columns: {
    lead_id: { description: 'ID of the lead', type: 'text' },
    user_column_data: { description: 'Answers: a list of objects with column_id and string_value', type: 'json' },
    form_id: { description: 'ID of the form', type: 'integer' },
    campaign_id: { description: 'ID of the campaign', type: 'integer' },
    adgroup_id: { description: 'ID of the ad group', type: 'integer' },
    creative_id: { description: 'ID of the ad', type: 'integer' },
    asset_group_id: { description: 'ID of the asset group', type: 'integer' },
    gcl_id: { description: 'Click ID of Google Ads', type: 'text' },
    lead_submit_time: { description: 'Time at which the form was sent', type: 'time' },
    is_test: { description: 'Whether it is a test lead', type: 'boolean' },
  },
}
