import type { Ecapi, EcapiColumn } from '@penstock/connector'

const others = 'Types for which Amazon has no type arrive as OTHER, with their own names.'
const type: EcapiColumn = {
  from: 'event_type',
  values: {
    purchase: 'OFF_AMAZON_PURCHASES',
    page_view: 'PAGE_VIEW',
    add_to_cart: 'ADD_TO_SHOPPING_CART',
    begin_checkout: 'CHECKOUT',
    generate_lead: 'LEAD',
    sign_up: 'SIGN_UP',
    search: 'SEARCH',
    install: 'MOBILE_APP_FIRST_START',
    contact: 'CONTACT',
    subscribe: 'SUBSCRIBE',
  },
  others: 'OTHER',
}
const columns: Ecapi['columns'] = {
  eventTime: 'timestamp',
  eventName: { from: 'event_type', values: {} },
  eventId: 'id',
  email: 'user_data.email_address',
  phone: 'user_data.phone_numbers',
  firstName: 'user_data.address.first_name',
  lastName: 'user_data.address.last_name',
  address: 'user_data.address.street',
  city: 'user_data.address.city',
  state: 'user_data.address.state',
  postalCode: 'user_data.address.postal_code',
  countryCode: 'user_data.address.country_code',
  maid: 'user_data.ifa',
  currency: 'currency_code',
}

/** How the Events API of Amazon Ads receives events of ECAPI. */
export const amazonEventsEcapi: Ecapi = {
  columns: {
    ...columns,
    eventType: type,
    eventValue: 'value',
    eventSource: {
      from: 'source',
      values: {
        website: 'WEBSITE',
        email: 'OFFLINE',
        phone_call: 'OFFLINE',
        chat: 'OFFLINE',
        physical_store: 'OFFLINE',
        system_generated: 'OFFLINE',
        business_messaging: 'OFFLINE',
        other: 'OFFLINE',
      },
    },
    ipAddress: 'user_data.event_ip_address',
    gpp: 'user_data.gpp_string',
  },
  losses: {
    event_type: others,
    source:
      'Amazon asks whether an app is of iOS or of Android. Rows of apps are rejected, unless you change the mapping.',
  },
}

/** How conversions of Amazon DSP receive events of ECAPI. */
export const amazonConversionsEcapi: Ecapi = {
  columns: {
    ...columns,
    conversionType: type,
    conversionValue: 'value',
    source: { from: 'event_type', fixed: 'SERVER_TO_SERVER' },
  },
  losses: {
    event_type: others,
    'user_data.gpp_string':
      'This import of Amazon accepts no consent. Use Amazon Ads DSP Events if consent is required.',
  },
}
