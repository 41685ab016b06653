import type { KnownColumn, StreamPreset } from '../event-stream/preset-facts.ts'
import { adjust } from './platform.ts'

/** Values come in the query of an address, so that all are texts. */
const text = (description: string): KnownColumn => ({ description, type: 'text' })

const columns = {
  activity_kind: text('Kind of activity: install, click, session, event and others'),
  created_at: text('Time of the activity, in seconds since 1970'),
  event: text('Token of the in-app event'),
  event_name: text('Name of the in-app event'),
  adid: text('ID of the device at Adjust'),
  gps_adid: text('Advertising ID of an Android device'),
  idfa: text('Advertising ID of an Apple device'),
  idfv: text('ID of an Apple device for one vendor'),
  app_name: text('Name of the app'),
  tracker: text('Token of the link'),
  tracker_name: text('Name of the link: network, campaign, ad group and creative'),
  network_name: text('Network of the link'),
  campaign_name: text('Campaign of the link'),
  adgroup_name: text('Ad group of the link'),
  creative_name: text('Creative of the link'),
  installed_at: text('Time of the first start of the app, in seconds since 1970'),
  revenue: text('Revenue'),
  currency: text('Currency of the revenue'),
  country: text('Country of the device, two letters'),
  os_name: text('Operating system'),
}

/** Callbacks of Adjust. The sender has no own body, and fills the placeholders of an address. */
export const adjustPreset: StreamPreset = {
  slug: 'adjust-callbacks',
  name: 'Adjust Callbacks',
  platform: adjust,
  dataType: 'events',
  description:
    'Receives installs, in-app events and other activities of mobile apps, for which Adjust calls an address.',
  notes:
    'Each configuration is an event stream. Create a write key on its page, and paste the callback address of the page at Adjust, for each activity. Adjust fills the placeholders in braces and leaves out what it does not know. Add other placeholders of Adjust to the address: each parameter becomes a column. All values are texts, and times are in seconds since 1970; give them types in the mapping. Adjust does not sign, and the write key in the address is all that proves the sender: keep the address secret, and enter the addresses of Adjust under IP ranges. Callbacks have no ID of their own: a callback that Adjust repeats is stored twice. Adjust repeats one up to six times in 24 hours if it was not stored.',
  tested: 'Callbacks as Adjust’s help center shows them, sent by our own code; not Adjust itself.',
  api: { version: 'callbacks, without a version', ends: 'no end is announced' },
  unwrap: [],
  callback: Object.fromEntries(Object.keys(columns).map((name) => [name, `{${name}}`])),
  columns,
}
