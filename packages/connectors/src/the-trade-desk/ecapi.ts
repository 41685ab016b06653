import type { Ecapi } from '@penstock/connector'

const losses: Ecapi['losses'] = {
  'user_data.email_address': 'The Trade Desk accepts no e-mail addresses. Map them to UID2 or EUID first.',
  'user_data.phone_numbers': 'The Trade Desk accepts no phone numbers. Map them to UID2 or EUID first.',
  'user_data.uids':
    'A list does not say which column each ID is for. Map UID2, EUID or RampID from columns of your own.',
}

/** How offline conversions of The Trade Desk receive events of ECAPI. */
export const offlineEcapi: Ecapi = {
  columns: {
    TimestampUtc: 'timestamp',
    EventName: { from: 'event_type', values: {} },
    Value: 'value',
    ValueCurrency: 'currency_code',
    ImpressionId: 'user_data.impression_id',
    DAID: 'user_data.ifa',
    Country: 'user_data.address.country_code',
    Region: 'user_data.address.state',
    City: 'user_data.address.city',
    OrderId: 'properties.transaction_id',
    LineItems: 'properties.items',
    consent_string: 'user_data.gpp_string',
    privacy_type: { from: 'user_data.gpp_string', fixed: 'GPP' },
  },
  losses: { ...losses, id: 'The Trade Desk recognises a repeated conversion only by its order.' },
}

/** How real-time conversions of The Trade Desk receive events of ECAPI. */
export const realTimeEcapi: Ecapi = {
  columns: {
    event_name: { from: 'event_type', values: {} },
    value: 'value',
    currency: 'currency_code',
    client_ip: 'user_data.event_ip_address',
    referrer_url: 'properties.page_url',
    adid: 'user_data.ifa',
    adid_type: { from: 'user_data.ifa', fixed: 'DAID' },
    imp: 'user_data.impression_id',
    order_id: 'properties.transaction_id',
    items: 'properties.items',
    country: 'user_data.address.country_code',
    region: 'user_data.address.state',
    city: 'user_data.address.city',
    consent_string: 'user_data.gpp_string',
    privacy_type: { from: 'user_data.gpp_string', fixed: 'GPP' },
  },
  losses: {
    ...losses,
    id: 'The Trade Desk recognises a repeated conversion only by its order.',
    timestamp: 'The Trade Desk takes the time at which it receives an event. Send events as they happen.',
  },
}
