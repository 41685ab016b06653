import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { tiktokAds } from './platform.ts'

/** Webhooks of TikTok's Subscription API about leads. */
export const tiktokLeadPreset: StreamPreset = {
  slug: 'tiktok-lead-forms',
  name: 'TikTok Lead Forms',
  platform: tiktokAds,
  dataType: 'events',
  description: 'Receives the leads of instant forms and direct messages of TikTok, with the answers of people.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. Subscribe with `POST /open_api/v1.3/subscription/subscribe/`, the `subscribe_entity` LEAD and the `callback_url` `https://…/events/{stream}?writeKey=…`, and enter the secret of your app at TikTok here. TikTok can send up to 1,000 leads in one message; each becomes an event. Each answer has a column with the name of its question: `changes.email`. A lead is stored once for its ID, within 76 hours. IDs have up to 19 digits, which stay exact. TikTok signs the text with its letters outside ASCII escaped, and documents no time of the signature.',
  tested: 'Webhooks as TikTok’s documentation shows them, signed by our own code; not TikTok itself.',
  api: { version: 'Subscription API of TikTok API for Business v1.3', ends: 'no end is announced' },
  sender: 'tiktok-leads',
  messageIdAt: '/id',
  unwrap: [['entry']],
  named: { changes: { name: 'field', value: 'value' } },
  columns: {
    id: { description: 'ID of the lead', type: 'text' },
    'changes.email': { description: 'Answer to the question for the e-mail address', type: 'text' },
    'changes.phone_number': { description: 'Answer to the question for the phone number', type: 'text' },
    'changes.name': { description: 'Answer to the question for the name', type: 'text' },
    create_time: { description: 'Time of the lead, in seconds since 1970', type: 'integer' },
    lead_source: { description: 'INSTANT_FORM or DIRECT_MESSAGE', type: 'text' },
    page_id: { description: 'ID of the form', type: 'integer' },
    page_name: { description: 'Name of the form', type: 'text' },
    advertiser_id: { description: 'ID of the ad account', type: 'integer' },
    advertiser_name: { description: 'Name of the ad account', type: 'text' },
    campaign_id: { description: 'ID of the campaign', type: 'integer' },
    campaign_name: { description: 'Name of the campaign', type: 'text' },
    adgroup_id: { description: 'ID of the ad group', type: 'integer' },
    adgroup_name: { description: 'Name of the ad group', type: 'text' },
    ad_id: { description: 'ID of the ad', type: 'integer' },
    ad_name: { description: 'Name of the ad', type: 'text' },
    library_id: { description: 'ID of the form library', type: 'integer' },
    time: { description: 'Time of the message, in seconds since 1970', type: 'integer' },
  },
}
