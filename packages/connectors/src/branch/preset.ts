import type { StreamPreset } from '../event-stream/preset-facts.ts'
import { branch } from './platform.ts'

/** Webhooks of Branch, with the default body. */
export const branchPreset: StreamPreset = {
  slug: 'branch-webhooks',
  name: 'Branch Webhooks',
  platform: branch,
  dataType: 'events',
  description: 'Receives installs, opens, clicks of links and other events of Branch by webhook.',
  notes:
    'Each configuration is an event stream. Create a write key on its page. At Branch, add a webhook with the method POST and the address `https://…/events/{stream}?writeKey=…`, without a template of your own for the body. Branch does not sign, and the write key in the address is all that proves the sender: keep the address secret. An event with an ID is stored once for it, within 76 hours; an event without ID is stored each time. Keys of objects are joined by dots, such as `user_data.os`. Objects that are empty are not sent.',
  tested: 'Bodies as Branch’s documentation shows them, sent by our own code; not Branch itself.',
  api: { version: 'webhooks, without a version', ends: 'no end is announced' },
  messageIdAt: '/id',
  unwrap: [],
  columns: {
    id: { description: 'ID of the event', type: 'integer' },
    name: { description: 'Name of the event: install, open, click and others', type: 'text' },
    timestamp: { description: 'Time of the event, in milliseconds since 1970', type: 'integer' },
    'user_data.os': { description: 'Operating system', type: 'text' },
    'user_data.platform': { description: 'Platform, such as IOS_APP', type: 'text' },
    'user_data.country': { description: 'Country', type: 'text' },
    'user_data.developer_identity': { description: 'Your ID of the user', type: 'text' },
    'user_data.idfa': { description: 'Advertising ID of an Apple device', type: 'text' },
    'user_data.idfv': { description: 'ID of an Apple device for one vendor', type: 'text' },
    'user_data.aaid': { description: 'Advertising ID of an Android device', type: 'text' },
    'last_attributed_touch_data.~id': { description: 'ID of the link', type: 'integer' },
    'last_attributed_touch_data.~campaign': { description: 'Campaign of the link', type: 'text' },
    'last_attributed_touch_data.~channel': { description: 'Channel of the link', type: 'text' },
    'last_attributed_touch_data.~feature': { description: 'Feature of the link', type: 'text' },
    'event_data.revenue': { description: 'Revenue', type: 'number' },
    'event_data.currency': { description: 'Currency of the revenue', type: 'text' },
    'event_data.transaction_id': { description: 'Your ID of the transaction', type: 'text' },
    content_items: { description: 'Products or content: a list of objects', type: 'json' },
  },
}
