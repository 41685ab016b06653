import type { Ecapi } from '@penstock/connector'

/** How Yahoo's Conversion API receives events of ECAPI. Rules of the DSP find events by the names of ECAPI. */
export const yahooEcapi: Ecapi = {
  columns: {
    eventName: { from: 'event_type', values: {} },
    eventTs: 'timestamp',
    actionSource: {
      from: 'source',
      values: { website: 'web', app: 'app', phone_call: 'phone', email: 'email', physical_store: 'physical_store' },
    },
    event_id: 'id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    'clickData.vmcid': 'user_data.click_id',
    ip_address: 'user_data.event_ip_address',
    user_agent: 'user_data.event_user_agent',
    country: 'user_data.address.country_code',
    region: 'user_data.address.state',
    'eventData.price': 'value',
    products: 'properties.items',
    event_source_url: 'properties.page_url',
    'privacy.optOut': 'user_data.mmt_only',
  },
  losses: {
    currency_code:
      'Yahoo reads values as US dollars, unless you agreed otherwise. Convert other values in the mapping.',
    'user_data.ifa': 'Yahoo asks whether it is of iOS or of Android. Map it to idfa or gpsaid.',
  },
}
