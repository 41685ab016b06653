import type { Ecapi } from '@penstock/connector'

const losses: Ecapi['losses'] = {
  'user_data.address.postal_code': 'Google accepts an address only with a postal code that is not hashed.',
  'user_data.address.first_name': 'Google accepts it only with a postal code that is not hashed.',
  'user_data.address.last_name': 'Google accepts it only with a postal code that is not hashed.',
  'user_data.address.country_code': 'Google accepts it only with a postal code that is not hashed.',
  'user_data.gpp_string':
    'Google does not accept it. Name the column in a purpose that fills the consent fields, so that it decides.',
  'properties.items': 'Google needs the ID of the merchant with items. Map cart_data in Google’s form.',
  'properties.transaction_id': 'Google counts a conversion once for each id.',
}

/** How conversions of Google Ads receive events of ECAPI: as Google itself maps ECAPI to its Data Manager API. */
export const googleAdsEcapi: Ecapi = {
  columns: {
    event_time: 'timestamp',
    transaction_id: 'id',
    value: 'value',
    currency: 'currency_code',
    gclid: 'user_data.click_id',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    user_agent: 'user_data.event_user_agent',
    ip_address: 'user_data.event_ip_address',
  },
  losses,
}

/** The same with the place of the event. */
export const googleAdsPlacedEcapi: Ecapi = {
  columns: {
    ...googleAdsEcapi.columns,
    event_source: {
      from: 'source',
      values: {
        website: 'web',
        app: 'app',
        physical_store: 'in_store',
        phone_call: 'phone',
        chat: 'message',
        business_messaging: 'message',
      },
      others: 'other',
    },
  },
  losses,
}
