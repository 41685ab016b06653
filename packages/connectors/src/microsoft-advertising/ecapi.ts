import type { Ecapi } from '@penstock/connector'

/** How the UET Conversions API receives events of ECAPI. Goals find events by the names of ECAPI. */
export const uetEcapi: Ecapi = {
  columns: {
    event_name: { from: 'event_type', values: {} },
    event_type: { from: 'event_type', values: { page_view: 'pageLoad' }, others: 'custom' },
    event_time: 'timestamp',
    event_id: 'id',
    msclkid: 'user_data.click_id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    external_id: 'user_data.customer_identifier',
    client_ip_address: 'user_data.event_ip_address',
    client_user_agent: 'user_data.event_user_agent',
    event_source_url: 'properties.page_url',
    referrer_url: 'properties.referrer',
    value: 'value',
    currency: 'currency_code',
    order_id: 'properties.transaction_id',
    search_string: 'properties.search_term',
    items: 'properties.items',
  },
  losses: {
    'user_data.ifa': 'Microsoft asks whether it is of iOS or of Android. Map it to idfa or gaid.',
  },
}

/** How offline conversions of Microsoft Advertising receive events of ECAPI. */
export const offlineEcapi: Ecapi = {
  columns: {
    event_time: 'timestamp',
    msclkid: 'user_data.click_id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    value: 'value',
    currency: 'currency_code',
  },
  losses: {
    id: 'Microsoft recognises a repeated conversion by its click and its time.',
  },
}
